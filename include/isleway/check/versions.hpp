// Versions that have to fit one another.
#pragma once

#include <string>
#include <vector>

#include "isleway/core/error.hpp"

namespace isleway::check {

struct VersionTable {
  struct Cuda {
    std::string version, driver, minor;
  };
  struct Least {
    std::string architecture, version, gains;
  };
  /// cuDNN's releases that were made for one CUDA; `until` is empty while there are more.
  struct Cudnn {
    std::string cuda, from, until;
  };
  std::vector<Cuda> cuda;
  std::vector<Least> drivers, nccl, cudnn;
  std::vector<Cudnn> cudnn_cuda;

  static Result<VersionTable> from_yaml(const std::string& text, const std::string& file);
  /// Of "12.4.131", the entry of 12.4; null when it is not listed.
  const Cuda* find_cuda(std::string_view version) const;
};

}  // namespace isleway::check
