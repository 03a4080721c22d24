// Clients of libcudart: streams, events, graphs, kernels, and what processes share.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "virtual/call.hpp"
#include "virtual/on_machine.hpp"

namespace {

using isleway::testing::call;
using isleway::testing::library;
using isleway::testing::on_machine;
using Size = std::size_t;
using Handle = void*;
using Bytes = void*;

constexpr Size kBytes = Size{1} << 20;
enum { kToDevice = 1, kToHost = 2, kAny = 4 };
enum Status {
  kSuccess = 0,
  kInvalidValue = 1,
  kMissingConfiguration = 52,
  kBadFunction = 98,
  kBadContext = 201,
  kBadHandle = 400,
  kIllegalState = 401,
  kNotReady = 600,
  kNotSupported = 801,
};
struct Dim3 {
  unsigned x, y, z;
};

Bytes take(Size bytes = kBytes) {
  Bytes memory = nullptr;
  EXPECT_EQ(call("cudaMalloc", &memory, bytes), kSuccess);
  return memory;
}
unsigned first_word(const void* memory) {
  unsigned word = 0;
  EXPECT_EQ(call("cudaMemcpy", static_cast<void*>(&word), memory, sizeof word, int{kToHost}),
            kSuccess);
  return word;
}
Handle new_stream() {
  Handle stream = nullptr;
  EXPECT_EQ(call("cudaStreamCreateWithFlags", &stream, 1u), kSuccess);
  return stream;
}
void count_up(void* counter) { ++*static_cast<int*>(counter); }
void count_up_in_callback(void*, int, void* counter) { count_up(counter); }

TEST(CudaRuntimeWork, StreamsSayWhatTheyAre) {
  on_machine("dgx-h100", [] {
    Handle stream = nullptr, plain = nullptr;
    ASSERT_EQ(call("cudaStreamCreateWithPriority", &stream, 1u, -3), kSuccess);
    ASSERT_EQ(call("cudaStreamCreate", &plain), kSuccess);
    for (const char* end : {"", "_ptsz"}) {
      // cudaStreamGetFlags_ptsz, cudaStreamGetPriority_ptsz, cudaStreamGetDevice_ptsz,
      // cudaStreamIsCapturing_ptsz
      const auto ask = [&](const char* name, auto* out) {
        return call((std::string(name) + end).c_str(), stream, out);
      };
      unsigned flags = 0;
      int number = 0;
      unsigned long long id = 0;
      EXPECT_EQ(ask("cudaStreamGetFlags", &flags), kSuccess);
      EXPECT_EQ(flags, 1u);
      EXPECT_EQ(ask("cudaStreamGetPriority", &number), kSuccess);
      EXPECT_EQ(number, -3);
      EXPECT_EQ(ask("cudaStreamGetDevice", &number), kSuccess);
      EXPECT_EQ(number, 0);
      EXPECT_EQ(ask("cudaStreamGetId", &id), kSuccess);
      EXPECT_GT(id, 0u);
      EXPECT_EQ(ask("cudaStreamIsCapturing", &number), kSuccess);
      EXPECT_EQ(number, 0);
      // cudaStreamGetAttribute_ptsz, cudaStreamSetAttribute_ptsz, cudaStreamCopyAttributes_ptsz
      const auto with = [&](const char* name) { return std::string(name) + end; };
      char value[64] = {1};
      EXPECT_EQ(call(with("cudaStreamGetAttribute").c_str(), stream, 1, Bytes{value}), kSuccess);
      EXPECT_EQ(value[0], 0);
      EXPECT_EQ(
          call(with("cudaStreamSetAttribute").c_str(), stream, 1, static_cast<const void*>(value)),
          kSuccess);
      EXPECT_EQ(call(with("cudaStreamCopyAttributes").c_str(), plain, stream), kSuccess);
    }
    EXPECT_EQ(call("cudaStreamDestroy", stream), kSuccess);
    EXPECT_EQ(call("cudaStreamDestroy", stream), kBadHandle);
  });
}

TEST(CudaRuntimeWork, HostFunctionsRunInOrder) {
  on_machine("dgx-h100", [] {
    int calls = 0;
    const Handle stream = new_stream();
    for (const char* name : {"cudaLaunchHostFunc", "cudaLaunchHostFunc_ptsz"})
      EXPECT_EQ(call(name, stream, &count_up, Bytes{&calls}), kSuccess);
    for (const char* name : {"cudaStreamAddCallback", "cudaStreamAddCallback_ptsz"})
      EXPECT_EQ(call(name, stream, &count_up_in_callback, Bytes{&calls}, 0u), kSuccess);
    for (const char* name : {"cudaStreamSynchronize", "cudaStreamSynchronize_ptsz"})
      EXPECT_EQ(call(name, stream), kSuccess);
    EXPECT_EQ(calls, 4);
    for (const char* name : {"cudaStreamQuery", "cudaStreamQuery_ptsz"})
      EXPECT_EQ(call(name, stream), kSuccess);
  });
}

TEST(CudaRuntimeWork, EventsTellTheTimeBetweenThem) {
  on_machine("dgx-h100", [] {
    const Handle stream = new_stream(), other = new_stream();
    Handle from = nullptr, to = nullptr, untimed = nullptr;
    ASSERT_EQ(call("cudaEventCreate", &from), kSuccess);
    ASSERT_EQ(call("cudaEventCreateWithFlags", &to, 0u), kSuccess);
    ASSERT_EQ(call("cudaEventCreateWithFlags", &untimed, 2u), kSuccess);
    const Bytes memory = take(64 * kBytes);
    EXPECT_EQ(call("cudaEventRecord", from, stream), kSuccess);
    EXPECT_EQ(call("cudaMemsetAsync", memory, 1, 64 * kBytes, stream), kSuccess);
    EXPECT_EQ(call("cudaEventRecordWithFlags", to, stream, 0u), kSuccess);
    EXPECT_EQ(call("cudaEventQuery", to), kNotReady);
    for (const char* name : {"cudaStreamWaitEvent", "cudaStreamWaitEvent_ptsz"})
      EXPECT_EQ(call(name, other, to, 0u), kSuccess);
    EXPECT_EQ(call("cudaEventSynchronize", to), kSuccess);
    EXPECT_EQ(call("cudaEventQuery", to), kSuccess);
    float ms = 0, again = 0;
    EXPECT_EQ(call("cudaEventElapsedTime", &ms, from, to), kSuccess);
    EXPECT_EQ(call("cudaEventElapsedTime_v2", &again, from, to), kSuccess);
    EXPECT_GT(ms, 0.01f);
    EXPECT_EQ(ms, again);
    for (const char* name : {"cudaEventRecord", "cudaEventRecord_ptsz"})
      EXPECT_EQ(call(name, untimed, stream), kSuccess);
    EXPECT_EQ(call("cudaEventRecordWithFlags_ptsz", untimed, stream, 0u), kSuccess);
    EXPECT_EQ(call("cudaEventElapsedTime", &ms, from, untimed), kBadHandle);
    EXPECT_EQ(call("cudaEventDestroy", untimed), kSuccess);
    EXPECT_EQ(call("cudaEventDestroy", untimed), kBadHandle);
  });
}

TEST(CudaRuntimeWork, EveryThreadHasAStreamOfItsOwn) {
  on_machine("dgx-h100", [] {
    // The legacy default stream waits for the kernel's blocking stream; a thread's own does not.
    Handle mine = nullptr;
    const Handle per_thread = reinterpret_cast<Handle>(2);
    unsigned long long legacy = 0, own = 0, named = 0;
    EXPECT_EQ(call("cudaStreamGetId", mine, &legacy), kSuccess);
    EXPECT_EQ(call("cudaStreamGetId_ptsz", mine, &own), kSuccess);
    EXPECT_EQ(call("cudaStreamGetId", per_thread, &named), kSuccess);
    EXPECT_NE(legacy, own);
    EXPECT_EQ(own, named);
  });
}

using NodeList = const Handle*;

TEST(CudaRuntimeWork, GraphsAreBuiltByHand) {
  on_machine("dgx-h100", [] {
    const Handle stream = new_stream();
    const Bytes a = take(), b = take();
    int calls = 0;
    Handle graph = nullptr, set = nullptr, copy = nullptr, host = nullptr, empty = nullptr,
           child = nullptr, record = nullptr, wait = nullptr, event = nullptr, inner = nullptr;
    ASSERT_EQ(call("cudaEventCreate", &event), kSuccess);
    ASSERT_EQ(call("cudaGraphCreate", &graph, 0u), kSuccess);
    ASSERT_EQ(call("cudaGraphCreate", &inner, 0u), kSuccess);
    struct {
      Bytes to;
      Size pitch;
      unsigned value, element;
      Size width, height;
    } fill = {a, 0, 0x01020304, 4, kBytes / 4, 1};
    ASSERT_EQ(call("cudaGraphAddMemsetNode", &set, graph, NodeList{}, Size{0},
                   static_cast<const void*>(&fill)),
              kSuccess);
    ASSERT_EQ(call("cudaGraphAddMemcpyNode1D", &copy, graph, NodeList{&set}, Size{1}, b,
                   static_cast<const void*>(a), kBytes, int{kAny}),
              kSuccess);
    struct {
      void (*function)(void*);
      void* data;
    } hosted = {&count_up, &calls};
    ASSERT_EQ(call("cudaGraphAddHostNode", &host, graph, NodeList{&copy}, Size{1},
                   static_cast<const void*>(&hosted)),
              kSuccess);
    ASSERT_EQ(call("cudaGraphAddEmptyNode", &empty, graph, NodeList{}, Size{0}), kSuccess);
    ASSERT_EQ(call("cudaGraphAddHostNode", &host, inner, NodeList{}, Size{0},
                   static_cast<const void*>(&hosted)),
              kSuccess);
    ASSERT_EQ(call("cudaGraphAddChildGraphNode", &child, graph, NodeList{}, Size{0}, inner),
              kSuccess);
    ASSERT_EQ(call("cudaGraphAddEventRecordNode", &record, graph, NodeList{}, Size{0}, event),
              kSuccess);
    ASSERT_EQ(call("cudaGraphAddEventWaitNode", &wait, graph, NodeList{&record}, Size{1}, event),
              kSuccess);
    // The empty one goes last.
    ASSERT_EQ(call("cudaGraphAddDependencies", graph, NodeList{&wait}, NodeList{&empty},
                   static_cast<const void*>(nullptr), Size{1}),
              kSuccess);
    Size count = 0, roots = 0;
    EXPECT_EQ(call("cudaGraphGetNodes", graph, static_cast<Handle*>(nullptr), &count), kSuccess);
    EXPECT_EQ(call("cudaGraphGetRootNodes", graph, static_cast<Handle*>(nullptr), &roots),
              kSuccess);
    EXPECT_EQ(count, 7u);
    EXPECT_EQ(roots, 3u);
    int type = -1;
    EXPECT_EQ(call("cudaGraphNodeGetType", set, &type), kSuccess);
    EXPECT_EQ(type, 2);

    Handle clone = nullptr, run = nullptr;
    ASSERT_EQ(call("cudaGraphClone", &clone, graph), kSuccess);
    ASSERT_EQ(call("cudaGraphInstantiateWithFlags", &run, clone, 0ull), kSuccess);
    for (const char* name : {"cudaGraphUpload", "cudaGraphUpload_ptsz"})
      EXPECT_EQ(call(name, run, stream), kSuccess);
    for (const char* name : {"cudaGraphLaunch", "cudaGraphLaunch_ptsz"})
      EXPECT_EQ(call(name, run, stream), kSuccess);
    EXPECT_EQ(call("cudaStreamSynchronize", stream), kSuccess);
    EXPECT_EQ(first_word(b), 0x01020304u);
    EXPECT_EQ(calls, 4);  // two launches of two host nodes

    char result[256] = {};
    EXPECT_EQ(call("cudaGraphExecUpdate", run, inner, Bytes{result}), kSuccess);
    EXPECT_EQ(call("cudaGraphLaunch", run, stream), kSuccess);
    EXPECT_EQ(call("cudaStreamSynchronize", stream), kSuccess);
    EXPECT_EQ(calls, 5);
    EXPECT_EQ(call("cudaGraphExecDestroy", run), kSuccess);
    for (const char* name :
         {"cudaGraphInstantiateWithParams", "cudaGraphInstantiateWithParams_ptsz"}) {
      EXPECT_EQ(call(name, &run, graph, Bytes{result}), kSuccess);
      EXPECT_EQ(call("cudaGraphExecDestroy", run), kSuccess);
    }
    int kept = 0;
    Handle object = nullptr;
    EXPECT_EQ(call("cudaUserObjectCreate", &object, Bytes{&kept}, &count_up, 1u, 1u), kSuccess);
    EXPECT_EQ(call("cudaUserObjectRetain", object, 2u), kSuccess);
    EXPECT_EQ(call("cudaGraphRetainUserObject", graph, object, 1u, 0u), kSuccess);
    EXPECT_EQ(call("cudaGraphReleaseUserObject", graph, object, 1u), kSuccess);
    EXPECT_EQ(call("cudaUserObjectRelease", object, 2u), kSuccess);
    EXPECT_EQ(kept, 0);
    EXPECT_EQ(call("cudaUserObjectRelease", object, 1u), kSuccess);
    EXPECT_EQ(kept, 1);
    EXPECT_EQ(call("cudaGraphDestroy", graph), kSuccess);
  });
}

TEST(CudaRuntimeWork, CapturesSayHowFarTheyAre) {
  for (const char* end : {"", "_ptsz"})
    on_machine("dgx-h100", [end] {
      // cudaStreamBeginCapture_ptsz, cudaStreamGetCaptureInfo_ptsz,
      // cudaStreamUpdateCaptureDependencies_ptsz, cudaStreamEndCapture_ptsz
      const auto with = [&](const char* name) { return std::string(name) + end; };
      const Handle stream = new_stream();
      int mode = 1, status = 0;
      EXPECT_EQ(call("cudaThreadExchangeStreamCaptureMode", &mode), kSuccess);
      EXPECT_EQ(mode, 0);
      Handle graph = nullptr, inside = nullptr;
      EXPECT_EQ(call(with("cudaStreamEndCapture").c_str(), stream, &graph), kIllegalState);
      ASSERT_EQ(call(with("cudaStreamBeginCapture").c_str(), stream, 0), kSuccess);
      int calls = 0;
      EXPECT_EQ(call("cudaLaunchHostFunc", stream, &count_up, Bytes{&calls}), kSuccess);
      unsigned long long id = 0;
      const Handle* ends = nullptr;
      const void* edges = nullptr;
      Size count = 0;
      EXPECT_EQ(call(with("cudaStreamGetCaptureInfo").c_str(), stream, &status, &id, &inside, &ends,
                     &edges, &count),
                kSuccess);
      EXPECT_EQ(status, 1);
      EXPECT_EQ(count, 1u);
      Handle last = ends[0];
      EXPECT_EQ(call(with("cudaStreamUpdateCaptureDependencies").c_str(), stream, &last,
                     static_cast<const void*>(nullptr), Size{1}, 1u),
                kSuccess);
      EXPECT_EQ(call(with("cudaStreamEndCapture").c_str(), stream, &graph), kSuccess);
      EXPECT_EQ(calls, 0);
      EXPECT_EQ(call("cudaGraphDestroy", graph), kSuccess);
    });
  // CUDA 12 has more names for it.
  for (const char* end : {"", "_ptsz"})
    on_machine("dgx-h100", [end] {
      library() = ::dlopen("libcudart.so.12", RTLD_NOW | RTLD_LOCAL);
      // cudaStreamGetCaptureInfo_v2_ptsz, cudaStreamGetCaptureInfo_v3_ptsz
      const auto with = [&](const char* name) { return std::string(name) + end; };
      const Handle stream = new_stream();
      ASSERT_EQ(call("cudaStreamBeginCapture", stream, 0), kSuccess);
      int status = 0;
      unsigned long long id = 0;
      Handle graph = nullptr;
      const Handle* ends = nullptr;
      const void* edges = nullptr;
      Size count = 7;
      EXPECT_EQ(call(with("cudaStreamGetCaptureInfo_v2").c_str(), stream, &status, &id, &graph,
                     &ends, &count),
                kSuccess);
      EXPECT_EQ(call(with("cudaStreamGetCaptureInfo_v3").c_str(), stream, &status, &id, &graph,
                     &ends, &edges, &count),
                kSuccess);
      EXPECT_EQ(count, 0u);
    });
}

/// What nvcc's host code does for a kernel of this name.
const void* registered(const char* name) {
  static char stub;
  void** binary = call<void**>("__cudaRegisterFatBinary", Bytes{});
  call<void>("__cudaRegisterFunction", binary, static_cast<const char*>(&stub),
             const_cast<char*>(name), name, -1, Bytes{}, Bytes{}, Bytes{}, Bytes{},
             static_cast<int*>(nullptr));
  call<void>("__cudaRegisterFatBinaryEnd", binary);
  EXPECT_NE(call<char>("__cudaInitModule", binary), 0);
  return &stub;
}

TEST(CudaRuntimeWork, KernelsAreLaunchedInEveryWay) {
  on_machine("dgx-h100", [] {
    const void* const stub = registered("_Z18memsetKernelDeviceyyyj");
    const Handle stream = new_stream();
    const Bytes memory = take(), pattern = take(4096);
    ASSERT_EQ(call("cudaMemset", pattern, 7, Size{4096}), kSuccess);
    auto to = reinterpret_cast<unsigned long long>(memory);
    auto words = reinterpret_cast<unsigned long long>(pattern);
    unsigned long long count = kBytes / 4;
    unsigned period = 1024;
    void* arguments[] = {&to, &words, &count, &period};
    void** given = arguments;
    const Dim3 grid = {256, 1, 1}, block = {1024, 1, 1};
    const auto filled = [&] {
      EXPECT_EQ(call("cudaStreamSynchronize", stream), kSuccess);
      const bool all = first_word(static_cast<char*>(memory) + kBytes - 4) == 0x07070707u;
      EXPECT_EQ(call("cudaMemset", memory, 0, kBytes), kSuccess);
      return all;
    };
    for (const char* name :
         {"cudaLaunchKernel", "cudaLaunchKernel_ptsz", "cudaLaunchCooperativeKernel",
          "cudaLaunchCooperativeKernel_ptsz", "__cudaLaunchKernel", "__cudaLaunchKernel_ptsz"}) {
      EXPECT_EQ(call(name, stub, grid, block, given, Size{0}, stream), kSuccess) << name;
      EXPECT_TRUE(filled()) << name;
    }
    struct {
      Dim3 grid, block;
      Size shared;
      Handle stream;
      void* attributes;
      unsigned count;
    } config = {grid, block, 0, stream, nullptr, 0};
    const void* how = &config;
    for (const char* name : {"cudaLaunchKernelExC", "cudaLaunchKernelExC_ptsz"}) {
      EXPECT_EQ(call(name, how, stub, given), kSuccess) << name;
      EXPECT_TRUE(filled()) << name;
    }
    struct {
      const void* stub;
      Dim3 grid, block;
      unsigned shared;
      void **arguments, **packed;
    } node_of = {stub, grid, block, 0, given, nullptr};
    struct Pitched {
      void* address;
      Size pitch, width, height;
    };
    struct {
      Bytes from_array;
      Size from_at[3];
      Pitched from;
      Bytes to_array;
      Size to_at[3];
      Pitched to;
      Size extent[3];
      int kind;
    } copy_of = {nullptr,    {},  {memory, kBytes, kBytes, 1},
                 nullptr,    {},  {pattern, 4096, 4096, 1},
                 {16, 1, 1}, kAny};
    Handle graph = nullptr, kernel = nullptr, copied = nullptr, run = nullptr;
    ASSERT_EQ(call("cudaGraphCreate", &graph, 0u), kSuccess);
    ASSERT_EQ(call("cudaGraphAddKernelNode", &kernel, graph, NodeList{}, Size{0},
                   static_cast<const void*>(&node_of)),
              kSuccess);
    ASSERT_EQ(call("cudaGraphAddMemcpyNode", &copied, graph, NodeList{&kernel}, Size{1},
                   static_cast<const void*>(&copy_of)),
              kSuccess);
    ASSERT_EQ(call("cudaGraphInstantiate", &run, graph, 0ull), kSuccess);
    EXPECT_EQ(call("cudaGraphLaunch", run, stream), kSuccess);
    EXPECT_TRUE(filled());

    // Between <<<...>>> and the stub.
    EXPECT_EQ(call<unsigned>("__cudaPushCallConfiguration", grid, block, Size{64}, stream), 0u);
    Dim3 popped_grid{}, popped_block{};
    Size shared = 0;
    Handle popped = nullptr;
    EXPECT_EQ(
        call("__cudaPopCallConfiguration", &popped_grid, &popped_block, &shared, Bytes{&popped}),
        kSuccess);
    EXPECT_EQ(popped_grid.x, 256u);
    EXPECT_EQ(shared, 64u);
    EXPECT_EQ(popped, stream);
    EXPECT_EQ(
        call("__cudaPopCallConfiguration", &popped_grid, &popped_block, &shared, Bytes{&popped}),
        kMissingConfiguration);
    call<void>("__cudaUnregisterFatBinary", static_cast<void**>(nullptr));
  });
}

TEST(CudaRuntimeWork, KernelsAreAskedAbout) {
  on_machine("dgx-h100", [] {
    const void* const stub = registered("_Z16simpleCopyKernelyP5uint4S0_");
    const void* handle = nullptr;
    EXPECT_EQ(call("__cudaGetKernel", &handle, stub), kSuccess);
    EXPECT_EQ(call("cudaGetKernel", &handle, stub), kSuccess);
    EXPECT_EQ(call("cudaGetFuncBySymbol", &handle, stub), kSuccess);
    EXPECT_EQ(call("cudaGetFuncBySymbol", &handle, static_cast<const void*>(&handle)),
              kBadFunction);
    const char* name = nullptr;
    EXPECT_EQ(call("cudaFuncGetName", &name, stub), kSuccess);
    EXPECT_STREQ(name, "_Z16simpleCopyKernelyP5uint4S0_");
    struct {
      Size shared, constant, local;
      int threads, registers, ptx, binary, more[30];
    } attributes;
    EXPECT_EQ(call("cudaFuncGetAttributes", Bytes{&attributes}, stub), kSuccess);
    EXPECT_EQ(attributes.threads, 1024);
    EXPECT_EQ(attributes.binary, 90);
    EXPECT_EQ(call("cudaFuncSetAttribute", stub, 8, 1024), kSuccess);
    EXPECT_EQ(call("cudaFuncSetCacheConfig", stub, 1), kSuccess);
    EXPECT_EQ(call("cudaFuncSetSharedMemConfig", stub, 1), kSuccess);
    int blocks = 0;
    Size bytes = 0;
    EXPECT_EQ(call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", &blocks, stub, 512, Size{0}),
              kSuccess);
    EXPECT_EQ(blocks, 4);
    EXPECT_EQ(call("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", &blocks, stub, 32,
                   Size{100} << 10, 0u),
              kSuccess);
    EXPECT_EQ(blocks, 2);
    EXPECT_EQ(call("cudaOccupancyAvailableDynamicSMemPerBlock", &bytes, stub, 2, 128), kSuccess);
    EXPECT_EQ(bytes, Size{114} << 10);
    const void* config = &attributes;
    EXPECT_EQ(call("cudaOccupancyMaxActiveClusters", &blocks, stub, config), kSuccess);
    EXPECT_EQ(blocks, 132);
    EXPECT_EQ(call("cudaOccupancyMaxPotentialClusterSize", &blocks, stub, config), kSuccess);
    EXPECT_EQ(blocks, 8);
  });
}

struct IpcHandle {
  unsigned char bytes[64];
};

TEST(CudaRuntimeWork, ProcessesShareMemoryAndEvents) {
  on_machine("dgx-h100", [] {
    int to_child[2], to_parent[2];
    ASSERT_EQ(::pipe(to_child), 0);
    ASSERT_EQ(::pipe(to_parent), 0);
    // Both join one run: the world is made before they part.
    int count = 0;
    ASSERT_EQ(call("cudaGetDeviceCount", &count), kSuccess);
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      IpcHandle memory, event;
      EXPECT_EQ(::read(to_child[0], &memory, sizeof memory), ssize_t{sizeof memory});
      EXPECT_EQ(::read(to_child[0], &event, sizeof event), ssize_t{sizeof event});
      Bytes opened = nullptr;
      Handle filled = nullptr;
      EXPECT_EQ(call("cudaSetDevice", 1), kSuccess);
      const Handle stream = new_stream();
      EXPECT_EQ(call("cudaIpcOpenMemHandle", &opened, memory, 1u), kSuccess);
      EXPECT_EQ(call("cudaIpcOpenEventHandle", &filled, event), kSuccess);
      EXPECT_EQ(call("cudaStreamWaitEvent", stream, filled, 0u), kSuccess);
      const Bytes own = take();
      EXPECT_EQ(
          call("cudaMemcpyAsync", own, static_cast<const void*>(opened), kBytes, int{kAny}, stream),
          kSuccess);
      EXPECT_EQ(call("cudaStreamSynchronize", stream), kSuccess);
      EXPECT_EQ(call("cudaEventSynchronize", filled), kSuccess);
      EXPECT_EQ(first_word(own), 0x05050505u);
      EXPECT_EQ(call("cudaIpcCloseMemHandle", opened), kSuccess);
      EXPECT_EQ(call("cudaIpcCloseMemHandle", own), kInvalidValue);
      ::_exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    const Bytes memory = take();
    const Handle stream = new_stream();
    Handle event = nullptr;
    EXPECT_EQ(call("cudaEventCreateWithFlags", &event, 4u), kInvalidValue);  // it keeps time
    ASSERT_EQ(call("cudaEventCreateWithFlags", &event, 6u), kSuccess);
    IpcHandle shared, told;
    ASSERT_EQ(call("cudaIpcGetMemHandle", &shared, memory), kSuccess);
    ASSERT_EQ(call("cudaIpcGetEventHandle", &told, event), kSuccess);
    Bytes again = nullptr;
    EXPECT_EQ(call("cudaIpcOpenMemHandle", &again, shared, 1u), kBadContext);
    EXPECT_EQ(call("cudaMemsetAsync", memory, 5, kBytes, stream), kSuccess);
    EXPECT_EQ(call("cudaEventRecord", event, stream), kSuccess);
    EXPECT_EQ(call("cudaStreamSynchronize", stream), kSuccess);
    EXPECT_EQ(first_word(memory), 0x05050505u);
    EXPECT_EQ(::write(to_child[1], &shared, sizeof shared), ssize_t{sizeof shared});
    EXPECT_EQ(::write(to_child[1], &told, sizeof told), ssize_t{sizeof told});
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  });
}

}  // namespace
