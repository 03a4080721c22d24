// A paste, divided into the outputs of single commands on single hosts.
#pragma once

#include <string>
#include <vector>

#include "formats/paste/clean_lines.hpp"

namespace isleway::formats {

struct Section {
  std::vector<std::string> nodes;  ///< whose output it is: several where hosts printed the same
  std::string command;             ///< of the prompt before it; may be empty
  bool is_prompt = false;
  int line = 0;              ///< of the prompt, or where it starts; from 1
  std::string text;          ///< "$ command" where there is one, then the lines
  std::vector<int> lines;    ///< their numbers in the file, from 1
  bool has_content = false;  ///< something besides the command that is not blank
};

/// At prompts, banners, code fences, and by the hosts' names that pdsh, clush and the like
/// put before lines. `command` is whose output the text is, where the file's name says so.
std::vector<Section> divide(const CleanLines& lines, const std::string& command);

}  // namespace isleway::formats
