// The driver's and the switches' errors: which came first, and which only follow.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "check/derivation.hpp"
#include "check/words.hpp"

namespace isleway::check {
namespace {

struct Event {
  const Signal* line = nullptr;
  bool of_switch = false;
  int code = 0;
  std::string device, link, unit, severity;
  int caused_by = 0;
  Severity level = Severity::warning;
  const XidMeaning* meaning = nullptr;
};

/// Facts of one name by the line that states them and the device.
class ByLine {
 public:
  ByLine(const NodeFacts& node, std::string_view name) {
    for (const Fact& fact : node.named(name)) facts_.emplace(key_of(*fact.signal), fact.signal);
  }
  /// What stands beside a code, in the same line; null when nothing does.
  const Signal* beside(const Signal& line) const {
    const auto found = facts_.find(key_of(line));
    return found == facts_.end() ? nullptr : found->second;
  }

 private:
  using Key = std::tuple<int, std::string_view, std::string_view>;
  static Key key_of(const Signal& signal) {
    return {signal.where.line, signal.where.file, signal.subject};
  }
  std::map<Key, const Signal*> facts_;
};

class XidJudge {
 public:
  XidJudge(NodeFacts& node, const XidTable& table) : node_(node), table_(table) {}

  void judge() {
    collect("xid", false, table_.xids);
    collect("sxid", true, table_.sxids);
    if (events_.empty()) return;
    for (const Event& event : events_) {
      if (event.caused_by > 0) codes_.insert({false, event.caused_by});
      if (event.level == Severity::critical && event.of_switch) fatal_switch_ = true;
      codes_.insert({event.of_switch, event.code});
    }
    roots();
    emit();
  }

 private:
  void collect(const std::string& prefix, bool of_switch, const std::map<int, XidMeaning>& known) {
    const ByLine links(node_, prefix + ".link"), units(node_, prefix + ".unit"),
        severities(node_, prefix + ".severity"), causes(node_, prefix + ".caused_by");
    for (const Fact& fact : node_.named(prefix + ".code")) {
      Event event;
      event.line = fact.signal;
      event.of_switch = of_switch;
      event.device = fact.signal->subject;
      event.code = static_cast<int>(number_of(*fact.signal));
      const auto beside = [&](const ByLine& facts) -> std::string {
        const Signal* found = facts.beside(*fact.signal);
        return found ? value_text(*found) : "";
      };
      event.link = beside(links);
      event.unit = beside(units);
      event.severity = beside(severities);
      if (const Signal* cause = causes.beside(*fact.signal))
        event.caused_by = static_cast<int>(number_of(*cause));
      const auto found = known.find(event.code);
      if (found != known.end()) event.meaning = &found->second;
      const bool nonfatal = is_like(event.severity, "non*fatal");
      if (event.meaning) event.level = nonfatal ? event.meaning->nonfatal : event.meaning->severity;
      else event.level = is_like(event.severity, "fatal") ? Severity::critical : Severity::warning;
      events_.push_back(std::move(event));
    }
  }

  bool explained(const Event& event) const {
    if (event.caused_by > 0) return true;
    if (!event.meaning) return false;
    if (!event.of_switch && event.meaning->follows_sxid && fatal_switch_) return true;
    return std::any_of(event.meaning->follows.begin(), event.meaning->follows.end(), [&](int code) {
      return code != event.code && codes_.count({event.of_switch, code}) > 0;
    });
  }

  /// Where later messages name what came before, the device with the cause of all.
  void roots() {
    std::map<int, std::set<std::string>> devices_by_cause;
    std::map<int, const Signal*> line;
    for (const Event& event : events_) {
      if (event.caused_by == 0) continue;
      devices_by_cause[event.caused_by].insert(event.device);
      line.emplace(event.caused_by, event.line);
    }
    for (const auto& [code, devices] : devices_by_cause) {
      const auto known = table_.xids.find(code);
      const bool is_effect =
          known != table_.xids.end() &&
          std::any_of(known->second.follows.begin(), known->second.follows.end(), [&](int other) {
            return codes_.count({false, other}) > 0;
          });
      if (is_effect || codes_logged(code)) continue;
      for (const std::string& device : devices) {
        Derived fact{{"xid.root", device, "", double(code), "", {}, ""}, {line[code]}, {}};
        describe(fact, code, false, known == table_.xids.end() ? nullptr : &known->second);
        node_.add(std::move(fact));
      }
    }
  }

  bool codes_logged(int code) const {
    return std::any_of(events_.begin(), events_.end(),
                       [&](const Event& event) { return !event.of_switch && event.code == code; });
  }

  static void describe(Derived& fact, int code, bool of_switch, const XidMeaning* meaning) {
    fact.words.emplace_back("number", (of_switch ? "SXid " : "Xid ") + std::to_string(code));
    fact.words.emplace_back("title", meaning ? meaning->title : "not in rules/xid.yaml");
    fact.words.emplace_back(
        "action", meaning ? meaning->action : "look the number up in NVIDIA's list of Xid errors");
  }

  void emit() {
    std::map<std::tuple<std::string, bool, int, std::string, std::string, int>,
             std::vector<const Event*>>
        same;
    std::vector<decltype(same)::key_type> order;
    for (const Event& event : events_) {
      const auto key = std::tuple(event.device, event.of_switch, event.code, event.link, event.unit,
                                  event.caused_by);
      auto& list = same[key];
      if (list.empty()) order.push_back(key);
      list.push_back(&event);
    }
    for (const auto& key : order) {
      const auto& events = same[key];
      const Event& first = *events[0];
      const char* name = explained(first)                              ? "xid.victim"
                         : first.level == Severity::critical           ? "xid.critical"
                         : first.meaning && first.meaning->application ? "xid.application"
                         : first.level == Severity::warning            ? "xid.warning"
                                                                       : "xid.note";
      Derived fact{{name, first.device, "", double(first.code), "", {}, ""}, {}, {}};
      for (const Event* event : events) fact.from.push_back(event->line);
      describe(fact, first.code, first.of_switch, first.meaning);
      const bool has_link = !first.link.empty() && first.link != "-1";
      fact.words.emplace_back("link", has_link ? " link " + first.link : "");
      fact.words.emplace_back("unit", first.unit.empty() ? "" : " (" + first.unit + ")");
      fact.words.emplace_back("times", events.size() == 1
                                           ? std::string("once")
                                           : std::to_string(events.size()) + " times");
      fact.words.emplace_back("before", first.caused_by > 0
                                            ? "Xid " + std::to_string(first.caused_by)
                                            : "an error before it");
      node_.add(std::move(fact));
    }
  }

  NodeFacts& node_;
  const XidTable& table_;
  std::vector<Event> events_;
  std::set<std::pair<bool, int>> codes_;
  bool fatal_switch_ = false;
};

void derive_xid(Facts& facts, const Input&, const Context& context) {
  for (NodeFacts& node : facts.nodes()) XidJudge(node, context.rules.xids).judge();
}

}  // namespace

extern const Derivation xid_derivation;
const Derivation xid_derivation = {"Xid and SXid: causes and what follows from them", derive_xid};

}  // namespace isleway::check
