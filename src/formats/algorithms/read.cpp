#include "formats/algorithms/algorithms.hpp"
#include "formats/lookalikes.hpp"
#include "formats/xml_text.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

Result<Algorithm> read_known(std::string_view text, const std::string& file) {
  const Location where{file};
  if (const Lookalike* binary = find_binary(text))
    return fail(binary->what, {}, binary->hint, where);
  if (trim(text).empty()) return fail("is empty", {}, {}, where);
  if (trim(text).starts_with("{")) return read_mscclpp_plan(text, file);
  if (find_element(text, "algo") != std::string_view::npos) return read_msccl_xml(text, file);
  return fail("holds no algorithm", "MSCCL's XML (<algo ...>) or an MSCCL++ execution plan (JSON)",
              {}, where);
}

}  // namespace

Result<Algorithm> read_algorithm(std::string_view text, const std::string& file) {
  auto algorithm = read_known(text, file);
  if (!algorithm) return algorithm;
  algorithm->file = file;
  if (algorithm->name.empty()) algorithm->name = "unnamed";
  return algorithm;
}

}  // namespace isleway::formats
