// How far the model is from measurements, as text, JSON, and the page docs/accuracy.md.
#pragma once

#include <span>
#include <string>

#include "isleway/verify.hpp"

namespace isleway::report {

/// The constants that a fit found, beside those of the catalogue, and what it made better.
std::string calibration_text(const Parts& parts, const verify::Factors& factors,
                             verify::Calibration& calibration);

/// One object with every table and row; see docs/json.md.
std::string accuracy_json(std::span<const verify::ComparedTable> tables);

}  // namespace isleway::report
