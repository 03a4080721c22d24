#include "isleway/report/serve.hpp"
#include "report/json.hpp"
#include "report/serve_rows.hpp"

namespace isleway::report {
namespace {

constexpr double kMicro = 1e6;

Json layout_json(const plan::ServeLayout& layout) {
  Json json;
  json["tp"] = layout.tensor;
  json["dp"] = layout.data;
  json["ep"] = layout.expert;
  json["pp"] = layout.pipeline;
  json["workers"] = layout.workers;
  return json;
}

Json estimate_json(const ServeHeading& heading, const plan::ServeEstimate& e) {
  Json json;
  json["layout"] = layout_json(e.layout);
  json["decode"] = e.decode ? layout_json(*e.decode) : Json();
  json["gpus"] = e.gpus;
  json["concurrency"] = rounded(e.concurrency, 3);
  json["running"] = rounded(e.running, 3);
  json["ttft_us"] = rounded(e.ttft * kMicro, 3);
  json["tpot_us"] = rounded(e.tpot * kMicro, 3);
  json["requests_per_s"] = rounded(e.requests_per_second, 6);
  json["output_tokens_per_s"] = rounded(e.output_per_second, 3);
  json["output_tokens_per_s_per_gpu"] = rounded(e.output_per_gpu, 3);
  json["output_tokens_per_s_per_user"] = rounded(e.user_speed(), 3);
  json["dollars_per_million_tokens"] =
      heading.price > 0 ? Json(rounded(dollars_per_million(heading.price, e), 6)) : Json();
  json["prefill_us"] = rounded(e.prefill * kMicro, 3);
  json["transfer_us"] = rounded(e.transfer * kMicro, 3);
  for (const StepPart& part : step_parts(e.step))
    json["step_us"][part.name] = rounded(part.seconds * kMicro, 3);
  const plan::ServeMemory& m = e.memory;
  json["memory_bytes"] = {{"capacity", rounded(m.capacity, 0)},
                          {"weights", rounded(m.weights, 0)},
                          {"activations", rounded(m.activations, 0)},
                          {"other", rounded(m.overhead, 0)},
                          {"cache", rounded(m.cache, 0)},
                          {"request", rounded(m.sequence, 0)}};
  json["cache_full"] = e.cache_full;
  json["ceiling"] = e.ceiling;
  json["link"] = text_or_null(e.link);
  return json;
}

}  // namespace

std::string serve_json(const ServeHeading& heading, const plan::ServeJob& job,
                       const plan::ServePlan& plan) {
  Json json;
  json["machine"] = heading.machine;
  json["gpus"] = heading.gpus;
  json["gpu"] = heading.gpu;
  json["extrapolated"] = text_or_null(heading.extrapolated);
  json["model"] = heading.model;
  json["precision"] = model::name_of(job.precision);
  json["kv_precision"] = model::name_of(job.kv_precision);
  json["input_tokens"] = job.input;
  json["output_tokens"] = job.output;
  json["software"] = job.software.name;
  json["smallest"] = plan.smallest ? layout_json(*plan.smallest) : Json();
  json["tried"] = plan.tried;
  json["layouts"] = Json::array();
  for (const auto& e : plan.layouts) json["layouts"].push_back(estimate_json(heading, e));
  json["front"] = Json::array();
  for (const auto& e : plan.front) json["front"].push_back(estimate_json(heading, e));
  json["rejected"] = Json::array();
  for (const auto& r : plan.rejected)
    json["rejected"].push_back({{"layout", r.layout}, {"count", r.count}, {"why", r.why}});
  json["commands"] = Json::array();
  for (const auto& c : plan::serve_commands(job, plan.layouts.front(), heading.model_id))
    json["commands"].push_back({{"software", c.software}, {"command", c.text}});
  return document(json);
}

}  // namespace isleway::report
