// The constants of matrix multiplies from measured times.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "isleway/plan/compute.hpp"

namespace isleway::plan {

struct MeasuredGemm {
  model::Precision precision = model::Precision::bf16;
  Gemm shape;
  Time time;
};

/// What one file of measurements/gemm holds.
struct GemmTable {
  std::string gpu;     ///< key in the parts catalogue: the file's name
  std::string source;  ///< of its "# source:" line
  std::vector<MeasuredGemm> rows;
};

/// Lines "precision,m,n,k,us" below a header. Error: a line that is no such row.
Result<GemmTable> gemm_table_from_csv(const std::string& text, const std::string& file);
/// Every *.csv of a folder, by name.
Result<std::vector<GemmTable>> load_gemm_tables(const std::filesystem::path& folder);

/// Relative errors of many predictions, predicted over measured less one.
struct ErrorSummary {
  std::size_t count = 0;
  double mean = 0, median = 0, p90 = 0;  ///< of the absolute error
  double bias = 0;                       ///< mean with its sign
};
ErrorSummary summarise(std::vector<double> errors);

/// How well one GPU's products in one format are known.
struct GemmFitError {
  std::string gpu;
  model::Precision precision = model::Precision::bf16;
  ErrorSummary all, large;  ///< large: at least kLargeGemm FLOP, as in training and prefill
  /// With the constants of the other GPUs of its generation; count 0 where there are none.
  ErrorSummary left_out;
};
inline constexpr double kLargeGemm = 1e11;

struct GemmFit {
  /// By generation and format.
  std::map<std::string, std::map<model::Precision, GemmConstants>> constants;
  std::vector<GemmFitError> errors;
};

/// Smallest mean of |log(predicted / measured)|, one error counting as a factor of e at most,
/// by pattern search from the constants that the catalogue holds. Deterministic. Error: a GPU
/// that the catalogue does not know.
Result<GemmFit> fit_gemm(std::span<const GemmTable> tables, const ComputeCatalogue& catalogue,
                         const Parts& parts);

/// The errors of the constants that the catalogue holds, without a fit.
Result<std::vector<GemmFitError>> gemm_errors(std::span<const GemmTable> tables,
                                              const ComputeCatalogue& catalogue,
                                              const Parts& parts);

/// machines/compute/gemm.yaml.
std::string gemm_yaml(const GemmFit& fit, std::span<const GemmTable> tables);

}  // namespace isleway::plan
