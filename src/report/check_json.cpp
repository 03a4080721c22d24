#include "isleway/report/check.hpp"
#include "report/check_words.hpp"
#include "report/json.hpp"

namespace isleway::report {
namespace {

Json finding_json(const check::Finding& finding) {
  Json json;
  json["rule"] = finding.rule;
  json["severity"] = name_of(finding.severity);
  json["title"] = finding.title;
  json["nodes"] = finding.nodes;
  json["subjects"] = finding.subjects;
  json["evidence"] = Json::array();
  for (const check::Evidence& evidence : finding.evidence)
    json["evidence"].push_back(
        {{"node", text_or_null(evidence.node)},
         {"file", text_or_null(evidence.where.file)},
         {"line", evidence.where.line > 0 ? Json(evidence.where.line) : Json()},
         {"quote", evidence.quote}});
  json["evidence_lines"] = finding.evidence_lines;
  json["explanation"] = text_or_null(finding.explanation);
  json["cause"] = text_or_null(finding.cause);
  json["sure"] = finding.cause.empty() ? Json() : Json(name_of(finding.sure));
  json["follows_from"] = finding.follows_from;
  json["action"] = text_or_null(finding.action);
  json["confirm"] = text_or_null(finding.confirm);
  json["reference"] = text_or_null(finding.reference);
  return json;
}

Json node_json(const check::NodeRow& row, const std::vector<std::string>& columns) {
  Json json;
  json["node"] = row.node;
  json["critical"] = row.critical;
  json["warnings"] = row.warnings;
  json["odd"] = row.odd;
  json["values"] = Json::object();
  for (std::size_t i = 0; i < columns.size(); ++i)
    json["values"][columns[i]] = text_or_null(row.cells[i]);
  return json;
}

}  // namespace

std::string check_json(const check::Report& report) {
  const CheckCounts counts = counts_of(report);
  Json json;
  json["verdict"] = name_of(report.verdict());
  json["summary"] = {{"critical", counts.critical},      {"warning", counts.warnings},
                     {"unknown", counts.unknown},        {"note", counts.notes},
                     {"not_a_fault", counts.not_faults}, {"good", counts.good}};
  json["facts"] = report.facts;
  json["findings"] = Json::array();
  for (const check::Finding& finding : report.findings)
    json["findings"].push_back(finding_json(finding));
  json["nodes"] = Json::array();
  for (const check::NodeRow& row : report.nodes)
    json["nodes"].push_back(node_json(row, report.columns));
  return document(json);
}

}  // namespace isleway::report
