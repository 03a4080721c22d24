// How far the model is from measurements, as text, JSON, and the page docs/accuracy.md.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "isleway/verify.hpp"

namespace isleway::report {

/// Errors by kind of machine and collective, and the worst tables.
std::string accuracy_text(std::span<const verify::ComparedTable> tables);

/// One object with every table and row; see docs/json.md.
std::string accuracy_json(std::span<const verify::ComparedTable> tables);

/// The constants that a fit found, beside those of the catalogue, and what it made better.
std::string calibration_text(const Parts& parts, const verify::Factors& factors,
                             verify::Calibration& calibration);

/// Groups left out one after the other, by name ("by site").
struct Validation {
  std::string title;
  std::vector<verify::LeftOut> groups;
};
std::string validation_text(const Validation& validation);

/// Measured and predicted curves, one SVG for each kind of machine and collective.
struct Picture {
  std::string file;  ///< "h100-all-reduce.svg"
  std::string title, svg;
};
std::vector<Picture> accuracy_pictures(std::span<const verify::ComparedTable> tables);

/// Markdown with everything: sources, errors, what was left out, cross-validation, and the
/// pictures, which lie in `folder` relative to the page.
std::string accuracy_page(std::span<const verify::ComparedTable> tables,
                          std::span<const Validation> validations,
                          std::span<const Picture> pictures, const std::string& folder);

}  // namespace isleway::report
