// Reads machines/parts/*.yaml into a Parts.
#pragma once

#include <map>

#include "fabric/yaml_reader.hpp"
#include "isleway/fabric/parts.hpp"

namespace isleway {

/// Keys under which a file lists its sources, so that each can be named in a word:
///   sources: {a100-paper: "https://..."}
class SourceList {
 public:
  /// Reads the file's `sources` mapping, if it has one.
  void read(YamlFile& file, YamlMap& map);
  /// The text behind `source:` of a mapping: keys (one, or a list of them) replaced by what
  /// they stand for; a text that is no single word is taken as it is. A word that is no key
  /// is an error.
  std::string resolve(YamlFile& file, YamlMap& map, const std::string& fallback = {}) const;

 private:
  std::map<std::string, std::string, std::less<>> by_key_;
};

class PartsReader {
 public:
  explicit PartsReader(Parts& parts) : parts_(parts) {}
  Result<void> read(const std::string& text, const std::string& file_name);

 private:
  template <class Part, class Read>
  void read_section(YamlMap& file, std::string_view section, std::string_view what,
                    std::map<std::string, Part, std::less<>>& into, Read read_part);
  void read_gpu(YamlMap& map, GpuPart& part);
  void read_link(YamlMap& map, LinkPart& part);
  void read_nvswitch(YamlMap& map, NvswitchPart& part);
  void read_nic(YamlMap& map, NicPart& part);
  void read_cpu(YamlMap& map, CpuPart& part);
  void read_constant(YamlMap& map, Constant& constant);
  Efficiency read_efficiency(YamlMap& map, std::string_view key, const Efficiency& fallback);

  Parts& parts_;
  YamlFile* file_ = nullptr;
  SourceList sources_;
};

}  // namespace isleway
