// A rank's part of a collective: it waits for the others, takes its time, and moves the data.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "virtual/cudart/graph.hpp"
#include "virtual/nccl/comm.hpp"
#include "virtual/world/segment.hpp"

namespace isleway::vgpu::nccl {
namespace {

Span span_of(const BufferRef& buffer) {
  return {reinterpret_cast<const std::byte*>(buffer.address), buffer.bytes};
}

bool is_result(const CollectiveCall& shape, int rank) {
  return (shape.collective != Collective::reduce && shape.collective != Collective::gather) ||
         rank == shape.root;
}
bool is_source(const CollectiveCall& shape, int rank) {
  return (shape.collective != Collective::broadcast && shape.collective != Collective::scatter) ||
         rank == shape.root;
}

/// Call number `number` of a communicator, for the ranks of this process.
class CallJoint final : public Joint {
 public:
  CallJoint(Process& process, std::shared_ptr<Comm> comm, std::uint64_t number,
            CollectiveCall shape)
      : process_(process), comm_(std::move(comm)), number_(number), shape_(shape) {}

  void add(int rank, Post post) { mine_.emplace_back(rank, std::move(post)); }

  std::size_t streams() const override { return comm_->local.size(); }
  const void* group() const override { return comm_.get(); }

  std::optional<JointTimes> begin(Time ready) override {
    if (const Fate fate = fate_of(*comm_); fate == Fate::hangs) return std::nullopt;
    else if (fate == Fate::ends) return JointTimes{ready, ready};
    if (has_lost_gpu(process_, *comm_)) return std::nullopt;  // its kernels wait for one another
    if (!posted_ && !post(ready)) return std::nullopt;
    World& world = process_.world();
    const BoardView& board = comm_->board;
    Time all_ready;
    {
      const std::lock_guard held(world.lock());
      const CallSlot& slot = board.call(number_);
      if (slot.posted < board->ranks) return std::nullopt;
      for (const Post& post : board.posts(number_))
        all_ready = std::max(all_ready, Time::ps(post.ready_ps));
    }
    if (comm_->alone || last_) move_data();
    if (!comm_->alone && board.call(number_).done == 0) return std::nullopt;
    return take(all_ready);
  }

 private:
  /// False while an earlier call still holds the slot.
  bool post(Time ready) {
    if (!comm_->alone) {
      // Others read and write these bytes from now on.
      for (const auto& [rank, post] : mine_) {
        if (is_source(shape_, rank)) process_.data().settle(span_of(post.send));
        process_.data().settle(span_of(post.recv));
      }
    }
    World& world = process_.world();
    const std::lock_guard held(world.lock());
    CallSlot& slot = comm_->board.call(number_);
    if (slot.number != 0 && slot.number != number_ + 1) return false;
    slot.number = number_ + 1;
    for (auto& [rank, post] : mine_) {
      post.ready_ps = ready.ps();
      comm_->board.posts(number_)[static_cast<std::size_t>(rank)] = post;
    }
    slot.posted += static_cast<std::uint32_t>(mine_.size());
    posted_ = true;
    last_ = slot.posted == comm_->board->ranks;
    world.lock().announce();
    return true;
  }

  /// By whoever came last; the others' posts stay until it is done.
  void move_data() {
    if (moved_) return;
    moved_ = true;
    const auto all = comm_->board.posts(number_);
    auto posts = std::make_shared<std::vector<Post>>(all.begin(), all.end());
    check_agreement(*posts);
    const auto run = [process = &process_, comm = comm_, shape = shape_,
                      posts](std::span<const Producer> sources) {
      if (auto done = run_call(*process, *comm, shape, *posts, sources); !done) {
        comm->error = internal_error;
        comm->last_error = done.error().text();
        fmt::print(stderr, "isleway: {}\n", comm->last_error);
      }
    };
    if (comm_->alone) {
      DataOp op;
      std::vector<std::size_t> senders;  ///< whose bytes each of op.reads is
      for (std::size_t r = 0; r < posts->size(); ++r) {
        const Post& post = (*posts)[r];
        const int rank = static_cast<int>(r);
        if (is_source(shape_, rank) && post.send.bytes > 0) {
          op.reads.push_back(span_of(post.send));
          senders.push_back(r);
        }
        if (is_result(shape_, rank) && post.recv.bytes > 0) op.writes.push_back(span_of(post.recv));
      }
      op.run_from = [run, senders, ranks = posts->size()](std::span<const Producer> sources) {
        std::vector<Producer> by_rank(ranks);
        for (std::size_t i = 0; i < senders.size(); ++i) by_rank[senders[i]] = sources[i];
        run(by_rank);
      };
      process_.do_data(std::move(op));
      return;
    }
    if (process_.world().plan().data && comm_->error == success) run({});
    comm_->board.call(number_).done = 1;
    process_.world().lock().announce();
  }

  void check_agreement(const std::vector<Post>& posts) {
    for (const Post& post : posts) {
      const Post& first = posts.front();
      if (post.collective == first.collective && post.count == first.count &&
          post.type == first.type && post.op == first.op && post.root == first.root)
        continue;
      comm_->error = invalid_usage;
      comm_->last_error = "the ranks of a communicator call different collectives";
      fmt::print(stderr, "isleway: {}\n", comm_->last_error);
      return;
    }
  }

  std::optional<JointTimes> take(Time all_ready) {
    {
      const std::lock_guard held(process_.world().lock());
      CallSlot& slot = comm_->board.call(number_);
      slot.taken += static_cast<std::uint32_t>(mine_.size());
      if (slot.taken == comm_->board->ranks) {
        slot.number = 0;
        slot.posted = slot.taken = 0;
        slot.done = 0;
      }
    }
    process_.world().lock().announce();
    comm_->gathering.erase(number_);
    const auto planner = planner_of(process_, *comm_);
    const auto times = planner ? (*planner)->times(shape_) : tl::unexpected(planner.error());
    if (!times) {
      comm_->error = system_error;
      comm_->last_error = times.error().text();
      return JointTimes{all_ready, all_ready};
    }
    if (last_ || comm_->alone)
      for (const auto& [link, load] : (*times)->wire)
        process_.world().count_link_bytes(link, load.first, load.second);
    return JointTimes{all_ready + (*times)->complete, all_ready + (*times)->next};
  }

  Process& process_;
  std::shared_ptr<Comm> comm_;
  std::uint64_t number_;
  CollectiveCall shape_;
  std::vector<std::pair<int, Post>> mine_;
  bool posted_ = false, last_ = false, moved_ = false;
};

/// Reads a scalar that lies in device memory, now that its time has come.
void read_scalar(Process& process, const UserOp& op, Post& post) {
  if (op.on_device == nullptr) {
    std::memcpy(post.scalar, op.scalar.data(), sizeof post.scalar);
    return;
  }
  const auto bytes = static_cast<std::size_t>(size_of(op.type));
  process.settle(op.on_device, bytes);
  std::memcpy(post.scalar, op.on_device, bytes);
}

}  // namespace

int enqueue(Process& process, RankHandle& handle, const Call& call, Stream& stream) {
  const std::shared_ptr<Comm>& comm = handle.comm;
  const CollectiveCall shape = collective_call(call, handle);
  const std::uint64_t number = handle.calls++;
  Post post{};
  post.collective = static_cast<int>(call.collective);
  post.type = static_cast<int>(call.type);
  post.op = static_cast<int>(call.op);
  post.root = call.root;
  post.count = call.count;
  post.pid = ::getpid();
  const auto in = static_cast<std::uint64_t>(shape.size.input_bytes(call.collective, shape.ranks));
  const auto out =
      static_cast<std::uint64_t>(shape.size.output_bytes(call.collective, shape.ranks));
  const bool sends = is_source(shape, handle.rank), receives = is_result(shape, handle.rank);
  if (!refer(process, *comm, sends ? call.send : nullptr, sends ? in : 0, post.send) ||
      !refer(process, *comm, receives ? call.recv : nullptr, receives ? out : 0, post.recv)) {
    comm->last_error = "a buffer is no memory of the GPU, which other processes could reach";
    return invalid_argument;
  }
  if (call.user_op) read_scalar(process, *call.user_op, post);

  auto& joint = comm->gathering[number];
  if (!joint) joint = std::make_shared<CallJoint>(process, comm, number, shape);
  static_cast<CallJoint&>(*joint).add(handle.rank, post);
  Work work;
  work.kind = Work::Kind::joint;
  work.joint = joint;
  process.put(stream, std::move(work));
  return success;
}

}  // namespace isleway::vgpu::nccl
