// NVML: events. Faults that come into force are what happens in a virtual machine.
#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "isleway/virtual/abi/nvml/functions.hpp"
#include "virtual/device/process.hpp"
#include "virtual/nvml/exports/library.hpp"

using namespace isleway;
using namespace isleway::vgpu;
using namespace isleway::vgpu::nvml;

struct nvmlEventSet_st {
  std::map<int, unsigned long long> wanted;  ///< by GPU: the kinds asked for
  std::size_t next = 0;                      ///< among the run's events
};

namespace {

constexpr unsigned long long kSupported =
    nvmlEventTypeSingleBitEccError | nvmlEventTypeDoubleBitEccError | nvmlEventTypePState |
    nvmlEventTypeXidCriticalError | nvmlEventTypeClock | nvmlEventTypeGpuUnavailableError |
    nvmlEventTypeGpuRecoveryAction;
constexpr unsigned kNoInstance = 0xffffffff;

using Happening = isleway::vgpu::nvml::Event;  // vgpu::Event is CUDA's

unsigned long long type_of(const Happening& event) {
  switch (event.kind) {
    case Happening::Kind::xid: return nvmlEventTypeXidCriticalError;
    case Happening::Kind::corrected_ecc: return nvmlEventTypeSingleBitEccError;
    case Happening::Kind::uncorrected_ecc: return nvmlEventTypeDoubleBitEccError;
  }
  return 0;
}

/// The set's next event, if there is one by now.
bool take_event(Library& library, nvmlEventSet_st& set, nvmlEventData_t& out) {
  const std::vector<Happening>& events = library.monitor().events();
  while (set.next < events.size()) {
    const Happening& event = events[set.next++];
    const auto wanted = set.wanted.find(event.gpu);
    if (wanted == set.wanted.end() || (wanted->second & type_of(event)) == 0) continue;
    const unsigned long long data = event.kind == Happening::Kind::xid ? event.data : 0;
    out = {library.handle(event.gpu), type_of(event), data, kNoInstance, kNoInstance};
    return true;
  }
  return false;
}

/// Lets a process that is alone in its run sleep in the run's own time: to the next fault, at
/// most to `end`. False when others drive the time, for whom it has to wait.
bool pass_time(Library& library, Time end) {
  World& world = library.monitor().world();
  const auto processes = world.processes();
  const auto alive = std::count_if(processes.begin(), processes.end(),
                                   [](const ProcessInfo& process) { return process.alive; });
  if (alive > 1) return false;
  const Time next = std::min(library.monitor().next_fault(), end);
  Process::get().clock().wait_until(next);
  return true;
}

nvmlReturn_t wait_for_event(nvmlEventSet_t set, nvmlEventData_t* out, unsigned milliseconds) {
  using Clock = std::chrono::steady_clock;
  constexpr auto look_again = std::chrono::milliseconds(5);
  const auto until = Clock::now() + std::chrono::milliseconds(milliseconds);
  Time end;
  for (bool first = true;; first = false) {
    bool waits_for_others = false;
    const nvmlReturn_t result = ask([&](Library& library) {
      if (set == nullptr || out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
      if (take_event(library, *set, *out)) return NVML_SUCCESS;
      const Time now = library.now();
      if (first) end = now + Time::us(1e3 * milliseconds);
      if (now >= end) return NVML_ERROR_TIMEOUT;
      waits_for_others = !pass_time(library, end);
      return NVML_ERROR_NOT_READY;
    });
    if (result != NVML_ERROR_NOT_READY) return result;
    if (!waits_for_others) continue;
    if (Clock::now() >= until) return NVML_ERROR_TIMEOUT;
    std::this_thread::sleep_for(look_again);
  }
}

}  // namespace

NVML_API nvmlEventSetCreate(nvmlEventSet_t* out) {
  return ask([&](Library&) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *out = new nvmlEventSet_st;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlEventSetFree(nvmlEventSet_t set) {
  return ask([&](Library&) {
    if (set == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    delete set;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long* out) {
  return tell(device, out, [](Library&, const Gpu&) { return kSupported; });
}
NVML_API nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types,
                                  nvmlEventSet_t set) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    if (set == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if ((types & ~kSupported) != 0) return NVML_ERROR_NOT_SUPPORTED;
    // What happened before anybody listened is told to nobody.
    if (set->wanted.empty()) set->next = library.monitor().events().size();
    set->wanted[gpu.index] |= types;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_t* out, unsigned milliseconds) {
  return wait_for_event(set, out, milliseconds);
}
NVML_API nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t* out, unsigned milliseconds) {
  return wait_for_event(set, out, milliseconds);
}
