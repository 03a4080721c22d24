#include "isleway/virtual/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "isleway/core/text.hpp"
#include "isleway/fabric/change.hpp"

namespace isleway::vgpu {
namespace {

constexpr std::string_view kRepair = "repair ", kNvlink = "nvlink";

tl::unexpected<Error> not_understood(std::string_view text) {
  return fail(
      fmt::format("cannot read the fault \"{}\"", text),
      "gpu3:xid=94, gpu3:ecc:corrected=5, gpu3:ecc:uncorrected=1, gpu3:nvlink5:crc=100, "
      "gpu3:clique, gpu3:clique=2, fabricmanager, repair FAULT, or a fault that --fail takes");
}

/// "gpu3:ecc:corrected=5": target, part, key, value; pieces that are missing are empty.
struct Words {
  std::string_view target, part, key;
  std::optional<std::int64_t> value;
};

std::optional<Words> take_apart(std::string_view text) {
  Words words;
  std::vector<std::string_view> pieces = split(text, ':');
  if (const auto equals = pieces.back().find('='); equals != std::string_view::npos) {
    words.value = parse_int(pieces.back().substr(equals + 1));
    if (!words.value || *words.value < 0) return std::nullopt;
    pieces.back() = pieces.back().substr(0, equals);
  }
  if (pieces.size() > 3) return std::nullopt;
  words.target = pieces[0];
  if (pieces.size() > 1) words.part = pieces[1];
  if (pieces.size() > 2) words.key = pieces[2];
  return words;
}

std::optional<Fault::LinkError> link_error(std::string_view key) {
  if (key == "crc") return Fault::LinkError::crc;
  if (key == "replay") return Fault::LinkError::replay;
  if (key == "recovery") return Fault::LinkError::recovery;
  return std::nullopt;
}

using Kind = decltype(Fault::kind);

/// What only drivers see; nothing for the rest.
std::optional<Kind> driver_fault(const Words& words) {
  constexpr std::int64_t most_xid = 1023, most_clique = 1 << 30;
  const auto number = [&](std::int64_t most) { return words.value && *words.value <= most; };
  if (words.part == "xid" && words.key.empty() && number(most_xid) && *words.value > 0)
    return Fault::Xid{static_cast<int>(*words.value)};
  if (words.part == "ecc" && words.value &&
      (words.key == "corrected" || words.key == "uncorrected"))
    return Fault::Ecc{words.key == "corrected", static_cast<std::uint64_t>(*words.value)};
  if (words.part == "clique" && words.key.empty() && !words.value) return Fault::Clique{};
  if (words.part == "clique" && words.key.empty() && number(most_clique))
    return Fault::Clique{static_cast<int>(*words.value)};
  if (starts_with_ignoring_case(words.part, kNvlink) && words.value)
    if (const auto kind = link_error(words.key)) {
      const auto port = parse_int(words.part.substr(kNvlink.size()));
      if (!port || *port < 0 || *port > 255) return std::nullopt;
      return Fault::LinkErrors{static_cast<int>(*port), *kind,
                               static_cast<std::uint64_t>(*words.value)};
    }
  return std::nullopt;
}

}  // namespace

Result<Fault> parse_fault(const Fabric& healthy, std::string_view text) {
  text = trim(text);
  Fault fault{std::string(text), {}, Fault::Broken{}};
  if (starts_with_ignoring_case(text, kRepair)) {
    const auto what = parse_fault(healthy, text.substr(kRepair.size()));
    if (!what) return what;
    fault.kind = Fault::Repair{what->text};
    fault.device = what->device;
    return fault;
  }
  if (equal_ignoring_case(text, "fabricmanager")) {
    fault.kind = Fault::FabricManager{};
    return fault;
  }
  const auto words = take_apart(text);
  if (!words || words->target.empty()) return not_understood(text);
  const auto device = find_device(healthy, words->target);
  if (const auto kind = driver_fault(*words)) {
    if (!device) return tl::unexpected(device.error());
    if (healthy.device(*device).kind != DeviceKind::gpu)
      return fail(fmt::format("\"{}\" names no GPU", text), "a GPU, such as gpu3");
    fault.device = *device;
    fault.kind = *kind;
    return fault;
  }
  // Network switches and hosts are no devices, and only with_fault knows them.
  if (device) fault.device = *device;
  if (const auto changed = with_fault(healthy, text); !changed)
    return tl::unexpected(changed.error());
  return fault;
}

Result<std::vector<Fault>> faults_in_force(std::span<const Fault> faults) {
  std::vector<Fault> left;
  for (const Fault& fault : faults) {
    const auto* repair = std::get_if<Fault::Repair>(&fault.kind);
    if (repair == nullptr) {
      left.push_back(fault);
      continue;
    }
    const auto mended = std::find_if(left.begin(), left.end(), [&](const Fault& other) {
      return equal_ignoring_case(other.text, repair->what);
    });
    if (mended == left.end())
      return fail(fmt::format("\"{}\" is not broken", repair->what),
                  "a fault that was injected before, in the same words");
    left.erase(mended);
  }
  return left;
}

Result<Fabric> with_faults(const Fabric& healthy, std::span<const Fault> in_force) {
  constexpr int off_the_bus = 79;
  Fabric fabric = healthy;
  for (const Fault& fault : in_force) {
    const auto* xid = std::get_if<Fault::Xid>(&fault.kind);
    const bool lost = xid != nullptr && xid->code == off_the_bus;
    if (!lost && !std::holds_alternative<Fault::Broken>(fault.kind)) continue;
    auto changed = with_fault(fabric, lost ? healthy.device_name(fault.device) : fault.text);
    if (!changed) return changed;
    fabric = std::move(*changed);
  }
  return fabric;
}

}  // namespace isleway::vgpu
