// What has changed since a saved state.
#include <algorithm>

#include "check/derivation.hpp"
#include "check/node_profile.hpp"
#include "check/words.hpp"

namespace isleway::check {
namespace {

struct Changes {
  std::vector<std::string> subjects, now, before;
  std::vector<const Signal*> lines;
};

class DriftJudge {
 public:
  DriftJudge(NodeFacts& node, const ProfileEntry& entry,
             const std::map<std::string, std::string>& saved)
      : node_(node), entry_(entry), saved_(saved) {}

  /// How many values were compared. Nothing that was not asked for this time counts as gone.
  std::size_t judge() {
    const ProfileValues values = profile_values(node_, entry_);
    if (values.empty()) return 0;
    const Signal* line = values.begin()->second.line;
    std::size_t compared = 0;
    Changes changed, gone, added;
    for (const auto& [key, before] : saved_) {
      const auto found = values.find(key);
      ++compared;
      if (found == values.end()) note(gone, key, "gone", before, line);
      else if (found->second.text != before)
        note(changed, key, found->second.text, before, found->second.line);
    }
    for (const auto& [key, value] : values)
      if (saved_.count(key) == 0) note(added, key, value.text, "not there", value.line);
    emit(changed, entry_.drift);
    emit(gone, entry_.drift);
    emit(added, std::max(entry_.drift, Severity::note));
    any = !changed.now.empty() || !gone.now.empty() || !added.now.empty();
    return compared;
  }

  bool any = false;

 private:
  static void note(Changes& changes, const std::string& key, const std::string& now,
                   const std::string& before, const Signal* line) {
    changes.subjects.push_back(key.empty() ? "" : subject_text(key));
    changes.now.push_back(now);
    changes.before.push_back(before);
    changes.lines.push_back(line);
  }

  void emit(const Changes& changes, Severity severity) {
    if (changes.now.empty()) return;
    const std::string subjects = list_text(changes.subjects, 6);
    node_.add(Derived{
        {std::string("drift.") + name_of(severity), "", "", list_text(changes.now, 4), "", {}, ""},
        changes.lines,
        {{"title", entry_.title},
         {"subjects", subjects.empty() ? "" : " (" + subjects + ")"},
         {"before", list_text(changes.before, 4)}}});
  }

  NodeFacts& node_;
  const ProfileEntry& entry_;
  const std::map<std::string, std::string>& saved_;
};

void derive_drift(Facts& facts, const Input&, const Context& context) {
  if (!context.baseline) return;
  std::size_t compared = 0;
  bool any = false;
  for (NodeFacts& node : facts.nodes()) {
    const auto saved = context.baseline->nodes.find(node.name());
    if (saved == context.baseline->nodes.end()) continue;
    for (const ProfileEntry& entry : context.rules.profile.entries) {
      const auto values = saved->second.find(entry.signal);
      if (values == saved->second.end()) continue;
      DriftJudge judge(node, entry, values->second);
      compared += judge.judge();
      any |= judge.any;
    }
  }
  for (const auto& [name, saved] : context.baseline->nodes) {
    const auto& nodes = facts.nodes();
    if (std::none_of(nodes.begin(), nodes.end(),
                     [&, &gone = name](const NodeFacts& node) { return node.name() == gone; }))
      facts.cluster().add(Derived{{"drift.node_gone", name, "", name, "", {}, ""}, {}, {}});
  }
  if (!any && compared > 0)
    facts.cluster().add(Derived{{"drift.none", "", "", double(compared), "", {}, ""}, {}, {}});
}

}  // namespace

extern const Derivation drift_derivation;
const Derivation drift_derivation = {"Changes since a saved state", derive_drift};

}  // namespace isleway::check
