// Field values, in groups: each takes the ids that it knows.
#pragma once

#include <optional>

#include "isleway/virtual/abi/nvml/fields.hpp"
#include "virtual/nvml/exports/library.hpp"

namespace isleway::vgpu::nvml {

/// What was asked for; `scope` is a link, or kAllLinks.
struct FieldQuestion {
  Library& library;
  const Gpu& gpu;
  unsigned id = 0, scope = 0;
};
constexpr unsigned kAllLinks = 0xffffffff;

/// A number with the type in which NVML hands it out, or why there is none.
struct FieldAnswer {
  nvmlReturn_t status = NVML_SUCCESS;
  nvmlValueType_t type = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
  std::int64_t value = 0;
};
inline FieldAnswer counter(std::uint64_t value) {
  return {NVML_SUCCESS, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG, static_cast<std::int64_t>(value)};
}
inline FieldAnswer number(std::int64_t value) {
  return {NVML_SUCCESS, NVML_VALUE_TYPE_UNSIGNED_INT, value};
}
inline FieldAnswer refused(nvmlReturn_t why) { return {why, NVML_VALUE_TYPE_UNSIGNED_INT, 0}; }

/// Nothing: the id is of another group.
std::optional<FieldAnswer> device_field(const FieldQuestion& question);
std::optional<FieldAnswer> nvlink_field(const FieldQuestion& question);
std::optional<FieldAnswer> nvlink5_field(const FieldQuestion& question);

}  // namespace isleway::vgpu::nvml
