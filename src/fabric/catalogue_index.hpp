// The catalogue's index, made without parsing whole files.
#pragma once

#include <optional>

#include "isleway/fabric/catalogue.hpp"

namespace isleway {

/// Name, title, status and aliases from the top of a machine or network file. These keys
/// stand at the start of a line with their value beside them, so that a list of all machines
/// takes no YAML parser: starting the program would otherwise cost more than simulating.
/// Nothing when there is no name.
std::optional<CatalogueEntry> read_entry(std::string_view text);

/// The files *.yaml of a folder, sorted; empty when there is no such folder.
std::vector<std::filesystem::path> yaml_files(const std::filesystem::path& folder);

}  // namespace isleway
