// Messages that arrive, and what regions tell one another.
#include <algorithm>

#include "engine/packet/transport.hpp"

namespace isleway {

Transport::Incoming& Transport::incoming(End& end, std::uint32_t message) {
  const std::size_t place = message - end.first_incoming;
  while (end.incoming.size() <= place) end.incoming.push_back({});
  return end.incoming[place];
}

void Transport::message_left(EndId id, std::uint32_t message, std::int64_t bytes,
                             std::int64_t leaves) {
  Incoming& one = incoming(ends_[id], message);
  one.bytes = bytes;
  one.leaves = leaves;
  maybe_arrived(id);
}

void Transport::delivered(EndId id, std::uint32_t message, std::int64_t bytes, std::int64_t time) {
  Incoming& one = incoming(ends_[id], message);
  one.there += bytes;
  one.delivered = std::max(one.delivered, time);
  if (one.there == one.bytes) maybe_arrived(id);
}

void Transport::maybe_arrived(EndId id) {
  End& end = ends_[id];
  // A connection is a FIFO, even where packets overtake one another.
  while (!end.incoming.empty() && end.incoming.front().there == end.incoming.front().bytes) {
    const Incoming one = end.incoming.front();
    end.incoming.pop_front();
    ++end.first_incoming;
    end.last_arrival = std::max({one.delivered, one.leaves + end.latency, end.last_arrival, now_});
    at(end.last_arrival, PacketEvent::arrived, id);
  }
}

void Transport::give_credit(EndId id, std::int64_t now) {
  const End& end = ends_[id];
  tell(end.other, PacketEvent::credit, now + end.return_latency);
}

/// An event at the other end of a connection.
void Transport::tell(EndAddress other, PacketEvent::Kind kind, std::int64_t time) {
  if (other.region == region_) {
    at(time, kind, other.end);
    return;
  }
  Mail one;
  one.time = time;
  one.kind = kind;
  one.id = other.end;
  mail(other.region, one);
}

void Transport::mail(std::uint32_t region, const Mail& mail) {
  earliest_mail_ = std::min(earliest_mail_, mail.time);
  post_.send(window_, region_, region, mail);
}

/// A train goes on in another region.
void Transport::travel(TrainId id, std::int64_t when) {
  Mail one;
  one.time = when;
  one.train = trains_[id];
  free_trains_.push_back(id);
  if (one.train.visits == 0) train_is_through(strand_of(one.train));
  one.train.visits = 1;
  mail(one.train.hop->region, one);
}

void Transport::take(const Mail& mail) {
  switch (mail.kind) {
    case PacketEvent::hop: {
      const TrainId id = new_train();
      trains_[id] = mail.train;
      at(mail.time, PacketEvent::hop, id);
      break;
    }
    case PacketEvent::room:
      hear_of_room(mail.id, {mail.time, mail.bytes, mail.packets, mail.channel});
      break;
    case PacketEvent::left: message_left(mail.id, mail.message, mail.bytes, mail.left_at); break;
    default: at(mail.time, mail.kind, mail.id); break;
  }
}

void Transport::collect(unsigned window) {
  window_ = window;
  earliest_mail_ = kNever;
  post_.collect(window, region_, [this](const Mail& mail) { take(mail); });
}

}  // namespace isleway
