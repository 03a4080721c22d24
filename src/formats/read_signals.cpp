#include "isleway/formats/read_signals.hpp"

#include <algorithm>
#include <set>

#include "formats/paste/gather.hpp"
#include "formats/paste/host_names.hpp"
#include "formats/paste/sections.hpp"
#include "formats/paste/text_encoding.hpp"
#include "isleway/core/parallel.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

constexpr std::size_t kMostQuote = 500;
constexpr std::size_t kMostSignals = 1'000'000;  // of one file
constexpr std::size_t kMostBytes = std::size_t{256} << 20, kMostLines = 4'000'000;

/// Collects notices with lines counted in the file instead of the section.
void append_mapped(const Notices& from, const Section& section, const std::string& file,
                   Notices& to) {
  for (const Notice& notice : from) {
    const auto index = static_cast<std::size_t>(std::max(notice.where.line, 1) - 1);
    const Location where{file, index < section.lines.size() && notice.where.line > 0
                                   ? section.lines[index]
                                   : section.line};
    switch (notice.kind) {
      case Notice::Kind::assumed: to.assumed(where, notice.text); break;
      case Notice::Kind::skipped: to.skipped(where, notice.text); break;
      case Notice::Kind::incomplete: to.incomplete(where, notice.text); break;
    }
  }
}

/// "cat /proc/cmdline" for a file that was copied with its path, as sosreport does.
std::string command_of_path(const std::string& path) {
  for (const char* root : {"/proc/", "/sys/"})
    if (const std::size_t at = path.rfind(root); at != std::string::npos)
      return "cat " + path.substr(at);
  if (path.starts_with("proc/") || path.starts_with("sys/")) return "cat /" + path;
  return {};
}

class FileReader {
 public:
  FileReader(std::string_view text, const std::string& file, const std::string& host)
      : file_(file), host_(host), lines_(text) {}

  SignalsRead read() {
    for (const Section& section : divide(lines_, command_of_path(file_))) {
      if (is_full(0)) {
        result_.notices.incomplete({file_, section.line},
                                   "more facts than one file states: the rest is left out");
        break;
      }
      read_section(section);
    }
    name_nodes();
    return std::move(result_);
  }

 private:
  Signal signal(std::string name, const Section& section, int line) const {
    Signal made;
    made.name = std::move(name);
    made.where = {file_, line};
    if (section.nodes.size() == 1) made.node = section.nodes[0];
    if (line > 0 && static_cast<std::size_t>(line) <= lines_.size())
      made.quote = start_of(trim(lines_.original(static_cast<std::size_t>(line) - 1)), kMostQuote);
    return made;
  }

  bool is_full(std::size_t more) const { return result_.signals.size() + more > kMostSignals; }

  void read_section(const Section& section) {
    const std::size_t first = result_.signals.size();
    if (!section.command.empty() && section.is_prompt) {
      result_.signals.push_back(signal("command.run", section, section.line));
      result_.signals.back().value = section.command;
      if (!section.has_content) {
        result_.signals.push_back(signal("output.empty", section, section.line));
        result_.signals.back().subject = section.command;
        result_.signals.back().value = 1.0;
      }
    }
    const TextIndex index(section.text);
    for (const SignalReader* reader : signal_readers())
      if (reader->recognise(index) > 0) read_by(*reader, section);
    // What several hosts said alike, each of them said.
    if (section.nodes.size() < 2) return;
    const std::size_t end = result_.signals.size();
    if (is_full((end - first) * section.nodes.size())) {
      result_.notices.incomplete({file_, section.line},
                                 "too many facts for so many hosts: they count for one");
      return;
    }
    for (const std::string& node : section.nodes)
      for (std::size_t i = first; i < end; ++i) {
        if (node == section.nodes[0]) {
          result_.signals[i].node = node;
        } else {
          result_.signals.push_back(result_.signals[i]);
          result_.signals.back().node = node;
        }
      }
  }

  void read_by(const SignalReader& reader, const Section& section) {
    Signals stated;
    Notices notices;
    reader.read(section.text, {file_, 1}, stated, notices);
    append_mapped(notices, section, file_, result_.notices);
    if (stated.empty()) return;
    result_.signals.push_back(signal("output.read", section, section.lines.front()));
    result_.signals.back().subject = reader.name;
    result_.signals.back().value = reader.title;
    for (Signal& one : stated) {
      const auto index = static_cast<std::size_t>(std::max(one.where.line, 1) - 1);
      const int line = index < section.lines.size() ? section.lines[index] : section.line;
      Signal placed = signal(std::move(one.name), section, line);
      placed.subject = std::move(one.subject);
      placed.peer = std::move(one.peer);
      placed.value = std::move(one.value);
      if (!one.node.empty()) {
        placed.node = short_host_name(one.node);
        named_.insert(placed.node);
      }
      result_.signals.push_back(std::move(placed));
    }
  }

  /// The host of what no prompt, banner or log line names: the only one that the file names,
  /// else what its path says.
  void name_nodes() {
    for (const Signal& one : result_.signals)
      if (one.name == "node.name")
        if (const auto* name = std::get_if<std::string>(&one.value)) named_.insert(*name);
    const std::string host = host_.empty() && named_.size() == 1 ? *named_.begin() : host_;
    for (Signal& one : result_.signals) {
      if (one.node.empty()) one.node = host;
      if (!one.node.empty() && known_.insert(one.node).second) result_.nodes.push_back(one.node);
    }
  }

  const std::string& file_;
  const std::string& host_;
  CleanLines lines_;
  SignalsRead result_;
  std::set<std::string> named_, known_;
};

/// Cuts what is longer than any output, so that memory stays bounded.
void limit(std::string& text, const std::string& name, Notices& notices) {
  std::size_t end = std::min(text.size(), kMostBytes), lines = 0;
  for (std::size_t at = text.find('\n'); at < end; at = text.find('\n', at + 1))
    if (++lines == kMostLines) end = at;
  if (end == text.size()) return;
  text.resize(end);
  notices.incomplete({name}, "only the first 256 MiB, or 4 million lines, are read");
}

bool is_understood(const SignalsRead& read) {
  return std::any_of(read.signals.begin(), read.signals.end(), [](const Signal& s) {
    return s.name == "output.read" || s.name == "output.empty";
  });
}

SignalsRead read_file_text(const std::string& content, const std::string& name,
                           const std::string& host) {
  SignalsRead result;
  Result<std::string> text = to_text(content, name);
  if (!text) {
    result.notices.skipped({name}, text.error().what);
    return result;
  }
  Notices cut;
  limit(*text, name, cut);
  if (trim(*text).empty()) {
    Signal empty;
    empty.name = "output.empty";
    empty.value = 1.0;
    empty.node = host;
    empty.where.file = name;
    result.signals.push_back(std::move(empty));
    if (!host.empty()) result.nodes.push_back(host);
    return result;
  }
  result = FileReader(*text, name, host).read();
  if (const auto printed = without_escapes(*text)) {
    SignalsRead again = FileReader(*printed, name, host).read();
    if (is_understood(again) && again.signals.size() > result.signals.size()) {
      result = std::move(again);
      result.notices.assumed({name}, "line ends are written as \\n: lines are counted as printed");
    }
  }
  result.notices.append(cut);
  if (!is_understood(result)) result.notices.skipped({name}, "holds no output that is known here");
  return result;
}

/// Gives the contents back as they are read.
SignalsRead read_all(std::vector<GatheredFile> files) {
  std::vector<std::string> names;
  for (const GatheredFile& file : files) names.push_back(file.name);
  const std::vector<std::string> hosts = hosts_of_paths(names);
  std::vector<SignalsRead> parts(files.size());
  parallel_for(files.size(), [&](std::size_t i) {
    parts[i] = read_file_text(files[i].content, files[i].name, hosts[i]);
    files[i].content = {};
  });
  SignalsRead all;
  std::size_t count = 0;
  for (const SignalsRead& part : parts) count += part.signals.size();
  all.signals.reserve(count);
  std::set<std::string> known;
  for (SignalsRead& part : parts) {
    std::move(part.signals.begin(), part.signals.end(), std::back_inserter(all.signals));
    all.notices.append(part.notices);
    for (std::string& node : part.nodes)
      if (known.insert(node).second) all.nodes.push_back(std::move(node));
    part = {};
  }
  return all;
}

}  // namespace

Result<SignalsRead> read_signals(const std::vector<std::filesystem::path>& inputs) {
  Notices notices;
  auto files = gather(inputs, notices);
  if (!files) return tl::unexpected(files.error());
  SignalsRead all = read_all(*std::move(files));
  all.notices.append(notices);
  return all;
}

SignalsRead read_signals(std::string_view text, const std::string& file) {
  Notices notices;
  std::vector<GatheredFile> files;
  if (is_archive(text))
    unpack(
        file, text, [&](GatheredFile one) { files.push_back(std::move(one)); }, notices);
  else files.push_back({file, std::string(text)});
  SignalsRead all = read_all(std::move(files));
  all.notices.append(notices);
  return all;
}

}  // namespace isleway::formats
