// The table of link loads that --trace writes, read again.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "isleway/core/text.hpp"
#include "isleway/report/machine.hpp"

namespace isleway::report {
namespace {

constexpr std::size_t kColumns = 7;

std::unordered_map<std::string, LinkId> links_by_name(const Fabric& fabric) {
  std::unordered_map<std::string, LinkId> names;
  for (LinkId id = 0; id < fabric.link_count(); ++id) names.emplace(fabric.link_name(id), id);
  return names;
}

}  // namespace

Result<LinkShares> read_link_loads(const Fabric& fabric, const std::string& text,
                                   const std::string& file) {
  const auto names = links_by_name(fabric);
  const std::vector<std::string_view> lines = split_lines(text);
  std::map<std::pair<LinkId, bool>, double> bytes;
  double end_us = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Location here{file, static_cast<int>(i + 1), 0};
    const std::string_view line = trim(lines[i]);
    if (line.empty()) continue;
    const std::vector<std::string_view> cells = split(line, ',');
    if (i == 0 && cells.front() == "from_us") continue;
    const auto to = cells.size() == kColumns ? parse_double(cells[1]) : std::nullopt;
    const auto carried = cells.size() == kColumns ? parse_double(cells[4]) : std::nullopt;
    if (!to || !carried || !(*to > 0 && *to < 1e15) || !(*carried >= 0 && *carried < 1e30))
      return fail("this is no line of link loads", "from_us,to_us,link,direction,bytes,GBs,share",
                  "write such a file with: isleway bench ... --trace loads.csv", here);
    const auto link = names.find(std::string(cells[2]));
    if (link == names.end())
      return fail(fmt::format("the machine has no link \"{}\"", cells[2]),
                  "links as the machine that was traced has them", "", here);
    end_us = std::max(end_us, *to);
    bytes[{link->second, cells[3] == "forward"}] += *carried;
  }
  if (bytes.empty())
    return fail("there are no link loads in this file", "a line for each link that was used", "",
                {file, 0, 0});
  LinkShares shares;
  for (const auto& [key, carried] : bytes) {
    const double most = fabric.link(key.first).rate().bytes_per_second() * end_us * 1e-6;
    double& share = shares[key.first];
    share = std::max(share, most > 0 ? std::min(1.0, carried / most) : 0);
  }
  return shares;
}

}  // namespace isleway::report
