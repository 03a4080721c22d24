#include <fmt/format.h>

#include "fabric/edit.hpp"
#include "isleway/core/text.hpp"
#include "isleway/fabric/change.hpp"

namespace isleway {
namespace {

struct Mode {
  Confidential mode;
  const char* name;
  int first_sm, last_sm;  ///< compute capabilities of the generation that has it
  bool takes_nvlink, takes_multicast;
};

constexpr Mode modes[] = {
    {Confidential::off, "off", 0, 9999, false, false},
    // One GPU passed into a guest: peers would have to decrypt each other's data.
    {Confidential::hopper_cc, "hopper-cc", 90, 90, true, true},
    // All GPUs and NVSwitches of a board in one guest: NVLink stays plain.
    {Confidential::hopper_ppcie, "hopper-ppcie", 90, 90, false, false},
    // NVLink itself encrypts; what is encrypted cannot be reduced in a switch.
    {Confidential::blackwell, "blackwell", 100, 119, false, true},
};

const Mode& details(Confidential mode) { return modes[static_cast<std::size_t>(mode)]; }

}  // namespace

Result<Fabric> with_confidential(const Fabric& fabric, Confidential wanted) {
  const Mode& mode = details(wanted);
  return edit_all_units(fabric, [&](UnitParts& parts) -> Result<void> {
    const Confidential now = parts.modes.confidential;
    if (now == wanted) return {};
    if (now != Confidential::off)
      return fail(
          fmt::format("{} is in confidential mode {} already", parts.name, details(now).name), "",
          "start from the machine without it");
    for (const Device& device : parts.devices) {
      if (device.kind != DeviceKind::gpu) continue;
      const int sm = device.gpu().sm;
      if (sm != 0 && (sm < mode.first_sm || sm > mode.last_sm))
        return fail(
            fmt::format("{} (sm_{}) has no confidential mode {}", device.name, sm, mode.name));
    }
    parts.modes.confidential = wanted;
    if (mode.takes_multicast) parts.modes.multicast_off = true;
    if (mode.takes_nvlink) take_down_links(parts, is_nvlink);
    return {};
  });
}

Result<Confidential> parse_confidential(std::string_view text) {
  std::vector<std::string> names;
  for (const Mode& mode : modes) {
    if (equal_ignoring_case(text, mode.name)) return mode.mode;
    names.push_back(mode.name);
  }
  return fail(fmt::format("unknown confidential mode \"{}\"", text),
              "off, hopper-cc, hopper-ppcie or blackwell", closest(text, names));
}

}  // namespace isleway
