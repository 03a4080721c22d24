// The JSON that nccl-tests 2.19 writes with -J (github.com/NVIDIA/nccl-tests, src/util.cu).
#include <fmt/format.h>

#include "isleway/core.hpp"
#include "isleway/report/bench.hpp"
#include "report/gpu_names.hpp"
#include "report/json.hpp"

namespace isleway::report {
namespace {

constexpr int kFileVersion = 3;

/// nccl-tests writes switches as words.
const char* word(bool value) { return value ? "true" : "false"; }

Json devices_json(const Fabric& fabric, const Parts& parts) {
  Json devices = Json::array();
  for (GpuId rank = 0; rank < fabric.gpu_count(); ++rank) {
    const DeviceRef ref = fabric.gpu(rank);
    const BusAddress bus = bus_address(fabric, rank);
    Json device;
    device["rank"] = rank;
    device["group"] = 0;
    device["pid"] = 0;
    device["hostname"] = fmt::format("node{}", fabric.host_of(ref));
    device["device"] = fabric.device(ref).index;
    device["device_hex"] = fmt::format("{:04x}:{:02x}:{:02x}", bus.domain, bus.bus, bus.device);
    device["device_info"] = gpu_title(fabric, parts, rank);
    devices.push_back(std::move(device));
  }
  return devices;
}

Json config_json(const NcclTestsSettings& settings, const Fabric& fabric, const Parts& parts) {
  Json config;
  config["nthreads"] = 1;
  config["ngpus"] = settings.gpus_per_process;
  config["minimum_bytes"] = settings.range.first;
  config["maximum_bytes"] = settings.range.last;
  if (settings.range.factor > 1) config["step_factor"] = settings.range.factor;
  else config["step_bytes"] = settings.range.step;
  config["warmup_iters"] = settings.warmup;
  config["iterations"] = settings.iterations;
  config["aggregated_iterations"] = 1;
  config["validation"] = settings.check;
  config["graph"] = settings.graph;
  config["blocking_collectives"] = word(false);
  config["per_iter_timing"] = word(false);
  config["per_iter_skip"] = 0;
  config["parallel_init"] = word(false);
  config["devices"] = devices_json(fabric, parts);
  return config;
}

Json side_json(const nccl::BenchSpeed& speed, bool checked) {
  Json side;
  side["time"] = rounded(speed.time.us(), 6);
  side["alg_bw"] = rounded(speed.algbw_GBs, 6);
  side["bus_bw"] = rounded(speed.busbw_GBs, 6);
  side["nwrong"] = checked ? Json(0.0) : Json();
  return side;
}

Json result_json(const BenchRun& run, const nccl::BenchRow& row, int iterations) {
  Json result;
  result["size"] = row.size.bytes;
  result["count"] = row.size.count;
  result["type"] = run.type.name;
  result["redop"] = run.shown_reduction();
  result["root"] = fmt::format("{:6}", run.shown_root());
  result["out_of_place"] = side_json(row, row.checked);
  result["in_place"] = side_json(row.in_place, row.checked);
  result["actual_iterations"] = iterations;
  result["experiment_name"] = "";
  return result;
}

}  // namespace

std::string nccl_tests_json(std::span<const BenchRun> runs, const NcclTestsSettings& settings,
                            const Fabric& fabric, const Parts& parts,
                            const std::map<std::string, std::string>& env) {
  Json json;
  json["version"] = kFileVersion;
  json["start_time"] = Json();
  json["args"] = Json::array();
  if (!runs.empty()) json["args"].push_back(nccl_tests_program(runs.front().collective));
  json["env"] = Json::array();
  for (const auto& [name, value] : env) json["env"].push_back(name + "=" + value);
  json["nccl_version"] = runs.empty() ? 0 : version_code(runs.front().nccl_version);
  json["config"] = config_json(settings, fabric, parts);
  json["results"] = Json::array();
  for (const BenchRun& run : runs)
    for (const nccl::BenchRow& row : run.rows)
      json["results"].push_back(result_json(run, row, settings.iterations));
  json["out_of_bounds"]["count"] = 0;
  json["out_of_bounds"]["okay"] = word(true);
  json["average_bus_bandwidth"]["bandwidth"] = rounded(average_busbw(runs), 6);
  json["average_bus_bandwidth"]["okay"] = "unchecked";
  json["end_time"] = Json();
  return document(json);
}

}  // namespace isleway::report
