#include "formats/paste/prompt.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "formats/paste/host_names.hpp"
#include "formats/signal_sink.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

constexpr std::string_view kTools[] = {"nvidia-smi",
                                       "dcgmi",
                                       "lspci",
                                       "ibstat",
                                       "ibstatus",
                                       "ibv_devinfo",
                                       "iblinkinfo",
                                       "perfquery",
                                       "dmesg",
                                       "journalctl",
                                       "cat",
                                       "ls",
                                       "lsmod",
                                       "lscpu",
                                       "numactl",
                                       "df",
                                       "ulimit",
                                       "env",
                                       "printenv",
                                       "systemctl",
                                       "uname",
                                       "hostname",
                                       "mpirun",
                                       "srun",
                                       "kubectl",
                                       "scontrol",
                                       "taskset",
                                       "nvcc",
                                       "modinfo",
                                       "dpkg",
                                       "rpm",
                                       "docker",
                                       "nvbandwidth",
                                       "lstopo",
                                       "grep",
                                       "head",
                                       "tail",
                                       "ssh",
                                       "pdsh",
                                       "export",
                                       "echo",
                                       "nv-fabricmanager",
                                       "for",
                                       "ibdev2netdev",
                                       "ibnetdiscover",
                                       "mlxconfig",
                                       "mlxlink",
                                       "ethtool",
                                       "rdma",
                                       "show_gids",
                                       "ib_write_bw",
                                       "ib_read_bw",
                                       "mount",
                                       "findmnt",
                                       "sudo",
                                       "NCCL_DEBUG=INFO",
                                       "nvidia-imex-ctl",
                                       "nvidia-imex",
                                       "nvidia-bug-report.sh",
                                       "systemd-detect-virt",
                                       "nvidia-ctk",
                                       "python",
                                       "python3",
                                       "torchrun"};

/// Tools whose bare command line is found at the start of outputs.
constexpr std::string_view kBareTools[] = {
    "nvidia-smi", "dcgmi",   "lspci",           "ibstat",        "ibv_devinfo", "iblinkinfo",
    "perfquery",  "numactl", "nvidia-imex-ctl", "ibnetdiscover", "systemctl"};
constexpr std::string_view kBareWords[] = {"topo",   "nvlink", "health",       "diag",
                                           "status", "mig",    "conf-compute", "discovery"};

/// Without the path that it lies in.
std::string_view program_name(std::string_view word) {
  const std::size_t slash = word.rfind('/');
  return slash == std::string_view::npos ? word : word.substr(slash + 1);
}

std::string_view program_of(std::string_view command) {
  std::string_view word = first_word(command);
  if (word == "sudo")
    if (const std::string_view next = first_word(after(command, "sudo")); !next.empty())
      word = next;
  return program_name(word);
}

template <std::size_t N>
bool is_one_of(std::string_view word, const std::string_view (&words)[N]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool starts_with_tool(std::string_view command) {
  const std::string_view program = program_of(command);
  return is_one_of(program, kTools) || program.ends_with("_perf") ||
         starts_with_ignoring_case(program, "p2pBandwidth");
}

/// A command may run elsewhere: "ssh node7 nvidia-smi", "srun -w node7 nvidia-smi".
Boundary at_prompt(std::string_view host, std::string_view command) {
  Boundary found;
  found.is_prompt = true;
  const auto words = split_words(command);
  std::size_t program = 0;
  if (words.size() >= 3 && words[0] == "ssh" && words[1][0] != '-') {
    host = after(words[1], "@").empty() ? words[1] : after(words[1], "@");
    program = 2;
  }
  if (words.size() >= 4 && words[0] == "srun" && words[1] == "-w") {
    host = words[2];
    program = 3;
  }
  if (!host.empty()) found.nodes.push_back(short_host_name(host));
  if (program < words.size())
    found.command = std::string(
        trim(command.substr(static_cast<std::size_t>(words[program].data() - command.data()))));
  return found;
}

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
}

/// "user@host" at the end of `text`, else empty.
std::string_view host_after_user(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos || at == 0 || !is_name_character(text[at - 1])) return {};
  std::size_t end = at + 1;
  while (end < text.size() && is_name_character(text[end])) ++end;
  return text.substr(at + 1, end - at - 1);
}

/// Every line is asked: one pass instead of a search for each of the signs.
std::size_t find_sign(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i)
    if (line[i] == '$' || line[i] == '#' || line[i] == '%' || line[i] == '>') return i;
  return std::string_view::npos;
}

std::optional<Boundary> parse_prompt(std::string_view line) {
  // user@host ... $ command, with or without brackets; an empty command is a prompt as well.
  const std::size_t sign = find_sign(line.substr(0, 200));
  if (sign != std::string_view::npos && (sign + 1 == line.size() || line[sign + 1] == ' ')) {
    const std::string_view head = line.substr(0, sign);
    const std::string_view command = trim(line.substr(sign + 1));
    const std::string_view host = host_after_user(head);
    const bool bracket = head.starts_with("[") || head.starts_with("(");
    // "user@host:" or "user@host " or "user@host": nothing else has that shape.
    if (!host.empty() && (bracket || head.find(' ') > head.find('@')))
      return at_prompt(host, command);
    // "host:~ # command", "host:/var/log$ command"
    const std::string_view name = before(head, ":");
    const std::string_view path = trim(after(head, ":"));
    if (name.size() < head.size() && is_host_name(name) &&
        (path.starts_with("~") || path.starts_with("/")) && starts_with_tool(command))
      return at_prompt(name, command);
    if (trim(head).empty() && line[sign] != '>' && starts_with_tool(command))
      return at_prompt({}, command);
    // "host# command"
    if (is_host_name(head) && starts_with_tool(command)) return at_prompt(head, command);
    if ((head.starts_with("PS ") || (head.size() > 2 && head.substr(1, 2) == ":\\")))
      return at_prompt({}, command);
  }
  if (line.starts_with("+ ") && starts_with_tool(line.substr(2)))
    return at_prompt({}, line.substr(2));
  // cmd.exe has no blank after its sign.
  if (line.size() > 3 && line.substr(1, 2) == ":\\" && contains(line, ">") &&
      starts_with_tool(after(line, ">")))
    return at_prompt({}, after(line, ">"));
  return std::nullopt;
}

/// A command line alone: what people leave of a prompt.
std::optional<Boundary> parse_bare_command(std::string_view line) {
  if (line.size() > 200) return std::nullopt;
  if (!is_one_of(program_name(first_word(line)), kBareTools) && !line.starts_with("sudo"))
    return std::nullopt;
  const auto words = split_words(line);
  if (words.empty() || words.size() > 12) return std::nullopt;
  const std::string_view program = program_of(line);
  if (!is_one_of(program, kBareTools)) return std::nullopt;
  const std::size_t first = words[0] == "sudo" ? 2 : 1;
  const bool goes_on = words.size() > first && (words[first][0] == '-' || words[first][0] == '|' ||
                                                is_one_of(words[first], kBareWords));
  const bool alone = words.size() == first && words[0] != "systemctl";
  if (!goes_on && !alone) return std::nullopt;
  return at_prompt({}, trim(line));
}

/// "==> node7/dmesg.txt <==" of head and tail; "*** /proc/cmdline" of nvidia-bug-report.
std::optional<Boundary> parse_file_banner(std::string_view line) {
  if (line.starts_with("==> ") && line.ends_with(" <==")) {
    const std::string_view path = trim(between(line, "==> ", " <=="));
    Boundary found{{}, "cat " + std::string(path)};
    if (const std::string_view node = before(path, "/");
        node.size() < path.size() && is_host_name(node))
      found.nodes.push_back(short_host_name(node));
    return found;
  }
  if (line.starts_with("*** /") && !contains(line.substr(4), " "))
    return Boundary{{}, "cat " + std::string(trim(line.substr(4)))};
  return std::nullopt;
}

/// "=== node7 ===", "##### node[1-3] #####", "node7 | CHANGED | rc=0 >>".
std::optional<Boundary> parse_host_banner(std::string_view line) {
  if (line.ends_with(">>") && contains(line, "rc="))
    if (const std::size_t bar = line.find(" | "); bar != std::string_view::npos)
      return Boundary{{short_host_name(line.substr(0, bar))}, {}};
  static constexpr std::string_view rulers = "=-#*+~ ";
  const std::size_t start = line.find_first_not_of(rulers);
  if (start == std::string_view::npos || start < 3) return std::nullopt;
  const std::size_t end = line.find_last_not_of(rulers);
  std::string_view name = trim(line.substr(start, end - start + 1));
  for (const std::string_view word : {"host:", "Host:", "node:", "Node:", "host", "node", "Node"})
    if (name.starts_with(word) && name.size() > word.size() && name[word.size()] == ' ')
      name = trim(name.substr(word.size()));
  if (!is_host_name(name) && !contains(name, "[")) return std::nullopt;
  auto nodes = expand_hosts(name);
  if (nodes.empty() || !is_host_name(nodes[0])) return std::nullopt;
  return Boundary{std::move(nodes), {}};
}

}  // namespace

std::optional<Boundary> parse_boundary(std::string_view line) {
  line = trim(line);
  if (line.empty() || line.size() > 4096) return std::nullopt;
  for (const std::string_view mark :
       {"```", "~~~", "{code", "{noformat", "<pre>", "</pre>", "<details>", "</details>"})
    if (line.starts_with(mark)) return Boundary{};
  if (auto found = parse_prompt(line)) return found;
  if (auto found = parse_file_banner(line)) return found;
  if (auto found = parse_host_banner(line)) return found;
  return parse_bare_command(line);
}

}  // namespace isleway::formats
