#include "isleway/verify/accuracy.hpp"

#include "isleway/core.hpp"
#include "isleway/core/parallel.hpp"

namespace isleway::verify {

Result<TableModel> TableModel::create(const MeasuredTable& table, const Catalogue& catalogue) {
  auto fabric = fabric_of(table, catalogue);
  if (!fabric) return tl::unexpected(fabric.error());
  auto communicator = nccl::Communicator::create(*fabric, catalogue.parts(), table.nccl);
  if (!communicator) return tl::unexpected(communicator.error());
  return TableModel(table, std::move(*fabric), std::move(*communicator));
}

Result<std::vector<ComparedRow>> TableModel::compare(const Engine& engine) const {
  nccl::BenchCall call;
  call.collective = table_->collective;
  call.type = table_->type;
  call.iterations = table_->iterations;
  std::vector<ComparedRow> rows;
  for (const MeasuredRow& measured : table_->rows) {
    const auto row = nccl::bench(fabric_, *communicator_, engine, call, measured.bytes);
    if (!row) return tl::unexpected(row.error());
    if (!row->decision) continue;
    rows.push_back({measured.bytes, measured.time, row->time, row->decision->algorithm,
                    row->decision->protocol, row->decision->channels});
  }
  return rows;
}

std::vector<ComparedTable> compare_tables(std::span<const MeasuredTable> tables,
                                          const Catalogue& catalogue, const Engine& engine) {
  std::vector<ComparedTable> compared(tables.size());
  parallel_for(tables.size(), [&](std::size_t i) {
    ComparedTable& into = compared[i];
    into.table = &tables[i];
    into.left_out = tables[i].left_out;
    if (!into.left_out.empty()) return;
    auto rows = TableModel::create(tables[i], catalogue).and_then([&](const TableModel& model) {
      return model.compare(engine);
    });
    if (rows) into.rows = std::move(*rows);
    else into.left_out = rows.error().what;
  });
  return compared;
}

}  // namespace isleway::verify
