// Clients of libcuda.so.1: contexts, memory, streams, modules, graphs.
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "virtual/call.hpp"
#include "virtual/on_machine.hpp"

namespace {

using isleway::testing::call;
using isleway::testing::on_machine;
using Pointer = unsigned long long;
using Size = std::size_t;
using Handle = void*;

constexpr Size kBytes = Size{1} << 20;
enum Status {
  kSuccess = 0,
  kInvalidValue = 1,
  kBadImage = 200,
  kBadContext = 201,
  kNoFile = 301,
  kBadHandle = 400,
  kNotFound = 500,
};

/// On eight H100, with a context on device 0.
void with_context(const std::function<void(Handle context)>& client) {
  on_machine("dgx-h100", [&] {
    Handle context = nullptr;
    ASSERT_EQ(call("cuInit", 0u), kSuccess);
    ASSERT_EQ(call("cuCtxCreate_v2", &context, 0u, 0), kSuccess);
    client(context);
  });
}

Pointer take(Size bytes = kBytes) {
  Pointer memory = 0;
  EXPECT_EQ(call("cuMemAlloc_v2", &memory, bytes), kSuccess);
  return memory;
}
template <class Word>
Word word_at(Pointer memory, Size index = 0) {
  Word word{};
  EXPECT_EQ(call("cuMemcpyDtoH_v2", Handle{&word}, memory + index * sizeof word, sizeof word),
            kSuccess);
  return word;
}
Handle new_stream() {
  Handle stream = nullptr;
  EXPECT_EQ(call("cuStreamCreate", &stream, 1u), kSuccess);
  return stream;
}

TEST(CudaDriverWork, ContextsAreStacked) {
  with_context([](Handle context) {
    Handle other = nullptr, now = nullptr;
    int device = -1, value = 0, least = 0, greatest = 0;
    unsigned number = 0;
    unsigned long long id = 0;
    Size limit = 0;
    for (const char* name : {"cuCtxCreate", "cuCtxCreate_v2"})
      EXPECT_EQ(call(name, &other, 0u, 3), kSuccess);
    EXPECT_EQ(call("cuCtxCreate_v4", &other, Handle{}, 0u, 4), kSuccess);
    EXPECT_EQ(call("cuCtxGetDevice", &device), kSuccess);
    EXPECT_EQ(device, 4);
    EXPECT_EQ(call("cuCtxGetDevice_v2", &device, context), kSuccess);
    EXPECT_EQ(device, 0);
    EXPECT_EQ(call("cuCtxGetId", other, &id), kSuccess);
    EXPECT_EQ(id, 5u);
    for (const char* name : {"cuCtxPopCurrent", "cuCtxPopCurrent_v2"})
      EXPECT_EQ(call(name, &now), kSuccess);
    EXPECT_EQ(call("cuCtxGetCurrent", &now), kSuccess);
    EXPECT_EQ(call("cuCtxGetDevice", &device), kSuccess);
    EXPECT_EQ(device, 3);
    for (const char* name : {"cuCtxPushCurrent", "cuCtxPushCurrent_v2"})
      EXPECT_EQ(call(name, context), kSuccess);
    for (const char* name : {"cuCtxDestroy", "cuCtxDestroy_v2"})
      EXPECT_EQ(call(name, other), kSuccess);
    EXPECT_EQ(call("cuCtxDestroy_v2", Handle{&id}), kBadContext);
    EXPECT_EQ(call("cuCtxGetApiVersion", context, &number), kSuccess);
    EXPECT_EQ(number, 3020u);
    EXPECT_EQ(call("cuCtxSetFlags", 0u), kSuccess);
    EXPECT_EQ(call("cuCtxGetFlags", &number), kSuccess);
    EXPECT_EQ(number, 0u);
    EXPECT_EQ(call("cuCtxSetLimit", 0, Size{2048}), kSuccess);
    EXPECT_EQ(call("cuCtxGetLimit", &limit, 0), kSuccess);
    EXPECT_EQ(limit, 1024u);
    EXPECT_EQ(call("cuCtxSetCacheConfig", 1), kSuccess);
    EXPECT_EQ(call("cuCtxGetCacheConfig", &value), kSuccess);
    EXPECT_EQ(call("cuCtxSetSharedMemConfig", 1), kSuccess);
    EXPECT_EQ(call("cuCtxGetSharedMemConfig", &value), kSuccess);
    EXPECT_EQ(call("cuCtxGetStreamPriorityRange", &least, &greatest), kSuccess);
    EXPECT_LT(greatest, least);
    EXPECT_EQ(call("cuCtxResetPersistingL2Cache"), kSuccess);
    EXPECT_EQ(call("cuFlushGPUDirectRDMAWrites", 0, 100), kSuccess);
    EXPECT_EQ(call("cuCtxSynchronize"), kSuccess);
    EXPECT_EQ(call("cuCtxSynchronize_v2", context), kSuccess);
    EXPECT_EQ(call("cuCtxEnablePeerAccess", other, 0u), kSuccess);
    EXPECT_EQ(call("cuCtxEnablePeerAccess", other, 0u), 704);  // it is enabled already
    EXPECT_EQ(call("cudaGetLastError"), kSuccess);             // which is the driver's business
    EXPECT_EQ(call("cuCtxDisablePeerAccess", other), kSuccess);
    EXPECT_EQ(call("cuProfilerStart"), kSuccess);
    EXPECT_EQ(call("cuProfilerStop"), kSuccess);
  });
}

TEST(CudaDriverWork, DevicesAreAskedAbout) {
  with_context([](Handle) {
    int value = 0, minor = -1;
    unsigned flags = 7;
    Size bytes = 0;
    unsigned char uuid[16] = {}, again[16] = {};
    char id[32] = {};
    EXPECT_EQ(call("cuDriverGetVersion", &value), kSuccess);
    EXPECT_EQ(value, 13000);
    EXPECT_EQ(call("cuDeviceComputeCapability", &value, &minor, 1), kSuccess);
    EXPECT_EQ(value, 9);
    EXPECT_EQ(minor, 0);
    for (const char* name : {"cuDeviceTotalMem", "cuDeviceTotalMem_v2"})
      EXPECT_EQ(call(name, &bytes, 1), kSuccess);
    EXPECT_GT(bytes >> 30, 70u);
    EXPECT_EQ(call("cuDeviceGetUuid", &uuid[0], 1), kSuccess);
    EXPECT_EQ(call("cuDeviceGetUuid_v2", &again[0], 1), kSuccess);
    EXPECT_EQ(std::memcmp(uuid, again, sizeof uuid), 0);
    EXPECT_EQ(call("cuDeviceGetPCIBusId", &id[0], 32, 1), kSuccess);
    EXPECT_EQ(call("cuDeviceGetByPCIBusId", &value, static_cast<const char*>(id)), kSuccess);
    EXPECT_EQ(value, 1);
    EXPECT_EQ(call("cuDeviceGetP2PAttribute", &value, 2, 0, 1), kSuccess);
    EXPECT_EQ(value, 1);
    EXPECT_EQ(call("cuDevicePrimaryCtxGetState", 0, &flags, &value), kSuccess);
    EXPECT_EQ(flags, 0u);
    for (const char* name : {"cuDevicePrimaryCtxSetFlags", "cuDevicePrimaryCtxSetFlags_v2"})
      EXPECT_EQ(call(name, 0, 0u), kSuccess);
    for (const char* name : {"cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxReset_v2",
                             "cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2"})
      EXPECT_EQ(call(name, 0), kSuccess);
    const char* text = nullptr;
    EXPECT_EQ(call("cuGetErrorString", 214, &text), kSuccess);
    EXPECT_STREQ(text, "uncorrectable ECC error encountered");
    EXPECT_EQ(call("cuGetErrorString", 98765, &text), kInvalidValue);
    const void* table = &text;
    EXPECT_EQ(call("cuGetExportTable", &table, static_cast<const void*>(uuid)), 801);
    EXPECT_EQ(table, nullptr);
    void* function = nullptr;
    EXPECT_EQ(call("cuGetProcAddress", "cuCtxSynchronize", &function, 13000, 0ul), kSuccess);
    EXPECT_EQ(function, ::dlsym(RTLD_DEFAULT, "cuCtxSynchronize_v2"));
  });
}

TEST(CudaDriverWork, MemoryOfEveryKind) {
  with_context([](Handle) {
    Pointer memory = 0, managed = 0, mapped = 0;
    Size pitch = 0;
    void *host = nullptr, *pinned = nullptr;
    unsigned flags = 0;
    EXPECT_EQ(call("cuMemAllocPitch_v2", &memory, &pitch, Size{100}, Size{10}, 4u), kSuccess);
    EXPECT_EQ(pitch, 512u);
    EXPECT_EQ(call("cuMemAllocManaged", &managed, kBytes, 1u), kSuccess);
    EXPECT_EQ(call("cuMemAllocHost_v2", &host, kBytes), kSuccess);
    EXPECT_EQ(call("cuMemHostAlloc", &pinned, kBytes, 1u), kSuccess);
    EXPECT_EQ(call("cuMemHostGetDevicePointer_v2", &mapped, pinned, 0u), kSuccess);
    EXPECT_EQ(mapped, reinterpret_cast<Pointer>(pinned));
    EXPECT_EQ(call("cuMemHostGetFlags", &flags, pinned), kSuccess);
    int types[] = {2, 8};
    unsigned type = 0;
    unsigned char is_managed = 0;
    void* answers[] = {&type, &is_managed};
    EXPECT_EQ(call("cuPointerGetAttributes", 2u, types, answers, managed), kSuccess);
    EXPECT_EQ(type, 2u);
    EXPECT_EQ(is_managed, 1);
    EXPECT_EQ(call("cuMemFreeHost", host), kSuccess);
    EXPECT_EQ(call("cuMemFreeHost", host), kInvalidValue);
    static char own[4096];
    EXPECT_EQ(call("cuMemHostRegister_v2", Handle{own}, sizeof own, 0u), kSuccess);
    EXPECT_EQ(call("cuMemHostUnregister", Handle{own}), kSuccess);
    for (const char* name : {"cuStreamAttachMemAsync", "cuStreamAttachMemAsync_ptsz"})
      EXPECT_EQ(call(name, Handle{}, managed, Size{0}, 4u), kSuccess);
  });
}

TEST(CudaDriverWork, PoolsTakeFromTheDevice) {
  with_context([](Handle) {
    Handle pool = nullptr, own = nullptr;
    Pointer memory = 0;
    EXPECT_EQ(call("cuDeviceGetDefaultMemPool", &pool, 0), kSuccess);
    EXPECT_EQ(call("cuDeviceGetMemPool", &own, 0), kSuccess);
    EXPECT_EQ(own, pool);
    const int properties[24] = {1, 0, 1, 2};
    EXPECT_EQ(call("cuMemPoolCreate", &own, static_cast<const void*>(properties)), kSuccess);
    EXPECT_EQ(call("cuDeviceSetMemPool", 0, own), kSuccess);
    std::uint64_t value = 1;
    EXPECT_EQ(call("cuMemPoolSetAttribute", pool, 4, Handle{&value}), kSuccess);
    EXPECT_EQ(call("cuMemPoolGetAttribute", pool, 7, Handle{&value}), kSuccess);
    EXPECT_EQ(value, 0u);
    int access = 0;
    EXPECT_EQ(call("cuMemPoolSetAccess", pool, static_cast<const void*>(properties), Size{1}),
              kSuccess);
    EXPECT_EQ(call("cuMemPoolGetAccess", &access, pool, Handle{&value}), kSuccess);
    EXPECT_EQ(access, 3);
    EXPECT_EQ(call("cuMemPoolTrimTo", pool, Size{0}), kSuccess);
    for (const char* name : {"cuMemAllocFromPoolAsync", "cuMemAllocFromPoolAsync_ptsz"})
      EXPECT_EQ(call(name, &memory, kBytes, own, Handle{}), kSuccess);
    for (const char* name : {"cuMemAllocAsync", "cuMemAllocAsync_ptsz"})
      EXPECT_EQ(call(name, &memory, kBytes, Handle{}), kSuccess);
    EXPECT_EQ(call("cuMemFreeAsync", memory, Handle{}), kSuccess);
    EXPECT_EQ(call("cuMemAllocAsync", &memory, kBytes, Handle{}), kSuccess);
    EXPECT_EQ(call("cuMemFreeAsync_ptsz", memory, Handle{}), kSuccess);
    EXPECT_EQ(call("cuMemPoolDestroy", own), kSuccess);
  });
}

TEST(CudaDriverWork, CopiesGoEveryWay) {
  with_context([](Handle context) {
    const Pointer a = take(), b = take();
    std::vector<unsigned> host(kBytes / 4, 0x01020304), back(kBytes / 4);
    const void* from = host.data();
    void* to = back.data();
    Handle stream = new_stream();
    for (const char* name : {"cuMemcpyHtoD_v2", "cuMemcpyHtoD_v2_ptds"})
      EXPECT_EQ(call(name, a, from, kBytes), kSuccess);
    for (const char* name : {"cuMemcpyHtoDAsync_v2", "cuMemcpyHtoDAsync_v2_ptsz"})
      EXPECT_EQ(call(name, a, from, kBytes, stream), kSuccess);
    for (const char* name :
         {"cuMemcpyDtoD_v2", "cuMemcpyDtoD_v2_ptds", "cuMemcpy", "cuMemcpy_ptds"})
      EXPECT_EQ(call(name, b, a, kBytes), kSuccess);
    for (const char* name : {"cuMemcpyDtoDAsync_v2", "cuMemcpyDtoDAsync_v2_ptsz", "cuMemcpyAsync",
                             "cuMemcpyAsync_ptsz"})
      EXPECT_EQ(call(name, b, a, kBytes, stream), kSuccess);
    for (const char* name : {"cuMemcpyPeer", "cuMemcpyPeer_ptds"})
      EXPECT_EQ(call(name, b, context, a, context, kBytes), kSuccess);
    for (const char* name : {"cuMemcpyPeerAsync", "cuMemcpyPeerAsync_ptsz"})
      EXPECT_EQ(call(name, b, context, a, context, kBytes, stream), kSuccess);
    for (const char* name : {"cuMemcpyDtoHAsync_v2", "cuMemcpyDtoHAsync_v2_ptsz"})
      EXPECT_EQ(call(name, to, b, kBytes, stream), kSuccess);
    for (const char* name : {"cuStreamSynchronize", "cuStreamSynchronize_ptsz"})
      EXPECT_EQ(call(name, stream), kSuccess);
    EXPECT_EQ(back, host);
    back.assign(back.size(), 0);
    for (const char* name : {"cuMemcpyDtoH_v2", "cuMemcpyDtoH_v2_ptds"})
      EXPECT_EQ(call(name, to, b, kBytes), kSuccess);
    EXPECT_EQ(back, host);
    EXPECT_EQ(call("cuMemcpyDtoD_v2", b, a, kBytes + 1), kInvalidValue);
  });
}

template <class Word>
void fills(const char* bits, Word value) {
  const Pointer memory = take();
  const std::string name = std::string("cuMemset") + bits;
  for (const char* end : {"_v2", "_v2_ptds"}) {
    EXPECT_EQ(call((name + end).c_str(), memory, value, Size{100}), kSuccess);
    EXPECT_EQ(word_at<Word>(memory, 99), value);
    EXPECT_EQ(word_at<Word>(memory, 100), Word{0});
    EXPECT_EQ(call("cuMemsetD8_v2", memory, static_cast<unsigned char>(0), kBytes), kSuccess);
  }
  for (const char* end : {"Async", "Async_ptsz"}) {
    EXPECT_EQ(call((name + end).c_str(), memory, value, Size{100}, Handle{}), kSuccess);
    EXPECT_EQ(call("cuCtxSynchronize"), kSuccess);
    EXPECT_EQ(word_at<Word>(memory, 99), value);
    EXPECT_EQ(call("cuMemsetD8_v2", memory, static_cast<unsigned char>(0), kBytes), kSuccess);
  }
}
template <class Word>
void fills_rows(const char* bits, Word value) {
  const Pointer memory = take();
  const std::string name = std::string("cuMemsetD2") + bits;
  for (const char* end : {"_v2", "_v2_ptds"})
    EXPECT_EQ(call((name + end).c_str(), memory, Size{64}, value, Size{4}, Size{2}), kSuccess);
  for (const char* end : {"Async", "Async_ptsz"})
    EXPECT_EQ(call((name + end).c_str(), memory, Size{64}, value, Size{4}, Size{2}, Handle{}),
              kSuccess);
  EXPECT_EQ(call("cuCtxSynchronize"), kSuccess);
  EXPECT_EQ(word_at<Word>(memory, 3), value);
  EXPECT_EQ(word_at<Word>(memory, 4), Word{0});
  EXPECT_EQ(word_at<Word>(memory, 64 / sizeof(Word) + 3), value);
}

TEST(CudaDriverWork, WordsOfEveryWidthAreSet) {
  with_context([](Handle) {
    // cuMemsetD8_v2, cuMemsetD8_v2_ptds, cuMemsetD8Async, cuMemsetD8Async_ptsz
    fills<unsigned char>("D8", 0x81);
    // cuMemsetD16_v2, cuMemsetD16_v2_ptds, cuMemsetD16Async, cuMemsetD16Async_ptsz
    fills<unsigned short>("D16", 0x8182);
    // cuMemsetD32_v2, cuMemsetD32_v2_ptds, cuMemsetD32Async, cuMemsetD32Async_ptsz
    fills<unsigned>("D32", 0x81828384u);
    // cuMemsetD2D8_v2, cuMemsetD2D8_v2_ptds, cuMemsetD2D8Async, cuMemsetD2D8Async_ptsz
    fills_rows<unsigned char>("D8", 0x81);
    // cuMemsetD2D16_v2, cuMemsetD2D16_v2_ptds, cuMemsetD2D16Async, cuMemsetD2D16Async_ptsz
    fills_rows<unsigned short>("D16", 0x8182);
    // cuMemsetD2D32_v2, cuMemsetD2D32_v2_ptds, cuMemsetD2D32Async, cuMemsetD2D32Async_ptsz
    fills_rows<unsigned>("D32", 0x81828384u);
  });
}

void count_up(void* counter) { ++*static_cast<int*>(counter); }
void count_up_in_callback(void*, int, void* counter) { count_up(counter); }

TEST(CudaDriverWork, StreamsAndEvents) {
  with_context([](Handle context) {
    Handle stream = nullptr, event = nullptr, later = nullptr, of = nullptr;
    ASSERT_EQ(call("cuStreamCreateWithPriority", &stream, 1u, -2), kSuccess);
    ASSERT_EQ(call("cuEventCreate", &event, 0u), kSuccess);
    ASSERT_EQ(call("cuEventCreate", &later, 0u), kSuccess);
    int calls = 0, number = 0;
    unsigned flags = 0;
    unsigned long long id = 0;
    for (const char* end : {"", "_ptsz"}) {
      const auto name = [&](const char* plain) { return std::string(plain) + end; };
      // cuStreamGetFlags_ptsz, cuStreamGetPriority_ptsz, cuStreamGetDevice_ptsz
      EXPECT_EQ(call(name("cuStreamGetFlags").c_str(), stream, &flags), kSuccess);
      EXPECT_EQ(flags, 1u);
      EXPECT_EQ(call(name("cuStreamGetPriority").c_str(), stream, &number), kSuccess);
      EXPECT_EQ(number, -2);
      EXPECT_EQ(call(name("cuStreamGetDevice").c_str(), stream, &number), kSuccess);
      EXPECT_EQ(number, 0);
      // cuStreamGetId_ptsz, cuStreamGetCtx_ptsz, cuStreamIsCapturing_ptsz
      EXPECT_EQ(call(name("cuStreamGetId").c_str(), stream, &id), kSuccess);
      EXPECT_GT(id, 0u);
      EXPECT_EQ(call(name("cuStreamGetCtx").c_str(), stream, &of), kSuccess);
      EXPECT_EQ(of, context);
      EXPECT_EQ(call(name("cuStreamIsCapturing").c_str(), stream, &number), kSuccess);
      EXPECT_EQ(number, 0);
      // cuLaunchHostFunc_ptsz, cuStreamAddCallback_ptsz, cuEventRecord_ptsz
      EXPECT_EQ(call(name("cuEventRecord").c_str(), event, stream), kSuccess);
      EXPECT_EQ(call(name("cuLaunchHostFunc").c_str(), stream, &count_up, Handle{&calls}),
                kSuccess);
      EXPECT_EQ(call(name("cuStreamAddCallback").c_str(), stream, &count_up_in_callback,
                     Handle{&calls}, 0u),
                kSuccess);
      // cuEventRecordWithFlags_ptsz, cuStreamWaitEvent_ptsz, cuStreamQuery_ptsz
      EXPECT_EQ(call(name("cuEventRecordWithFlags").c_str(), later, stream, 0u), kSuccess);
      EXPECT_EQ(call(name("cuStreamWaitEvent").c_str(), Handle{}, later, 0u), kSuccess);
      EXPECT_EQ(call("cuEventSynchronize", later), kSuccess);
      EXPECT_EQ(call("cuEventQuery", later), kSuccess);
      EXPECT_EQ(call(name("cuStreamQuery").c_str(), stream), kSuccess);
      char value[64] = {1};
      // cuStreamGetAttribute_ptsz, cuStreamSetAttribute_ptsz, cuStreamCopyAttributes_ptsz
      EXPECT_EQ(call(name("cuStreamGetAttribute").c_str(), stream, 1, Handle{value}), kSuccess);
      EXPECT_EQ(
          call(name("cuStreamSetAttribute").c_str(), stream, 1, static_cast<const void*>(value)),
          kSuccess);
      EXPECT_EQ(call(name("cuStreamCopyAttributes").c_str(), stream, stream), kSuccess);
    }
    EXPECT_EQ(calls, 4);
    float ms = -1;
    EXPECT_EQ(call("cuEventElapsedTime_v2", &ms, event, later), kSuccess);
    EXPECT_GE(ms, 0.0f);
    for (const char* name : {"cuEventDestroy", "cuEventDestroy_v2"})
      EXPECT_EQ(call(name, std::exchange(event, later)), kSuccess);
    EXPECT_EQ(call("cuStreamDestroy", stream), kSuccess);
    EXPECT_EQ(call("cuStreamDestroy_v2", stream), kBadHandle);
  });
}

constexpr const char* kPtx =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry _Z18memsetKernelDeviceyyyj() { ret; }\n";

TEST(CudaDriverWork, ModulesHaveFunctions) {
  with_context([](Handle) {
    Handle module = nullptr, function = nullptr, of = nullptr;
    const void* image = kPtx;
    EXPECT_EQ(call("cuModuleLoad", &module, "no-such-file"), kNoFile);
    EXPECT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>("no device code")),
              kBadImage);
    ASSERT_EQ(call("cuModuleLoadFatBinary", &module, image), kSuccess);
    EXPECT_EQ(call("cuModuleUnload", module), kSuccess);
    EXPECT_EQ(call("cuModuleUnload", module), kBadHandle);
    ASSERT_EQ(call("cuModuleLoadData", &module, image), kSuccess);
    ASSERT_EQ(call("cuModuleLoadDataEx", &module, image, 0u, static_cast<int*>(nullptr),
                   static_cast<void**>(nullptr)),
              kSuccess);
    int mode = 0;
    EXPECT_EQ(call("cuModuleGetLoadingMode", &mode), kSuccess);
    EXPECT_EQ(mode, 2);
    EXPECT_EQ(call("cuModuleGetFunction", &function, module, "mine"), kNotFound);
    ASSERT_EQ(call("cuModuleGetFunction", &function, module, "_Z18memsetKernelDeviceyyyj"),
              kSuccess);
    const char* name = nullptr;
    int value = 0;
    EXPECT_EQ(call("cuFuncGetName", &name, function), kSuccess);
    EXPECT_STREQ(name, "_Z18memsetKernelDeviceyyyj");
    EXPECT_EQ(call("cuFuncGetModule", &of, function), kSuccess);
    EXPECT_EQ(of, module);
    EXPECT_EQ(call("cuFuncGetAttribute", &value, 0, function), kSuccess);
    EXPECT_EQ(value, 1024);
    EXPECT_EQ(call("cuFuncSetAttribute", function, 8, 1024), kSuccess);
    EXPECT_EQ(call("cuFuncSetCacheConfig", function, 1), kSuccess);
    EXPECT_EQ(call("cuFuncSetSharedMemConfig", function, 1), kSuccess);
    EXPECT_EQ(call("cuFuncLoad", function), kSuccess);
    EXPECT_EQ(call("cuFuncIsLoaded", &value, function), kSuccess);
    EXPECT_EQ(value, 1);
    EXPECT_EQ(call("cuOccupancyMaxActiveBlocksPerMultiprocessor", &value, function, 1024, Size{0}),
              kSuccess);
    EXPECT_EQ(value, 2);
    EXPECT_EQ(call("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", &value, function, 256,
                   Size{0}, 0u),
              kSuccess);
    EXPECT_EQ(value, 8);

    Pointer to = take(), pattern = take(4096);
    ASSERT_EQ(call("cuMemsetD32_v2", pattern, 0x0a0b0c0du, Size{1024}), kSuccess);
    unsigned long long count = kBytes / 4;
    unsigned period = 1024;
    void* all[] = {&to, &pattern, &count, &period};
    void** arguments = all;
    const auto filled = [&] {
      EXPECT_EQ(call("cuCtxSynchronize"), kSuccess);
      const bool done = word_at<unsigned>(to, kBytes / 4 - 1) == 0x0a0b0c0du;
      EXPECT_EQ(call("cuMemsetD32_v2", to, 0u, kBytes / 4), kSuccess);
      return done;
    };
    for (const char* launch : {"cuLaunchKernel", "cuLaunchKernel_ptsz"}) {
      EXPECT_EQ(call(launch, function, 256u, 1u, 1u, 1024u, 1u, 1u, 0u, Handle{}, arguments,
                     static_cast<void**>(nullptr)),
                kSuccess);
      EXPECT_TRUE(filled()) << launch;
    }
    for (const char* launch : {"cuLaunchCooperativeKernel", "cuLaunchCooperativeKernel_ptsz"}) {
      EXPECT_EQ(call(launch, function, 256u, 1u, 1u, 1024u, 1u, 1u, 0u, Handle{}, arguments),
                kSuccess);
      EXPECT_TRUE(filled()) << launch;
    }
    struct {
      unsigned grid[3], block[3], shared;
      Handle stream;
      void* attributes;
      unsigned attribute_count;
    } config = {{256, 1, 1}, {1024, 1, 1}, 0, nullptr, nullptr, 0};
    for (const char* launch : {"cuLaunchKernelEx", "cuLaunchKernelEx_ptsz"}) {
      EXPECT_EQ(call(launch, static_cast<const void*>(&config), function, arguments,
                     static_cast<void**>(nullptr)),
                kSuccess);
      EXPECT_TRUE(filled()) << launch;
    }
    EXPECT_EQ(call("cuLaunchKernel", Handle{&config}, 1u, 1u, 1u, 1u, 1u, 1u, 0u, Handle{},
                   arguments, static_cast<void**>(nullptr)),
              kBadHandle);
  });
}

TEST(CudaDriverWork, LibrariesHaveKernels) {
  with_context([](Handle) {
    Handle library = nullptr, kernel = nullptr, of = nullptr;
    const void* image = kPtx;
    int* none = nullptr;
    void** nothing = nullptr;
    EXPECT_EQ(call("cuLibraryLoadFromFile", &library, "no-such-file", none, nothing, 0u, none,
                   nothing, 0u),
              kNoFile);
    ASSERT_EQ(call("cuLibraryLoadData", &library, image, none, nothing, 0u, none, nothing, 0u),
              kSuccess);
    ASSERT_EQ(call("cuLibraryGetKernel", &kernel, library, "_Z18memsetKernelDeviceyyyj"), kSuccess);
    EXPECT_EQ(call("cuLibraryGetModule", &of, library), kSuccess);
    EXPECT_EQ(of, library);
    EXPECT_EQ(call("cuKernelGetLibrary", &of, kernel), kSuccess);
    EXPECT_EQ(of, library);
    EXPECT_EQ(call("cuKernelGetFunction", &of, kernel), kSuccess);
    const char* name = nullptr;
    EXPECT_EQ(call("cuKernelGetName", &name, kernel), kSuccess);
    EXPECT_STREQ(name, "_Z18memsetKernelDeviceyyyj");
    int value = 0;
    EXPECT_EQ(call("cuKernelGetAttribute", &value, 0, kernel, 0), kSuccess);
    EXPECT_EQ(value, 1024);
    EXPECT_EQ(call("cuKernelSetAttribute", 8, 1024, kernel, 0), kSuccess);
    EXPECT_EQ(call("cuKernelSetCacheConfig", kernel, 1, 0), kSuccess);
    EXPECT_EQ(call("cuLibraryUnload", library), kSuccess);
  });
}

TEST(CudaDriverWork, GraphsAreThoseOfTheRuntime) {
  for (const char* end : {"", "_ptsz"})
    with_context([end](Handle) {
      const auto name = [&](const char* plain) { return std::string(plain) + end; };
      Handle stream = new_stream(), graph = nullptr, inside = nullptr, run = nullptr;
      int mode = 1, status = 0, calls = 0;
      EXPECT_EQ(call("cuThreadExchangeStreamCaptureMode", &mode), kSuccess);
      // cuStreamBeginCapture_v2_ptsz, cuStreamGetCaptureInfo_v2_ptsz,
      // cuStreamGetCaptureInfo_v3_ptsz
      ASSERT_EQ(call(name("cuStreamBeginCapture_v2").c_str(), stream, 0), kSuccess);
      EXPECT_EQ(call("cuLaunchHostFunc", stream, &count_up, Handle{&calls}), kSuccess);
      std::uint64_t id = 0;
      const Handle* ends = nullptr;
      const void* edges = nullptr;
      Size count = 0;
      EXPECT_EQ(call(name("cuStreamGetCaptureInfo_v2").c_str(), stream, &status, &id, &inside,
                     &ends, &count),
                kSuccess);
      EXPECT_EQ(call(name("cuStreamGetCaptureInfo_v3").c_str(), stream, &status, &id, &inside,
                     &ends, &edges, &count),
                kSuccess);
      EXPECT_EQ(count, 1u);
      Handle last = ends[0];
      // cuStreamUpdateCaptureDependencies_ptsz, cuStreamUpdateCaptureDependencies_v2_ptsz,
      // cuStreamEndCapture_ptsz
      EXPECT_EQ(call(name("cuStreamUpdateCaptureDependencies").c_str(), stream, &last, Size{1}, 1u),
                kSuccess);
      EXPECT_EQ(call(name("cuStreamUpdateCaptureDependencies_v2").c_str(), stream, &last,
                     static_cast<const void*>(nullptr), Size{1}, 1u),
                kSuccess);
      ASSERT_EQ(call(name("cuStreamEndCapture").c_str(), stream, &graph), kSuccess);

      struct {
        void (*function)(void*);
        void* data;
      } hosted = {&count_up, &calls};
      Handle empty = nullptr, host = nullptr, child = nullptr, record = nullptr, wait = nullptr,
             inner = nullptr, event = nullptr, clone = nullptr, object = nullptr;
      const Handle* none = nullptr;
      ASSERT_EQ(call("cuEventCreate", &event, 0u), kSuccess);
      ASSERT_EQ(call("cuGraphCreate", &inner, 0u), kSuccess);
      EXPECT_EQ(call("cuGraphAddHostNode", &host, inner, none, Size{0},
                     static_cast<const void*>(&hosted)),
                kSuccess);
      EXPECT_EQ(call("cuGraphAddEmptyNode", &empty, graph, none, Size{0}), kSuccess);
      EXPECT_EQ(call("cuGraphAddChildGraphNode", &child, graph, none, Size{0}, inner), kSuccess);
      EXPECT_EQ(call("cuGraphAddEventRecordNode", &record, graph, none, Size{0}, event), kSuccess);
      const Handle* after = &record;
      EXPECT_EQ(call("cuGraphAddEventWaitNode", &wait, graph, after, Size{1}, event), kSuccess);
      Size nodes = 0, roots = 0;
      EXPECT_EQ(call("cuGraphGetNodes", graph, static_cast<Handle*>(nullptr), &nodes), kSuccess);
      EXPECT_EQ(call("cuGraphGetRootNodes", graph, static_cast<Handle*>(nullptr), &roots),
                kSuccess);
      EXPECT_EQ(nodes, 5u);
      EXPECT_EQ(roots, 4u);
      EXPECT_EQ(call("cuGraphNodeGetType", child, &status), kSuccess);
      EXPECT_EQ(status, 4);
      EXPECT_EQ(call("cuGraphClone", &clone, graph), kSuccess);
      int kept = 0;
      EXPECT_EQ(call("cuUserObjectCreate", &object, Handle{&kept}, &count_up, 1u, 1u), kSuccess);
      EXPECT_EQ(call("cuUserObjectRetain", object, 1u), kSuccess);
      EXPECT_EQ(call("cuGraphRetainUserObject", graph, object, 1u, 0u), kSuccess);
      EXPECT_EQ(call("cuGraphReleaseUserObject", graph, object, 1u), kSuccess);
      EXPECT_EQ(call("cuUserObjectRelease", object, 2u), kSuccess);
      EXPECT_EQ(kept, 1);
      char parameters[256] = {};
      EXPECT_EQ(call("cuGraphInstantiate_v2", &run, clone, static_cast<Handle*>(nullptr),
                     static_cast<char*>(nullptr), Size{0}),
                kSuccess);
      EXPECT_EQ(call("cuGraphExecDestroy", run), kSuccess);
      // cuGraphInstantiateWithParams_ptsz, cuGraphUpload_ptsz, cuGraphLaunch_ptsz
      EXPECT_EQ(call(name("cuGraphInstantiateWithParams").c_str(), &run, clone, Handle{parameters}),
                kSuccess);
      EXPECT_EQ(call("cuGraphExecDestroy", run), kSuccess);
      ASSERT_EQ(call("cuGraphInstantiateWithFlags", &run, clone, 0ull), kSuccess);
      EXPECT_EQ(call(name("cuGraphUpload").c_str(), run, stream), kSuccess);
      EXPECT_EQ(call(name("cuGraphLaunch").c_str(), run, stream), kSuccess);
      EXPECT_EQ(call("cuStreamSynchronize", stream), kSuccess);
      EXPECT_EQ(calls, 2);
      EXPECT_EQ(call("cuGraphDestroy", graph), kSuccess);
    });
}

}  // namespace
