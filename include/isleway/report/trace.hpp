// What happened in a call, for people to look at: Chrome's trace events, link loads over time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "isleway/engine/recorder.hpp"
#include "isleway/fabric.hpp"

namespace isleway::report {

/// Keeps the first run that it sees, up to a million spans.
class Trace final : public Recorder {
 public:
  explicit Trace(std::size_t most_spans = 1'000'000) : most_(most_spans) {}

  void run_begins() override { ++runs_; }
  void action(const ActionSpan& span) override;
  void message(const MessageSpan& span) override;

  bool empty() const { return actions_.empty() && messages_.empty(); }
  /// Spans that did not fit any more.
  std::size_t left_out() const { return left_out_; }
  const std::vector<ActionSpan>& actions() const { return actions_; }
  struct Message {
    Port from, to;
    std::int64_t bytes;
    Time begin, sent, arrived;
  };
  const std::vector<Message>& messages() const { return messages_; }

  /// Bytes on the wire of one direction of a link, in equal parts of the call's time.
  struct Load {
    LinkId link;
    bool forward;
    std::vector<double> bytes;
  };
  /// By (link, direction). A message's bytes are spread evenly over the time in which it left.
  std::vector<Load> loads(std::size_t parts) const;
  Time end() const { return end_; }

 private:
  bool takes();
  struct Crossing {
    Time begin, sent;
    double bytes;
  };

  std::size_t most_, left_out_ = 0, runs_ = 0;
  std::vector<ActionSpan> actions_;
  std::vector<Message> messages_;
  std::map<std::pair<LinkId, bool>, std::vector<Crossing>> crossings_;  ///< second: backward
  Time end_;
};

/// Trace events that chrome://tracing and Perfetto open: a process a rank with a thread a stream,
/// messages as arrows, and the rate on each link as a counter.
std::string chrome_trace(const Fabric& fabric, const Trace& trace, int ranks);

/// from_us,to_us,link,direction,bytes,GBs,share: 100 parts of time, one line for each direction
/// of each link that carried something then. `share` is that of the link's nominal rate.
std::string link_loads_csv(const Fabric& fabric, const Trace& trace);

}  // namespace isleway::report
