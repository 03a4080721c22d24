// Machines and models of measured runs, each made once.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "isleway/model.hpp"
#include "isleway/plan/interconnect.hpp"
#include "isleway/plan/measured_run.hpp"

namespace isleway::plan {

class RunInputs {
 public:
  RunInputs(const Catalogue& catalogue, const model::ModelCatalogue& models)
      : catalogue_(catalogue), models_(models) {}

  const Catalogue& catalogue() const { return catalogue_; }
  /// Error: why there is no such machine.
  const Result<std::unique_ptr<Interconnect>>& interconnect(const RunPlatform& platform);
  /// Error: why there is no such model.
  const Result<model::Transformer>& transformer(const RunSource& source, const std::string& name);

 private:
  const Catalogue& catalogue_;
  const model::ModelCatalogue& models_;
  std::map<std::string, Result<std::unique_ptr<Interconnect>>> interconnects_;
  std::map<std::string, Result<model::Transformer>> transformers_;
};

}  // namespace isleway::plan
