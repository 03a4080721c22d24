// Versions and the node's own description: /proc/driver/nvidia/version, nvcc, lists of
// packages (dpkg, rpm, pip), PyTorch's collect_env, uname, os-release, dmidecode, ofed_info.
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

/// "nvidia-cudnn-cu12==9.1.0.70", "[pip3] nvidia-nccl-cu12==2.20.5", and pip's list in columns.
std::optional<Package> parse_wheel(std::string_view line) {
  for (const std::string_view tag : {"[pip3] ", "[conda] "})
    if (line.starts_with(tag)) line = trim(line.substr(tag.size()));
  if (!line.starts_with("nvidia-") && !line.starts_with("nvidia_")) return std::nullopt;
  if (const std::size_t equals = line.find("=="); equals != std::string_view::npos)
    return Package{line.substr(0, equals), first_word(line.substr(equals + 2))};
  const auto words = split_words(line);
  if (words.size() < 2 || words.size() > 4 || !leading_number(words[1])) return std::nullopt;
  return Package{words[0], words[1]};
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
      sink_.text("cuda.toolkit", "", before(after(line, "release "), ","));
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
    } else if (take_collected(line) || take_model(line)) {
      return;
    } else if (const auto wheel = parse_wheel(line)) {
      take_wheel(*wheel);
    } else if (const auto package = parse_package(line); package && is_of_interest(package->name)) {
      take_package(*package);
    }
  }

  /// python -m torch.utils.collect_env
  bool take_collected(std::string_view line) {
    static constexpr std::pair<std::string_view, std::string_view> keys[] = {
        {"CUDA used to build PyTorch: ", "cuda.runtime"},
        {"CUDA runtime version: ", "cuda.toolkit"},
        {"Nvidia driver version: ", "driver.version"}};
    for (const auto& [key, signal] : keys)
      if (line.starts_with(key)) {
        const std::string_view value = trim(line.substr(key.size()));
        if (leading_number(value)) sink_.text(signal, "", value);
        return true;
      }
    return false;
  }

  /// "GPU models and configuration: GPU 0: NVIDIA A100", or one a line below
  bool take_model(std::string_view line) {
    constexpr std::string_view heading = "GPU models and configuration:";
    if (line.starts_with(heading)) {
      in_models_ = true;
      line = trim(line.substr(heading.size()));
      if (line.empty()) return true;
    }
    if (!in_models_) return false;
    const std::string_view index = before(line, ":");
    in_models_ = index.starts_with("GPU ") && parse_int(index.substr(4)).has_value();
    if (in_models_)
      sink_.text("gpu.name", gpu_name(index.substr(4)), before(after(line, ":"), "(UUID"));
    return in_models_;
  }

  void take_wheel(const Package& wheel) {
    sink_.text("package.version", wheel.name, wheel.version);
    const auto is = [&](std::string_view part) { return contains(wheel.name, part); };
    const std::string_view version = upstream(wheel.version);
    if (is("cudnn") && !is("frontend")) sink_.text("cudnn.version", "", version);
    else if (is("nccl")) sink_.text("nccl.version", "", version);
    else if (is("cuda-runtime") || is("cuda_runtime")) sink_.text("cuda.runtime", "", version);
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
  bool in_models_ = false;  ///< of collect_env's list
};

int recognise(const TextIndex& text) {
  for (const char* mark :
       {"NVRM version:", "Cuda compilation tools", "MLNX_OFED_LINUX-", "PRETTY_NAME=", "Linux ",
        "Static hostname:", "Product Name: ", "OFED-internal-", "$ hostname", "$ uname",
        "$ systemd-detect-virt", "nvidia-cu", "nvidia_cu", "nvidia-nccl", "PyTorch: ", "ii  ",
        ".x86_64", ".aarch64", "hi  "})
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
