#include "report/json.hpp"
#include "report/train_rows.hpp"

namespace isleway::report {
namespace {

double whole(double bytes) { return std::round(bytes); }

Json layout_json(const plan::TrainLayout& layout) {
  Json json;
  json["text"] = plan::full_text(layout);
  json["tp"] = layout.tensor;
  json["cp"] = layout.context;
  json["ep"] = layout.expert;
  json["etp"] = layout.expert_tensor;
  json["pp"] = layout.pipeline;
  json["vp"] = layout.virtual_stages;
  json["dp"] = layout.data;
  json["micro_batch"] = layout.micro_batch;
  json["sharding"] = name_of(layout.sharding);
  json["schedule"] = name_of(layout.schedule);
  json["recompute"] = model::name_of(layout.recompute);
  json["sequence_parallel"] = layout.sequence;
  json["order"] = Json::array();
  for (const plan::Dimension dimension : layout.order) json["order"].push_back(name_of(dimension));
  return json;
}

Json memory_json(const plan::StageMemory& memory) {
  return {{"stage", memory.stage},
          {"layers", memory.layers},
          {"weights", whole(memory.weights)},
          {"gradients", whole(memory.gradients)},
          {"optimizer", whole(memory.optimizer)},
          {"activations", whole(memory.activations)},
          {"logits", whole(memory.logits)},
          {"buffers", whole(memory.buffers)},
          {"total", whole(memory.total())}};
}

Json traffic_json(const plan::TrafficRow& row) {
  return {{"kind", name_of(row.part)},
          {"collective", row.collective},
          {"ranks", row.group.ranks()},
          {"stride", row.group.stride[0]},
          {"tier", name_of(row.tier)},
          {"hosts", row.hosts},
          {"link", text_or_null(row.link)},
          {"bytes_per_call", whole(row.bytes)},
          {"calls", rounded(row.calls, 3)},
          {"bytes_sent", whole(row.sent)},
          {"seconds", rounded(row.time.seconds(), 9)},
          {"exposed_seconds", rounded(row.exposed.seconds(), 9)}};
}

Json estimate_json(const plan::TrainEstimate& estimate) {
  Json json;
  json["layout"] = layout_json(estimate.layout);
  json["micro_batches"] = estimate.micro_batches;
  json["step_seconds"] = rounded(estimate.step.seconds(), 9);
  json["tokens_per_gpu_second"] = rounded(estimate.tokens_per_gpu_second, 3);
  json["model_tflops_per_gpu"] = rounded(estimate.model_flops * 1e-12, 3);
  json["mfu"] = rounded(estimate.mfu, 5);
  json["fits"] = estimate.fits();
  json["needed_bytes"] = whole(estimate.needed);
  json["capacity_bytes"] = whole(estimate.capacity);
  json["parts_seconds"] = Json::object();
  for (std::size_t i = 0; i < plan::kParts; ++i)
    json["parts_seconds"][name_of(static_cast<plan::Part>(i))] =
        rounded(estimate.parts[i].seconds(), 9);
  json["memory"] = Json::array();
  for (const auto& memory : estimate.memory) json["memory"].push_back(memory_json(memory));
  json["traffic"] = Json::array();
  for (const auto& row : estimate.traffic) json["traffic"].push_back(traffic_json(row));
  return json;
}

Json tensor_json(const plan::TensorStep& step) {
  return {{"tp", step.tensor},
          {"compute_seconds", rounded(step.compute.seconds(), 12)},
          {"traffic_seconds", rounded(step.traffic.seconds(), 12)},
          {"needed_GBs", rounded(step.needed.GBs(), 3)},
          {"available_GBs", rounded(step.available.GBs(), 3)}};
}

Json what_if_json(const plan::WhatIf& what) {
  Json json;
  json["change"] = what.change;
  json["step_seconds"] = what.step > Time() ? Json(rounded(what.step.seconds(), 9)) : Json();
  json["best_step_seconds"] =
      what.best_step > Time() ? Json(rounded(what.best_step.seconds(), 9)) : Json();
  json["best_layout"] = what.best_step > Time() ? layout_json(what.best) : Json();
  json["why_not"] = text_or_null(what.why_not);
  return json;
}

}  // namespace

std::string train_json(const TrainAnswer& answer) {
  const plan::TrainJob& job = answer.model.job();
  Json json;
  json["model"] = job.model.name;
  json["machine"] = answer.machine;
  json["gpus"] = answer.model.interconnect().ranks();
  json["sequence"] = job.sequence;
  json["global_batch"] = job.global_batch;
  json["precision"] = name_of(job.precision);
  json["considered"] = answer.search.considered;
  json["fitting"] = answer.search.fitting;
  json["layouts"] = Json::array();
  for (const auto& estimate : answer.search.best)
    json["layouts"].push_back(estimate_json(estimate));
  json["nearest"] = answer.search.nearest ? estimate_json(*answer.search.nearest) : Json();
  json["rejected"] = Json::array();
  for (const auto& one : answer.search.rejected)
    json["rejected"].push_back(
        {{"reason", one.reason}, {"count", one.count}, {"example", plan::full_text(one.example)}});
  json["what_ifs"] = Json::array();
  for (const auto& what : answer.what_ifs) json["what_ifs"].push_back(what_if_json(what));
  json["tensor_groups"] = Json::array();
  for (const auto& step : answer.tensor_steps) json["tensor_groups"].push_back(tensor_json(step));
  json["smallest_fit"] = Json();
  if (answer.smallest)
    json["smallest_fit"] = {{"gpus", answer.smallest->gpus},
                            {"layout", layout_json(answer.smallest->layout)},
                            {"needed_bytes", whole(answer.smallest->needed)}};
  if (!answer.search.best.empty() && answer.price_per_gpu_hour > 0) {
    const double per_token =
        answer.price_per_gpu_hour / 3600 / answer.search.best.front().tokens_per_gpu_second;
    json["cost"] = {
        {"per_gpu_hour", answer.price_per_gpu_hour},
        {"per_million_tokens", rounded(per_token * 1e6, 6)},
        {"per_run",
         answer.run_tokens > 0 ? Json(rounded(per_token * answer.run_tokens, 2)) : Json()}};
  }
  if (!answer.search.best.empty())
    json["megatron"] = plan::megatron_flags(job, answer.search.best.front().layout);
  return document(json);
}

}  // namespace isleway::report
