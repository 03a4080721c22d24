#include "isleway/nccl/explain.hpp"

#include <algorithm>

#include "isleway/core.hpp"
#include "nccl/setting_trials.hpp"

namespace isleway::nccl {
namespace {

class Explainer {
 public:
  Explainer(const Question& question, const Communicator& communicator)
      : question_(question), communicator_(communicator) {}

  Result<Explanation> run();

 private:
  Result<BenchRow> row(const Communicator& communicator, const BenchCall& call) const {
    return bench(question_.fabric, communicator, question_.engine, call, question_.bytes);
  }
  CollectiveCall collective(std::int64_t bytes) const {
    const BenchCall& call = question_.call;
    return {call.collective, {bytes, call.type.bytes}, communicator_.ranks(), call.root};
  }
  void add_alternatives();
  Result<void> add_what_ifs();
  void add_settings();
  void add_choices();

  const Question& question_;
  const Communicator& communicator_;
  Explanation explanation_;
};

void Explainer::add_alternatives() {
  for (Candidate& candidate :
       communicator_.candidates(collective(explanation_.chosen.size.bytes))) {
    Alternative alternative{std::move(candidate), {}, {}};
    if (alternative.candidate.estimate) {
      BenchCall call = question_.call;
      call.algorithm = alternative.candidate.algorithm;
      call.protocol = alternative.candidate.protocol;
      if (auto simulated = row(communicator_, call)) alternative.row = std::move(*simulated);
      else alternative.why_no_row = simulated.error().what;
    }
    explanation_.alternatives.push_back(std::move(alternative));
  }
  std::stable_sort(explanation_.alternatives.begin(), explanation_.alternatives.end(),
                   [](const Alternative& a, const Alternative& b) {
                     return a.candidate.estimate.value_or(Time::max()) <
                            b.candidate.estimate.value_or(Time::max());
                   });
}

/// Runs the call as it was chosen, again and again, each time with something else improved.
Result<void> Explainer::add_what_ifs() {
  const Fabric& fabric = question_.fabric;
  std::optional<Error> error;
  const auto add = [&](Improvement improvement, const Result<Fabric>& machine,
                       Repricing repricing = {}) {
    if (!machine) error = machine.error();
    if (error) return;
    BenchCall call = question_.call;
    call.repricing = std::move(repricing);
    const auto improved = bench(*machine, communicator_, question_.engine, call, question_.bytes);
    if (improved) explanation_.what_ifs.push_back({improvement, improved->time});
    else error = improved.error();
  };
  std::vector<LinkId> alike;
  if (const auto& busiest = explanation_.chosen.busiest) {
    alike = siblings(fabric, busiest->link);
    explanation_.siblings = alike.size();
    add(Improvement::link_rate, with_link_rate(fabric, busiest->link, Scope::alone, 2));
    add(Improvement::sibling_rates, with_link_rate(fabric, busiest->link, Scope::siblings, 2));
    const auto crosses = [&](const Hop& hop) {
      return std::binary_search(alike.begin(), alike.end(), hop.link);
    };
    add(Improvement::hop_latency, fabric, {[&](Connection& connection) {
          if (connection.route != nullptr &&
              std::any_of(connection.route->hops.begin(), connection.route->hops.end(), crosses))
            connection.latency = connection.latency.scaled(0.5);
        }});
  }
  add(Improvement::thread_rate, fabric,
      {[](Connection& connection) { connection.cap = connection.cap * 2; }});
  add(Improvement::message_cost, fabric,
      {[](Connection& connection) { connection.overhead = connection.overhead.scaled(0.5); }});
  add(Improvement::launch, fabric, {{}, 0.5});
  if (error) return tl::unexpected(*error);
  return {};
}

bool same_choice(const Decision& a, const Decision& b) {
  return a.algorithm == b.algorithm && a.protocol == b.protocol && a.channels == b.channels &&
         a.threads == b.threads && a.chunking.chunk_bytes == b.chunking.chunk_bytes;
}

void Explainer::add_settings() {
  const BenchRow& chosen = explanation_.chosen;
  for (const auto& [name, value] : setting_trials(
           question_.fabric, question_.options, communicator_, question_.call, *chosen.decision)) {
    Options options = question_.options;
    options.env[name] = value;
    // What NCCL refuses changes nothing that one could wish for.
    const auto changed = Communicator::create(question_.fabric, question_.parts, options);
    if (!changed) continue;
    const auto simulated = row(**changed, question_.call);
    if (!simulated || !simulated->decision) continue;
    if (same_choice(*simulated->decision, *chosen.decision) && simulated->time == chosen.time)
      continue;
    explanation_.settings.push_back({name, value, *simulated->decision, simulated->time});
  }
  std::stable_sort(explanation_.settings.begin(), explanation_.settings.end(),
                   [](const SettingEffect& a, const SettingEffect& b) { return a.time < b.time; });
}

void Explainer::add_choices() {
  constexpr std::int64_t kSmallest = 1 << 10, kLargest = std::int64_t{16} << 30;
  for (std::int64_t bytes = kSmallest; bytes <= kLargest; bytes *= 2) {
    const auto decision =
        communicator_.decide(collective(bytes), question_.call.algorithm, question_.call.protocol);
    if (!decision) continue;
    auto& choices = explanation_.choices;
    if (choices.empty() || choices.back().decision.algorithm != decision->algorithm ||
        choices.back().decision.protocol != decision->protocol)
      choices.push_back({bytes, *decision});
  }
}

Result<Explanation> Explainer::run() {
  auto chosen = row(communicator_, question_.call);
  if (!chosen) return tl::unexpected(chosen.error());
  if (!chosen->decision)
    return fail("a call of no bytes does nothing: there is nothing to explain", "a size above 0");
  explanation_.chosen = std::move(*chosen);
  add_alternatives();
  if (auto added = add_what_ifs(); !added) return tl::unexpected(added.error());
  add_settings();
  add_choices();
  return std::move(explanation_);
}

}  // namespace

const Alternative* Explanation::fastest() const {
  const Alternative* best = nullptr;
  for (const Alternative& alternative : alternatives)
    if (alternative.row && (best == nullptr || alternative.row->time < best->row->time))
      best = &alternative;
  return best;
}

Result<Explanation> explain(const Question& question) {
  const auto communicator = Communicator::create(question.fabric, question.parts, question.options);
  if (!communicator) return tl::unexpected(communicator.error());
  return Explainer(question, **communicator).run();
}

}  // namespace isleway::nccl
