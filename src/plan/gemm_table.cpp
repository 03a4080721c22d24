#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isleway/core.hpp"
#include "isleway/plan/gemm_fit.hpp"

namespace isleway::plan {
namespace {

constexpr std::string_view kHeader = "precision,m,n,k,us";
constexpr std::int64_t kMostRows = std::int64_t{1} << 24;

Result<MeasuredGemm> read_row(std::string_view line, const Location& where) {
  const auto cells = split(line, ',');
  const auto bad = [&](std::string_view cell) {
    return fail(fmt::format("\"{}\" in a row of measured products", cell), std::string(kHeader), {},
                where);
  };
  if (cells.size() != 5) return bad(line);
  MeasuredGemm row;
  const auto precision = model::parse_precision(cells[0]);
  if (!precision) return bad(cells[0]);
  row.precision = *precision;
  std::int64_t* const sizes[] = {&row.shape.m, &row.shape.n, &row.shape.k};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto size = parse_int(cells[i + 1]);
    if (!size || *size < 1 || *size > kMostRows) return bad(cells[i + 1]);
    *sizes[i] = *size;
  }
  const auto us = parse_double(cells[4]);
  if (!us || !(*us > 0 && *us < 1e12)) return bad(cells[4]);
  row.time = Time::us(*us);
  return row;
}

}  // namespace

Result<GemmTable> gemm_table_from_csv(const std::string& text, const std::string& file) {
  GemmTable table;
  table.gpu = std::filesystem::path(file).stem().string();
  int number = 0;
  for (const std::string_view line : split_lines(text)) {
    const Location where{file, ++number};
    constexpr std::string_view kSource = "# source:";
    if (line.starts_with(kSource)) table.source = trim(line.substr(kSource.size()));
    if (line.empty() || line.front() == '#' || line == kHeader) continue;
    auto row = read_row(line, where);
    if (!row) return tl::unexpected(row.error());
    table.rows.push_back(*row);
  }
  if (table.rows.empty()) return fail("no measured products", std::string(kHeader), {}, {file});
  return table;
}

Result<std::vector<GemmTable>> load_gemm_tables(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  if (error || files.empty())
    return fail(fmt::format("no measured products in {}", folder.string()), "*.csv files");
  std::sort(files.begin(), files.end());
  std::vector<GemmTable> tables;
  for (const auto& file : files) {
    const auto text = read_file(file);
    if (!text) return tl::unexpected(text.error());
    auto table = gemm_table_from_csv(*text, file.string());
    if (!table) return tl::unexpected(table.error());
    tables.push_back(std::move(*table));
  }
  return tables;
}

ErrorSummary summarise(std::vector<double> errors) {
  ErrorSummary summary;
  summary.count = errors.size();
  if (errors.empty()) return summary;
  for (double& error : errors) {
    summary.bias += error / double(errors.size());
    error = std::abs(error);
    summary.mean += error / double(errors.size());
  }
  std::sort(errors.begin(), errors.end());
  const auto at = [&](double share) {
    return errors[std::min(errors.size() - 1, std::size_t(share * double(errors.size())))];
  };
  summary.median = at(0.5);
  summary.p90 = at(0.9);
  return summary;
}

}  // namespace isleway::plan
