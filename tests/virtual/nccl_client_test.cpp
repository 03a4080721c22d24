// Clients of libnccl.so.2: what is not a collective. Collectives are in tests/cases/run.
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "virtual/call.hpp"
#include "virtual/on_machine.hpp"

namespace {

using isleway::testing::call;
using isleway::testing::on_machine;
using Comm = void*;
using Size = std::size_t;
using Stream = void*;

enum { kInt32 = 2, kFloat = 7, kSum = 0 };
enum Status {
  kSuccess = 0,
  kCudaError = 1,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kInProgress = 7
};

struct UniqueId {
  char bytes[128];
};
/// ncclConfig_t, as far as it means something here.
struct Config {
  Size size = sizeof(Config);
  unsigned magic = 0xcafebeef, version = 22809;
  int blocking = -2147483647 - 1;
  char rest[256] = {};
};

std::vector<Comm> all_gpus(int count) {
  std::vector<Comm> comms(static_cast<Size>(count));
  EXPECT_EQ(call("ncclCommInitAll", comms.data(), count, static_cast<const int*>(nullptr)),
            kSuccess);
  return comms;
}
float* device_floats(int device, std::vector<float> values) {
  void* memory = nullptr;
  EXPECT_EQ(call("cudaSetDevice", device), 0);
  EXPECT_EQ(call("ncclMemAlloc", &memory, values.size() * sizeof(float)), kSuccess);
  EXPECT_EQ(call("cudaMemcpy", memory, static_cast<const void*>(values.data()),
                 values.size() * sizeof(float), 1),
            0);
  return static_cast<float*>(memory);
}
float first(const float* memory) {
  float value = 0;
  EXPECT_EQ(call("cudaMemcpy", static_cast<void*>(&value), static_cast<const void*>(memory),
                 sizeof value, 2),
            0);
  return value;
}

TEST(NcclClient, RanksKnowThemselves) {
  on_machine("dgx-h100", [] {
    int version = 0, number = -1;
    EXPECT_EQ(call("ncclGetVersion", &version), kSuccess);
    EXPECT_EQ(version, 22809);
    const auto comms = all_gpus(4);
    EXPECT_EQ(call("ncclCommCount", comms[3], &number), kSuccess);
    EXPECT_EQ(number, 4);
    EXPECT_EQ(call("ncclCommUserRank", comms[3], &number), kSuccess);
    EXPECT_EQ(number, 3);
    EXPECT_EQ(call("ncclCommCuDevice", comms[3], &number), kSuccess);
    EXPECT_EQ(number, 3);
    EXPECT_EQ(call("ncclCommGetAsyncError", comms[3], &number), kSuccess);
    EXPECT_EQ(number, kSuccess);
    EXPECT_EQ(call("ncclCommUserRank", Comm{&number}, &number), kInvalidArgument);
    EXPECT_STREQ(call<const char*>("ncclGetErrorString", int{kInvalidUsage}),
                 call<const char*>("pncclGetErrorString", int{kInvalidUsage}));
    const std::string why = call<const char*>("ncclGetLastError", Comm{});
    EXPECT_NE(why.find("ncclCommUserRank"), std::string::npos) << why;
    EXPECT_EQ(why, call<const char*>("pncclGetLastError", Comm{}));
    for (const Comm comm : comms) {
      EXPECT_EQ(call("ncclCommFinalize", comm), kSuccess);
      EXPECT_EQ(call("ncclCommDestroy", comm), kSuccess);
    }
    EXPECT_EQ(call("ncclCommDestroy", comms[0]), kInvalidArgument);
  });
}

TEST(NcclClient, RanksComeInEveryWay) {
  on_machine("dgx-h100", [] {
    for (const char* name : {"ncclCommInitRankConfig", "ncclCommInitRankScalable"}) {
      UniqueId id;
      ASSERT_EQ(call("ncclGetUniqueId", &id), kSuccess);
      std::vector<Comm> comms(2);
      std::vector<Config> configs(2);
      ASSERT_EQ(call("ncclGroupStart"), kSuccess);
      for (int rank = 0; rank < 2; ++rank) {
        const auto r = static_cast<Size>(rank);
        ASSERT_EQ(call("cudaSetDevice", rank), 0);
        const bool scalable = std::string(name) == "ncclCommInitRankScalable";
        EXPECT_EQ(scalable ? call(name, &comms[r], 2, rank, 1, &id, &configs[r])
                           : call(name, &comms[r], 2, id, rank, &configs[r]),
                  kSuccess);
      }
      EXPECT_EQ(call("ncclGroupEnd"), kSuccess);
      for (const Comm comm : comms) EXPECT_EQ(call("ncclCommAbort", comm), kSuccess);
    }
    UniqueId id;
    Comm comm = nullptr;
    Config spoilt;
    spoilt.magic = 1;
    ASSERT_EQ(call("ncclGetUniqueId", &id), kSuccess);
    EXPECT_EQ(call("ncclCommInitRankConfig", &comm, 1, id, 0, &spoilt), kInvalidArgument);
    // One that does not block says that it is not ready until the others have come.
    Config patient;
    patient.blocking = 0;
    ASSERT_EQ(call("ncclCommInitRankConfig", &comm, 2, id, 0, &patient), kInProgress);
    int error = -1;
    EXPECT_EQ(call("ncclCommGetAsyncError", comm, &error), kSuccess);
    EXPECT_EQ(error, kInProgress);
    Comm other = nullptr;
    ASSERT_EQ(call("cudaSetDevice", 5), 0);
    ASSERT_EQ(call("ncclCommInitRank", &other, 2, id, 1), kSuccess);
    EXPECT_EQ(call("ncclCommGetAsyncError", comm, &error), kSuccess);
    EXPECT_EQ(error, kSuccess);
  });
}

TEST(NcclClient, CommunicatorsAreSplitAndShrunk) {
  on_machine("dgx-h100", [] {
    const auto comms = all_gpus(4);
    std::vector<Comm> halves(4), fewer(4);
    ASSERT_EQ(call("ncclGroupStart"), kSuccess);
    for (int rank = 0; rank < 4; ++rank)
      EXPECT_EQ(call("ncclCommSplit", comms[static_cast<Size>(rank)], rank % 2, -rank,
                     &halves[static_cast<Size>(rank)], static_cast<Config*>(nullptr)),
                kSuccess);
    ASSERT_EQ(call("ncclGroupEnd"), kSuccess);
    int number = -1;
    EXPECT_EQ(call("ncclCommCount", halves[2], &number), kSuccess);
    EXPECT_EQ(number, 2);
    EXPECT_EQ(call("ncclCommUserRank", halves[2], &number), kSuccess);
    EXPECT_EQ(number, 0);  // by its key, before rank 0
    int gone[] = {1};
    ASSERT_EQ(call("ncclGroupStart"), kSuccess);
    for (const int rank : {0, 2, 3})
      EXPECT_EQ(call("ncclCommShrink", comms[static_cast<Size>(rank)], gone, 1,
                     &fewer[static_cast<Size>(rank)], static_cast<Config*>(nullptr), 0),
                kSuccess);
    ASSERT_EQ(call("ncclGroupEnd"), kSuccess);
    EXPECT_EQ(call("ncclCommUserRank", fewer[3], &number), kSuccess);
    EXPECT_EQ(number, 2);
    EXPECT_EQ(
        call("ncclCommShrink", comms[1], gone, 1, &fewer[1], static_cast<Config*>(nullptr), 0),
        kInvalidUsage);
    EXPECT_EQ(call("ncclCommRevoke", comms[0], 0), kSuccess);
    EXPECT_EQ(call("ncclCommRevoke", comms[0], 1), kInvalidArgument);
    EXPECT_EQ(
        call("ncclBcast", static_cast<void*>(&number), Size{1}, int{kInt32}, 0, comms[0], Stream{}),
        kInvalidUsage);  // revoked
  });
}

TEST(NcclClient, MemoryIsRegistered) {
  on_machine("dgx-h100", [] {
    const auto comms = all_gpus(2);
    void *memory = nullptr, *handle = nullptr;
    ASSERT_EQ(call("ncclMemAlloc", &memory, Size{4096}), kSuccess);
    EXPECT_EQ(call("ncclCommRegister", comms[0], memory, Size{4096}, &handle), kSuccess);
    EXPECT_EQ(call("ncclCommDeregister", comms[0], handle), kSuccess);
    EXPECT_EQ(call("ncclCommWindowRegister", comms[0], memory, Size{4096}, &handle, 0), kSuccess);
    EXPECT_EQ(call("ncclCommWindowDeregister", comms[0], handle), kSuccess);
    EXPECT_EQ(call("ncclCommRegister", comms[0], static_cast<void*>(nullptr), Size{1}, &handle),
              kInvalidArgument);
    EXPECT_EQ(call("ncclMemFree", memory), kSuccess);
    EXPECT_EQ(call("ncclMemFree", memory), kInvalidArgument);
    // Kernels that communicate themselves cannot run.
    const void* none = nullptr;
    EXPECT_EQ(call("ncclDevCommCreate", comms[0], none, static_cast<void*>(nullptr)),
              kInvalidUsage);
    EXPECT_EQ(call("ncclDevCommDestroy", comms[0], none), kSuccess);
  });
}

TEST(NcclClient, OperationsOfTheUser) {
  on_machine("dgx-h100", [] {
    const auto comms = all_gpus(2);
    float factor = 10;
    std::vector<int> ops(2);
    std::vector<float*> data;
    for (int rank = 0; rank < 2; ++rank) {
      data.push_back(device_floats(rank, {1.0f + static_cast<float>(rank)}));
      EXPECT_EQ(call("ncclRedOpCreatePreMulSum", &ops[static_cast<Size>(rank)],
                     static_cast<void*>(&factor), int{kFloat}, 1, comms[static_cast<Size>(rank)]),
                kSuccess);
    }
    ASSERT_EQ(call("ncclGroupStart"), kSuccess);
    for (Size rank = 0; rank < 2; ++rank)
      EXPECT_EQ(call("ncclAllReduce", static_cast<const void*>(data[rank]),
                     static_cast<void*>(data[rank]), Size{1}, int{kFloat}, ops[rank], comms[rank],
                     Stream{}),
                kSuccess);
    ASSERT_EQ(call("ncclGroupEnd"), kSuccess);
    EXPECT_EQ(first(data[0]), 30.0f);
    EXPECT_EQ(first(data[1]), 30.0f);
    ASSERT_EQ(call("ncclGroupStart"), kSuccess);
    for (Size rank = 0; rank < 2; ++rank)
      EXPECT_EQ(call("ncclBcast", static_cast<void*>(data[rank]), Size{1}, int{kFloat}, 0,
                     comms[rank], Stream{}),
                kSuccess);
    struct {
      Size size = 24;
      unsigned magic = 0x74685283, version = 22809;
      float us = -1;
    } estimate;
    EXPECT_EQ(call("ncclGroupSimulateEnd", static_cast<void*>(&estimate)), kSuccess);
    EXPECT_GT(estimate.us, 1.0f);
    EXPECT_EQ(call("ncclRedOpDestroy", ops[0], comms[0]), kSuccess);
    EXPECT_EQ(call("ncclRedOpDestroy", ops[0], comms[0]), kInvalidArgument);
  });
}

TEST(NcclClient, ProfilersFindTheSecondNames) {
  for (const char* name : {"ncclAllGather",
                           "ncclAllReduce",
                           "ncclAlltoAll",
                           "ncclBcast",
                           "ncclBroadcast",
                           "ncclCommAbort",
                           "ncclCommCount",
                           "ncclCommCuDevice",
                           "ncclCommDeregister",
                           "ncclCommDestroy",
                           "ncclCommFinalize",
                           "ncclCommGetAsyncError",
                           "ncclCommInitAll",
                           "ncclCommInitRank",
                           "ncclCommInitRankConfig",
                           "ncclCommInitRankScalable",
                           "ncclCommRegister",
                           "ncclCommRevoke",
                           "ncclCommShrink",
                           "ncclCommSplit",
                           "ncclCommUserRank",
                           "ncclCommWindowDeregister",
                           "ncclCommWindowRegister",
                           "ncclGather",
                           "ncclGetUniqueId",
                           "ncclGetVersion",
                           "ncclGroupEnd",
                           "ncclGroupSimulateEnd",
                           "ncclGroupStart",
                           "ncclMemAlloc",
                           "ncclMemFree",
                           "ncclRecv",
                           "ncclRedOpCreatePreMulSum",
                           "ncclRedOpDestroy",
                           "ncclReduce",
                           "ncclReduceScatter",
                           "ncclScatter",
                           "ncclSend"}) {
    void* plain = ::dlsym(RTLD_DEFAULT, name);
    EXPECT_NE(plain, nullptr) << name;
    EXPECT_EQ(plain, ::dlsym(RTLD_DEFAULT, (std::string("p") + name).c_str())) << name;
  }
}

}  // namespace
