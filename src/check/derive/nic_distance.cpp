// Which GPU has a NIC near it, who shares one, and which NICs serve no GPU.
#include <algorithm>
#include <map>

#include "check/derivation.hpp"
#include "check/nic_distances.hpp"
#include "check/words.hpp"

namespace isleway::check {
namespace {

using Words = std::vector<std::pair<std::string, std::string>>;

/// Several functions of one card on one switch are no rails of their own.
constexpr std::size_t kManyNear = 3;

class NicJudge {
 public:
  explicit NicJudge(NodeFacts& node) : node_(node), distances_(node) {}

  void judge() {
    if (distances_.gpus() == 0 || distances_.nics() == 0) return;
    near_.resize(static_cast<std::size_t>(distances_.gpus()));
    for (int g = 0; g < distances_.gpus(); ++g) near_[g] = distances_.near_nics(g);
    const auto with = std::count_if(near_.begin(), near_.end(), [](auto& n) { return !n.empty(); });
    if (with == 0) return none_near();
    for (int g = 0; g < distances_.gpus(); ++g)
      if (near_[g].empty())
        add(2 * with <= distances_.gpus() ? "nic.half_near" : "nic.none_near", distances_.gpu(g),
            line(g, 0),
            {{"distance", name_of(distances_.nearest_of_gpu(g))},
             {"with", std::to_string(with)},
             {"gpus", std::to_string(distances_.gpus())}});
    far_nics();
    map();
  }

 private:
  const Signal* line(int g, int n) const { return distances_.line(g, n); }

  void add(const char* name, const std::string& subject, const Signal* from, Words words,
           double value = 1) {
    Derived fact{{name, subject, "", value, "", {}, ""}, {}, std::move(words)};
    if (from) fact.from.push_back(from);
    node_.add(std::move(fact));
  }

  void none_near() {
    Distance nearest = Distance::none;
    for (int g = 0; g < distances_.gpus(); ++g)
      nearest = std::min(nearest, distances_.nearest_of_gpu(g));
    Words words = {{"distance", name_of(nearest)},
                   {"nics", std::to_string(distances_.nics())},
                   {"gpus", std::to_string(distances_.gpus())}};
    std::vector<std::string> closest;
    for (int g = 0; g < distances_.gpus(); ++g)
      if (distances_.nearest_of_gpu(g) == nearest && nearest < Distance::sys)
        closest.push_back(subject_text(distances_.gpu(g)));
    words.emplace_back("closest", closest.empty() ? "none is closer" : list_text(closest));
    // On Grace, GPU memory is NUMA nodes of its own, and topo -m prints SYS to every NIC.
    const Signal* gpu_numa = node_.find("topo.gpu_numa");
    const bool is_grace = gpu_numa && whole_number(*gpu_numa).value_or(-1) >= 0;
    add(is_grace ? "nic.all_far_on_grace" : "nic.all_far", "", line(0, 0), std::move(words));
  }

  /// Where GPUs have near NICs, the others serve storage or management.
  void far_nics() {
    std::vector<std::string> far;
    const Signal* from = nullptr;
    for (int n = 0; n < distances_.nics(); ++n) {
      if (NicDistances::is_near(distances_.nearest_of_nic(n))) continue;
      far.push_back(distances_.nic(n));
      if (!from) from = line(0, n);
    }
    if (far.empty()) return;
    Words words = {{"nics", list_text(far)}, {"near", near_list()}};
    add("nic.serves_no_gpu", "", from, std::move(words), static_cast<double>(far.size()));
  }

  std::string near_list() const {
    std::vector<std::string> names;
    for (int n = 0; n < distances_.nics(); ++n)
      if (NicDistances::is_near(distances_.nearest_of_nic(n))) names.push_back(distances_.nic(n));
    std::sort(names.begin(), names.end(), counts_before);
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
    return text;
  }

  void map() {
    std::string pairs;
    std::map<std::vector<int>, std::vector<std::string>> gpus_of;
    bool in_order = true, rails = distances_.gpus() > 1;
    int last = -1;
    for (int g = 0; g < distances_.gpus(); ++g) {
      const auto& near = near_[g];
      if (near.empty()) {
        rails = false;
        continue;
      }
      std::vector<std::string> names;
      for (const int n : near) names.push_back(distances_.nic(n));
      pairs += (pairs.empty() ? "" : "; ") + subject_text(distances_.gpu(g)) + ": " +
               list_text(names, 6);
      gpus_of[near].push_back(subject_text(distances_.gpu(g)));
      rails = rails && near.size() == 1;
      in_order = in_order && near[0] >= last;
      last = near[0];
    }
    shared(gpus_of);
    rails = rails && static_cast<int>(gpus_of.size()) == distances_.gpus();
    Words words = {{"map", pairs}};
    add(rails ? "nic.rails" : "nic.map", "", line(0, 0), words,
        static_cast<double>(gpus_of.size()));
    if (!in_order) add("nic.order", "", line(0, 0), words);
  }

  void shared(const std::map<std::vector<int>, std::vector<std::string>>& gpus_of) {
    for (const auto& [nics, gpus] : gpus_of) {
      std::vector<std::string> names;
      for (const int n : nics) names.push_back(distances_.nic(n));
      const Words words = {{"gpus", list_text(gpus)},
                           {"nics", list_text(names)},
                           {"count_gpus", std::to_string(gpus.size())},
                           {"count_nics", std::to_string(nics.size())}};
      const Signal* from = nullptr;
      for (int g = 0; g < distances_.gpus() && !from; ++g)
        if (near_[g] == nics) from = line(g, nics[0]);
      if (gpus.size() > nics.size()) add("nic.shared", "", from, words, double(gpus.size()));
      if (nics.size() > std::max(kManyNear, gpus.size()) ||
          (nics.size() > kManyNear && nics.size() >= gpus.size()))
        add("nic.many_near", "", from, words, double(nics.size()));
    }
  }

  NodeFacts& node_;
  NicDistances distances_;
  std::vector<std::vector<int>> near_;
};

void derive_nic_distance(Facts& facts, const Input&, const Context&) {
  for (NodeFacts& node : facts.nodes()) NicJudge(node).judge();
}

}  // namespace

extern const Derivation nic_distance_derivation;
const Derivation nic_distance_derivation = {"NICs: distance to GPUs, rails, shares",
                                            derive_nic_distance};

}  // namespace isleway::check
