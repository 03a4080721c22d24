// Clients of libcuda.so.1: what programs of the driver API do, by the names that it exports.
#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "virtual/call.hpp"
#include "virtual/on_machine.hpp"

using isleway::testing::on_machine;

namespace {

using Pointer = unsigned long long;

template <class... Arguments>
int cu(const char* name, Arguments... arguments) {
  return isleway::testing::call(name, arguments...);
}

TEST(CudaDriver, DevicesSayWhatTheyAre) {
  on_machine("dgx-h100", [] {
    int count = 0, device = -1, major = 0;
    EXPECT_EQ(cu("cuDeviceGetCount", &count), 3);  // not yet
    ASSERT_EQ(cu("cuInit", 0u), 0);
    EXPECT_EQ(cu("cuDeviceGetCount", &count), 0);
    EXPECT_EQ(count, 8);
    EXPECT_EQ(cu("cuDeviceGet", &device, 7), 0);
    EXPECT_EQ(cu("cuDeviceGet", &device, 8), 101);
    char name[64];
    EXPECT_EQ(cu("cuDeviceGetName", &name[0], 64, 3), 0);
    EXPECT_STREQ(name, "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(cu("cuDeviceGetAttribute", &major, 75, 0), 0);
    EXPECT_EQ(major, 9);
    int can = 0;
    EXPECT_EQ(cu("cuDeviceCanAccessPeer", &can, 0, 7), 0);
    EXPECT_EQ(can, 1);
    const char* text = nullptr;
    EXPECT_EQ(cu("cuGetErrorName", 801, &text), 0);
    EXPECT_STREQ(text, "CUDA_ERROR_NOT_SUPPORTED");
  });
  on_machine("no-such-machine", [] { EXPECT_EQ(cu("cuInit", 0u), 100); });
}

TEST(CudaDriver, BytesGoThereAndBack) {
  on_machine("dgx-h100", [] {
    ASSERT_EQ(cu("cuInit", 0u), 0);
    void* context = nullptr;
    ASSERT_EQ(cu("cuDevicePrimaryCtxRetain", &context, 2), 0);
    ASSERT_EQ(cu("cuCtxSetCurrent", context), 0);
    int device = -1;
    EXPECT_EQ(cu("cuCtxGetDevice", &device), 0);
    EXPECT_EQ(device, 2);
    constexpr std::size_t bytes = 1 << 20;
    Pointer memory = 0, peer = 0;
    ASSERT_EQ(cu("cuMemAlloc_v2", &memory, bytes), 0);
    std::vector<unsigned char> out(bytes), in(bytes);
    for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<unsigned char>(i * 7);
    void *stream = nullptr, *begin = nullptr, *end = nullptr;
    ASSERT_EQ(cu("cuStreamCreate", &stream, 1u), 0);
    ASSERT_EQ(cu("cuEventCreate", &begin, 0u), 0);
    ASSERT_EQ(cu("cuEventCreate", &end, 0u), 0);
    EXPECT_EQ(cu("cuMemcpyHtoD_v2", memory, static_cast<const void*>(out.data()), bytes), 0);
    void* other = nullptr;
    ASSERT_EQ(cu("cuCtxCreate_v2", &other, 0u, 5), 0);
    ASSERT_EQ(cu("cuMemAlloc_v2", &peer, bytes), 0);
    void* popped = nullptr;
    EXPECT_EQ(cu("cuCtxPopCurrent_v2", &popped), 0);
    EXPECT_EQ(popped, other);
    EXPECT_EQ(cu("cuCtxEnablePeerAccess", other, 0u), 0);
    EXPECT_EQ(cu("cuEventRecord", begin, stream), 0);
    EXPECT_EQ(cu("cuMemcpyAsync", peer, memory, bytes, stream), 0);
    EXPECT_EQ(cu("cuEventRecord", end, stream), 0);
    EXPECT_EQ(cu("cuStreamSynchronize", stream), 0);
    float milliseconds = 0;
    EXPECT_EQ(cu("cuEventElapsedTime", &milliseconds, begin, end), 0);
    EXPECT_GT(milliseconds, 0.002);  // a mebibyte at 400 GB/s, and what a copy takes to begin
    EXPECT_LT(milliseconds, 0.1);
    EXPECT_EQ(cu("cuMemcpyDtoH_v2", static_cast<void*>(in.data()), peer, bytes), 0);
    EXPECT_EQ(in, out);
    int ordinal = -1;
    EXPECT_EQ(cu("cuPointerGetAttribute", static_cast<void*>(&ordinal), 9, peer), 0);
    EXPECT_EQ(ordinal, 5);
    Pointer base = 0;
    std::size_t size = 0;
    EXPECT_EQ(cu("cuMemGetAddressRange_v2", &base, &size, peer + 100), 0);
    EXPECT_EQ(base, peer);
    EXPECT_EQ(size, bytes);
    EXPECT_EQ(cu("cuMemFree_v2", peer), 0);
    EXPECT_EQ(cu("cuMemFree_v2", peer), 1);
  });
}

TEST(CudaDriver, MemoryEndsWhereTheGpusEnds) {
  on_machine("t4-4", [] {
    ASSERT_EQ(cu("cuInit", 0u), 0);
    void* context = nullptr;
    ASSERT_EQ(cu("cuCtxCreate_v2", &context, 0u, 0), 0);
    std::size_t free = 0, total = 0;
    ASSERT_EQ(cu("cuMemGetInfo_v2", &free, &total), 0);
    Pointer memory = 0;
    EXPECT_EQ(cu("cuMemAlloc_v2", &memory, total + 1), 2);
    EXPECT_EQ(cu("cuMemAlloc_v2", &memory, total / 2), 0);
  });
}

TEST(CudaDriver, FunctionsAreFoundByName) {
  on_machine("dgx-h100", [] {
    void* function = nullptr;
    int found = -1;
    EXPECT_EQ(cu("cuGetProcAddress_v2", "cuMemAlloc", &function, 13000, 0ul, &found), 0);
    EXPECT_EQ(function, ::dlsym(RTLD_DEFAULT, "cuMemAlloc_v2"));
    EXPECT_EQ(cu("cuGetProcAddress_v2", "cuNoSuchThing", &function, 13000, 0ul, &found), 500);
    EXPECT_EQ(found, 1);
    ::setenv("ISLEWAY_DEBUG", "1", 1);
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(cu("cuArrayCreate_v2"), 801);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(),
              "isleway: cuArrayCreate_v2 is not supported\n");
  });
}

TEST(CudaDriver, EveryRefusingFunctionIsThere) {
  std::ifstream file(ISLEWAY_SOURCE_DIR "/src/virtual/cuda/exports/unsupported.def");
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  const std::regex name("ISLEWAY_CUDA\\((cu\\w+)\\)\n");
  int count = 0;
  for (std::sregex_iterator i(all.begin(), all.end(), name), end; i != end; ++i, ++count)
    EXPECT_EQ(cu((*i)[1].str().c_str()), 801) << (*i)[1];
  EXPECT_GT(count, 300);
}

}  // namespace
