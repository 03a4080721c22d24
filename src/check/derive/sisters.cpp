// Nodes of one cluster compared: the odd one out, and a GPU that one lacks.
#include <algorithm>
#include <map>

#include "check/derivation.hpp"
#include "check/node_profile.hpp"
#include "check/words.hpp"

namespace isleway::check {
namespace {

/// What differs on one node in one respect.
struct Difference {
  std::vector<std::string> subjects, here, usual;
  std::vector<const Signal*> lines;
  std::size_t sisters = 0, of = 0;
};

/// The value that most nodes have; nothing where no value has more than half of them.
struct Usual {
  std::string value;
  std::size_t nodes = 0, of = 0;
  const Signal* line = nullptr;
};

std::map<std::string, Usual> usual_values(const std::vector<ProfileValues>& by_node) {
  std::map<std::string, std::map<std::string, std::pair<std::size_t, const Signal*>>> count;
  for (const ProfileValues& values : by_node)
    for (const auto& [key, value] : values) {
      auto& [nodes, line] = count[key][value.text];
      ++nodes;
      line = value.line;
    }
  std::map<std::string, Usual> usual;
  for (const auto& [key, values] : count) {
    std::size_t of = 0;
    for (const auto& [value, entry] : values) of += entry.first;
    for (const auto& [value, entry] : values)
      if (2 * entry.first > of && entry.first > 1)
        usual.emplace(key, Usual{value, entry.first, of, entry.second});
  }
  return usual;
}

class SisterJudge {
 public:
  SisterJudge(Facts& facts, const ProfileEntry& entry) : facts_(facts), entry_(entry) {
    for (const NodeFacts& node : facts.nodes()) by_node_.push_back(profile_values(node, entry));
  }

  void judge() {
    const auto usual = usual_values(by_node_);
    std::size_t at = 0;
    for (NodeFacts& node : facts_.nodes()) judge(node, by_node_[at++], usual);
    if (facts_.nodes().size() == 2) two_that_differ();
  }

 private:
  void judge(NodeFacts& node, const ProfileValues& values,
             const std::map<std::string, Usual>& usual) {
    if (values.empty()) return;  // the output was not collected there
    Difference other, missing;
    for (const auto& [key, most] : usual) {
      const auto found = values.find(key);
      if (found == values.end()) {
        // A device of which most nodes tell; anything else may simply not have been asked for.
        if (!entry_.per_subject || 4 * most.of < 3 * facts_.nodes().size()) continue;
        note(missing, key, "", most, values.begin()->second.line);
      } else if (found->second.text != most.value) {
        note(other, key, found->second.text, most, found->second.line);
      }
    }
    emit(node, "sister.", other);
    emit(node, "sister.missing_", missing);
  }

  static void note(Difference& difference, const std::string& key, const std::string& here,
                   const Usual& usual, const Signal* line) {
    difference.subjects.push_back(key);
    difference.here.push_back(here);
    difference.usual.push_back(usual.value);
    difference.sisters = std::max(difference.sisters, usual.nodes);
    difference.of = std::max(difference.of, usual.of);
    difference.lines.push_back(line);
    if (difference.lines.size() < 12) difference.lines.push_back(usual.line);
  }

  void emit(NodeFacts& node, const std::string& prefix, const Difference& difference) {
    if (difference.subjects.empty()) return;
    std::vector<std::string> subjects;
    for (const std::string& key : difference.subjects)
      if (!key.empty()) subjects.push_back(subject_text(key));
    Derived fact{
        {prefix + name_of(entry_.severity), "", "", list_text(difference.here, 4), "", {}, ""},
        difference.lines,
        {}};
    fact.words = {{"title", entry_.title},
                  {"subjects", subjects.empty() ? "" : " (" + list_text(subjects, 6) + ")"},
                  {"usual", list_text(difference.usual, 4)},
                  {"sisters", std::to_string(difference.sisters)},
                  {"of", std::to_string(difference.of)}};
    node.add(std::move(fact));
  }

  /// Of two nodes neither is the odd one.
  void two_that_differ() {
    Difference difference;
    std::vector<std::string> second;
    for (const auto& [key, value] : by_node_[0]) {
      const auto found = by_node_[1].find(key);
      if (found == by_node_[1].end() || found->second.text == value.text) continue;
      difference.subjects.push_back(key.empty() ? "" : subject_text(key));
      difference.here.push_back(value.text);
      second.push_back(found->second.text);
      difference.lines.push_back(value.line);
      difference.lines.push_back(found->second.line);
    }
    if (second.empty()) return;
    const std::string subjects = list_text(difference.subjects, 6);
    Derived fact{{std::string("sister.two_") + name_of(entry_.severity),
                  "",
                  "",
                  list_text(difference.here, 4),
                  "",
                  {},
                  ""},
                 difference.lines,
                 {{"title", entry_.title},
                  {"subjects", subjects.empty() ? "" : " (" + subjects + ")"},
                  {"first", facts_.nodes()[0].name()},
                  {"second", facts_.nodes()[1].name()},
                  {"other", list_text(second, 4)}}};
    facts_.cluster().add(std::move(fact));
  }

  Facts& facts_;
  const ProfileEntry& entry_;
  std::vector<ProfileValues> by_node_;
};

void derive_sisters(Facts& facts, const Input&, const Context& context) {
  if (facts.nodes().size() < 2) return;
  for (const ProfileEntry& entry : context.rules.profile.entries)
    if (entry.compare) SisterJudge(facts, entry).judge();
}

}  // namespace

extern const Derivation sisters_derivation;
const Derivation sisters_derivation = {"Nodes compared with one another", derive_sisters};

}  // namespace isleway::check
