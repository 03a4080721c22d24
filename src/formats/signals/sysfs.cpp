// Files of /sys and /proc at a prompt ("$ cat /sys/..."), behind their path ("path:value", as
// grep prints it), and listings of directories.
#include "formats/path_facts.hpp"

namespace isleway::formats {
namespace {

bool is_system_path(std::string_view path) {
  return (path.starts_with("/sys/") || path.starts_with("/proc/") || path.starts_with("/dev/")) &&
         !contains(path, "*");
}

class SysfsReader {
 public:
  explicit SysfsReader(SignalSink& sink) : sink_(sink) {}

  void read() {
    const std::string_view first = sink_.line(0);
    std::size_t begin = 0;
    if (first.starts_with("$ ")) {
      take_command(split_words(first.substr(2)));
      begin = 1;
    }
    for (std::size_t i = begin; i < sink_.size(); ++i) {
      sink_.at(i);
      const std::string_view line = trim(sink_.line(i));
      if (line.empty() || take_missing(line)) continue;
      if (!take_pair(line)) take_content(line);
    }
  }

 private:
  void take_command(const std::vector<std::string_view>& words) {
    std::size_t at = !words.empty() && words[0] == "sudo" ? 1 : 0;
    if (at >= words.size()) return;
    is_cat_ = words[at] == "cat" || words[at] == "head" || words[at] == "tail";
    is_list_ = words[at] == "ls";
    for (const std::string_view word : words)
      if (is_system_path(word)) paths_.push_back(word);
    // With a pattern, or several, only messages and pairs can be told apart.
    if (is_list_ && paths_.size() != 1) is_list_ = false;
  }

  /// "cat: /sys/x: No such file or directory", "openat(...) ENOENT"
  bool take_missing(std::string_view line) {
    if (!contains(line, "No such file or directory") && !contains(line, "ENOENT")) return false;
    const std::size_t start = line.find('/');
    if (start == std::string_view::npos) return false;
    std::string_view path = line.substr(start);
    path = path.substr(0, path.find_first_of(":',\") "));
    if (!path.starts_with("/sys") && !path.starts_with("/proc") && !path.starts_with("/dev"))
      return false;
    sink_.number("sysfs.missing", path, 1);
    if (contains(path, "memory_peers")) sink_.number("peermem.registered", "nv_mem", 0);
    return true;
  }

  /// "/sys/class/infiniband/mlx5_0/ports/1/rate:200 Gb/sec (4X HDR)"
  bool take_pair(std::string_view line) {
    if (!line.starts_with("/sys/") && !line.starts_with("/proc/")) return false;
    // Addresses have colons of their own: the pair's follows the file's name.
    std::size_t colon = line.find(':', line.substr(0, line.find(' ')).rfind('/'));
    if (colon == std::string_view::npos) {
      colon = line.find_first_of(" =");
      if (colon == std::string_view::npos) return true;  // a path alone: a listing
    }
    add_path_fact(sink_, trim(line.substr(0, colon)), line.substr(colon + 1));
    return true;
  }

  void take_content(std::string_view line) {
    if (is_cat_ && next_ < paths_.size()) {
      // Several files of one line each come in the order of the command.
      add_path_fact(sink_, paths_[next_], line);
      ++next_;
    } else if (is_list_) {
      for (std::string_view entry : split_words(before(line, " -> "))) last_ = entry;
      if (line.starts_with("total ")) return;
      const bool is_long = line.size() > 10 &&
                           (line[0] == 'd' || line[0] == 'l' || line[0] == '-' || line[0] == 'c') &&
                           contains(line.substr(1, 3), "r");
      if (is_long) return add_listed_fact(sink_, paths_[0], last_);
      for (const std::string_view entry : split_words(line))
        add_listed_fact(sink_, paths_[0], entry);
    }
  }

  SignalSink& sink_;
  std::vector<std::string_view> paths_;
  std::string_view last_;
  std::size_t next_ = 0;
  bool is_cat_ = false, is_list_ = false;
};

int recognise(const TextIndex& text) {
  return text.has("/sys/") || text.has("/proc/") || text.has("/dev/nvidia") || text.has("ENOENT")
             ? 50
             : 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  SysfsReader(sink).read();
}

}  // namespace

extern const SignalReader sysfs_signals;
const SignalReader sysfs_signals = {"sysfs", "files of /sys and /proc", recognise, read};

}  // namespace isleway::formats
