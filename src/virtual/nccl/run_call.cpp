// The data of a collective: the schedule that was timed, on the ranks' buffers.
#include <fmt/format.h>

#include <cstring>

#include "collective/executor_inputs.hpp"
#include "virtual/nccl/comm.hpp"

namespace isleway::vgpu::nccl {
namespace {

bool reduces(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::reduce ||
         collective == Collective::reduce_scatter;
}

}  // namespace

Result<void> run_call(Process& process, Comm& comm, const CollectiveCall& shape,
                      std::span<const Post> posts, std::span<const Producer> sources) {
  const auto planner = planner_of(process, comm);
  if (!planner) return tl::unexpected(planner.error());
  const auto schedule = (*planner)->schedule(shape);
  if (!schedule) return tl::unexpected(schedule.error());

  const Reduction reduction{static_cast<Op>(posts.front().op),
                            static_cast<Type>(posts.front().type), shape.ranks};
  std::vector<RankBuffers> buffers;
  std::vector<std::vector<std::byte>> scaled;
  for (const Post& post : posts) {
    std::byte* send = resolve(process, post.send, post.pid);
    std::byte* recv = resolve(process, post.recv, post.pid);
    std::span<const std::byte> input(send, send != nullptr ? post.send.bytes : 0);
    if (reduces(shape.collective) && reduction.op == Op::premul_sum) {
      const std::size_t rank = buffers.size();
      scaled.emplace_back(input.begin(), input.end());
      if (rank < sources.size() && sources[rank]) sources[rank](0, scaled.back());
      std::byte scalar[sizeof post.scalar];
      std::memcpy(scalar, post.scalar, sizeof scalar);
      scale(reduction.type, scaled.back(), scalar);
      input = scaled.back();
    }
    buffers.push_back({input, {recv, recv != nullptr ? post.recv.bytes : 0}});
  }
  ExecutorOptions options;
  options.element_bytes = shape.size.element_bytes;
  const bool scales = !scaled.empty();
  const InputSource input = [&](std::int32_t rank, std::int64_t offset, std::span<std::byte> out) {
    const auto r = static_cast<std::size_t>(rank);
    if (r >= sources.size() || !sources[r] || scales) return false;
    sources[r](static_cast<std::size_t>(offset), out);
    return true;
  };
  auto done = execute_schedule_from(
      input, **schedule, buffers,
      [&](std::span<std::byte> into, std::span<const std::byte> from) {
        reduce(reduction, into, from);
      },
      options);
  if (done && reduces(shape.collective))
    for (std::size_t r = 0; r < buffers.size(); ++r)
      if (shape.collective != Collective::reduce || static_cast<int>(r) == shape.root)
        finish(reduction, buffers[r].output);
  return done;
}

}  // namespace isleway::vgpu::nccl
