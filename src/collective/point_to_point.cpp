#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "collective/arguments.hpp"
#include "collective/cut.hpp"
#include "collective/peer_rounds.hpp"

namespace isleway {
namespace {

constexpr std::int64_t kPartUnit = 4096;  // parts of a peer's bytes end on pages

/// One channel's turn at one part of one round.
struct Work {
  int round, part;
  std::int64_t first;  ///< messages of the stream's works before it
};

/// Stream of a channel's slot: sends are even, receives odd. Each slot does every eighth of
/// the channel's works, so that up to eight peers are served at once.
class PointToPoint final : public Schedule {
 public:
  PointToPoint(const CollectiveCall& call, int channels, int per_peer, int group,
               const Chunking& chunking)
      : call_(call),
        rounds_(call.ranks, group),
        bytes_(std::min(call.size.input_bytes(call.collective, call.ranks),
                        call.size.output_bytes(call.collective, call.ranks)) /
               (call.collective == Collective::all_to_all ? call.ranks : 1)),
        parts_(cut_channels(bytes_, per_peer, 1,
                            {chunking.chunk_bytes, chunking.slice_bytes, kPartUnit})) {
    std::vector<std::vector<Work>> works(channels);
    for (int round = 0; round < rounds_.count(); ++round)
      for (int part = 0; part < per_peer; ++part)
        works[channel_of_part(rounds_, round, part, channels)].push_back({round, part, 0});
    std::size_t most = 0;
    for (const auto& channel : works) most = std::max(most, channel.size());
    slots_ = static_cast<int>(std::min<std::size_t>(most, kPeersAtOnce));
    works_.resize(static_cast<std::size_t>(channels) * slots_);
    slot_of_.resize(static_cast<std::size_t>(rounds_.count()) * per_peer);
    for (int c = 0; c < channels; ++c)
      for (std::size_t i = 0; i < works[c].size(); ++i)
        add_work(c * slots_ + static_cast<int>(i % slots_), works[c][i]);
  }

  int ranks() const override { return call_.ranks; }
  int streams() const override { return 2 * static_cast<int>(works_.size()); }

  std::int64_t action_count(Port port) const override {
    const auto& works = works_[port.stream / 2];
    const Rounds active = active_rounds(port.agent, is_send(port));
    if (works.empty()) return 0;
    if (active.all) return works.back().first + messages(works.back());
    const Work* work = find(works, active.one);
    return work ? messages(*work) : 0;
  }

  void action(Port port, std::int64_t k, Action& out) const override {
    out.clear();
    const auto& works = works_[port.stream / 2];
    const Rounds active = active_rounds(port.agent, is_send(port));
    const Work* work;
    if (active.all) {
      work =
          &*std::prev(std::upper_bound(works.begin(), works.end(), k,
                                       [](std::int64_t n, const Work& w) { return n < w.first; }));
      k -= work->first;
    } else {
      work = find(works, active.one);
    }
    const auto& [offset, loops] = parts_[work->part];
    const auto [loop, slice] = loops.locate(k, 1);
    const Piece piece = loops.piece(loop, 0, slice);
    const std::int64_t at = offset + piece.offset;
    out.bytes = piece.bytes;
    if (is_send(port)) {
      const int peer = rounds_.send_peer(port.agent, work->round);
      out.source = {Region::Buffer::input, (sends_blocks() ? peer * bytes_ : 0) + at};
      out.send.push_back({peer, port.stream + 1});
    } else {
      const int peer = rounds_.recv_peer(port.agent, work->round);
      out.store = {Region::Buffer::output, (receives_blocks() ? peer * bytes_ : 0) + at};
      out.recv.push_back({peer, port.stream - 1});
    }
  }

  void loads(const std::function<void(const Load&)>& visit) const override {
    for (int rank = 0; rank < ranks(); ++rank) {
      const Rounds active = active_rounds(rank, true);
      for (int round = active.all ? 0 : std::max(0, active.one);
           round < (active.all ? rounds_.count() : active.one + 1); ++round)
        for (const Load& load : loads_of(rank, round)) visit(load);
    }
  }

  /// All peers are served at once, so only one latency shows, of a peer that is far away if
  /// any is; and what the messages of one stream cost their sender.
  std::vector<CriticalStep> critical_path() const override {
    std::vector<CriticalStep> path;
    const int rank = call_.collective == Collective::scatter ? call_.root
                     : call_.collective == Collective::sendrecv
                         ? rounds_.group() - 1
                         : (call_.root + ranks() / 2) % ranks();
    const Rounds active = active_rounds(rank, true);
    const auto sent = loads_of(rank, active.all ? rounds_.count() / 2 : active.one);
    if (sent.empty()) return path;
    path.push_back({sent[0].from, sent[0].to});
    const std::int64_t others = action_count(sent[0].from) - 1;
    if (others > 0)
      path.push_back(
          {sent[0].from, sent[0].to, 0, static_cast<double>(others), CriticalStep::kAllHidden});
    return path;
  }

 private:
  static bool is_send(Port port) { return port.stream % 2 == 0; }
  std::int64_t messages(const Work& work) const { return parts_[work.part].loops.slices_in_all(); }
  bool sends_blocks() const {
    return call_.collective == Collective::all_to_all || call_.collective == Collective::scatter;
  }
  bool receives_blocks() const {
    return call_.collective == Collective::all_to_all || call_.collective == Collective::gather;
  }

  /// The rounds in which a rank has something to send or receive: all, one or none (-1).
  struct Rounds {
    bool all;
    int one;
  };
  Rounds active_rounds(int rank, bool send) const {
    const int next = (rank + 1) % ranks(), previous = (rank + ranks() - 1) % ranks();
    switch (call_.collective) {
      case Collective::scatter:
        if (send) return {rank == call_.root, -1};
        return {false, rounds_.round_of(call_.root, rank)};
      case Collective::gather:
        if (!send) return {rank == call_.root, -1};
        return {false, rounds_.round_of(rank, call_.root)};
      case Collective::sendrecv:
        return {false, send ? rounds_.round_of(rank, next) : rounds_.round_of(previous, rank)};
      default: return {true, -1};
    }
  }

  void add_work(int slot, Work work) {
    auto& works = works_[slot];
    work.first = works.empty() ? 0 : works.back().first + messages(works.back());
    works.push_back(work);
    slot_of_[static_cast<std::size_t>(work.round) * parts_.size() + work.part] = slot;
  }
  static const Work* find(const std::vector<Work>& works, int round) {
    const auto it = std::lower_bound(works.begin(), works.end(), round,
                                     [](const Work& w, int r) { return w.round < r; });
    return it != works.end() && it->round == round ? &*it : nullptr;
  }

  /// What a rank sends in a round.
  std::vector<Load> loads_of(int rank, int round) const {
    std::vector<Load> loads;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      const Loops& loops = parts_[part].loops;
      if (loops.share() == 0) continue;
      const int stream = 2 * slot_of_[static_cast<std::size_t>(round) * parts_.size() + part];
      loads.push_back({{rank, stream},
                       {rounds_.send_peer(rank, round), stream + 1},
                       loops.share(),
                       loops.slices_in_all()});
    }
    return loads;
  }

  CollectiveCall call_;
  PeerRounds rounds_;
  std::int64_t bytes_;  ///< for one peer
  std::vector<Channel> parts_;
  int slots_ = 0;                         ///< of a channel
  std::vector<std::vector<Work>> works_;  ///< by channel and slot, in order of rounds
  std::vector<int> slot_of_;              ///< by round and part
};

}  // namespace

Result<std::unique_ptr<Schedule>> make_point_to_point(const CollectiveCall& call, int channels,
                                                      int channels_per_peer, int group_ranks,
                                                      const Chunking& chunking) {
  if (auto ok = check_arguments(
          call, channels, chunking, "send/recv",
          {Collective::all_to_all, Collective::gather, Collective::scatter, Collective::sendrecv});
      !ok)
    return tl::unexpected(ok.error());
  if (!std::has_single_bit(static_cast<unsigned>(channels)))
    return fail(fmt::format("{} channels for send/recv", channels), "a power of two");
  if (channels_per_peer < 1 || channels_per_peer > channels ||
      !std::has_single_bit(static_cast<unsigned>(channels_per_peer)))
    return fail(fmt::format("{} channels for a peer", channels_per_peer),
                fmt::format("a power of two, at most {}", channels));
  if (group_ranks < 1) return fail(fmt::format("groups of {} ranks", group_ranks), "at least 1");
  return std::make_unique<PointToPoint>(call, channels, channels_per_peer, group_ranks, chunking);
}

}  // namespace isleway
