// One rule of a YAML file.
#pragma once

#include "fabric/yaml_reader.hpp"
#include "isleway/check/rules.hpp"

namespace isleway::check {

/// Errors are kept by `file`.
Rule read_rule(YamlFile& file, const YAML::Node& node);

}  // namespace isleway::check
