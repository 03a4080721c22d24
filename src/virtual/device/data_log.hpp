// What is still to be done to memory, and done only when somebody looks.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace isleway::vgpu {

struct Span {
  const std::byte* first = nullptr;
  std::size_t bytes = 0;
};

/// Gives any part of what an operation would write: the bytes from `offset` on. May be called by
/// several threads at once.
using Producer = std::function<void(std::size_t offset, std::span<std::byte> out)>;

/// Bytes read, bytes written, and how. `run` reads and writes nothing else, and writes all of
/// `writes` from what was in `reads` before.
struct DataOp {
  std::vector<Span> reads, writes;
  std::function<void()> run;
  Producer produce = {};  ///< of what reads nothing and writes one span, if it can be had in parts
  /// Called instead of `run`, if given: with a producer for each of `reads` that need not be in
  /// memory, and an empty one for those that are.
  std::function<void(std::span<const Producer>)> run_from = {};
};

/// Whether it matters which of the two is done first.
bool conflict(const DataOp& a, const DataOp& b);

/// Benchmarks repeat a call hundreds of times and look at the last result: what is overwritten
/// before anyone has read it is never computed. What is computed is what doing everything in
/// order would have given.
class DataLog {
 public:
  /// To be done after all before it.
  void add(DataOp op);
  /// Does what the bytes depend on: they may be read, or written from outside, from now on.
  void settle(const Span& span);
  void settle_all();
  /// The bytes will not be read any more by anyone else.
  void forget(const Span& span);
  /// What the bytes will be, where all of them come from one operation that is still to be done and
  /// can give parts of them; empty: where not, settle() them.
  Producer producer(const Span& span) const;
  /// Whether something is still to be done with them.
  bool mentions(const Span& span) const;

 private:
  void drop_dead(const std::vector<Span>& overwritten, const std::vector<Span>& still_read);
  void run_for(const std::vector<Span>& spans);
  /// The last operation before number `end` that writes some of the bytes; `end`: none does.
  std::size_t writer(const Span& span, std::size_t end) const;
  std::vector<DataOp> pending_;
};

}  // namespace isleway::vgpu
