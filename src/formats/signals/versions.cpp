// Versions and the node's own description: /proc/driver/nvidia/version, nvcc, lists of
// packages, uname, os-release, dmidecode, ofed_info.
#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

/// "12.4.131" of "V12.4.131," and the like: the first word with a dot between digits.
std::string_view version_in(std::string_view text) {
  for (std::string_view word : split_words(text)) {
    const std::size_t start = word.find_first_of("0123456789");
    if (start == std::string_view::npos || start > 1) continue;
    word = word.substr(start);
    word = word.substr(0, word.find_first_not_of("0123456789."));
    while (word.ends_with(".")) word.remove_suffix(1);
    if (contains(word, ".")) return word;
  }
  return {};
}

/// "ii  nvidia-fabricmanager-580  580.65.06-1  amd64  ..." and "cuda-toolkit-12-4-12.4.1-1.x86_64"
struct Package {
  std::string_view name, version;
};
std::optional<Package> parse_package(std::string_view line) {
  const auto words = split_words(line);
  if (words.size() >= 3 && (words[0] == "ii" || words[0] == "hi"))
    return Package{before(words[1], ":"), words[2]};
  if (words.size() != 1 ||
      !(line.ends_with(".x86_64") || line.ends_with(".aarch64") || line.ends_with(".noarch")))
    return std::nullopt;
  // name-version-release.architecture
  const std::string_view all = words[0].substr(0, words[0].rfind('.'));
  const std::size_t release = all.rfind('-');
  if (release == std::string_view::npos || release == 0) return std::nullopt;
  const std::size_t version = all.rfind('-', release - 1);
  if (version == std::string_view::npos) return std::nullopt;
  return Package{all.substr(0, version), all.substr(version + 1, release - version - 1)};
}

bool is_of_interest(std::string_view package) {
  for (const char* part :
       {"nvidia", "cuda", "nccl", "cudnn", "mlnx", "ofed", "rdma", "dcgm", "datacenter-gpu-manager",
        "imex", "fabricmanager", "gdrcopy", "libnv", "ucx", "openmpi", "doca"})
    if (contains(package, part)) return true;
  return false;
}

std::string_view upstream(std::string_view version) {
  if (const std::size_t epoch = version.find(':'); epoch != std::string_view::npos)
    version = version.substr(epoch + 1);
  return version.substr(0, version.find_first_not_of("0123456789."));
}

class VersionReader {
 public:
  explicit VersionReader(SignalSink& sink) : sink_(sink) {}

  void read() {
    const std::string_view first = sink_.line(0);
    const std::string_view command = first.starts_with("$ ") ? trim(first.substr(2)) : "";
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      sink_.at(i);
      const std::string_view line = trim(sink_.line(i));
      if (line.empty()) continue;
      if (i > 0 && command == "hostname") sink_.text("node.name", "", line);
      if (i > 0 && command == "uname -r") sink_.text("node.kernel", "", line);
      if (i > 0 && command == "systemd-detect-virt") sink_.text("node.hypervisor", "", line);
      take(line);
    }
  }

 private:
  void take(std::string_view line) {
    if (line.starts_with("NVRM version:")) {
      sink_.text("driver.version", "", version_in(line));
      sink_.text("driver.module", "", contains(line, "Open") ? "open" : "proprietary");
    } else if (contains(line, "Cuda compilation tools, release")) {
      sink_.text("cuda.toolkit_version", "", before(after(line, "release "), ","));
    } else if (line.starts_with("MLNX_OFED_LINUX-") || line.starts_with("OFED-internal-")) {
      sink_.text("ofed.version", "", before(after(line, "-"), ":"));
    } else if (line.starts_with("PRETTY_NAME=")) {
      sink_.text("node.os", "", between(line, "\"", "\""));
    } else if (line.starts_with("Linux ") && split_words(line).size() >= 6) {
      const auto words = split_words(line);
      sink_.text("node.name", "", words[1]);
      sink_.text("node.kernel", "", words[2]);
    } else if (line.starts_with("Static hostname: ")) {
      sink_.text("node.name", "", line.substr(17));
    } else if (line.starts_with("Product Name: ")) {
      sink_.text("node.product", "", line.substr(14));
    } else if (const auto package = parse_package(line); package && is_of_interest(package->name)) {
      take_package(*package);
    }
  }

  void take_package(const Package& package) {
    sink_.text("package.version", package.name, package.version);
    const std::string_view version = upstream(package.version);
    const std::string_view name = package.name;
    if (contains(name, "fabricmanager") && !contains(name, "dev"))
      sink_.text("fm.version", "", version);
    else if (contains(name, "imex")) sink_.text("imex.version", "", version);
    else if (name == "libnccl2" || name == "libnccl") sink_.text("nccl.version", "", version);
    else if (name.starts_with("libcudnn") && !contains(name, "dev") && !contains(name, "headers"))
      sink_.text("cudnn.version", "", version);
    else if (name == "datacenter-gpu-manager" || name.starts_with("datacenter-gpu-manager-4-core"))
      sink_.text("dcgm.version", "", version);
  }

  SignalSink& sink_;
};

int recognise(const TextIndex& text) {
  for (const char* mark :
       {"NVRM version:", "Cuda compilation tools", "MLNX_OFED_LINUX-", "PRETTY_NAME=", "Linux ",
        "Static hostname:", "Product Name: ", "OFED-internal-", "$ hostname", "$ uname",
        "$ systemd-detect-virt", "ii  ", ".x86_64", ".aarch64", "hi  "})
    if (text.has(mark)) return 60;
  return 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  VersionReader(sink).read();
}

}  // namespace

extern const SignalReader versions_signals;
const SignalReader versions_signals = {"versions", "versions, uname, lists of packages", recognise,
                                       read};

}  // namespace isleway::formats
