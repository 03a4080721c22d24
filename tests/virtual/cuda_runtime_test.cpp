// Clients of libcudart: devices, memory and what is asked about them. Streams, graphs and kernels
// are in cuda_runtime_work_test.cpp.
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "virtual/call.hpp"
#include "virtual/on_machine.hpp"

namespace {

using isleway::testing::call;
using isleway::testing::on_machine;
using Size = std::size_t;
using Stream = void*;

constexpr Size kBytes = Size{1} << 20;
enum { kToDevice = 1, kToHost = 2, kDeviceToDevice = 3, kAny = 4 };
enum Status {
  kSuccess = 0,
  kInvalidValue = 1,
  kNoMemory = 2,
  kBadPitch = 12,
  kBadSymbol = 13,
  kBadPointer = 17,
  kNoDevice = 100,
  kBadDevice = 101,
  kBadContext = 201,
  kUnsupportedLimit = 215,
  kNoSuchSymbol = 500,
  kPeerAlready = 704,
  kPeerNotEnabled = 705,
  kAlreadyRegistered = 712,
  kNotRegistered = 713,
  kNotSupported = 801,
};

void* take(Size bytes = kBytes) {
  void* memory = nullptr;
  EXPECT_EQ(call("cudaMalloc", &memory, bytes), kSuccess);
  return memory;
}
std::vector<unsigned char> bytes_of(const void* memory, Size count) {
  std::vector<unsigned char> bytes(count);
  EXPECT_EQ(call("cudaMemcpy", static_cast<void*>(bytes.data()), memory, count, int{kToHost}),
            kSuccess);
  return bytes;
}

TEST(CudaRuntime, DevicesAreToldApart) {
  on_machine("dgx-h100", [] {
    int count = 0, device = -1, value = 0;
    EXPECT_EQ(call("cudaGetDeviceCount", &count), kSuccess);
    EXPECT_EQ(count, 8);
    EXPECT_EQ(call("cudaInitDevice", 3, 0u, 0u), kSuccess);
    EXPECT_EQ(call("cudaInitDevice", 8, 0u, 0u), kBadDevice);
    EXPECT_EQ(call("cudaSetDevice", 5), kSuccess);
    EXPECT_EQ(call("cudaGetDevice", &device), kSuccess);
    EXPECT_EQ(device, 5);
    const int some[] = {2, 3}, none[] = {9};
    EXPECT_EQ(call("cudaSetValidDevices", some, 2), kSuccess);
    EXPECT_EQ(call("cudaSetValidDevices", none, 1), kBadDevice);
    EXPECT_EQ(call("cudaChooseDevice", &device, static_cast<const void*>(nullptr)), kSuccess);
    EXPECT_EQ(device, 5);
    EXPECT_EQ(call("cudaDeviceGetP2PAttribute", &value, 2, 0, 1), kSuccess);
    EXPECT_EQ(value, 1);  // access
    EXPECT_EQ(call("cudaDeviceGetP2PAttribute", &value, 9, 0, 1), kInvalidValue);
    EXPECT_EQ(call("cudaDriverGetVersion", &value), kSuccess);
    EXPECT_EQ(value, 13000);
    EXPECT_EQ(call("cudaRuntimeGetVersion", &value), kSuccess);
    EXPECT_EQ(value, 13000);
    EXPECT_EQ(call("cudaDeviceEnablePeerAccess", 6, 0u), kSuccess);
    EXPECT_EQ(call("cudaDeviceEnablePeerAccess", 6, 0u), kPeerAlready);
    EXPECT_EQ(call("cudaDeviceDisablePeerAccess", 6), kSuccess);
    EXPECT_EQ(call("cudaDeviceDisablePeerAccess", 6), kPeerNotEnabled);
    EXPECT_EQ(call("cudaGetLastError"), kPeerNotEnabled);
    EXPECT_EQ(call("cudaPeekAtLastError"), kSuccess);
    EXPECT_STREQ(call<const char*>("cudaGetErrorString", 2), "out of memory");
    EXPECT_STREQ(call<const char*>("cudaGetErrorName", 2), "cudaErrorMemoryAllocation");
  });
}

/// Where cudaDeviceProp of each release has some of its fields, as the toolkit's documentation
/// lists them.
struct PropLayout {
  Size total_memory, sms, pci_bus, pci_domain, l2, per_sm;
};
void expect_properties(const char* function, const PropLayout& at) {
  alignas(8) unsigned char prop[2048] = {};
  ASSERT_EQ(call(function, static_cast<void*>(prop), 1), kSuccess);
  const auto number = [&](Size where) {
    int value;
    std::memcpy(&value, prop + where, sizeof value);
    return value;
  };
  Size memory;
  std::memcpy(&memory, prop + at.total_memory, sizeof memory);
  EXPECT_EQ(std::string(reinterpret_cast<char*>(prop)), "NVIDIA H100 80GB HBM3");
  EXPECT_GT(memory >> 30, 70u);
  EXPECT_EQ(number(at.sms), 132);
  EXPECT_EQ(number(at.pci_bus), 2);
  EXPECT_EQ(number(at.pci_domain), 0);
  EXPECT_EQ(number(at.per_sm), 2048);
  EXPECT_EQ(number(at.l2), 50 << 20);
}

TEST(CudaRuntime, PropertiesAreWhereProgramsLookForThem) {
  // Fields that CUDA 13 dropped are between the others in 12.
  on_machine("dgx-h100", [] {
    expect_properties("cudaGetDeviceProperties", {288, 384, 568, 576, 596, 604});
    alignas(8) unsigned char prop[2048] = {};
    EXPECT_EQ(call("cudaGetDeviceProperties_v2", static_cast<void*>(prop), 8), kBadDevice);
  });
  on_machine("dgx-h100", [] {
    isleway::testing::library() = ::dlopen("libcudart.so.12", RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(isleway::testing::library(), nullptr);
    int version = 0;
    EXPECT_EQ(call("cudaRuntimeGetVersion", &version), kSuccess);
    EXPECT_EQ(version / 1000, 12);
    expect_properties("cudaGetDeviceProperties_v2", {288, 388, 584, 592, 616, 624});
  });
}

TEST(CudaRuntime, SettingsAreTaken) {
  on_machine("dgx-h100", [] {
    int value = -1, least = 1, greatest = 1;
    unsigned flags = 0;
    Size limit = 0;
    EXPECT_EQ(call("cudaSetDeviceFlags", 0u), kSuccess);
    EXPECT_EQ(call("cudaGetDeviceFlags", &flags), kSuccess);
    EXPECT_EQ(flags, 8u);
    EXPECT_EQ(call("cudaDeviceSetCacheConfig", 1), kSuccess);
    EXPECT_EQ(call("cudaDeviceGetCacheConfig", &value), kSuccess);
    EXPECT_EQ(value, 0);
    EXPECT_EQ(call("cudaDeviceSetSharedMemConfig", 1), kSuccess);
    EXPECT_EQ(call("cudaDeviceGetSharedMemConfig", &value), kSuccess);
    EXPECT_EQ(call("cudaDeviceSetLimit", 2, Size{1 << 20}), kSuccess);
    EXPECT_EQ(call("cudaDeviceSetLimit", 99, Size{1}), kUnsupportedLimit);
    EXPECT_EQ(call("cudaDeviceGetLimit", &limit, 0), kSuccess);
    EXPECT_EQ(limit, 1024u);
    EXPECT_EQ(call("cudaDeviceGetStreamPriorityRange", &least, &greatest), kSuccess);
    EXPECT_EQ(least, 0);
    EXPECT_LT(greatest, 0);
    EXPECT_EQ(call("cudaDeviceFlushGPUDirectRDMAWrites", 0, 100), kSuccess);
    EXPECT_EQ(call("cudaCtxResetPersistingL2Cache"), kSuccess);
    EXPECT_EQ(call("cudaProfilerStart"), kSuccess);
    EXPECT_EQ(call("cudaProfilerStop"), kSuccess);
    EXPECT_EQ(call("cudaDeviceSynchronize"), kSuccess);
    EXPECT_EQ(call("cudaThreadSynchronize"), kSuccess);
  });
}

TEST(CudaRuntime, MemoryOfEveryKindComesAndGoes) {
  on_machine("dgx-h100", [] {
    struct Attributes {
      int type, device;
      void *on_device, *on_host;
      long reserved[8];
    } attributes;
    enum { kUnknown, kHost, kDevice, kManaged };
    void *pinned = nullptr, *mapped = nullptr;
    unsigned flags = 0;
    EXPECT_EQ(call("cudaMallocHost", &pinned, kBytes), kSuccess);
    EXPECT_EQ(call("cudaPointerGetAttributes", &attributes, static_cast<const void*>(pinned)),
              kSuccess);
    EXPECT_EQ(attributes.type, kHost);
    EXPECT_EQ(call("cudaHostGetDevicePointer", &mapped, pinned, 0u), kSuccess);
    EXPECT_EQ(mapped, pinned);
    EXPECT_EQ(call("cudaHostGetFlags", &flags, pinned), kSuccess);
    EXPECT_EQ(flags, 2u);
    EXPECT_EQ(call("cudaFreeHost", pinned), kSuccess);
    EXPECT_EQ(call("cudaHostGetFlags", &flags, pinned), kInvalidValue);

    static char own[4096];
    EXPECT_EQ(call("cudaHostRegister", static_cast<void*>(own), sizeof own, 0u), kSuccess);
    EXPECT_EQ(call("cudaHostRegister", static_cast<void*>(own), sizeof own, 0u),
              kAlreadyRegistered);
    EXPECT_EQ(call("cudaHostUnregister", static_cast<void*>(own)), kSuccess);
    EXPECT_EQ(call("cudaHostUnregister", static_cast<void*>(own)), kNotRegistered);
    EXPECT_EQ(call("cudaPointerGetAttributes", &attributes, static_cast<const void*>(own)),
              kSuccess);
    EXPECT_EQ(attributes.type, kUnknown);

    EXPECT_EQ(call("cudaSetDevice", 2), kSuccess);
    void* memory = take();
    EXPECT_EQ(call("cudaPointerGetAttributes", &attributes, static_cast<const void*>(memory)),
              kSuccess);
    EXPECT_EQ(attributes.type, kDevice);
    EXPECT_EQ(attributes.device, 2);
    EXPECT_EQ(call("cudaFree", memory), kSuccess);
    EXPECT_EQ(call("cudaFree", memory), kBadPointer);
    EXPECT_EQ(call("cudaFree", static_cast<void*>(nullptr)), kSuccess);

    void* managed = nullptr;
    EXPECT_EQ(call("cudaMallocManaged", &managed, kBytes, 1u), kSuccess);
    EXPECT_EQ(call("cudaPointerGetAttributes", &attributes, static_cast<const void*>(managed)),
              kSuccess);
    EXPECT_EQ(attributes.type, kManaged);
    struct Location {
      int kind, id;
    };
    const void* advised = managed;
    EXPECT_EQ(call("cudaMemAdvise", advised, kBytes, 1, Location{1, 0}), kSuccess);
    for (const char* name : {"cudaMemPrefetchAsync", "cudaMemPrefetchAsync_ptsz"})
      EXPECT_EQ(call(name, advised, kBytes, Location{1, 0}, 0u, Stream{}), kSuccess);
    EXPECT_EQ(call("cudaStreamAttachMemAsync", Stream{}, managed, Size{0}, 4u), kSuccess);
    EXPECT_EQ(call("cudaStreamAttachMemAsync_ptsz", Stream{}, managed, Size{0}, 4u), kSuccess);
    EXPECT_EQ(call("cudaFree", managed), kSuccess);

    take();
    EXPECT_EQ(call("cudaDeviceReset"), kSuccess);
    Size free = 0, total = 1;
    EXPECT_EQ(call("cudaMemGetInfo", &free, &total), kSuccess);
    EXPECT_EQ(free, total);
    EXPECT_EQ(call("cudaThreadExit"), kSuccess);
    EXPECT_EQ(call("cudaMalloc", &memory, total + 1), kNoMemory);
  });
}

TEST(CudaRuntime, PoolsTakeFromTheDevice) {
  on_machine("dgx-h100", [] {
    void *pool = nullptr, *own = nullptr, *memory = nullptr, *more = nullptr;
    EXPECT_EQ(call("cudaDeviceGetDefaultMemPool", &pool, 0), kSuccess);
    EXPECT_EQ(call("cudaDeviceGetMemPool", &own, 0), kSuccess);
    EXPECT_EQ(pool, own);
    const int properties[24] = {1, 0, 1, 3};  // pinned, no handles, on device 3
    EXPECT_EQ(call("cudaMemPoolCreate", &own, static_cast<const void*>(properties)), kSuccess);
    EXPECT_EQ(call("cudaDeviceSetMemPool", 0, own), kSuccess);
    EXPECT_EQ(call("cudaMallocAsync", &memory, kBytes, Stream{}), kSuccess);
    EXPECT_EQ(call("cudaMallocFromPoolAsync", &more, kBytes, own, Stream{}), kSuccess);
    std::uint64_t threshold = 1, used = 0;
    EXPECT_EQ(call("cudaMemPoolSetAttribute", pool, 4, static_cast<void*>(&threshold)), kSuccess);
    EXPECT_EQ(call("cudaMemPoolGetAttribute", pool, 7, static_cast<void*>(&used)), kSuccess);
    EXPECT_EQ(used, 2 * kBytes);
    int access = 0;
    EXPECT_EQ(call("cudaMemPoolSetAccess", pool, static_cast<const void*>(properties), Size{1}),
              kSuccess);
    EXPECT_EQ(call("cudaMemPoolGetAccess", &access, pool, static_cast<void*>(&threshold)),
              kSuccess);
    EXPECT_EQ(access, 3);
    EXPECT_EQ(call("cudaMemPoolTrimTo", pool, Size{0}), kSuccess);
    EXPECT_EQ(call("cudaFreeAsync", memory, Stream{}), kSuccess);
    EXPECT_EQ(call("cudaFreeAsync_ptsz", more, Stream{}), kSuccess);
    EXPECT_EQ(call("cudaMallocAsync_ptsz", &memory, kBytes, Stream{}), kSuccess);
    EXPECT_EQ(call("cudaMallocFromPoolAsync_ptsz", &more, kBytes, own, Stream{}), kSuccess);
    EXPECT_EQ(call("cudaMemPoolDestroy", own), kSuccess);
    EXPECT_EQ(call("cudaMemPoolDestroy", static_cast<void*>(nullptr)), kInvalidValue);
  });
}

TEST(CudaRuntime, CopiesAndFillsReachEveryByte) {
  on_machine("dgx-h100", [] {
    void *a = take(), *b = take();
    const void* from = a;
    for (const char* name : {"cudaMemset", "cudaMemset_ptds"})
      EXPECT_EQ(call(name, a, 0x21, kBytes), kSuccess);
    EXPECT_EQ(call("cudaMemcpyPeer", b, 1, from, 0, kBytes), kSuccess);
    EXPECT_EQ(bytes_of(b, kBytes).back(), 0x21);
    for (const char* name : {"cudaMemsetAsync", "cudaMemsetAsync_ptsz"})
      EXPECT_EQ(call(name, a, 0x22, kBytes, Stream{}), kSuccess);
    EXPECT_EQ(call("cudaDeviceSynchronize"), kSuccess);
    EXPECT_EQ(call("cudaMemcpyPeerAsync", b, 0, from, 0, kBytes, Stream{}), kSuccess);
    EXPECT_EQ(call("cudaMemcpyPeerAsync", b, 0, from, 8, kBytes, Stream{}), kBadDevice);
    EXPECT_EQ(bytes_of(b, kBytes).front(), 0x22);
    for (const char* name : {"cudaMemcpy", "cudaMemcpy_ptds"})
      EXPECT_EQ(call(name, b, from, kBytes, int{kDeviceToDevice}), kSuccess);
    for (const char* name : {"cudaMemcpyAsync", "cudaMemcpyAsync_ptsz"})
      EXPECT_EQ(call(name, b, from, kBytes, int{kAny}, Stream{}), kSuccess);
    EXPECT_EQ(call("cudaMemcpy", b, from, kBytes + 1, int{kAny}), kInvalidValue);

    // Rows of 16 bytes, 64 apart.
    for (const char* name : {"cudaMemset2D", "cudaMemset2D_ptds"})
      EXPECT_EQ(call(name, a, Size{64}, 0x23, Size{16}, Size{4}), kSuccess);
    for (const char* name : {"cudaMemset2DAsync", "cudaMemset2DAsync_ptsz"})
      EXPECT_EQ(call(name, a, Size{64}, 0x23, Size{16}, Size{4}, Stream{}), kSuccess);
    auto got = bytes_of(a, 256);
    EXPECT_EQ(got[15], 0x23);
    EXPECT_EQ(got[16], 0x22);
    EXPECT_EQ(got[64], 0x23);
    for (const char* name : {"cudaMemcpy2D", "cudaMemcpy2D_ptds"})
      EXPECT_EQ(call(name, b, Size{16}, from, Size{64}, Size{16}, Size{4}, int{kAny}), kSuccess);
    for (const char* name : {"cudaMemcpy2DAsync", "cudaMemcpy2DAsync_ptsz"})
      EXPECT_EQ(call(name, b, Size{16}, from, Size{64}, Size{16}, Size{4}, int{kAny}, Stream{}),
                kSuccess);
    EXPECT_EQ(bytes_of(b, 64), std::vector<unsigned char>(64, 0x23));
    EXPECT_EQ(call("cudaMemcpy2D", b, Size{8}, from, Size{64}, Size{16}, Size{4}, int{kAny}),
              kBadPitch);

    void* targets[] = {b};
    const void* sources[] = {a};
    const Size sizes[] = {128};
    const auto batch = [&](const char* name) {
      return call(name, static_cast<void* const*>(targets),
                  static_cast<const void* const*>(sources), static_cast<const Size*>(sizes),
                  Size{1}, static_cast<void*>(nullptr), static_cast<Size*>(nullptr), Size{0},
                  Stream{});
    };
    EXPECT_EQ(batch("cudaMemcpyBatchAsync"), kSuccess);
    EXPECT_EQ(batch("cudaMemcpyBatchAsync_ptsz"), kSuccess);
    EXPECT_EQ(bytes_of(b, 128)[64], 0x23);
    EXPECT_EQ(bytes_of(b, 128)[63], 0x22);
  });
}

struct Pitched {
  void* address;
  Size pitch, width, height;
};
struct Extent {
  Size width, height, depth;
};
struct Position {
  Size x, y, z;
};
struct Copy3D {
  void* from_array;
  Position from_at;
  Pitched from;
  void* to_array;
  Position to_at;
  Pitched to;
  Extent extent;
  int kind;
};
struct PeerCopy3D {
  void* from_array;
  Position from_at;
  Pitched from;
  int from_device;
  void* to_array;
  Position to_at;
  Pitched to;
  int to_device;
  Extent extent;
};

TEST(CudaRuntime, BoxesAreCopiedRowByRow) {
  on_machine("dgx-h100", [] {
    void* rows = nullptr;
    Size pitch = 0;
    EXPECT_EQ(call("cudaMallocPitch", &rows, &pitch, Size{100}, Size{8}), kSuccess);
    EXPECT_GE(pitch, 100u);
    Pitched box{}, other{};
    const Extent extent = {100, 4, 3};
    ASSERT_EQ(call("cudaMalloc3D", &box, extent), kSuccess);
    ASSERT_EQ(call("cudaMalloc3D", &other, extent), kSuccess);
    for (const char* name : {"cudaMemset3D", "cudaMemset3D_ptds"})
      EXPECT_EQ(call(name, box, 5, extent), kSuccess);
    for (const char* name : {"cudaMemset3DAsync", "cudaMemset3DAsync_ptsz"})
      EXPECT_EQ(call(name, other, 6, extent, Stream{}), kSuccess);
    // One row of the last slice, from its third byte on.
    const Copy3D copy = {nullptr, {2, 1, 2}, box, nullptr, {2, 1, 2}, other, {10, 1, 1}, kAny};
    const Copy3D* plain = &copy;
    for (const char* name : {"cudaMemcpy3D", "cudaMemcpy3D_ptds"})
      EXPECT_EQ(call(name, plain), kSuccess);
    for (const char* name : {"cudaMemcpy3DAsync", "cudaMemcpy3DAsync_ptsz"})
      EXPECT_EQ(call(name, plain, Stream{}), kSuccess);
    const auto got = bytes_of(other.address, other.pitch * 12);
    const Size row = (2 * 4 + 1) * other.pitch;
    EXPECT_EQ(got[row + 1], 6);
    EXPECT_EQ(got[row + 2], 5);
    EXPECT_EQ(got[row + 11], 5);
    EXPECT_EQ(got[row + 12], 6);
    const PeerCopy3D peer = {nullptr, {}, box, 0, nullptr, {}, other, 0, extent};
    const PeerCopy3D* between = &peer;
    for (const char* name : {"cudaMemcpy3DPeer", "cudaMemcpy3DPeer_ptds"})
      EXPECT_EQ(call(name, between), kSuccess);
    for (const char* name : {"cudaMemcpy3DPeerAsync", "cudaMemcpy3DPeerAsync_ptsz"})
      EXPECT_EQ(call(name, between, Stream{}), kSuccess);
    EXPECT_EQ(bytes_of(other.address, 100), std::vector<unsigned char>(100, 5));
    const Copy3D arrays = {rows, {}, {}, nullptr, {}, other, extent, kAny};
    EXPECT_EQ(call("cudaMemcpy3D", &arrays), kNotSupported);
  });
}

TEST(CudaRuntime, VariablesOfThePrograms) {
  on_machine("dgx-h100", [] {
    static char variable[16], name[] = "variable";
    static void* managed = nullptr;
    call<void>("__cudaRegisterVar", static_cast<void**>(nullptr), variable, name,
               static_cast<const char*>(name), 0, Size{16}, 0, 0);
    call<void>("__cudaRegisterManagedVar", static_cast<void**>(nullptr), &managed, name,
               static_cast<const char*>(name), 0, Size{64}, 0, 0);
    ASSERT_NE(managed, nullptr);
    const void* symbol = variable;
    void* address = nullptr;
    Size size = 0;
    EXPECT_EQ(call("cudaGetSymbolAddress", &address, symbol), kSuccess);
    EXPECT_EQ(call("cudaGetSymbolSize", &size, symbol), kSuccess);
    EXPECT_EQ(size, 16u);
    EXPECT_EQ(call("cudaGetSymbolSize", &size, static_cast<const void*>(name)), kBadSymbol);
    char out[16] = "fifteen letters", in[16] = {};
    const void* source = out;
    void* target = in;
    for (const char* to : {"cudaMemcpyToSymbol", "cudaMemcpyToSymbol_ptds"})
      EXPECT_EQ(call(to, symbol, source, Size{16}, Size{0}, int{kToDevice}), kSuccess);
    for (const char* from : {"cudaMemcpyFromSymbol", "cudaMemcpyFromSymbol_ptds"})
      EXPECT_EQ(call(from, target, symbol, Size{8}, Size{8}, int{kToHost}), kSuccess);
    EXPECT_STREQ(in, "letters");
    for (const char* to : {"cudaMemcpyToSymbolAsync", "cudaMemcpyToSymbolAsync_ptsz"})
      EXPECT_EQ(call(to, symbol, source, Size{16}, Size{1}, int{kToDevice}, Stream{}),
                kInvalidValue);
    for (const char* from : {"cudaMemcpyFromSymbolAsync", "cudaMemcpyFromSymbolAsync_ptsz"})
      EXPECT_EQ(call(from, target, symbol, Size{16}, Size{0}, int{kToHost}, Stream{}), kSuccess);
    EXPECT_STREQ(in, "fifteen letters");
  });
}

TEST(CudaRuntime, TheDriverIsFoundByName) {
  on_machine("dgx-h100", [] {
    void* function = nullptr;
    int found = -1;
    EXPECT_EQ(call("cudaGetDriverEntryPoint", "cuMemAlloc", &function, 0ull, &found), kSuccess);
    EXPECT_NE(function, nullptr);
    EXPECT_EQ(
        call("cudaGetDriverEntryPointByVersion", "cuMemCreate", &function, 12000u, 0ull, &found),
        kSuccess);
    EXPECT_EQ(found, 0);
    EXPECT_EQ(call("cudaGetDriverEntryPointByVersion", "cuNothing", &function, 12000u, 0ull,
                   static_cast<int*>(nullptr)),
              kNoSuchSymbol);
    const void* table = &table;
    EXPECT_EQ(call("cudaGetExportTable", &table, static_cast<const void*>(&found)), kNotSupported);
    EXPECT_EQ(table, nullptr);
  });
}

TEST(CudaRuntime, WhatIsNotSupportedSaysSo) {
  on_machine("dgx-h100", [] {
    std::ifstream file(ISLEWAY_SOURCE_DIR "/src/virtual/cudart/exports/unsupported.def");
    std::string line;
    int count = 0;
    while (std::getline(file, line)) {
      const Size open = line.find('('), close = line.find(')');
      if (!line.starts_with("ISLEWAY_") || close == line.npos) continue;
      const std::string name = line.substr(open + 1, close - open - 1);
      EXPECT_EQ(call(name.c_str()), kNotSupported) << name;
      EXPECT_EQ(call("cudaGetLastError"), kNotSupported) << name;
      ++count;
    }
    EXPECT_GT(count, 100);
  });
}

TEST(CudaRuntime, NoMachineIsAnError) {
  on_machine("no-such-machine", [] {
    int count = 7;
    EXPECT_EQ(call("cudaGetDeviceCount", &count), 3);
  });
}

}  // namespace
