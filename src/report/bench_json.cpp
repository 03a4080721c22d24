#include "isleway/link.hpp"
#include "isleway/report/bench.hpp"
#include "report/json.hpp"

namespace isleway::report {
namespace {

/// By link and direction, with NVML's names as keys where there are such.
Json counters_json(const std::vector<nccl::NamedCounters>& counters) {
  Json all = Json::array();
  for (const nccl::NamedCounters& one : counters) {
    Json json;
    json["link"] = one.link;
    json["direction"] = one.forward ? "forward" : "backward";
    for (const link::CounterName& name : link::counter_names())
      json[name.nvml != nullptr ? name.nvml : name.key] = one.counters.*name.value;
    json["NVML_FI_DEV_NVLINK_COUNT_SYMBOL_BER"] = link::nvml_ber(one.counters.symbol_ber());
    json["NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_BER"] = link::nvml_ber(one.counters.effective_ber());
    json["symbol_ber"] = one.counters.symbol_ber();
    json["effective_ber"] = one.counters.effective_ber();
    all.push_back(std::move(json));
  }
  return all;
}

Json row_json(const BenchRun& run, const nccl::BenchRow& row) {
  Json json;
  json["bytes"] = row.size.bytes;
  json["time_us"] = rounded(row.time.us(), 6);
  json["algbw_GBs"] = rounded(row.algbw_GBs, 4);
  json["busbw_GBs"] = rounded(row.busbw_GBs, 4);
  json["in_place_time_us"] = rounded(row.in_place.time.us(), 6);
  json["in_place_busbw_GBs"] = rounded(row.in_place.busbw_GBs, 4);
  const auto& decision = row.decision;
  json["algorithm"] = !row.program.empty() ? Json(row.program)
                      : decision           ? Json(name_of(decision->algorithm))
                                           : Json();
  json["protocol"] = decision ? Json(name_of(decision->protocol)) : Json();
  json["channels"] = decision ? Json(decision->channels) : Json();
  json["nccl_estimate_us"] = decision ? Json(rounded(decision->estimate.us(), 4)) : Json();
  json["bottleneck"] = text_or_null(row.bottleneck);
  json["limited_by_sender"] = row.limited_by_sender;
  json["extrapolated"] = run.is_extrapolated(row.size.bytes);
  if (!row.counters.empty()) json["counters"] = counters_json(row.counters);
  return json;
}

Json run_json(const BenchRun& run) {
  Json json;
  json["machine"] = run.machine;
  json["collective"] = name_of(run.collective);
  json["ranks"] = run.ranks;
  json["nodes"] = run.nodes;
  json["engine"] = run.engine;
  json["nccl_version"] = run.nccl_version;
  json["datatype"] = run.type.name;
  json["redop"] = run.shown_reduction();
  json["root"] = run.shown_root();
  json["extrapolated"] = run.announced || !run.measured;
  json["rows"] = Json::array();
  for (const nccl::BenchRow& row : run.rows) json["rows"].push_back(row_json(run, row));
  return json;
}

}  // namespace

std::string bench_json(std::span<const BenchRun> runs) {
  if (runs.size() == 1) return document(run_json(runs[0]));
  Json all = Json::array();
  for (const BenchRun& run : runs) all.push_back(run_json(run));
  return document(all);
}

}  // namespace isleway::report
