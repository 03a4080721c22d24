#include "formats/paste/sections.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "formats/paste/host_names.hpp"
#include "formats/paste/prompt.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

/// "node7: Link 0: 25 GB/s" as pdsh, clush and `grep` over files print it.
struct Labelled {
  std::string_view host, text;
};

/// "[pod/nccl-worker-0/main] Link 0: 25 GB/s", as `kubectl logs --prefix` prints it.
std::optional<Labelled> split_pod(std::string_view line) {
  const std::size_t close = line.substr(0, 200).find("] ");
  if (close == std::string_view::npos) return std::nullopt;
  const std::string_view pod = line.substr(5, line.find('/', 5) - 5);
  if (pod.empty() || pod.size() > close) return std::nullopt;
  return Labelled{pod, line.substr(close + 2)};
}

std::optional<Labelled> split_label(std::string_view line) {
  const std::size_t start = line.find_first_not_of(" \t");
  if (start == std::string_view::npos) return std::nullopt;
  if (line.substr(start).starts_with("[pod/")) return split_pod(line.substr(start));
  const std::size_t colon = line.substr(0, start + 65).find(':', start);
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view host = line.substr(start, colon - start);
  std::string_view text = line.substr(colon + 1);
  if (!text.empty() && text[0] != ' ' && text[0] != '\t') return std::nullopt;
  if (!is_host_name(host)) return std::nullopt;
  if (text.starts_with(" ")) text.remove_prefix(1);
  return Labelled{host, text};
}

bool is_ruler(std::string_view line) {
  line = trim(line);
  if (line.empty() || (line[0] != '-' && line[0] != '=')) return false;
  return line.size() >= 8 && line.find_first_not_of("-=") == std::string_view::npos;
}

class Divider {
 public:
  Divider(const CleanLines& lines, const std::string& command) : lines_(lines) {
    Boundary start;
    start.command = command;
    begin(start, 0);
  }

  std::vector<Section> divide() {
    for (std::size_t i = 0; i < lines_.size();) {
      if (const std::size_t end = end_of_labels(i); end > i) {
        take_labelled(i, end);
        i = end;
        continue;
      }
      if (const auto hosts = dshbak_hosts(i); !hosts.empty()) {
        begin({hosts, {}, false}, i);
        i += 3;
        continue;
      }
      if (auto boundary = parse_boundary(lines_[i])) begin(*std::move(boundary), i);
      else append(sections_.back(), lines_[i], i);
      ++i;
    }
    std::erase_if(sections_, [](const Section& s) { return s.text.empty(); });
    return std::move(sections_);
  }

 private:
  void begin(Boundary boundary, std::size_t index) {
    Section section;
    section.nodes = boundary.nodes;
    if (section.nodes.empty() && !sections_.empty()) section.nodes = nodes_;
    nodes_ = section.nodes;
    section.command = std::move(boundary.command);
    section.is_prompt = boundary.is_prompt;
    section.line = static_cast<int>(index) + 1;
    if (!section.command.empty()) {
      section.text = "$ " + section.command + '\n';
      section.lines.push_back(section.line);
    }
    sections_.push_back(std::move(section));
  }

  static void append(Section& section, std::string_view line, std::size_t index) {
    section.text += line;
    section.text += '\n';
    section.lines.push_back(static_cast<int>(index) + 1);
    section.has_content |= !trim(line).empty();
  }

  /// Where a run of lines with hosts' names ends that starts at `from`; `from` when there is
  /// none. One such line alone may be anything.
  std::size_t end_of_labels(std::size_t from) {
    if (from < no_labels_before_) return from;
    std::size_t end = from, count = 0;
    for (std::size_t i = from; i < lines_.size(); ++i) {
      if (const auto found = split_label(lines_[i])) {
        count += trim(found->text).empty() ? 0 : 1;
        end = i + 1;
      } else if (!trim(lines_[i]).empty()) {
        break;
      }
      if (i == from && end == from) return from;
    }
    if (count >= 2) return end;
    no_labels_before_ = end;
    return from;
  }

  /// Lines of several hosts come mixed; each host gets its own, in their order.
  void take_labelled(std::size_t from, std::size_t end) {
    std::vector<Section> hosts;
    std::map<std::string, std::size_t, std::less<>> known;
    for (std::size_t i = from; i < end; ++i) {
      const auto found = split_label(lines_[i]);
      if (!found) continue;
      const auto [place, is_new] = known.try_emplace(std::string(found->host), hosts.size());
      if (is_new) {
        Section section;
        section.nodes = {short_host_name(found->host)};
        section.command = sections_.back().command;
        section.line = static_cast<int>(i) + 1;
        if (!section.command.empty()) {
          section.text = "$ " + section.command + '\n';
          section.lines.push_back(sections_.back().line);
        }
        hosts.push_back(std::move(section));
      }
      append(hosts[place->second], found->text, i);
    }
    sections_.back().has_content = true;
    std::move(hosts.begin(), hosts.end(), std::back_inserter(sections_));
    begin({}, end);
  }

  /// The list between two rulers, as `dshbak -c` and `clush -b` print it before what all its
  /// hosts have said.
  std::vector<std::string> dshbak_hosts(std::size_t i) const {
    if (i + 2 >= lines_.size() || !is_ruler(lines_[i]) || !is_ruler(lines_[i + 2])) return {};
    std::string_view list = trim(lines_[i + 1]);
    if (const std::size_t count = list.find(" ("); count != std::string_view::npos)
      list = list.substr(0, count);
    std::vector<std::string> hosts = expand_hosts(list, kMostSameHosts);
    if (hosts.empty() || !std::all_of(hosts.begin(), hosts.end(), is_host_name)) return {};
    return hosts;
  }

  static constexpr std::size_t kMostSameHosts = 4096;

  const CleanLines& lines_;
  std::vector<Section> sections_;
  std::vector<std::string> nodes_;    ///< of the prompt or banner before
  std::size_t no_labels_before_ = 0;  ///< up to here no run of them was found
};

}  // namespace

std::vector<Section> divide(const CleanLines& lines, const std::string& command) {
  return Divider(lines, command).divide();
}

}  // namespace isleway::formats
