#include "virtual/device/data_log.hpp"

#include <algorithm>
#include <utility>

namespace isleway::vgpu {
namespace {

/// Beyond this many, remembering costs more than doing.
constexpr std::size_t kMostPending = 4096;

bool meet(const Span& a, const Span& b) {
  return a.first < b.first + b.bytes && b.first < a.first + a.bytes;
}
bool meet(const std::vector<Span>& a, const std::vector<Span>& b) {
  return std::ranges::any_of(a, [&](const Span& x) {
    return std::ranges::any_of(b, [&](const Span& y) { return meet(x, y); });
  });
}

/// `spans` without those bytes of them that are in `removed`.
void remove(std::vector<Span>& spans, const std::vector<Span>& removed) {
  for (const Span& hole : removed) {
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const Span span = spans[i];
      if (!meet(span, hole)) continue;
      const std::byte* end = span.first + span.bytes;
      const std::byte* hole_end = hole.first + hole.bytes;
      spans[i].bytes =
          hole.first > span.first ? static_cast<std::size_t>(hole.first - span.first) : 0;
      if (hole_end < end) spans.push_back({hole_end, static_cast<std::size_t>(end - hole_end)});
    }
  }
  std::erase_if(spans, [](const Span& span) { return span.bytes == 0; });
}

/// Whether all bytes of `spans` are in `covers`.
bool covered(std::vector<Span> spans, const std::vector<Span>& covers) {
  remove(spans, covers);
  return spans.empty();
}

}  // namespace

bool conflict(const DataOp& a, const DataOp& b) {
  return meet(a.writes, b.writes) || meet(a.writes, b.reads) || meet(a.reads, b.writes);
}

void DataLog::add(DataOp op) {
  drop_dead(op.writes, op.reads);
  pending_.push_back(std::move(op));
  if (pending_.size() > kMostPending) settle_all();
}

void DataLog::forget(const Span& span) { drop_dead({span}, {}); }

bool DataLog::mentions(const Span& span) const {
  const std::vector<Span> spans{span};
  return std::ranges::any_of(
      pending_, [&](const DataOp& op) { return meet(op.reads, spans) || meet(op.writes, spans); });
}

void DataLog::drop_dead(const std::vector<Span>& overwritten, const std::vector<Span>& still_read) {
  std::vector<Span> dead = overwritten;
  remove(dead, still_read);
  for (std::size_t i = pending_.size(); i-- > 0 && !dead.empty();) {
    if (covered(pending_[i].writes, dead)) {
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    // What this one writes is not needed from earlier ones, what it reads is.
    remove(dead, pending_[i].reads);
  }
}

void DataLog::settle(const Span& span) { run_for({span}); }

void DataLog::settle_all() {
  for (const DataOp& op : pending_) op.run();
  pending_.clear();
}

void DataLog::run_for(const std::vector<Span>& spans) {
  // Backwards: what writes or reads the bytes, or what those need, or would spoil.
  std::vector<Span> reads = spans, writes = spans;
  std::vector<bool> needed(pending_.size());
  for (std::size_t i = pending_.size(); i-- > 0;) {
    const DataOp& op = pending_[i];
    if (!meet(op.writes, reads) && !meet(op.writes, writes) && !meet(op.reads, writes)) continue;
    needed[i] = true;
    reads.insert(reads.end(), op.reads.begin(), op.reads.end());
    writes.insert(writes.end(), op.writes.begin(), op.writes.end());
  }
  std::vector<DataOp> left;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (needed[i]) pending_[i].run();
    else left.push_back(std::move(pending_[i]));
  }
  pending_ = std::move(left);
}

}  // namespace isleway::vgpu
