// A trace as files.
#include <fmt/format.h>

#include "isleway/report/trace.hpp"
#include "report/json.hpp"

namespace isleway::report {
namespace {

constexpr std::size_t kParts = 100;

std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// One event a line, as a list that may be cut anywhere and still opens.
class Events {
 public:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    text_ += text_.empty() ? "[\n" : ",\n";
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  std::string list() && { return (text_.empty() ? "[" : std::move(text_)) + "\n]\n"; }

 private:
  std::string text_;
};

std::string agent_name(const Fabric& fabric, int agent, int ranks) {
  if (agent >= ranks) return fmt::format("switch agent {}", agent);
  const auto gpu = static_cast<GpuId>(agent);
  if (gpu >= fabric.gpu_count()) return fmt::format("rank {}", agent);
  return fmt::format("rank {} ({})", agent, fabric.device_name(fabric.gpu(gpu)));
}

/// From where to where, in one direction of a link.
std::string directed(const Fabric& fabric, LinkId link, bool forward) {
  return fabric.link_name(link) + (forward ? " >" : " <");
}

}  // namespace

std::string chrome_trace(const Fabric& fabric, const Trace& trace, int ranks) {
  Events events;
  std::map<int, bool> agents;
  for (const auto& span : trace.actions()) agents[span.port.agent] = true;
  for (const auto& [agent, known] : agents)
    events.add(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", agent,
               quoted(agent_name(fabric, agent, ranks)));
  for (const auto& span : trace.actions())
    events.add(
        R"({{"ph":"X","name":"action","pid":{},"tid":{},"ts":{:.6f},"dur":{:.6f},"args":{{"bytes":{}}}}})",
        span.port.agent, span.port.stream, span.begin.us(), (span.end - span.begin).us(),
        span.bytes);
  std::size_t number = 0;
  for (const Trace::Message& m : trace.messages()) {
    events.add(
        R"({{"ph":"s","name":"message","cat":"message","id":{},"pid":{},"tid":{},"ts":{:.6f}}})",
        number, m.from.agent, m.from.stream, m.begin.us());
    events.add(
        R"({{"ph":"f","bp":"e","name":"message","cat":"message","id":{},"pid":{},"tid":{},"ts":{:.6f}}})",
        number, m.to.agent, m.to.stream, m.arrived.us());
    ++number;
  }
  const int links = agents.empty() ? 0 : agents.rbegin()->first + 1;
  const auto loads = trace.loads(kParts);
  if (!loads.empty())
    events.add(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"links, GB/s"}}}})",
               links);
  const double part = trace.end().seconds() / kParts;
  for (const Trace::Load& load : loads) {
    const std::string name = quoted(directed(fabric, load.link, load.forward));
    double before = -1;
    for (std::size_t i = 0; i <= kParts; ++i) {
      const double rate = i < kParts ? load.bytes[i] / part * 1e-9 : 0;
      if (rate == before) continue;
      before = rate;
      events.add(R"({{"ph":"C","name":{},"pid":{},"ts":{:.6f},"args":{{"GB/s":{:.4f}}}}})", name,
                 links, static_cast<double>(i) * part * 1e6, rate);
    }
  }
  return std::move(events).list();
}

std::string link_loads_csv(const Fabric& fabric, const Trace& trace) {
  std::string text = "from_us,to_us,link,direction,bytes,GBs,share\n";
  const double part = trace.end().seconds() / kParts;
  for (const Trace::Load& load : trace.loads(kParts)) {
    const double nominal = fabric.link(load.link).rate().GBs();
    const std::string name = fabric.link_name(load.link);
    for (std::size_t i = 0; i < kParts; ++i) {
      if (load.bytes[i] <= 0) continue;
      const double rate = load.bytes[i] / part * 1e-9;
      fmt::format_to(std::back_inserter(text), "{:.6f},{:.6f},{},{},{:.0f},{:.4f},{:.4f}\n",
                     static_cast<double>(i) * part * 1e6, static_cast<double>(i + 1) * part * 1e6,
                     name, load.forward ? "forward" : "backward", load.bytes[i], rate,
                     nominal > 0 ? rate / nominal : 0);
    }
  }
  return text;
}

}  // namespace isleway::report
