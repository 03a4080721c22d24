// Signals made by hand, and what is found in them.
#pragma once

#include <gtest/gtest.h>

#include "isleway/check.hpp"

namespace isleway::check {

class CheckTest : public testing::Test {
 protected:
  CheckTest() : catalogue_(known_machines()), rules_(known_rules()) {}

  void say(std::string name, std::string subject, std::variant<double, std::string> value,
           std::string peer = {}, std::string node = {}) {
    const int line = static_cast<int>(signals_.size()) + 1;
    const std::string quote = name + " of " + subject;
    signals_.push_back({std::move(name),
                        std::move(subject),
                        std::move(peer),
                        std::move(value),
                        std::move(node),
                        {"paste.txt", line, 0},
                        quote});
  }

  /// A matrix as topo -m prints it: `widths[a][b]` NVLinks, 0 for SYS.
  void say_matrix(const std::vector<std::vector<int>>& widths, const std::string& node = {}) {
    for (std::size_t a = 0; a < widths.size(); ++a)
      for (std::size_t b = 0; b < widths.size(); ++b) {
        if (a == b) continue;
        const int width = widths[a][b];
        say("topo.link", "gpu" + std::to_string(a),
            width > 0 ? "NV" + std::to_string(width) : std::string("SYS"),
            "gpu" + std::to_string(b), node);
      }
  }
  void say_mesh(int gpus, int width, const std::string& node = {}) {
    say_matrix(std::vector<std::vector<int>>(gpus, std::vector<int>(gpus, width)), node);
  }

  Report find() const { return check(Input{signals_, {}}, {catalogue_, rules_, {}, {}, {}}); }

  /// The finding of a rule; null when there is none. `report` must outlive it.
  static const Finding* finding(const Report& report, std::string_view rule) {
    for (const Finding& finding : report.findings)
      if (finding.rule == rule) return &finding;
    return nullptr;
  }

  /// Read once: the files take longer than the tests.
  static const Catalogue& known_machines() {
    static const Catalogue machines = Catalogue::open(ISLEWAY_SOURCE_DIR "/machines").value();
    return machines;
  }
  static const RuleBook& known_rules() {
    static const RuleBook rules = RuleBook::load(ISLEWAY_SOURCE_DIR "/rules").value();
    return rules;
  }

  const Catalogue& catalogue_;
  RuleBook rules_;
  formats::Signals signals_;
};

}  // namespace isleway::check
