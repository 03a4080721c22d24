#include "virtual/nccl/group.hpp"

#include <algorithm>

#include "virtual/cudart/graph.hpp"

namespace isleway::vgpu::nccl {

Group& Group::mine() {
  thread_local Group group;
  return group;
}

void Group::clear() {
  items_.clear();
  made_.clear();
  error_ = success;
}

int Group::add(Process& process, RankHandle* handle, const Call& call, Stream* stream) {
  items_.push_back({handle, stream, call, {}});
  return open() ? success : launch(process);
}
int Group::add(Process& process, RankHandle* handle, const Message& message, Stream* stream) {
  items_.push_back({handle, stream, std::nullopt, message});
  return open() ? success : launch(process);
}
int Group::add(Process& process, std::shared_ptr<Comm> comm) {
  made_.push_back(std::move(comm));
  return open() ? success : launch(process);
}

int Group::end(Process& process) {
  if (depth_ == 0) return invalid_usage;
  if (depth_ == 1) {
    // What these add is still part of the group.
    const auto later = std::move(later_);
    later_.clear();
    for (const auto& call : later)
      if (const int status = call(); status != success) fail(status);
  }
  return --depth_ > 0 ? success : launch(process);
}

/// All messages of a rank in one stream are one part, where the first of them stands.
std::vector<Group::Part> Group::parts() const {
  std::vector<Part> parts;
  for (const Item& item : items_) {
    if (item.call) {
      parts.push_back({item.handle, item.stream, item.call, {}});
      continue;
    }
    const auto known = std::ranges::find_if(parts, [&](const Part& part) {
      return !part.call && part.handle == item.handle && part.stream == item.stream;
    });
    if (known != parts.end()) known->messages.push_back(item.message);
    else parts.push_back({item.handle, item.stream, std::nullopt, {item.message}});
  }
  return parts;
}

int Group::launch(Process& process) {
  const int failed = error_;
  std::vector<Part> all = parts();
  const std::vector<std::shared_ptr<Comm>> made = std::move(made_);
  clear();
  if (failed != success) return failed;

  std::map<Comm*, int> together;
  for (const auto& comm : made) ++together[comm.get()];
  for (const auto& comm : made) {
    comm->gpus_per_thread = std::max(comm->gpus_per_thread, together[comm.get()]);
    if (const int status = complete(process, *comm, true); status != success) return status;
  }

  const auto held = process.hold();
  // What the host does for a call, it does once for all ranks that it launches together.
  std::map<std::pair<Comm*, std::uint64_t>, Time> host;
  for (Part& part : all) {
    RankHandle& handle = *part.handle;
    if (const int ready = complete(process, *handle.comm, true); ready != success) return ready;
    if (process.trouble(handle.device) != GpuTrouble::none) {
      handle.comm->last_error = "the GPU no longer works";
      return unhandled_cuda_error;
    }
    // What other ranks have lost is found out by waiting for them.
    const auto planner = has_lost_gpu(process, *handle.comm) && handle.comm->planner
                             ? Result<Planner*>(handle.comm->planner.get())
                             : planner_of(process, *handle.comm);
    if (!planner) {
      handle.comm->last_error = planner.error().text();
      return invalid_usage;
    }
    const CollectiveCall shape =
        part.call ? collective_call(*part.call, handle) : pattern_of(handle, part.messages);
    Time cost;
    if (shape.size.bytes > 0) {
      const auto times = (*planner)->times(shape);
      if (!times) {
        handle.comm->last_error = times.error().text();
        return unhandled_cuda_error;
      }
      cost = (*times)->host;
    }
    const std::uint64_t number =
        part.call ? handle.calls : handle.comm->local.size() + (1ull << 62);
    auto& known = host[{handle.comm.get(), number}];
    known = std::max(known, cost);
    if (shape.size.bytes == 0) continue;
    put_or_record(process, *part.stream, GraphNode::Kind::kernel,
                  [&handle, part](Process& p, Stream& s) {
                    if (part.call) enqueue(p, handle, *part.call, s);
                    else enqueue(p, handle, part.messages, s);
                  });
  }
  for (const auto& [key, time] : host) process.clock().work(time);
  return success;
}

int Group::simulate(Process& process, Time& estimate) {
  if (depth_ == 0) return invalid_usage;
  if (--depth_ > 0) return success;
  const std::vector<Part> all = parts();
  const int failed = error_;
  clear();
  if (failed != success) return failed;
  const auto held = process.hold();
  for (const Part& part : all) {
    RankHandle& handle = *part.handle;
    if (const int ready = complete(process, *handle.comm, true); ready != success) return ready;
    const auto planner = planner_of(process, *handle.comm);
    if (!planner) return invalid_usage;
    const CollectiveCall shape =
        part.call ? collective_call(*part.call, handle) : pattern_of(handle, part.messages);
    if (shape.size.bytes == 0) continue;
    const auto times = (*planner)->times(shape);
    if (!times) return unhandled_cuda_error;
    // Ranks work side by side, calls of one rank one after the other.
    if (&handle == all.front().handle) estimate += (*times)->complete;
  }
  return success;
}

}  // namespace isleway::vgpu::nccl
