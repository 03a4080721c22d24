// A variant of a setup, ready to be asked for times.
#pragma once

#include <memory>

#include "verify/hypotheses.hpp"

namespace isleway::verify {

class Simulation {
 public:
  /// Error: as Communicator::create. `variant` and `context` must outlive it.
  static Result<Simulation> create(const Variant& variant, const CompareContext& context);

  const nccl::Communicator& communicator() const { return *communicator_; }
  /// Error: NCCL's or the engine's reason. No decision and no time for a size of nothing.
  Result<nccl::BenchRow> row(nccl::BenchCall call, std::int64_t bytes) const;

 private:
  Simulation(const Variant& variant, const CompareContext& context,
             std::unique_ptr<nccl::Communicator> communicator)
      : variant_(&variant), context_(&context), communicator_(std::move(communicator)) {}

  const Variant* variant_;
  const CompareContext* context_;
  std::unique_ptr<nccl::Communicator> communicator_;
};

}  // namespace isleway::verify
