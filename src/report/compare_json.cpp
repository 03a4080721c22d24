#include "isleway/report/compare.hpp"
#include "report/json.hpp"

namespace isleway::report {
namespace {

Json point_json(const verify::Point& point) {
  Json json;
  json["label"] = point.label;
  json["bytes"] = point.bytes > 0 ? Json(point.bytes) : Json();
  json["measured"] = rounded(point.measured, 4);
  json["expected"] = rounded(point.expected, 4);
  json["speed"] = rounded(point.share, 4);
  json["choice"] = text_or_null(point.choice);
  return json;
}

Json cause_json(const verify::Cause& cause) {
  Json json;
  json["key"] = cause.key;
  json["title"] = cause.title;
  json["remedy"] = cause.remedy;
  json["error"] = rounded(cause.error, 4);
  json["simulated"] = Json::array();
  for (const double value : cause.simulated)
    json["simulated"].push_back(value > 0 ? Json(rounded(value, 4)) : Json());
  json["evidence"] = cause.evidence;
  return json;
}

Json table_json(const verify::Comparison& comparison) {
  Json json;
  json["title"] = comparison.title;
  json["line"] = comparison.line;
  json["verdict"] = name_of(comparison.verdict);
  json["why"] = comparison.why;
  json["unit"] = comparison.unit;
  json["error"] = rounded(comparison.error, 4);
  json["assumed"] = comparison.notes;
  json["departs_from"] = Json();
  json["departs_to"] = Json();
  if (comparison.departure) {
    json["departs_from"] = comparison.points[comparison.departure->first].label;
    json["departs_to"] = comparison.points[comparison.departure->last].label;
  }
  json["points"] = Json::array();
  for (const auto& point : comparison.points) json["points"].push_back(point_json(point));
  json["causes"] = Json::array();
  for (const auto& cause : comparison.causes) json["causes"].push_back(cause_json(cause));
  return json;
}

}  // namespace

std::string comparison_json(const ComparedFile& file) {
  Json json;
  json["machine"] = file.machine;
  json["verdict"] = name_of(file.verdict());
  json["tables"] = Json::array();
  for (const auto& comparison : file.comparisons) json["tables"].push_back(table_json(comparison));
  json["log"] = Json::array();
  for (const verify::Finding& finding : file.findings) {
    Json entry;
    entry["severity"] = name_of(finding.severity);
    entry["line"] = finding.line > 0 ? Json(finding.line) : Json();
    entry["text"] = finding.text;
    json["log"].push_back(std::move(entry));
  }
  json["not_compared"] = file.skipped;
  return document(json);
}

}  // namespace isleway::report
