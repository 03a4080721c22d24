// The machine's own files on a made-up tree, and NVML with made-up answers.
#include "isleway/formats/live_signals.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "formats/live/nvml_signals.hpp"
#include "formats/live/pci_config.hpp"

namespace isleway::formats {
namespace {

namespace fs = std::filesystem;

class Tree {
 public:
  Tree() : root_(fs::temp_directory_path() / ("isleway_live_" + std::to_string(::getpid()))) {
    fs::remove_all(root_);
  }
  ~Tree() { fs::remove_all(root_); }
  void put(const std::string& path, const std::string& content) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path, std::ios::binary) << content;
  }
  const fs::path& root() const { return root_; }

 private:
  fs::path root_;
};

/// Configuration space with ACS at `at` behind another capability at 0x100.
std::string config_with_acs(unsigned control) {
  std::string config(0x200, '\0');
  const auto word = [&](std::size_t at, unsigned value) {
    for (std::size_t i = 0; i < 4; ++i) config[at + i] = static_cast<char>(value >> (8 * i));
  };
  word(0x100, 0x148u << 20 | 1u << 16 | 0x0001);
  word(0x148, 1u << 16 | 0x000d);
  word(0x14c, control << 16 | 0x7f);
  return config;
}

const Signal* find(const Signals& signals, const std::string& name, const std::string& subject) {
  for (const Signal& one : signals)
    if (one.name == name && one.subject == subject) return &one;
  return nullptr;
}

double number(const Signals& signals, const std::string& name, const std::string& subject) {
  const Signal* one = find(signals, name, subject);
  const double* value = one ? std::get_if<double>(&one->value) : nullptr;
  return value ? *value : -1;
}

std::string text(const Signals& signals, const std::string& name, const std::string& subject) {
  const Signal* one = find(signals, name, subject);
  const std::string* value = one ? std::get_if<std::string>(&one->value) : nullptr;
  return value ? *value : std::string();
}

TEST(LiveSignals, ReadATree) {
  const Tree tree;
  const std::string gpu = "sys/bus/pci/devices/0000:1b:00.0/";
  tree.put(gpu + "class", "0x030200\n");
  tree.put(gpu + "current_link_speed", "8.0 GT/s PCIe\n");
  tree.put(gpu + "max_link_width", "16\n");
  tree.put(gpu + "numa_node", "1\n");
  tree.put(gpu + "config", config_with_acs(0x000d));
  tree.put("sys/bus/pci/devices/0000:00:1f.0/class", "0x060100\n");
  tree.put("sys/bus/pci/devices/0000:c4:00.0/class", "0x068000\n");
  tree.put("sys/bus/pci/devices/0000:c4:00.0/vendor", "0x10de\n");
  tree.put("sys/class/infiniband/mlx5_3/ports/1/rate", "400 Gb/sec (4X NDR)\n");
  tree.put("sys/class/infiniband/mlx5_3/ports/1/state", "4: ACTIVE\n");
  tree.put("sys/class/infiniband/mlx5_3/ports/1/counters/symbol_error", "5\n");
  tree.put("sys/class/iommu/dmar0/x", "");
  tree.put("proc/cmdline", "BOOT_IMAGE=/v root=/dev/sda ro iommu=pt\n");
  tree.put("proc/modules", "nvidia_uvm 1540096 4 - Live 0x0000000000000000\n");
  tree.put("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-3\n");
  tree.put("proc/self/environ", std::string("PATH=/bin\0NCCL_P2P_LEVEL=SYS\0", 30));
  tree.put("proc/sys/kernel/hostname", "here\n");
  tree.put("proc/driver/nvidia/version",
           "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu\n");
  const SignalsRead read = read_live_signals({tree.root(), ""});
  const Signals& signals = read.signals;
  EXPECT_EQ(number(signals, "pcie.generation", "0000:1b:00.0"), 3);
  EXPECT_EQ(number(signals, "pcie.width_max", "0000:1b:00.0"), 16);
  EXPECT_EQ(number(signals, "pcie.numa", "0000:1b:00.0"), 1);
  EXPECT_EQ(text(signals, "pcie.acs", "0000:1b:00.0"),
            "SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd- EgressCtrl- DirectTrans-");
  EXPECT_EQ(number(signals, "pcie.acs_redirect", "0000:1b:00.0"), 1);
  EXPECT_EQ(find(signals, "pcie.class_code", "0000:00:1f.0"), nullptr);
  EXPECT_EQ(number(signals, "nvswitch.count", ""), 1);
  EXPECT_EQ(number(signals, "nic.rate_Gbs", "mlx5_3/port1"), 400);
  EXPECT_EQ(text(signals, "nic.state", "mlx5_3/port1"), "Active");
  EXPECT_EQ(number(signals, "ib.symbol_error", "mlx5_3/port1"), 5);
  EXPECT_EQ(number(signals, "iommu.unit", "dmar0"), 1);
  EXPECT_EQ(text(signals, "kernel.parameter", "iommu"), "pt");
  EXPECT_EQ(number(signals, "module.loaded", "nvidia_uvm"), 4);
  EXPECT_EQ(number(signals, "module.missing", "nvidia_peermem"), 1);
  EXPECT_EQ(text(signals, "process.cpus", ""), "0-3");
  EXPECT_EQ(text(signals, "env", "NCCL_P2P_LEVEL"), "SYS");
  EXPECT_EQ(text(signals, "driver.version", ""), "550.54.14");
  EXPECT_EQ(number(signals, "sysfs.missing", "/sys/kernel/mm/memory_peers"), 1);
  for (const Signal& one : signals) {
    EXPECT_EQ(one.node, "here") << one.name;
    EXPECT_FALSE(one.quote.empty()) << one.name;
    EXPECT_FALSE(one.where.file.empty()) << one.name;
  }
}

TEST(LiveSignals, OfAnEmptyTreeAndNoLibrary) {
  const Tree tree;
  const SignalsRead read = read_live_signals({tree.root(), "no-such-library.so"});
  EXPECT_EQ(number(read.signals, "sysfs.missing", "/sys/bus/pci/devices"), 1);
  EXPECT_GE(read.notices.size(), 2u);
}

TEST(PciConfig, AcsControl) {
  EXPECT_EQ(acs_control(""), std::nullopt);
  EXPECT_EQ(acs_control(std::string(256, '\0')), std::nullopt);
  EXPECT_TRUE(acs_control(config_with_acs(0x7f))->ends_with("DirectTrans+"));
  // A chain that leads back to itself ends.
  std::string loop(0x200, '\0');
  loop[0x102] = 1;
  loop[0x103] = 0x10;
  EXPECT_EQ(acs_control(loop), std::nullopt);
}

NvmlFunctions made_up_nvml() {
  using Device = NvmlFunctions::Device;
  static int handles[3];
  NvmlFunctions f;
  f.init = [] { return 0; };
  f.shutdown = [] { return 0; };
  f.count = [](unsigned* count) {
    *count = 3;
    return 0;
  };
  f.device = [](unsigned i, Device* device) {
    *device = &handles[i];
    return i == 2 ? 15 : 0;
  };
  f.name = [](Device, char* name, unsigned length) {
    std::strncpy(name, "NVIDIA H200", length);
    return 0;
  };
  f.nvlink_state = [](Device device, unsigned link, unsigned* state) {
    *state = device == &handles[0] || link != 5;
    return link < 18 ? 0 : 2;
  };
  f.fabric_info = [](Device, NvmlFunctions::FabricInfo* info) {
    info->state = 3;
    info->clique_id = 7;
    info->cluster_uuid[0] = 0xab;
    return 0;
  };
  f.p2p_status = [](Device, Device, unsigned, unsigned* state) {
    *state = 1;
    return 0;
  };
  return f;
}

TEST(NvmlSignals, SayWhatItAnswers) {
  Signals signals;
  Notices notices;
  read_nvml(made_up_nvml(), signals, notices);
  EXPECT_EQ(number(signals, "gpu.count", ""), 3);
  EXPECT_EQ(text(signals, "gpu.name", "gpu1"), "NVIDIA H200");
  EXPECT_EQ(text(signals, "gpu.error", "gpu2"), "GPU is lost");
  EXPECT_EQ(number(signals, "nvlink.active", "gpu0"), 18);
  EXPECT_EQ(number(signals, "nvlink.active", "gpu1"), 17);
  EXPECT_EQ(text(signals, "nvlink.state", "gpu1/link5"), "inactive");
  EXPECT_EQ(text(signals, "fabric.state", "gpu0"), "Completed");
  EXPECT_EQ(text(signals, "fabric.status", "gpu0"), "Success");
  EXPECT_EQ(text(signals, "fabric.cluster_uuid", "gpu0"), "ab000000-0000-0000-0000-000000000000");
  EXPECT_EQ(text(signals, "p2p.status", "gpu0"), "CNS");
  EXPECT_TRUE(notices.empty());
}

TEST(NvmlSignals, SayThatItDoesNotStart) {
  Signals signals;
  Notices notices;
  NvmlFunctions f = made_up_nvml();
  f.init = [] { return 18; };
  read_nvml(f, signals, notices);
  EXPECT_TRUE(signals.empty());
  EXPECT_EQ(notices.size(), 1u);
}

}  // namespace
}  // namespace isleway::formats
