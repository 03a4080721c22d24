// The calls that move data.
#include <cstring>

#include "virtual/nccl/exports/api.hpp"

using namespace isleway::vgpu;
using namespace isleway::vgpu::nccl;
using isleway::Collective;

namespace {

constexpr int kBuiltInOps = 5;

bool reduces(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::reduce ||
         collective == Collective::reduce_scatter;
}

constexpr std::size_t kMostElements = std::size_t{1} << 60;

/// What is wrong with a collective's arguments, beyond what all calls share; empty: nothing.
std::string wrong(const Call& call, const RankHandle& handle, int op) {
  if (call.root < 0 || call.root >= handle.comm->ranks)
    return fmt::format("root {} is none of {} ranks", call.root, handle.comm->ranks);
  if (reduces(call.collective)) {
    if (op < 0 || (op >= kBuiltInOps && !handle.ops.contains(op)))
      return fmt::format("{} is no reduction of this communicator", op);
    if (op >= kBuiltInOps && handle.ops.at(op).type != call.type)
      return "the reduction was made for another data type";
  }
  const bool root_only_out =
      call.collective == Collective::reduce || call.collective == Collective::gather;
  const bool root_only_in =
      call.collective == Collective::broadcast || call.collective == Collective::scatter;
  const bool is_root = handle.rank == call.root;
  if (call.count > 0 && call.send == nullptr && (!root_only_in || is_root))
    return "sendbuff is null";
  if (call.count > 0 && call.recv == nullptr && (!root_only_out || is_root))
    return "recvbuff is null";
  return {};
}

/// Checks what every call has, then `check()`s the rest, which says what is wrong with it, and puts
/// what `make()` gives into the group.
template <class Check, class Make>
int enter(const char* function, std::size_t count, int type, RankHandle* handle, void* stream,
          Check check, Make make) {
  Process& process = Process::get();
  Group& group = Group::mine();
  const auto failed = [&](const std::string& why) {
    group.fail(invalid_argument);
    return fail(function, invalid_argument, why);
  };
  if (!process || !is_handle(handle)) return failed("comm is no communicator");
  if (type < 0 || type >= kTypes) return failed(fmt::format("{} is no data type", type));
  if (count > kMostElements) return failed("the count is too large");
  if (const std::string why = check(); !why.empty()) return failed(why);
  Stream* on = stream_of(process, *handle, stream);
  if (on == nullptr) return failed("stream is no stream");
  if (handle->comm->error != success) return handle->comm->error;
  const int status = group.add(process, handle, make(), on);
  return status == success ? status : fail(function, status, handle->comm->last_error);
}

int collective(const char* function, Collective which, const void* send, void* recv,
               std::size_t count, int type, int op, int root, RankHandle* handle, void* stream) {
  Call call;
  call.collective = which;
  call.type = static_cast<Type>(type);
  call.op = op < kBuiltInOps ? static_cast<Op>(op) : Op::premul_sum;
  call.root = root;
  call.count = static_cast<std::int64_t>(count);
  call.send = send;
  call.recv = recv;
  return enter(
      function, count, type, handle, stream, [&] { return wrong(call, *handle, op); },
      [&] {
        if (const auto own = handle->ops.find(op); own != handle->ops.end())
          call.user_op = own->second;
        return call;
      });
}

int message(const char* function, bool sends, const void* address, std::size_t count, int type,
            int peer, RankHandle* handle, void* stream) {
  const auto check = [&]() -> std::string {
    if (peer < 0 || peer >= handle->comm->ranks) return "no such peer";
    return count > 0 && address == nullptr ? "the buffer is null" : "";
  };
  return enter(function, count, type, handle, stream, check, [&] {
    return Message{sends, peer, address,
                   static_cast<std::int64_t>(count) * size_of(static_cast<Type>(type))};
  });
}

}  // namespace

ISLEWAY_API int ncclAllReduce(const void* send, void* recv, std::size_t count, int type, int op,
                              RankHandle* comm, void* stream) {
  return collective(__func__, Collective::all_reduce, send, recv, count, type, op, 0, comm, stream);
}
ISLEWAY_API int ncclReduce(const void* send, void* recv, std::size_t count, int type, int op,
                           int root, RankHandle* comm, void* stream) {
  return collective(__func__, Collective::reduce, send, recv, count, type, op, root, comm, stream);
}
ISLEWAY_API int ncclBroadcast(const void* send, void* recv, std::size_t count, int type, int root,
                              RankHandle* comm, void* stream) {
  return collective(__func__, Collective::broadcast, send, recv, count, type, 0, root, comm,
                    stream);
}
ISLEWAY_API int ncclBcast(void* buffer, std::size_t count, int type, int root, RankHandle* comm,
                          void* stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}
ISLEWAY_API int ncclAllGather(const void* send, void* recv, std::size_t count, int type,
                              RankHandle* comm, void* stream) {
  return collective(__func__, Collective::all_gather, send, recv, count, type, 0, 0, comm, stream);
}
ISLEWAY_API int ncclReduceScatter(const void* send, void* recv, std::size_t count, int type, int op,
                                  RankHandle* comm, void* stream) {
  return collective(__func__, Collective::reduce_scatter, send, recv, count, type, op, 0, comm,
                    stream);
}
ISLEWAY_API int ncclAlltoAll(const void* send, void* recv, std::size_t count, int type,
                             RankHandle* comm, void* stream) {
  return collective(__func__, Collective::all_to_all, send, recv, count, type, 0, 0, comm, stream);
}
ISLEWAY_API int ncclGather(const void* send, void* recv, std::size_t count, int type, int root,
                           RankHandle* comm, void* stream) {
  return collective(__func__, Collective::gather, send, recv, count, type, 0, root, comm, stream);
}
ISLEWAY_API int ncclScatter(const void* send, void* recv, std::size_t count, int type, int root,
                            RankHandle* comm, void* stream) {
  return collective(__func__, Collective::scatter, send, recv, count, type, 0, root, comm, stream);
}
ISLEWAY_API int ncclSend(const void* send, std::size_t count, int type, int peer, RankHandle* comm,
                         void* stream) {
  return message(__func__, true, send, count, type, peer, comm, stream);
}
ISLEWAY_API int ncclRecv(void* recv, std::size_t count, int type, int peer, RankHandle* comm,
                         void* stream) {
  return message(__func__, false, recv, count, type, peer, comm, stream);
}

ISLEWAY_API int ncclGroupStart() {
  Group::mine().start();
  return success;
}
ISLEWAY_API int ncclGroupEnd() {
  const int status = Group::mine().end(Process::get());
  return status == success ? status : fail(__func__, status, "the group cannot be launched");
}

namespace {
struct SimInfo {
  std::size_t size;
  unsigned magic, version;
  float estimated_us;
};
constexpr unsigned kMagic = 0x74685283;
}  // namespace

ISLEWAY_API int ncclGroupSimulateEnd(SimInfo* info) {
  isleway::Time estimate;
  const int status = Group::mine().simulate(Process::get(), estimate);
  if (status != success) return fail(__func__, status, "the group cannot be simulated");
  if (info == nullptr) return success;
  if (info->magic != kMagic) return fail(__func__, invalid_argument, "simInfo is not initialised");
  info->estimated_us = static_cast<float>(estimate.us());
  return success;
}

ISLEWAY_API int ncclRedOpCreatePreMulSum(int* op, void* scalar, int type, int residence,
                                         RankHandle* comm) {
  if (op == nullptr || scalar == nullptr || type < 0 || type >= kTypes || !is_handle(comm))
    return fail(__func__, invalid_argument, "an argument is missing or no data type");
  UserOp made;
  made.type = static_cast<Type>(type);
  constexpr int on_device = 0;
  if (residence == on_device) made.on_device = scalar;
  else std::memcpy(made.scalar.data(), scalar, static_cast<std::size_t>(size_of(made.type)));
  *op = comm->next_op++;
  comm->ops.emplace(*op, made);
  return success;
}
ISLEWAY_API int ncclRedOpDestroy(int op, RankHandle* comm) {
  if (!is_handle(comm)) return fail(__func__, invalid_argument, "comm is no communicator");
  if (comm->ops.erase(op) == 0)
    return fail(__func__, invalid_argument, "op is no operation of the user's");
  return success;
}

ISLEWAY_PROFILED(ncclAllReduce, (const void*, void*, std::size_t, int, int, RankHandle*, void*));
ISLEWAY_PROFILED(ncclReduce, (const void*, void*, std::size_t, int, int, int, RankHandle*, void*));
ISLEWAY_PROFILED(ncclBroadcast, (const void*, void*, std::size_t, int, int, RankHandle*, void*));
ISLEWAY_PROFILED(ncclBcast, (void*, std::size_t, int, int, RankHandle*, void*));
ISLEWAY_PROFILED(ncclAllGather, (const void*, void*, std::size_t, int, RankHandle*, void*));
ISLEWAY_PROFILED(ncclReduceScatter,
                 (const void*, void*, std::size_t, int, int, RankHandle*, void*));
ISLEWAY_PROFILED(ncclAlltoAll, (const void*, void*, std::size_t, int, RankHandle*, void*));
ISLEWAY_PROFILED(ncclGather, (const void*, void*, std::size_t, int, int, RankHandle*, void*));
ISLEWAY_PROFILED(ncclScatter, (const void*, void*, std::size_t, int, int, RankHandle*, void*));
ISLEWAY_PROFILED(ncclSend, (const void*, std::size_t, int, int, RankHandle*, void*));
ISLEWAY_PROFILED(ncclRecv, (void*, std::size_t, int, int, RankHandle*, void*));
ISLEWAY_PROFILED(ncclGroupStart, ());
ISLEWAY_PROFILED(ncclGroupEnd, ());
ISLEWAY_PROFILED(ncclGroupSimulateEnd, (SimInfo*));
ISLEWAY_PROFILED(ncclRedOpCreatePreMulSum, (int*, void*, int, int, RankHandle*));
ISLEWAY_PROFILED(ncclRedOpDestroy, (int, RankHandle*));
