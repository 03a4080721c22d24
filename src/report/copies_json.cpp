#include "isleway/report/copies.hpp"
#include "report/json.hpp"

namespace isleway::report {
namespace {

Json matrix_json(const Matrix& matrix) {
  Json rows = Json::array();
  for (const auto& row : matrix) {
    Json cells = Json::array();
    for (const double value : row) cells.push_back(rounded(value, 4));
    rows.push_back(std::move(cells));
  }
  return rows;
}

Json list_json(const std::vector<double>& values) { return matrix_json({values})[0]; }

}  // namespace

std::string copies_json(const Fabric& fabric, const CopyMatrices& copies, const HostCopies& host) {
  Json json;
  json["machine"] = fabric.name();
  json["gpus"] = Json::array();
  for (GpuId id = 0; id < fabric.gpu_count(); ++id)
    json["gpus"].push_back(fabric.device_name(fabric.gpu(id)));
  json["unidirectional_GBs"] = matrix_json(copies.unidirectional_GBs);
  json["bidirectional_GBs"] = matrix_json(copies.bidirectional_GBs);
  json["bidirectional_read_GBs"] = matrix_json(copies.bidirectional_read_GBs);
  json["unidirectional_no_p2p_GBs"] = matrix_json(copies.unidirectional_no_p2p_GBs);
  json["bidirectional_no_p2p_GBs"] = matrix_json(copies.bidirectional_no_p2p_GBs);
  json["latency_us"] = matrix_json(copies.latency_us);
  json["latency_no_p2p_us"] = matrix_json(copies.latency_no_p2p_us);
  Json paths = Json::array(), access = Json::array();
  for (std::size_t i = 0; i < copies.path.size(); ++i) {
    Json path_row = Json::array(), access_row = Json::array();
    for (std::size_t j = 0; j < copies.path.size(); ++j) {
      path_row.push_back(name_of(copies.path[i][j]));
      access_row.push_back(static_cast<bool>(copies.peer_access[i][j]));
    }
    paths.push_back(std::move(path_row));
    access.push_back(std::move(access_row));
  }
  json["path"] = std::move(paths);
  json["peer_access"] = std::move(access);
  json["host_to_device_GBs"] = list_json(host.host_to_device_GBs);
  json["device_to_host_GBs"] = list_json(host.device_to_host_GBs);
  return document(json);
}

}  // namespace isleway::report
