#include "isleway/link/reliable.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <deque>
#include <queue>

namespace isleway::link {
namespace {

constexpr int kSequences = 1 << kSequenceBits;
constexpr std::size_t kChannels = 8;
// In a row, without any packet getting through.
constexpr int kMostRecoveries = 100;

/// What is on the wire: a packet's flits with the header that closes it, or the reverse
/// direction's header.
struct Arrival {
  std::int64_t time;
  std::uint64_t order;
  bool acknowledges;
  std::vector<Flit> flits;
  std::uint64_t epoch;  ///< of the training in which it was sent
  bool operator>(const Arrival& other) const {
    return time != other.time ? time > other.time : order > other.order;
  }
};

class Session {
 public:
  Session(std::vector<Packet> packets, const ReliableRules& rules, BitErrors there, BitErrors back)
      : packets_(std::move(packets)),
        rules_(rules),
        there_(std::move(there)),
        back_(std::move(back)) {
    assert(rules_.replay_packets < kSequences / 2);
    for (std::size_t i = 0; i < packets_.size(); ++i)
      packets_[i].sequence = static_cast<std::uint16_t>(i % kSequences);
    free_.fill(rules_.credits);
  }

  Result<ReliableResult> run();

 private:
  bool may_send() const {
    return next_ < packets_.size() &&
           next_ < acknowledged_ + static_cast<std::size_t>(rules_.replay_packets) &&
           (next_ < furthest_ || free_[packets_[next_].virtual_channel % kChannels] > 0);
  }
  void send();
  void receive(const Arrival& arrival);
  void answer(bool nak);
  void acknowledge(const Arrival& arrival);
  void go_back();
  std::vector<Flit> spoiled(std::vector<Flit> flits, BitErrors& errors);
  void post(std::int64_t at, bool acknowledges, std::vector<Flit> flits) {
    arrivals_.push({at, order_++, acknowledges, std::move(flits), epoch_});
  }

  std::vector<Packet> packets_;
  const ReliableRules& rules_;
  BitErrors there_, back_;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  std::uint64_t order_ = 0, epoch_ = 0;
  // The sender: packets below `acknowledged_` have left the replay buffer.
  std::size_t acknowledged_ = 0, next_ = 0, furthest_ = 0;
  std::array<int, kChannels> free_{};
  std::int64_t now_ = 0, wire_free_ = 0, last_progress_ = 0;
  int attempts_ = 0, recoveries_in_a_row_ = 0;
  // The receiver.
  std::size_t expected_ = 0;
  bool nak_sent_ = false;
  /// When the receiver has passed each accepted packet on, for credits.
  std::deque<std::pair<std::int64_t, std::size_t>> drained_;
  std::int64_t drain_free_ = 0;
  ReliableResult result_;
};

std::vector<Flit> Session::spoiled(std::vector<Flit> flits, BitErrors& errors) {
  errors.pass(flits.size() * kFlitBytes * 8, [&](std::uint64_t bit) {
    flits[bit / (kFlitBytes * 8)][bit / 8 % kFlitBytes] ^=
        static_cast<std::uint8_t>(0x80 >> (bit % 8));
    ++result_.counters.symbol_errors;
    ++result_.counters.effective_errors;
  });
  result_.counters.received_bits += flits.size() * kFlitBytes * 8;
  return flits;
}

void Session::send() {
  const Packet& packet = packets_[next_];
  // Each packet stands alone here: its closing header is sent with it, but costs no time, as in
  // a row it is the next packet's own.
  std::vector<Flit> flits;
  Framer framer;
  framer.append(packet, flits);
  framer.append(Packet{}, flits);
  wire_free_ = std::max(wire_free_, now_) + packet.flits() * rules_.flit.ps();
  if (next_ >= furthest_) {
    --free_[packet.virtual_channel % kChannels];
    furthest_ = next_ + 1;
    ++result_.counters.packets;
    result_.counters.data_bytes += packet.data.size();
  }
  result_.counters.raw_bytes += static_cast<std::uint64_t>(packet.flits()) * kFlitBytes;
  ++next_;
  post(wire_free_ + rules_.latency.ps(), false, spoiled(std::move(flits), there_));
}

void Session::answer(bool nak) {
  Packet header;
  header.nak = nak;
  header.ack = static_cast<std::uint16_t>(expected_ % kSequences);
  std::vector<Flit> flits;
  Framer().append(header, flits);
  post(now_ + rules_.latency.ps(), true, spoiled(std::move(flits), back_));
}

void Session::receive(const Arrival& arrival) {
  Deframer deframer;
  const auto first = deframer.add(arrival.flits.front());
  bool good = first == Deframer::Verdict::header_good;
  if (!good) ++result_.counters.crc_flit_errors;
  // A wrong length in a header that seemed good leaves the row out of step: also an error.
  for (std::size_t i = 1; good && i < arrival.flits.size(); ++i) {
    const auto verdict = deframer.add(arrival.flits[i]);
    const bool last = i + 1 == arrival.flits.size();
    if (verdict != (last ? Deframer::Verdict::header_good : Deframer::Verdict::more)) {
      good = false;
      ++result_.counters.crc_data_errors;
    }
  }
  const std::optional<Packet> packet = good ? deframer.take() : std::nullopt;
  if (!packet) {
    if (!nak_sent_) answer(true);
    nak_sent_ = true;
    return;
  }
  if (packet->sequence != expected_ % kSequences) {
    // Sent before the sender heard of the error, or again although it had arrived.
    if (!nak_sent_) answer(false);
    return;
  }
  nak_sent_ = false;
  ++expected_;
  result_.received.push_back(*packet);
  drain_free_ = std::max(drain_free_, now_) + rules_.drain.ps();
  drained_.emplace_back(drain_free_ + rules_.latency.ps(), packet->virtual_channel % kChannels);
  answer(false);
}

void Session::acknowledge(const Arrival& arrival) {
  Deframer deframer;
  Flit closing{};
  if (deframer.add(arrival.flits.front()) != Deframer::Verdict::header_good) return;
  std::vector<Flit> idle;
  Framer().append(Packet{}, idle);
  closing = idle.front();
  if (deframer.add(closing) != Deframer::Verdict::header_good) return;
  const std::optional<Packet> header = deframer.take();
  if (!header) return;
  const auto base = static_cast<std::uint16_t>(acknowledged_ % kSequences);
  const int ahead = (header->ack - base + kSequences) % kSequences;
  if (acknowledged_ + static_cast<std::size_t>(ahead) <= furthest_ && ahead > 0) {
    acknowledged_ += static_cast<std::size_t>(ahead);
    next_ = std::max(next_, acknowledged_);
    last_progress_ = now_;
    attempts_ = recoveries_in_a_row_ = 0;
  }
  if (header->nak && acknowledged_ < furthest_) go_back();
}

void Session::go_back() {
  ++result_.counters.replays;
  next_ = acknowledged_;
  last_progress_ = now_;
  if (++attempts_ < rules_.attempts) return;
  attempts_ = 0;
  ++recoveries_in_a_row_;
  ++result_.counters.recoveries;
  ++epoch_;  // what is under way is lost; the replay buffer is not
  nak_sent_ = false;
  wire_free_ = std::max(wire_free_, now_) + rules_.recovery.ps();
  last_progress_ = wire_free_;
}

Result<ReliableResult> Session::run() {
  while (acknowledged_ < packets_.size()) {
    while (!drained_.empty() && drained_.front().first <= now_) {
      ++free_[drained_.front().second];
      drained_.pop_front();
    }
    if (wire_free_ <= now_ && may_send()) send();
    // What happens next: an arrival, a free wire, a credit, or the patience ends.
    std::int64_t next = std::max(last_progress_, wire_free_) + rules_.timeout.ps();
    const bool times_out = arrivals_.empty() || arrivals_.top().time > next;
    if (!arrivals_.empty()) next = std::min(next, arrivals_.top().time);
    if (!drained_.empty()) next = std::min(next, drained_.front().first);
    if (wire_free_ > now_ && may_send()) next = std::min(next, wire_free_);
    const bool waited = next == std::max(last_progress_, wire_free_) + rules_.timeout.ps();
    now_ = std::max(now_, next);
    if (waited && times_out && acknowledged_ < furthest_) {
      go_back();
      nak_sent_ = false;
    }
    if (recoveries_in_a_row_ > kMostRecoveries)
      return fail("the link carries nothing: every packet arrives damaged",
                  "a lower bit error rate");
    while (!arrivals_.empty() && arrivals_.top().time <= now_) {
      const Arrival arrival = arrivals_.top();
      arrivals_.pop();
      if (arrival.epoch != epoch_) continue;
      if (arrival.acknowledges) acknowledge(arrival);
      else receive(arrival);
    }
  }
  result_.time = Time::ps(now_);
  return std::move(result_);
}

}  // namespace

Result<ReliableResult> send_reliably(std::vector<Packet> packets, const ReliableRules& rules,
                                     BitErrors there, BitErrors back) {
  return Session(std::move(packets), rules, std::move(there), std::move(back)).run();
}

}  // namespace isleway::link
