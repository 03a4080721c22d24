// Sends and receives: each message meets its other half, whichever rank comes first.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "virtual/nccl/comm.hpp"
#include "virtual/world/segment.hpp"

namespace isleway::vgpu::nccl {
namespace {

/// One half of a message.
struct Half {
  Message message;
  std::uint64_t number = 0;
  int position = 0;  ///< in the group
  bool posted = false, last = false, over = false;
};

/// The messages that one rank sends and receives together.
class MessagesJoint final : public Joint {
 public:
  MessagesJoint(Process& process, std::shared_ptr<Comm> comm, int rank, std::vector<Half> halves,
                CollectiveCall pattern)
      : process_(process),
        comm_(std::move(comm)),
        rank_(rank),
        halves_(std::move(halves)),
        pattern_(pattern) {}

  std::size_t streams() const override { return 1; }
  const void* group() const override { return comm_.get(); }

  std::optional<JointTimes> begin(Time ready) override {
    latest_ = std::max(latest_, ready);
    if (const Fate fate = fate_of(*comm_); fate == Fate::hangs) return std::nullopt;
    else if (fate == Fate::ends) return JointTimes{ready, ready};
    if (has_lost_gpu(process_, *comm_)) return std::nullopt;
    if (!std::exchange(begun_, true)) {
      open_ = true;
      ++comm_->open_groups;
    }
    bool all = true;
    for (Half& half : halves_)
      if (!half.over) all = advance(half, ready) && all;
    if (!all) return std::nullopt;
    // A program may send on what an earlier message of the same group brings: all of them are
    // moved together, in the order of the group.
    if (std::exchange(open_, false)) --comm_->open_groups;
    if (comm_->open_groups == 0) process_.do_deferred();
    const auto planner = planner_of(process_, *comm_);
    const auto times = planner ? (*planner)->times(pattern_) : tl::unexpected(planner.error());
    if (!times) {
      comm_->error = system_error;
      comm_->last_error = times.error().text();
      return JointTimes{latest_, latest_};
    }
    count_wire(**times);
    return JointTimes{latest_ + (*times)->complete, latest_ + (*times)->next};
  }

 private:
  MessageSlot* slot_of(const Half& half) const {
    return half.message.sends ? comm_->board.message(rank_, half.message.peer, half.number)
                              : comm_->board.message(half.message.peer, rank_, half.number);
  }

  /// True when the message's other half is there too, and its bytes are moved.
  bool advance(Half& half, Time ready) {
    World& world = process_.world();
    if (!half.posted && !comm_->alone)
      process_.data().settle({static_cast<const std::byte*>(half.message.address),
                              static_cast<std::size_t>(half.message.bytes)});
    {
      const std::lock_guard held(world.lock());
      MessageSlot* slot = slot_of(half);
      if (slot == nullptr) {
        comm_->error = system_error;
        comm_->last_error = "there is no more room for messages between so many ranks";
        return true;
      }
      if (!half.posted && !post(half, *slot, ready)) return false;
      if (slot->sent == 0 || slot->received == 0) return false;
    }
    MessageSlot& slot = *slot_of(half);
    if (half.last) move(half, slot);
    if (slot.done == 0) return false;
    latest_ = std::max({latest_, Time::ps(slot.sent_ps), Time::ps(slot.received_ps)});
    const std::lock_guard held(world.lock());
    half.over = true;
    if (++slot.taken == 2) {
      slot.number = 0;
      slot.sent = slot.received = slot.taken = 0;
      slot.done = 0;
    }
    world.lock().announce();
    return true;
  }

  bool post(Half& half, MessageSlot& slot, Time ready) {
    if (slot.number != 0 && slot.number != half.number + 1) return false;
    slot.number = half.number + 1;
    BufferRef buffer;
    if (!refer(process_, *comm_, half.message.address,
               static_cast<std::uint64_t>(half.message.bytes), buffer)) {
      comm_->error = invalid_argument;
      comm_->last_error = "a buffer is no memory of the GPU, which other processes could reach";
    }
    (half.message.sends ? slot.from : slot.to) = buffer;
    (half.message.sends ? slot.sent_ps : slot.received_ps) = ready.ps();
    (half.message.sends ? slot.sent : slot.received) = static_cast<std::uint32_t>(::getpid());
    half.posted = true;
    half.last = slot.sent != 0 && slot.received != 0;
    process_.world().lock().announce();
    return true;
  }

  void move(Half& half, MessageSlot& slot) {
    if (slot.done != 0) return;
    if (slot.from.bytes != slot.to.bytes) {
      comm_->error = invalid_usage;
      comm_->last_error = fmt::format("a message of {} bytes is received as one of {}",
                                      slot.from.bytes, slot.to.bytes);
      fmt::print(stderr, "isleway: {}\n", comm_->last_error);
    }
    const std::size_t bytes = std::min(slot.from.bytes, slot.to.bytes);
    const std::byte* from = resolve(process_, slot.from, static_cast<int>(slot.sent));
    std::byte* to = resolve(process_, slot.to, static_cast<int>(slot.received));
    const bool possible = from != nullptr && to != nullptr && from != to && bytes > 0;
    if (possible && comm_->alone)
      process_.defer_data(half.position,
                          {{{from, bytes}}, {{to, bytes}}, [=] { std::memmove(to, from, bytes); }});
    else if (possible && process_.world().plan().data) std::memmove(to, from, bytes);
    slot.done = 1;
    half.last = false;
  }

  /// Every rank tells its share of what the whole pattern put on the links.
  void count_wire(const CallTimes& times) {
    for (const auto& [link, load] : times.wire)
      process_.world().count_link_bytes(link, load.first,
                                        load.second / static_cast<std::uint64_t>(comm_->ranks));
  }

  Process& process_;
  std::shared_ptr<Comm> comm_;
  int rank_;
  std::vector<Half> halves_;
  CollectiveCall pattern_;
  Time latest_;
  bool begun_ = false, open_ = false;
};

}  // namespace

CollectiveCall pattern_of(const RankHandle& handle, const std::vector<Message>& messages) {
  const int ranks = handle.comm->ranks;
  std::map<int, std::int64_t> sent, received;
  for (const Message& message : messages)
    (message.sends ? sent : received)[message.peer] += message.bytes;
  const auto most = [](const std::map<int, std::int64_t>& by_peer) {
    std::int64_t bytes = 0;
    for (const auto& [peer, own] : by_peer) bytes = std::max(bytes, own);
    return bytes;
  };
  const auto total = [](const std::map<int, std::int64_t>& by_peer) {
    std::int64_t bytes = 0;
    for (const auto& [peer, own] : by_peer) bytes += own;
    return bytes;
  };
  CollectiveCall call;
  call.ranks = ranks;
  call.size.element_bytes = 1;
  const std::int64_t largest = std::max(most(sent), most(received));
  const bool gathers = received.size() > 1 && sent.size() <= 1;
  const bool scatters = sent.size() > 1 && received.size() <= 1;
  if (sent.size() <= 1 && received.size() <= 1) {
    call.collective = Collective::sendrecv;
    call.size.bytes = largest;
  } else if (gathers || scatters) {
    call.collective = gathers ? Collective::gather : Collective::scatter;
    call.root = handle.rank;
    call.size.bytes = largest * ranks;
  } else {
    // Each with many: as much in all, spread evenly.
    call.collective = Collective::all_to_all;
    const auto peers = static_cast<std::int64_t>(std::max(sent.size(), received.size()));
    call.size.bytes = std::max(total(sent), total(received)) / peers * ranks;
  }
  return call;
}

int enqueue(Process& process, RankHandle& handle, const std::vector<Message>& messages,
            Stream& stream) {
  const auto size = static_cast<std::size_t>(handle.comm->ranks);
  handle.sent.resize(size);
  handle.received.resize(size);
  std::vector<Half> halves;
  for (const Message& message : messages) {
    const auto peer = static_cast<std::size_t>(message.peer);
    auto& count = message.sends ? handle.sent[peer] : handle.received[peer];
    halves.push_back({message, count++, static_cast<int>(halves.size()) / 2});
  }
  Work work;
  work.kind = Work::Kind::joint;
  work.joint = std::make_shared<MessagesJoint>(process, handle.comm, handle.rank, std::move(halves),
                                               pattern_of(handle, messages));
  process.put(stream, std::move(work));
  return success;
}

}  // namespace isleway::vgpu::nccl
