#include "verify/simulate.hpp"

namespace isleway::verify {

Result<Simulation> Simulation::create(const Variant& variant, const CompareContext& context) {
  auto communicator =
      nccl::Communicator::create(variant.setup.fabric, context.parts, variant.setup.options);
  if (!communicator) return tl::unexpected(communicator.error());
  return Simulation(variant, context, *std::move(communicator));
}

Result<nccl::BenchRow> Simulation::row(nccl::BenchCall call, std::int64_t bytes) const {
  call.repricing = variant_->repricing;
  return nccl::bench(variant_->setup.fabric, *communicator_, context_->engine, call, bytes);
}

}  // namespace isleway::verify
