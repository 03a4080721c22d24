#include "isleway/report/accuracy.hpp"
#include "report/json.hpp"

namespace isleway::report {
namespace {

Json row_json(const verify::ComparedRow& row) {
  Json json;
  json["bytes"] = row.bytes;
  json["measured_us"] = rounded(row.measured.us(), 6);
  json["predicted_us"] = rounded(row.predicted.us(), 6);
  json["error"] = rounded(row.error(), 4);
  json["algorithm"] = name_of(row.algorithm);
  json["protocol"] = name_of(row.protocol);
  json["channels"] = row.channels;
  return json;
}

Json table_json(const verify::ComparedTable& compared) {
  const verify::MeasuredTable& table = *compared.table;
  Json json;
  json["id"] = table.id;
  json["source"] = table.source;
  json["platform"] = text_or_null(table.platform);
  json["site"] = text_or_null(table.site);
  json["machine"] = text_or_null(table.machine);
  json["network"] = text_or_null(table.network);
  json["collective"] = name_of(table.collective);
  json["ranks"] = table.ranks;
  json["left_out"] = text_or_null(compared.left_out);
  json["rows"] = Json::array();
  for (const verify::ComparedRow& row : compared.rows) json["rows"].push_back(row_json(row));
  return json;
}

}  // namespace

std::string accuracy_json(std::span<const verify::ComparedTable> tables) {
  Json json;
  json["tables"] = Json::array();
  for (const verify::ComparedTable& table : tables) json["tables"].push_back(table_json(table));
  return document(json);
}

}  // namespace isleway::report
