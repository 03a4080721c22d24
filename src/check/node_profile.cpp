#include "check/node_profile.hpp"

#include <algorithm>

#include "check/words.hpp"

namespace isleway::check {

std::string profile_key(const Signal& signal) {
  return signal.peer.empty() ? signal.subject : signal.subject + " to " + signal.peer;
}

ProfileValues profile_values(const NodeFacts& node, const ProfileEntry& entry) {
  ProfileValues values;
  std::map<std::string, int> count;
  const Signal* first = nullptr;
  for (const Fact& fact : node.named(entry.signal)) {
    const Signal& signal = *fact.signal;
    if (!is_like_any(signal.subject, entry.subjects)) continue;
    if (entry.per_subject) {
      values.emplace(profile_key(signal),
                     ProfileValue{entry.presence ? "there" : value_text(signal), &signal});
    } else {
      // Once a subject, however many outputs repeat it.
      if (!values.emplace("seen " + signal.subject, ProfileValue{}).second) continue;
      ++count[value_text(signal)];
      if (!first) first = &signal;
    }
  }
  if (entry.per_subject || !first) return values;
  std::string text;
  for (const auto& [value, times] : count)
    text += (text.empty() ? "" : ", ") + (times > 1 ? std::to_string(times) + " x " : "") + value;
  return {{"", {text, first}}};
}

}  // namespace isleway::check
