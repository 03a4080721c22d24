// Every function that libnvidia-ml.so.1 exports: there, and safe to call with nothing.
#include <dlfcn.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "isleway/virtual/abi/nvml/functions.hpp"
#include "virtual/on_machine.hpp"

namespace {

std::vector<std::string> names_in(const std::string& file, const std::string& pattern) {
  std::ifstream in(ISLEWAY_SOURCE_DIR "/" + file);
  std::stringstream text;
  text << in.rdbuf();
  const std::string all = text.str();
  std::vector<std::string> names;
  const std::regex name(pattern);
  for (std::sregex_iterator i(all.begin(), all.end(), name), end; i != end; ++i)
    names.push_back((*i)[1]);
  return names;
}

std::vector<std::string> answering() {
  return names_in("include/isleway/virtual/abi/nvml/functions.hpp", "\\b(nvml[A-Z]\\w+)\\(");
}
std::vector<std::string> refusing() {
  return names_in("src/virtual/nvml/exports/unsupported.def", "ISLEWAY_NVML\\((nvml\\w+)\\)");
}

using Any = nvmlReturn_t (*)(void*, unsigned long, unsigned long, unsigned long, unsigned long,
                             unsigned long);

Any function(const std::string& name) {
  return reinterpret_cast<Any>(::dlsym(RTLD_DEFAULT, name.c_str()));
}

/// Functions whose first argument is a thing that they made, which a stray pointer is not.
bool takes_own_thing(const std::string& name) {
  for (const char* part :
       {"EventSet", "GpmSample", "GpmMetrics", "nvmlInit", "Shutdown", "ErrorString", "GpmMig"})
    if (name.find(part) != std::string::npos) return true;
  return false;
}

TEST(NvmlSymbols, AllAreThere) {
  EXPECT_GE(answering().size(), 200u);
  for (const std::string& name : answering()) EXPECT_NE(function(name), nullptr) << name;
  for (const std::string& name : refusing()) EXPECT_NE(function(name), nullptr) << name;
}

TEST(NvmlSymbols, WhatIsNotSupportedSaysSo) {
  isleway::testing::on_machine("dgx-h100", [] {
    ASSERT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    for (const std::string& name : refusing())
      EXPECT_EQ(function(name)(nullptr, 0, 0, 0, 0, 0), NVML_ERROR_NOT_SUPPORTED) << name;
    ::setenv("ISLEWAY_DEBUG", "1", 1);
    ::testing::internal::CaptureStderr();
    function("nvmlVgpuTypeGetClass")(nullptr, 0, 0, 0, 0, 0);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(),
              "isleway: nvmlVgpuTypeGetClass is not supported\n");
  });
}

TEST(NvmlSymbols, NothingCrashesOnNothing) {
  for (const char* machine : {"dgx-h100", "rtx-4090-8", "dgx-1-p100", "gb200-nvl72"})
    isleway::testing::on_machine(machine, [] {
      ASSERT_EQ(nvmlInit_v2(), NVML_SUCCESS);
      nvmlDevice_t device = nullptr;
      ASSERT_EQ(nvmlDeviceGetHandleByIndex_v2(0, &device), NVML_SUCCESS);
      for (const std::string& name : answering()) {
        if (takes_own_thing(name)) continue;
        const bool of_device = name.starts_with("nvmlDevice") &&
                               name.find("GetHandle") == std::string::npos &&
                               name.find("GetCount") == std::string::npos;
        if (of_device) {
          function(name)(device, 0, 0, 0, 0, 0);
          const nvmlReturn_t stray = function(name)(&device, 0, 0, 0, 0, 0);
          EXPECT_EQ(stray, NVML_ERROR_INVALID_ARGUMENT) << name;
        }
        EXPECT_NE(function(name)(nullptr, 0, 0, 0, 0, 0), NVML_ERROR_UNINITIALIZED) << name;
      }
    });
}

}  // namespace
