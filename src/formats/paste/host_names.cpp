#include "formats/paste/host_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alpha(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// Words with a number that name hardware, formats or kernel objects.
constexpr std::string_view kNotHosts[] = {
    "gpu",     "nic",     "mlx",      "eth",    "ib",   "eno",  "ens",  "enp",    "cpu",  "link",
    "port",    "nvidia",  "nvswitch", "card",   "dmar", "ivhd", "dev",  "hca",    "numa", "channel",
    "xid",     "sxid",    "nvme",     "bond",   "tx",   "rx",   "dri",  "render", "l1d",  "l1i",
    "l2",      "l3",      "sha",      "utf",    "nv",   "cx",   "sm",   "gen",    "tp",   "ring",
    "rtx",     "gtx",     "tesla",    "quadro", "mi",   "cuda", "nccl", "pcie",   "sxm",  "hgx",
    "hbm",     "ndr",     "hdr",      "edr",    "fdr",  "qdr",  "snc",  "nps",    "ext",  "python",
    "libnccl", "libcuda", "v",        "vgpu",   "mig",  "rank", "step", "test",   "case", "part",
    "x",       "gb",      "power",    "md"};

/// "a100", "h200", "b300", "t4", "l40s": a letter or two and a model's number.
bool is_product(std::string_view word) {
  static constexpr std::string_view products[] = {
      "a2",   "a10",  "a30",  "a40",  "a100",  "a800",  "h100",  "h20",  "h200",
      "h800", "b100", "b200", "b300", "gh200", "gb200", "gb300", "v100", "p100",
      "p40",  "t4",   "l4",   "l40",  "l40s",  "a6000", "gb10"};
  return std::find(std::begin(products), std::end(products), word) != std::end(products);
}

/// Words that people put into files' names around the host's.
constexpr std::string_view kFileWords[] = {"topo",      "m",
                                           "mp",        "p2p",
                                           "nvidia",    "smi",
                                           "nvlink",    "nvl",
                                           "s",         "e",
                                           "q",         "x",
                                           "xml",       "txt",
                                           "log",       "out",
                                           "output",    "dmesg",
                                           "kmsg",      "journal",
                                           "lspci",     "vvv",
                                           "nn",        "tv",
                                           "ibstat",    "dcgm",
                                           "dcgmi",     "health",
                                           "diag",      "nccl",
                                           "tests",     "all",
                                           "reduce",    "perf",
                                           "report",    "bug",
                                           "fabric",    "fabricmanager",
                                           "manager",   "fm",
                                           "kernel",    "messages",
                                           "syslog",    "df",
                                           "env",       "lscpu",
                                           "numactl",   "uname",
                                           "hostname",  "metrics",
                                           "prom",      "json",
                                           "yaml",      "yml",
                                           "conf",      "gz",
                                           "bz2",       "xz",
                                           "zst",       "tar",
                                           "err",       "stdout",
                                           "stderr",    "cap",
                                           "sys",       "proc",
                                           "cmdline",   "lsmod",
                                           "gpus",      "link",
                                           "links",     "errors",
                                           "status",    "query",
                                           "info",      "debug",
                                           "collect",   "sos",
                                           "sosreport", "perfquery",
                                           "ibv",       "devinfo",
                                           "bandwidth", "nvbandwidth",
                                           "imex",      "c",
                                           "r",         "csv",
                                           "graph"};

template <std::size_t N>
bool is_one_of(std::string_view word, const std::string_view (&words)[N]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

std::string_view letters_of(std::string_view word) {
  std::size_t end = 0;
  while (end < word.size() && is_alpha(word[end])) ++end;
  return word.substr(0, end);
}

/// "node#" of "node17": what sisters have in common.
std::string pattern_of(std::string_view name) {
  std::string pattern;
  for (const char c : name)
    if (!is_digit(c)) pattern += c;
    else if (pattern.empty() || pattern.back() != '#') pattern += '#';
  return pattern;
}

bool begins_as_hosts_do(std::string_view name) {
  static constexpr std::string_view stems[] = {
      "node", "host", "n",    "srv",  "server", "compute", "worker", "cn",   "gn",
      "nid",  "ip",   "rack", "tray", "c",      "machine", "vm",     "login"};
  return is_one_of(letters_of(name), stems) || name.starts_with("gpu-") ||
         name.starts_with("dgx-") || name.starts_with("hgx-");
}

/// The host's name in one part of a path, or empty.
std::string host_in(std::string_view part, bool is_file) {
  const std::string lower = to_lower(part);
  if (is_host_name(lower) && lower.find_first_of("_.") == std::string::npos) {
    const bool has_file_word = [&] {
      for (const std::string_view word : split(lower, '-'))
        if (is_one_of(word, kFileWords) || is_product(word)) return true;
      return false;
    }();
    if (!has_file_word) return std::string(part);
  }
  if (!is_file) return {};
  // "dmesg_node7.log", "node7-topo.txt": what remains without the output's own words.
  std::string rest;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= lower.size(); ++i) {
    if (i < lower.size() && lower[i] != '.' && lower[i] != '_' && lower[i] != '-') continue;
    const std::string_view word = std::string_view(lower).substr(start, i - start);
    start = i + 1;
    if (word.empty() || is_one_of(word, kFileWords)) continue;
    if (is_product(word)) return {};
    if (!rest.empty()) rest += '-';
    rest += part.substr(start - 1 - word.size(), word.size());
  }
  return is_host_name(rest) ? rest : std::string();
}

std::vector<std::string> candidates_in(const std::string& path) {
  std::vector<std::string_view> parts = split(path, '/');
  std::vector<std::string> found;
  for (std::size_t i = parts.size(); i > 0; --i)
    if (std::string host = host_in(parts[i - 1], i == parts.size()); !host.empty())
      found.push_back(std::move(host));
  return found;
}

/// "1-3,07" between brackets, appended to names as they are so far.
bool expand_brackets(std::string_view inside, const std::string& before, std::string_view rest,
                     std::vector<std::string>& names, std::size_t most);

bool expand_one(const std::string& before, std::string_view item, std::vector<std::string>& names,
                std::size_t most) {
  const std::size_t open = item.find('[');
  if (open == std::string_view::npos) {
    if (names.size() >= most) return false;
    names.push_back(before + std::string(item));
    return true;
  }
  const std::size_t close = item.find(']', open);
  if (close == std::string_view::npos) return false;
  return expand_brackets(item.substr(open + 1, close - open - 1),
                         before + std::string(item.substr(0, open)), item.substr(close + 1), names,
                         most);
}

bool expand_brackets(std::string_view inside, const std::string& before, std::string_view rest,
                     std::vector<std::string>& names, std::size_t most) {
  if (std::count(rest.begin(), rest.end(), '[') > 2) return false;  // hosts have no more levels
  for (const std::string_view range : split(inside, ',')) {
    const auto ends = split(range, '-');
    const auto first = parse_int(ends[0]);
    const auto last = ends.size() > 1 ? parse_int(ends[1]) : first;
    if (!first || !last || *first < 0 || *last < *first ||
        static_cast<std::uint64_t>(*last - *first) >= most)
      return false;
    const std::size_t width = trim(ends[0]).size();
    for (std::int64_t n = *first; n <= *last; ++n) {
      std::string digits = std::to_string(n);
      if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
      if (!expand_one(before + digits, rest, names, most)) return false;
    }
  }
  return true;
}

}  // namespace

bool is_host_name(std::string_view word) {
  if (word.size() < 2 || word.size() > 63 || !is_alpha(word[0])) return false;
  const auto fits = [](char c) {
    return is_alpha(c) || is_digit(c) || c == '-' || c == '.' || c == '_';
  };
  if (!std::all_of(word.begin(), word.end(), fits) ||
      std::none_of(word.begin(), word.end(), is_digit))
    return false;
  const std::string lower = to_lower(word);
  if (is_product(lower)) return false;
  // A hardware word is one only when a number (or "_") follows: "gpu7", not "gpu-a7".
  const std::string_view letters = letters_of(lower);
  const char next = lower[letters.size()];  // there is a digit, so never past the end
  return !((is_digit(next) || next == '_') && is_one_of(letters, kNotHosts)) && letters != "nvidia";
}

std::string short_host_name(std::string_view name) {
  const std::size_t dot = name.find('.');
  const bool address = !name.empty() && is_digit(name[0]);
  return std::string(address ? name : name.substr(0, dot));
}

std::vector<std::string> expand_hosts(std::string_view list, std::size_t most) {
  std::vector<std::string> names;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '[') ++depth;
    if (i < list.size() && list[i] == ']') --depth;
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    const std::string_view item = trim(list.substr(start, i - start));
    start = i + 1;
    if (item.empty()) continue;
    if (!expand_one({}, item, names, most)) return {};
  }
  return names;
}

std::vector<std::string> hosts_of_paths(const std::vector<std::string>& paths) {
  std::vector<std::vector<std::string>> candidates;
  std::map<std::string, std::set<std::string>> sisters;
  for (const std::string& path : paths) {
    candidates.push_back(candidates_in(path));
    for (const std::string& name : candidates.back()) sisters[pattern_of(name)].insert(name);
  }
  std::vector<std::string> hosts(paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i)
    for (const std::string& name : candidates[i])
      if (hosts[i].empty() &&
          (begins_as_hosts_do(to_lower(name)) || sisters[pattern_of(name)].size() > 1))
        hosts[i] = short_host_name(name);
  return hosts;
}

}  // namespace isleway::formats
