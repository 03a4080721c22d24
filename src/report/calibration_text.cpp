#include <fmt/format.h>

#include "isleway/report/accuracy.hpp"

namespace isleway::report {

std::string calibration_text(const Parts& parts, const verify::Factors& factors,
                             verify::Calibration& calibration) {
  std::string text = fmt::format("{:<28} {:>9} {:>9}  unit\n", "constant", "now", "fitted");
  for (const auto& [name, factor] : factors) {
    const Constant* constant = parts.constant(name);
    if (constant == nullptr) continue;
    text += fmt::format("{:<28} {:>9.4g} {:>9.4g}  {}\n", name, constant->value,
                        constant->value * factor, constant->unit);
  }
  text += fmt::format("mean |log(predicted / measured)|: {:.4f} now, {:.4f} fitted\n",
                      verify::Calibration::loss(calibration.compare({})),
                      verify::Calibration::loss(calibration.compare(factors)));
  return text;
}

}  // namespace isleway::report
