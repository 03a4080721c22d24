#include "isleway/report/trace.hpp"

#include <algorithm>

namespace isleway::report {

bool Trace::takes() {
  if (runs_ > 1) return false;
  if (actions_.size() + messages_.size() < most_) return true;
  ++left_out_;
  return false;
}

void Trace::action(const ActionSpan& span) {
  if (runs_ <= 1) end_ = std::max(end_, span.end);
  if (takes()) actions_.push_back(span);
}

void Trace::message(const MessageSpan& span) {
  if (!takes()) return;
  end_ = std::max(end_, span.arrived);
  messages_.push_back({span.from, span.to, span.bytes, span.begin, span.sent, span.arrived});
  if (span.route == nullptr) return;
  for (const Hop& hop : span.route->hops)
    crossings_[{hop.link, !hop.forward}].push_back(
        {span.begin, span.sent, span.wire_bytes * hop.share});
}

std::vector<Trace::Load> Trace::loads(std::size_t parts) const {
  std::vector<Load> all;
  const double whole = end_.seconds();
  if (whole <= 0 || parts == 0) return all;
  const double part = whole / static_cast<double>(parts);
  for (const auto& [key, crossings] : crossings_) {
    Load load{key.first, !key.second, std::vector<double>(parts, 0)};
    for (const Crossing& crossing : crossings) {
      const double from = crossing.begin.seconds(), to = crossing.sent.seconds();
      const auto first = std::min(parts - 1, static_cast<std::size_t>(from / part));
      const auto last = std::min(parts - 1, static_cast<std::size_t>(to / part));
      for (std::size_t i = first; i <= last; ++i) {
        const double begin = std::max(from, static_cast<double>(i) * part);
        const double end = std::min(to, static_cast<double>(i + 1) * part);
        const double share =
            to <= from ? (i == first ? 1 : 0) : std::max(0.0, end - begin) / (to - from);
        load.bytes[i] += crossing.bytes * share;
      }
    }
    all.push_back(std::move(load));
  }
  return all;
}

}  // namespace isleway::report
