#include "formats/nccl_log_tree.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

constexpr std::string_view kInfo = "NCCL INFO ";
constexpr std::string_view kHeader = "=== System :";
constexpr std::string_view kKinds[] = {"CPU", "PCI", "GPU", "NIC", "NET", "NVS"};
constexpr std::string_view kLinks[] = {"PCI", "NVL", "SYS", "NET", "C2C", "LOC", "QPI"};

// A log that says more is damaged; what is beyond is left out.
constexpr std::size_t kMostBlocks = 4096;
constexpr std::size_t kMostNodes = 50'000;

template <std::size_t N>
bool is_one_of(std::string_view word, const std::string_view (&words)[N]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

/// "GPU/0-68000 (8)" into kind, id and detail.
bool parse_device(std::string_view text, LogNode& node) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || !is_one_of(text.substr(0, slash), kKinds)) return false;
  node.kind = text.substr(0, slash);
  const std::size_t end = std::min(text.find_first_of(" \t(", slash), text.size());
  node.id = text.substr(slash + 1, end - slash - 1);
  if (const std::size_t open = text.find('(', end); open != std::string_view::npos)
    node.detail = text.substr(open + 1, text.find(')', open) - open - 1);
  return !node.id.empty();
}

std::optional<LogNode> parse_node(std::string_view message) {
  LogNode node;
  const std::string_view text = trim(message);
  if (text.empty()) return std::nullopt;
  const std::size_t start = message.find_first_not_of(" \t");
  if (text[0] != '+') {
    // "CPU/0-0 (1/1/2)"; path lines look alike but go on with " :GPU/..."
    const bool is_root = text.starts_with("CPU/") && text.find(':') == std::string_view::npos &&
                         parse_device(text, node);
    return is_root ? std::optional(node) : std::nullopt;
  }
  const std::size_t open = text.find('['), close = text.find("] - ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return std::nullopt;
  node.link = trim(text.substr(1, open - 1));
  node.rate = parse_double(text.substr(open + 1, close - open - 1)).value_or(0);
  node.column = static_cast<int>(std::min<std::size_t>(start, 10'000));
  if (!is_one_of(node.link, kLinks) || !parse_device(text.substr(close + 4), node))
    return std::nullopt;
  return node;
}

/// Hangs nodes under what stands to their left above them.
class BlockBuilder {
 public:
  BlockBuilder(std::string_view process, int line) {
    block_.process = process;
    block_.line = line;
  }

  void add(LogNode node) {
    if (block_.nodes.size() >= kMostNodes || block_.complete) return;
    const auto column = [&](int i) { return block_.nodes[static_cast<std::size_t>(i)].column; };
    while (!open_.empty() && column(open_.back()) >= node.column) open_.pop_back();
    if (!open_.empty()) node.parent = open_.back();
    if (node.link == "NVL" || node.link == "C2C") adopt(node, "GPU", last_gpu_);
    if (node.link == "NET") adopt(node, "NIC", last_nic_);
    const int index = static_cast<int>(block_.nodes.size());
    if (node.kind == "GPU" && node.link == "PCI") last_gpu_ = index;
    if (node.kind == "NIC") last_nic_ = index;
    open_.push_back(index);
    block_.nodes.push_back(node);
  }
  void close() { block_.complete = !block_.nodes.empty(); }
  LogBlock& block() { return block_; }

 private:
  /// Where the indentation was lost, NVLinks still belong to the GPU above them.
  void adopt(LogNode& node, std::string_view kind, int last) {
    if (node.parent >= 0 && block_.nodes[static_cast<std::size_t>(node.parent)].kind == kind)
      return;
    block_.flat = true;
    node.parent = last;
  }

  LogBlock block_;
  std::vector<int> open_;
  int last_gpu_ = -1, last_nic_ = -1;
};

bool is_closing_line(std::string_view message) {
  message = trim(message);
  return message.size() >= 10 && message.find_first_not_of('=') == std::string_view::npos;
}

}  // namespace

std::size_t LogBlock::count(std::string_view kind) const {
  return static_cast<std::size_t>(
      std::count_if(nodes.begin(), nodes.end(), [&](const LogNode& n) { return n.kind == kind; }));
}

std::string_view log_message(std::string_view line, std::string_view* process) {
  const std::size_t info = line.find(kInfo);
  if (process) *process = info == std::string_view::npos ? "" : trim(line.substr(0, info));
  return info == std::string_view::npos ? line : line.substr(info + kInfo.size());
}

std::vector<LogBlock> find_log_blocks(std::string_view text) {
  std::vector<BlockBuilder> builders;
  std::map<std::string_view, std::size_t> current;  // of each process
  int number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    std::string_view process;
    const std::string_view message = log_message(line, &process);
    const bool is_header = message.find(kHeader) != std::string_view::npos;
    auto node = is_header ? std::nullopt : parse_node(message);
    auto own = current.find(process);
    if (is_header || (node && own == current.end())) {
      if (builders.size() >= kMostBlocks) break;
      own = current.insert_or_assign(process, builders.size()).first;
      builders.emplace_back(process, number);
    }
    if (own == current.end()) continue;
    if (node) {
      node->line = number;
      builders[own->second].add(*node);
    } else if (is_closing_line(message)) {
      builders[own->second].close();
    }
  }
  std::vector<LogBlock> blocks;
  for (BlockBuilder& builder : builders)
    if (!builder.block().nodes.empty()) blocks.push_back(std::move(builder.block()));
  return blocks;
}

std::string_view log_host(std::string_view process) {
  const std::string_view host = trim(process.substr(0, process.find(':')));
  if (host.size() >= process.size() || host.find_first_of(" /") != std::string_view::npos)
    return {};
  const std::string_view rest = process.substr(process.find(':') + 1);
  const bool has_pid = !rest.empty() && rest[0] >= '0' && rest[0] <= '9';
  return has_pid ? host : std::string_view();
}

}  // namespace isleway::formats
