// How far the model is from measured tables.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isleway/verify/measurement.hpp"

namespace isleway::verify {

/// A measured row beside what the model says.
struct ComparedRow {
  std::int64_t bytes = 0;
  Time measured, predicted;
  nccl::Algorithm algorithm = nccl::Algorithm::ring;
  nccl::Protocol protocol = nccl::Protocol::simple;
  int channels = 0;

  /// (predicted - measured) / measured.
  double error() const { return predicted.seconds() / measured.seconds() - 1; }
};

/// A table made ready to be compared, with other timing constants too: what NCCL chooses does
/// not depend on them, so that the search for its graphs is done once.
class TableModel {
 public:
  /// Error: the machine cannot be built, or NCCL has no answer on it.
  static Result<TableModel> create(const MeasuredTable& table, const Catalogue& catalogue);

  /// Takes other timing constants; false when none of them matters here.
  Result<bool> retime(const Parts& parts) { return communicator_->retime(parts); }

  /// The rows that have a prediction (a size that rounds to nothing has none), by size.
  Result<std::vector<ComparedRow>> compare(const Engine& engine) const;

 private:
  TableModel(const MeasuredTable& table, Fabric fabric,
             std::unique_ptr<nccl::Communicator> communicator)
      : table_(&table), fabric_(std::move(fabric)), communicator_(std::move(communicator)) {}

  const MeasuredTable* table_;
  Fabric fabric_;
  std::unique_ptr<nccl::Communicator> communicator_;
};

struct ComparedTable {
  const MeasuredTable* table = nullptr;
  std::vector<ComparedRow> rows;
  std::string left_out;  ///< why there are no rows
};

/// Every table, in order; on all cores.
std::vector<ComparedTable> compare_tables(std::span<const MeasuredTable> tables,
                                          const Catalogue& catalogue, const Engine& engine);

}  // namespace isleway::verify
