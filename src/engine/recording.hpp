// Gathers what a recorder is told, from the points of view of streams and pipes.
#pragma once

#include <deque>
#include <vector>

#include "engine/programs.hpp"
#include "isleway/engine/recorder.hpp"

namespace isleway {

class Recording {
 public:
  /// `start`: added to all times. `part`: of a run that others record as well, and whose beginning
  /// they tell.
  explicit Recording(Recorder* recorder, Time start = Time(), bool part = false)
      : recorder_(recorder), start_(start) {
    if (recorder_ != nullptr && !part) recorder_->run_begins();
  }

  void began(StreamId stream, std::int64_t now) {
    if (recorder_ != nullptr) at(began_, stream) = now;
  }
  void ended(const Programs& programs, StreamId stream, std::int64_t now) {
    if (recorder_ != nullptr)
      recorder_->action(
          {programs.port(stream), programs.bytes(stream), time(at(began_, stream)), time(now)});
  }
  /// A message of the action that the pipe's sender is at.
  void sends(const Programs& programs, PipeId id, double wire_bytes, std::int64_t now) {
    if (recorder_ == nullptr) return;
    const Pipe& pipe = programs.pipes()[id];
    at(under_way_, id)
        .push_back({programs.port(pipe.from), programs.port(pipe.to), programs.bytes(pipe.from),
                    wire_bytes, pipe.connection.route, time(now), Time::max(), Time::max()});
  }
  void sent(PipeId pipe, std::int64_t now) {
    if (recorder_ == nullptr) return;
    for (Recorder::MessageSpan& message : at(under_way_, pipe)) {
      if (message.sent != Time::max()) continue;
      message.sent = time(now);
      return;
    }
  }
  void arrived(PipeId pipe, std::int64_t now) {
    if (recorder_ == nullptr || at(under_way_, pipe).empty()) return;
    Recorder::MessageSpan& message = under_way_[pipe].front();
    message.arrived = time(now);
    recorder_->message(message);
    under_way_[pipe].pop_front();
  }

 private:
  template <class T>
  static T& at(std::vector<T>& all, std::size_t i) {
    if (all.size() <= i) all.resize(i + 1);
    return all[i];
  }

  Time time(std::int64_t now) const { return start_ + Time::ps(now); }

  Recorder* recorder_;
  Time start_;
  std::vector<std::int64_t> began_;
  std::vector<std::deque<Recorder::MessageSpan>> under_way_;
};

}  // namespace isleway
