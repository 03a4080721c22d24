#include <filesystem>
#include <map>
#include <set>

#include "isleway/check/check.hpp"

namespace isleway::check {
namespace {

using Path = std::filesystem::path;

/// A file's kinds of output.
using Kinds = std::map<std::string, std::set<std::string>>;

bool share_a_kind(const std::set<std::string>& a, const std::set<std::string>& b) {
  for (const std::string& kind : a)
    if (b.count(kind) > 0) return true;
  return false;
}

/// True when files that `group` puts together repeat a kind of output.
template <class Group>
bool collides(const Kinds& kinds, const Group& group) {
  std::map<std::string, std::set<std::string>> seen;
  for (const auto& [file, of_file] : kinds) {
    auto& all = seen[group(file)];
    if (share_a_kind(all, of_file)) return true;
    all.insert(of_file.begin(), of_file.end());
  }
  return false;
}

std::string folder_of(const std::string& file) {
  const Path folder = Path(file).parent_path();
  return folder.filename().empty() ? folder.string() : folder.filename().string();
}

}  // namespace

void name_nodes(formats::Signals& signals) {
  std::set<std::string> named, with_hosts;
  Kinds kinds;
  for (const formats::Signal& signal : signals) {
    if (!signal.node.empty()) {
      named.insert(signal.node);
      with_hosts.insert(signal.where.file);
    } else {
      auto& of_file = kinds[signal.where.file];
      if (signal.name == "output.read") of_file.insert(signal.subject);
    }
  }
  if (kinds.empty()) return;
  const auto name_by = [&](const auto& name) {
    for (formats::Signal& signal : signals)
      if (signal.node.empty() && kinds.count(signal.where.file) > 0)
        signal.node = name(signal.where.file);
  };
  if (named.size() == 1) return name_by([&](const std::string&) { return *named.begin(); });
  if (!named.empty()) {
    // What a file says beside the hosts that it names is about no single one of them.
    for (const std::string& file : with_hosts) kinds.erase(file);
    if (kinds.empty()) return;
  }
  const auto together = [](const std::string&) { return std::string(); };
  if (named.empty() && !collides(kinds, together)) return;
  if (named.empty() && !collides(kinds, folder_of)) return name_by(folder_of);
  // By full path where stems repeat.
  std::map<std::string, int> stems;
  for (const auto& [file, of_file] : kinds) ++stems[Path(file).stem().string()];
  name_by([&](const std::string& file) {
    const std::string stem = Path(file).stem().string();
    return stems[stem] > 1 ? file : stem;
  });
}

}  // namespace isleway::check
