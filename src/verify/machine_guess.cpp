#include "isleway/verify/machine_guess.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace isleway::verify {
namespace {

constexpr const char* kOption = "-m MACHINE: a catalogue name or a file";

/// How many GPUs of that title the unit, one host, has.
std::size_t gpus_of(const Unit& unit, const Parts& parts, const std::string& title) {
  if (unit.gpus().empty() || unit.parts().hosts != 1) return 0;
  const GpuPart* part = parts.gpu(unit.device(unit.gpus()[0]).part);
  return part != nullptr && part->title == title ? unit.gpus().size() : 0;
}

/// Vendors' own boards first: clouds' machines are those boards with other NICs.
bool is_reference(const std::string& name) {
  return name.starts_with("dgx-") || name.starts_with("hgx-");
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

Result<MachineGuess> guess_machine(const Catalogue& catalogue,
                                   const std::vector<std::string>& devices,
                                   const std::vector<std::string>& hosts) {
  if (devices.empty() || devices[0].empty())
    return fail("the file does not say on which machine it was measured", kOption);
  if (std::any_of(devices.begin(), devices.end(),
                  [&](const std::string& title) { return title != devices[0]; }))
    return fail("the file lists GPUs of several kinds", kOption);
  const std::set<std::string> distinct(hosts.begin(), hosts.end());
  const std::size_t nodes = std::max<std::size_t>(1, distinct.size());
  const std::size_t wanted = devices.size() / nodes;
  MachineGuess guess;
  // Of all that have enough, those with the fewest: a job may not see every GPU.
  std::size_t least = SIZE_MAX;
  for (const CatalogueEntry& entry : catalogue.machines()) {
    const auto unit = catalogue.unit(entry.name);
    const std::size_t gpus = unit ? gpus_of(**unit, catalogue.parts(), devices[0]) : 0;
    if (gpus < wanted || gpus > least) continue;
    if (gpus < least) guess.names.clear();
    least = gpus;
    guess.names.push_back(entry.name);
  }
  std::stable_partition(guess.names.begin(), guess.names.end(), is_reference);
  if (guess.names.empty())
    return fail(fmt::format("the catalogue has no machine with {} x {}", wanted, devices[0]),
                kOption, "`isleway machines` lists the names");
  if (nodes > 1)
    return fail(fmt::format("the file lists {} hosts, and does not say what joins them", nodes),
                fmt::format("-m 'MACHINE*{}' with --network", nodes),
                "by their GPUs, the hosts could be " + joined(guess.names));
  auto fabric = catalogue.fabric(guess.names[0]);
  if (!fabric) return tl::unexpected(fabric.error());
  guess.fabric = *std::move(fabric);
  return guess;
}

}  // namespace isleway::verify
