#include "virtual/device/data_log.hpp"

#include <algorithm>
#include <cstdint>
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

bool contains(const Span& outer, const Span& inner) {
  return outer.first <= inner.first && inner.first + inner.bytes <= outer.first + outer.bytes;
}

/// What `op` will write to `span`, of which it writes some; empty: not to be had without doing it.
Producer part_of(const DataOp& op, const Span& span) {
  if (!op.produce || op.writes.size() != 1 || !contains(op.writes[0], span)) return {};
  const auto begin = static_cast<std::size_t>(span.first - op.writes[0].first);
  return [produce = op.produce, begin](std::size_t offset, std::span<std::byte> out) {
    produce(begin + offset, out);
  };
}

void perform(const DataOp& op, std::span<const Producer> sources) {
  if (op.run_from) op.run_from(sources);
  else op.run();
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
  for (const DataOp& op : pending_) perform(op, std::vector<Producer>(op.reads.size()));
  pending_.clear();
}

std::size_t DataLog::writer(const Span& span, std::size_t end) const {
  for (std::size_t i = end; i-- > 0;)
    if (meet(pending_[i].writes, {span})) return i;
  return end;
}

Producer DataLog::producer(const Span& span) const {
  const std::size_t last = writer(span, pending_.size());
  return last == pending_.size() ? Producer() : part_of(pending_[last], span);
}

void DataLog::run_for(const std::vector<Span>& spans) {
  enum class Fate : std::uint8_t { waits, runs, replaced };
  std::vector<Fate> fates(pending_.size(), Fate::waits);
  std::vector<std::vector<Producer>> sources(pending_.size());
  // Backwards: what writes or reads the bytes, or what those need, or would spoil.
  std::vector<Span> reads = spans, writes = spans;
  for (std::size_t i = pending_.size(); i-- > 0;) {
    const DataOp& op = pending_[i];
    const bool is_read = meet(op.writes, reads);
    if (fates[i] == Fate::replaced && !is_read) continue;
    if (!is_read && !meet(op.writes, writes) && !meet(op.reads, writes)) continue;
    fates[i] = Fate::runs;
    remove(reads, op.writes);
    sources[i].resize(op.reads.size());
    for (std::size_t k = 0; k < op.reads.size(); ++k) {
      const std::size_t from = op.run_from ? writer(op.reads[k], i) : i;
      Producer source = from == i ? Producer() : part_of(pending_[from], op.reads[k]);
      // Where this one writes over its own source, it must do so wholly: then nobody misses it.
      const bool over = source && meet(op.writes, pending_[from].writes);
      if (over && !covered(pending_[from].writes, op.writes)) source = {};
      else if (over) fates[from] = Fate::replaced;
      if (!source) reads.push_back(op.reads[k]);
      sources[i][k] = std::move(source);
    }
    writes.insert(writes.end(), op.writes.begin(), op.writes.end());
  }
  std::vector<DataOp> left;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (fates[i] == Fate::runs) perform(pending_[i], sources[i]);
    else if (fates[i] == Fate::waits) left.push_back(std::move(pending_[i]));
  }
  pending_ = std::move(left);
}

}  // namespace isleway::vgpu
