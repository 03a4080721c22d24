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

/// What is wrong with a call's arguments; empty when nothing is.
std::string wrong(const Call& call, const RankHandle& handle, int type, int op) {
  if (type < 0 || type >= kTypes) return fmt::format("{} is no data type", type);
  if (call.root < 0 || call.root >= handle.comm->ranks)
    return fmt::format("root {} is none of {} ranks", call.root, handle.comm->ranks);
  if (call.count < 0) return "the count is too large";
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

int collective(const char* function, Collective which, const void* send, void* recv,
               std::size_t count, int type, int op, int root, RankHandle* handle, void* stream) {
  Process& process = Process::get();
  Group& group = Group::mine();
  const auto failed = [&](int status, const std::string& why) {
    group.fail(status);
    return fail(function, status, why);
  };
  if (!process || !is_handle(handle)) return failed(invalid_argument, "comm is no communicator");
  Call call;
  call.collective = which;
  call.type = static_cast<Type>(type);
  call.op = op < kBuiltInOps ? static_cast<Op>(op) : Op::premul_sum;
  if (const auto own = handle->ops.find(op); own != handle->ops.end()) call.user_op = own->second;
  call.root = root;
  call.count = count > (std::size_t{1} << 60) ? -1 : static_cast<std::int64_t>(count);
  call.send = send;
  call.recv = recv;
  if (const std::string why = wrong(call, *handle, type, op); !why.empty())
    return failed(invalid_argument, why);
  Stream* on = stream_of(process, *handle, stream);
  if (on == nullptr) return failed(invalid_argument, "stream is no stream");
  if (handle->comm->error != success) return handle->comm->error;
  const int status = group.add(process, handle, call, on);
  return status == success ? status : fail(function, status, handle->comm->last_error);
}

int message(const char* function, bool sends, const void* address, std::size_t count, int type,
            int peer, RankHandle* handle, void* stream) {
  Process& process = Process::get();
  Group& group = Group::mine();
  const auto failed = [&](int status, const std::string& why) {
    group.fail(status);
    return fail(function, status, why);
  };
  if (!process || !is_handle(handle)) return failed(invalid_argument, "comm is no communicator");
  if (type < 0 || type >= kTypes) return failed(invalid_argument, "no such data type");
  if (peer < 0 || peer >= handle->comm->ranks) return failed(invalid_argument, "no such peer");
  if (count > (std::size_t{1} << 60)) return failed(invalid_argument, "the count is too large");
  Stream* on = stream_of(process, *handle, stream);
  if (on == nullptr) return failed(invalid_argument, "stream is no stream");
  if (handle->comm->error != success) return handle->comm->error;
  Message half{sends, peer, address,
               static_cast<std::int64_t>(count) * size_of(static_cast<Type>(type))};
  if (half.bytes > 0 && address == nullptr) return failed(invalid_argument, "the buffer is null");
  const int status = group.add(process, handle, half, on);
  return status == success ? status : fail(function, status, handle->comm->last_error);
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
