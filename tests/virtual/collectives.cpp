// A client like nccl-tests: every collective, out of place, on all devices of one process, or as
// one of several processes that were forked. Data is made and checked by the host.
//   virtual-collectives COLLECTIVE BYTES [GPUS] [PROCESSES] [THE ONE THAT DIES]
// With RANK and WORLD_SIZE in the environment, as launchers set them, it is that one of so many
// processes, which find one another by a file in the folder that they run in.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cuda_abi.hpp"

namespace {

void check(int status, const char* what) {
  if (status == 0) return;
  std::printf("%s: %d\n", what, status);
  std::exit(1);
}
#define CUDA(call) check(call, #call)
#define NCCL(call) check(call, #call)

struct Rank {
  int number, device;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  float *send = nullptr, *recv = nullptr;
};

float value(int rank, std::size_t i) {
  return static_cast<float>((i * 7 + 3u * static_cast<unsigned>(rank)) % 1001);
}

class Test {
 public:
  Test(std::string name, std::size_t bytes, int ranks) : name_(std::move(name)), ranks_(ranks) {
    const std::size_t unit = sizeof(float) * static_cast<std::size_t>(ranks);
    count_ = bytes / unit * static_cast<std::size_t>(ranks);
  }

  std::size_t count() const { return count_; }
  std::size_t block() const { return count_ / static_cast<std::size_t>(ranks_); }

  void call(const Rank& r) const {
    if (name_ == "all_reduce")
      NCCL(ncclAllReduce(r.send, r.recv, count_, ncclFloat32, ncclSum, r.comm, r.stream));
    if (name_ == "reduce")
      NCCL(ncclReduce(r.send, r.recv, count_, ncclFloat32, ncclSum, 0, r.comm, r.stream));
    if (name_ == "broadcast")
      NCCL(ncclBroadcast(r.send, r.recv, count_, ncclFloat32, 0, r.comm, r.stream));
    if (name_ == "all_gather")
      NCCL(ncclAllGather(r.send, r.recv, block(), ncclFloat32, r.comm, r.stream));
    if (name_ == "reduce_scatter")
      NCCL(ncclReduceScatter(r.send, r.recv, block(), ncclFloat32, ncclSum, r.comm, r.stream));
    if (name_ == "all_to_all")
      NCCL(ncclAlltoAll(r.send, r.recv, block(), ncclFloat32, r.comm, r.stream));
    if (name_ == "gather")
      NCCL(ncclGather(r.send, r.recv, block(), ncclFloat32, 0, r.comm, r.stream));
    if (name_ == "scatter")
      NCCL(ncclScatter(r.send, r.recv, block(), ncclFloat32, 0, r.comm, r.stream));
    if (name_ == "sendrecv") {
      NCCL(ncclGroupStart());
      NCCL(ncclSend(r.send, count_, ncclFloat32, (r.number + 1) % ranks_, r.comm, r.stream));
      NCCL(ncclRecv(r.recv, count_, ncclFloat32, (r.number + ranks_ - 1) % ranks_, r.comm,
                    r.stream));
      NCCL(ncclGroupEnd());
    }
  }

  /// What rank `r` must have at element `i`; false where the call leaves it alone.
  bool expected(int r, std::size_t i, float& want) const {
    const auto sum = [&](std::size_t at) {
      float total = 0;
      for (int other = 0; other < ranks_; ++other) total += value(other, at);
      return total;
    };
    const std::size_t b = block();
    const int peer = static_cast<int>(i / b);
    const std::size_t own = static_cast<std::size_t>(r) * b;
    if (name_ == "all_reduce" || (name_ == "reduce" && r == 0)) want = sum(i);
    else if (name_ == "broadcast") want = value(0, i);
    else if (name_ == "all_gather" || (name_ == "gather" && r == 0)) want = value(peer, i % b);
    else if (name_ == "reduce_scatter" && i < b) want = sum(own + i);
    else if (name_ == "all_to_all") want = value(peer, own + i % b);
    else if (name_ == "scatter" && i < b) want = value(0, own + i);
    else if (name_ == "sendrecv") want = value((r + ranks_ - 1) % ranks_, i);
    else return false;
    return true;
  }

  std::size_t wrong(const Rank& r) const {
    std::vector<float> got(count_);
    CUDA(cudaMemcpy(got.data(), r.recv, count_ * sizeof(float), cudaMemcpyDeviceToHost));
    std::size_t bad = 0;
    float want = 0;
    for (std::size_t i = 0; i < count_; ++i)
      if (expected(r.number, i, want) && got[i] != want) ++bad;
    return bad;
  }

 private:
  std::string name_;
  int ranks_;
  std::size_t count_ = 0;
};

void prepare(Rank& r, const Test& test) {
  CUDA(cudaSetDevice(r.device));
  CUDA(cudaStreamCreateWithFlags(&r.stream, 1));
  const std::size_t bytes = test.count() * sizeof(float);
  CUDA(cudaMalloc(reinterpret_cast<void**>(&r.send), bytes));
  CUDA(cudaMalloc(reinterpret_cast<void**>(&r.recv), bytes));
  std::vector<float> data(test.count());
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = value(r.number, i);
  CUDA(cudaMemcpy(r.send, data.data(), bytes, cudaMemcpyHostToDevice));
}

void call_all(const Test& test, const std::vector<Rank>& ranks) {
  NCCL(ncclGroupStart());
  for (const Rank& r : ranks) test.call(r);
  NCCL(ncclGroupEnd());
}

/// As nccl-tests waits: asks the streams in turn until all are done.
void wait_all(const std::vector<Rank>& ranks) {
  std::size_t left = ranks.size();
  std::vector<bool> done(ranks.size());
  while (left > 0)
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (done[i]) continue;
      const int status = cudaStreamQuery(ranks[i].stream);
      if (status == cudaSuccess) {
        done[i] = true;
        --left;
        continue;
      }
      if (status != cudaErrorNotReady) check(status, "cudaStreamQuery");
      int error = 0;
      NCCL(ncclCommGetAsyncError(ranks[i].comm, &error));
      if (error != ncclSuccess) {
        std::printf("asynchronous error: %s\n", ncclGetErrorString(error));
        std::exit(3);
      }
    }
}

double run(const Test& test, std::vector<Rank>& ranks) {
  constexpr int iterations = 20;
  call_all(test, ranks);
  wait_all(ranks);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < iterations; ++i) call_all(test, ranks);
  wait_all(ranks);
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
             .count() /
         iterations;
}

void tell(const char* name, const Test& test, double us, const std::vector<Rank>& ranks) {
  std::size_t bad = 0;
  for (const Rank& r : ranks) bad += test.wrong(r);
  std::printf("%s %zu bytes: %.2f us, #wrong %zu\n", name, test.count() * sizeof(float), us, bad);
}

int one_of_many(const char* name, const Test& test, int rank, int ranks, ncclUniqueId* id,
                int dies) {
  if (rank == 0) NCCL(ncclGetUniqueId(id));
  while (*reinterpret_cast<volatile char*>(id->internal) == 0) usleep(1000);
  usleep(1000);
  std::vector<Rank> own = {{rank, rank % 8}};
  CUDA(cudaSetDevice(own[0].device));
  NCCL(ncclCommInitRank(&own[0].comm, ranks, *id, rank));
  prepare(own[0], test);
  if (rank == dies) _exit(9);
  const double us = run(test, own);
  if (rank == 0) tell(name, test, us, own);
  else if (const std::size_t bad = test.wrong(own[0]); bad > 0)
    std::printf("rank %d: #wrong %zu\n", rank, bad);
  NCCL(ncclCommDestroy(own[0].comm));
  return 0;
}

int many_processes(const char* name, const Test& test, int ranks, int dies) {
  auto* id = static_cast<ncclUniqueId*>(mmap(nullptr, sizeof(ncclUniqueId), PROT_READ | PROT_WRITE,
                                             MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::vector<pid_t> children;
  for (int r = 0; r < ranks; ++r) {
    const pid_t child = fork();
    if (child == 0) {
      const int status = one_of_many(name, test, r, ranks, id, dies);
      std::fflush(stdout);
      _exit(status);
    }
    children.push_back(child);
  }
  int result = 0;
  for (std::size_t r = 0; r < children.size(); ++r) {
    int status = 0;
    waitpid(children[r], &status, 0);
    if (static_cast<int>(r) != dies) result = result != 0 ? result : WEXITSTATUS(status);
  }
  return result;
}

/// The id that rank 0 made, from a file.
ncclUniqueId id_in_file(int rank) {
  ncclUniqueId id{};
  if (rank == 0) {
    NCCL(ncclGetUniqueId(&id));
    std::FILE* file = std::fopen("nccl-id.new", "wb");
    if (file == nullptr || std::fwrite(&id, sizeof id, 1, file) != 1) std::exit(2);
    std::fclose(file);
    std::rename("nccl-id.new", "nccl-id");
    return id;
  }
  std::FILE* file = nullptr;
  while ((file = std::fopen("nccl-id", "rb")) == nullptr) usleep(1000);
  if (std::fread(&id, sizeof id, 1, file) != 1) std::exit(2);
  std::fclose(file);
  return id;
}

int launched(const char* name, const Test& test, int rank, int ranks) {
  int devices = 0;
  CUDA(cudaGetDeviceCount(&devices));
  const ncclUniqueId id = id_in_file(rank);
  std::vector<Rank> own = {{rank, rank % devices}};
  CUDA(cudaSetDevice(own[0].device));
  NCCL(ncclCommInitRank(&own[0].comm, ranks, id, rank));
  prepare(own[0], test);
  const double us = run(test, own);
  char host[64] = "";
  gethostname(host, sizeof host);
  if (rank == 0) tell(name, test, us, own);
  else if (const std::size_t bad = test.wrong(own[0]); bad > 0)
    std::printf("rank %d on %s: #wrong %zu\n", rank, host, bad);
  NCCL(ncclCommDestroy(own[0].comm));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::size_t bytes = std::strtoull(argv[2], nullptr, 10);
  const int gpus = argc > 3 ? std::atoi(argv[3]) : 8;
  if (const char* rank = std::getenv("RANK")) {
    const int ranks = std::atoi(std::getenv("WORLD_SIZE"));
    return launched(argv[1], Test(argv[1], bytes, ranks), std::atoi(rank), ranks);
  }
  const Test test(argv[1], bytes, gpus);
  const int dies = argc > 5 ? std::atoi(argv[5]) : -1;
  if (argc > 4 && std::atoi(argv[4]) > 1) return many_processes(argv[1], test, gpus, dies);

  std::vector<Rank> ranks;
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(gpus));
  NCCL(ncclCommInitAll(comms.data(), gpus, nullptr));
  for (int i = 0; i < gpus; ++i) {
    ranks.push_back({i, i, comms[static_cast<std::size_t>(i)]});
    prepare(ranks.back(), test);
  }
  const double us = run(test, ranks);
  tell(argv[1], test, us, ranks);
  for (const Rank& r : ranks) NCCL(ncclCommDestroy(r.comm));
  return 0;
}
