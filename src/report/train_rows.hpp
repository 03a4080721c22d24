// Rows of the tables that the text and the page of a training plan share.
#pragma once

#include <string>
#include <vector>

#include "isleway/report/train.hpp"

namespace isleway::report {

/// A heading and rows of cells; the first `texts` columns are left-aligned.
struct Table {
  std::vector<std::string> heading;
  std::vector<std::vector<std::string>> rows;
  std::size_t texts = 1;
};
std::string table_text(const Table& table);

Table layouts_table(const TrainAnswer& answer);
Table parts_table(const plan::TrainEstimate& estimate);
Table memory_table(const plan::TrainEstimate& estimate);
Table traffic_table(const plan::TrainEstimate& estimate);
Table what_if_table(const TrainAnswer& answer);
Table tensor_table(const TrainAnswer& answer);
/// Largest TP group over island size (rows) and bandwidth of a GPU (columns).
Table island_table(const TrainAnswer& answer);

/// "the link node0/mlx5_0-leaf0 (data: 0.12 s of 3.1 s)" or that compute decides.
std::string ceiling_text(const plan::TrainEstimate& estimate);
/// What a run costs; empty without a price.
std::vector<std::string> cost_lines(const TrainAnswer& answer, const plan::TrainEstimate& best);

std::string time_text(Time time);

}  // namespace isleway::report
