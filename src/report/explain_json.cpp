#include "isleway/report/explain.hpp"
#include "report/json.hpp"

namespace isleway::report {
namespace {

Json us(Time time) { return rounded(time.us(), 6); }

void add_way(Json& json, nccl::Algorithm algorithm, nccl::Protocol protocol) {
  json["algorithm"] = name_of(algorithm);
  json["protocol"] = name_of(protocol);
}

void add_decision(Json& json, const nccl::Decision& decision) {
  add_way(json, decision.algorithm, decision.protocol);
  json["channels"] = decision.channels;
  json["threads"] = decision.threads;
  json["chunk_bytes"] = decision.chunking.chunk_bytes;
  json["slice_bytes"] = decision.chunking.slice_bytes;
}

Json candidate_json(const nccl::Alternative& alternative) {
  Json json;
  add_way(json, alternative.candidate.algorithm, alternative.candidate.protocol);
  const auto& estimate = alternative.candidate.estimate;
  json["nccl_estimate_us"] = estimate ? us(*estimate) : Json();
  json["why_not"] = text_or_null(estimate ? alternative.why_no_row : alternative.candidate.why_not);
  json["time_us"] = alternative.row ? us(alternative.row->time) : Json();
  json["busbw_GBs"] = alternative.row ? Json(rounded(alternative.row->busbw_GBs, 4)) : Json();
  if (alternative.row) add_decision(json, *alternative.row->decision);
  return json;
}

const char* key_of(nccl::Improvement improvement) {
  switch (improvement) {
    case nccl::Improvement::link_rate: return "link_rate_doubled";
    case nccl::Improvement::sibling_rates: return "sibling_rates_doubled";
    case nccl::Improvement::hop_latency: return "hop_latency_halved";
    case nccl::Improvement::thread_rate: return "thread_rate_doubled";
    case nccl::Improvement::message_cost: return "message_cost_halved";
    case nccl::Improvement::launch: return "launch_halved";
  }
  return "";
}

Json bottleneck_json(const nccl::Explanation& explanation) {
  const nccl::BenchRow& chosen = explanation.chosen;
  if (!chosen.busiest) return {};
  Json json;
  json["link"] = chosen.bottleneck;
  json["busy"] = rounded(chosen.busiest->busy, 4);
  json["siblings"] = explanation.siblings;
  json["limited_by_sender"] = chosen.limited_by_sender;
  return json;
}

Json setting_json(const nccl::SettingEffect& effect) {
  Json json;
  json["name"] = effect.name;
  json["value"] = effect.value;
  add_decision(json, effect.decision);
  json["time_us"] = us(effect.time);
  return json;
}

}  // namespace

std::string explanation_json(const nccl::Question& question, const nccl::Explanation& explanation) {
  const nccl::BenchRow& chosen = explanation.chosen;
  Json json;
  json["machine"] = question.fabric.name();
  json["collective"] = name_of(question.call.collective);
  json["bytes"] = chosen.size.bytes;
  json["datatype"] = question.call.type.name;
  json["ranks"] = question.fabric.gpu_count();
  json["nccl_version"] = question.options.version.text();
  json["engine"] = question.engine.name();
  add_decision(json["choice"], *chosen.decision);
  json["choice"]["nccl_estimate_us"] = us(chosen.decision->estimate);
  json["time_us"] = us(chosen.time);
  json["busbw_GBs"] = rounded(chosen.busbw_GBs, 4);
  json["latency_share"] = rounded(chosen.latency_share, 4);
  const nccl::Alternative* best = explanation.fastest();
  json["choice_is_fastest"] = best == nullptr || best->row->time >= chosen.time;
  json["bottleneck"] = bottleneck_json(explanation);
  json["candidates"] = Json::array();
  for (const auto& alternative : explanation.alternatives)
    json["candidates"].push_back(candidate_json(alternative));
  json["what_if_us"] = Json::object();
  for (const nccl::WhatIf& what_if : explanation.what_ifs)
    json["what_if_us"][key_of(what_if.improvement)] = us(what_if.time);
  json["settings"] = Json::array();
  for (const auto& effect : explanation.settings) json["settings"].push_back(setting_json(effect));
  json["choices"] = Json::array();
  for (const nccl::ChoiceFrom& choice : explanation.choices) {
    Json entry;
    entry["from_bytes"] = choice.bytes;
    add_way(entry, choice.decision.algorithm, choice.decision.protocol);
    json["choices"].push_back(std::move(entry));
  }
  return document(json);
}

}  // namespace isleway::report
