#include "isleway/virtual/world.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <utility>

#include "isleway/virtual/fault.hpp"
#include "isleway/virtual/script.hpp"
#include "virtual/world/process_host.hpp"
#include "virtual/world/state.hpp"

namespace isleway::vgpu {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

/// Programs that load the libraries lie anywhere; the libraries lie near the catalogue.
Result<Catalogue> open_catalogue(const std::string& folder) {
  if (!folder.empty()) return Catalogue::open(folder);
  auto found = Catalogue::open_default();
  Dl_info library;
  if (found || ::dladdr(reinterpret_cast<const void*>(&open_catalogue), &library) == 0)
    return found;
  std::error_code error;
  for (auto above = std::filesystem::absolute(library.dli_fname, error).parent_path();
       !error && above != above.root_path(); above = above.parent_path())
    for (const char* below : {"machines", "share/isleway/machines"})
      if (std::filesystem::exists(above / below / "parts", error))
        return Catalogue::open(above / below);
  return found;
}

/// Where each part of the segment begins.
struct Layout {
  std::uint64_t plan_at, gpus_at, links_at, meeting_at, bytes;

  Layout(const Fabric& machine, std::size_t plan_bytes) {
    const auto after = [](std::uint64_t at, std::uint64_t size) {
      return (at + size + 63) / 64 * 64;
    };
    plan_at = after(0, sizeof(WorldState));
    gpus_at = after(plan_at, plan_bytes);
    links_at = after(gpus_at, sizeof(GpuSlot) * machine.gpu_count());
    meeting_at = after(links_at, sizeof(LinkSlot) * machine.link_count());
    bytes = meeting_at + kMeetingBytes;
  }
};

}  // namespace

World::World(RunPlan plan, Catalogue catalogue, Fabric machine, Segment segment)
    : plan_(std::move(plan)),
      catalogue_(std::move(catalogue)),
      machine_(std::move(machine)),
      segment_(std::make_unique<Segment>(std::move(segment))),
      state_(reinterpret_cast<WorldState*>(segment_->data())) {}

World::~World() {
  if (self_ < 0 || state_->process[self_].pid != ::getpid()) return;  // a fork of the owner
  state_->process[self_].alive = false;
  state_->lock.announce();
}

Result<std::unique_ptr<World>> World::make(const RunPlan& asked, bool named) {
  RunPlan plan = asked;
  auto catalogue = open_catalogue(plan.data_folder);
  if (!catalogue) return tl::unexpected(catalogue.error());
  plan.data_folder = catalogue->folder();
  const std::vector<std::string> broken = std::exchange(plan.machine.faults, {});
  Notices notices;
  auto machine = formats::make_machine(plan.machine, *catalogue, notices);
  if (!machine) return tl::unexpected(machine.error());
  const std::string text = plan_text(plan);
  const Layout layout(*machine, text.size());
  auto segment = Segment::create(layout.bytes, named);
  if (!segment) return tl::unexpected(segment.error());

  auto* state = reinterpret_cast<WorldState*>(segment->data());
  state->bytes = layout.bytes;
  state->gpus = machine->gpu_count();
  state->links = machine->link_count();
  state->plan_bytes = static_cast<std::uint32_t>(text.size());
  state->plan_at = layout.plan_at;
  state->gpus_at = layout.gpus_at;
  state->links_at = layout.links_at;
  state->meeting_at = layout.meeting_at;
  state->lock.init();
  std::memcpy(at_offset<char>(state, layout.plan_at), text.data(), text.size());
  state->magic = kWorldMagic;
  std::unique_ptr<World> world(
      new World(plan, std::move(*catalogue), std::move(*machine), std::move(*segment)));
  if (auto ok = world->begin_with(broken); !ok) return tl::unexpected(ok.error());
  return world;
}

Result<void> World::begin_with(const std::vector<std::string>& broken) {
  std::vector<Fault> all;
  for (const std::string& text : broken) {
    const auto injection = parse_injection(machine_, text, Time());
    if (!injection) return tl::unexpected(injection.error());
    auto fault = parse_fault(machine_, injection->text);
    if (!fault) return tl::unexpected(fault.error());
    all.push_back(std::move(*fault));
    if (auto injected = inject(*injection); !injected) return injected;
  }
  // Each may be possible, and all of them together not.
  return with_faults(machine_, all).map([](const Fabric&) {});
}

Result<std::unique_ptr<World>> World::open(const std::string& name) {
  auto segment = Segment::open(name);
  if (!segment) return tl::unexpected(segment.error());
  auto* state = reinterpret_cast<WorldState*>(segment->data());
  if (segment->size() < sizeof(WorldState) || state->magic != kWorldMagic ||
      state->bytes != segment->size() || state->plan_at + state->plan_bytes > state->bytes)
    return fail(name + " is no run of this version of Isleway");
  auto plan = parse_plan({at_offset<char>(state, state->plan_at), state->plan_bytes});
  if (!plan) return tl::unexpected(plan.error());
  auto catalogue = open_catalogue(plan->data_folder);
  if (!catalogue) return tl::unexpected(catalogue.error());
  Notices notices;
  auto machine = formats::make_machine(plan->machine, *catalogue, notices);
  if (!machine) return tl::unexpected(machine.error());
  if (machine->gpu_count() != state->gpus || machine->link_count() != state->links)
    return fail(name + ": the machine's description has changed since the run began");
  return std::unique_ptr<World>(
      new World(std::move(*plan), std::move(*catalogue), std::move(*machine), std::move(*segment)));
}

Result<std::unique_ptr<World>> World::create(const RunPlan& plan) { return make(plan, true); }
Result<std::unique_ptr<World>> World::visit(const std::string& name) { return open(name); }

Result<std::unique_ptr<World>> World::join() {
  const std::string name = environment("ISLEWAY_WORLD");
  auto world =
      name.empty()
          ? plan_from_environment().and_then([](const RunPlan& p) { return make(p, false); })
          : open(name);
  if (world) (*world)->take_part();
  return world;
}

std::uint32_t World::places() const {
  return plan_.by_tray ? machine_.host_count() : machine_.unit_count();
}

void World::take_part() {
  const std::string host_id = environment("NCCL_HOSTID").substr(0, kHostIdText - 1);
  place_ = launched_place(places());
  const std::lock_guard held(state_->lock);
  const std::uint32_t count = state_->processes;
  // Processes that name their host otherwise than those before are at the next place.
  std::uint32_t named = 0;
  bool is_new = !host_id.empty();
  for (std::uint32_t i = 0; i < count && is_new; ++i) {
    const ProcessSlot& other = state_->process[i];
    if (other.host_id[0] != '\0') named = std::max(named, other.place + 1);
    if (host_id == other.host_id) {
      place_ = other.place;
      is_new = false;
    }
  }
  if (is_new && places() > 0) place_ = std::min(named, places() - 1);
  bool first = true;
  for (GpuId gpu = 0; gpu < machine_.gpu_count(); ++gpu) {
    const DeviceRef device = machine_.gpu(gpu);
    const std::uint32_t host = machine_.host_of(device);
    if ((plan_.by_tray ? host : device.unit) != place_) continue;
    if (first) host_ = host;
    first = false;
    gpus_.push_back(gpu);
  }
  if (count == kMostProcesses) return;
  self_ = static_cast<int>(count);
  ProcessSlot& slot = state_->process[count];
  slot.pid = ::getpid();
  slot.host = host_;
  slot.place = place_;
  slot.started = start_ticks(slot.pid);
  std::strncpy(slot.host_id, host_id.c_str(), kHostIdText - 1);
  slot.alive = true;
  state_->processes = count + 1;
}

void World::rejoin() {
  gpus_.clear();
  self_ = -1;
  take_part();
}

const std::string& World::name() const { return segment_->path(); }

SharedLock& World::lock() const { return state_->lock; }

std::uint64_t World::reserve(std::uint64_t bytes) {
  const std::uint64_t at = state_->meeting_used.fetch_add((bytes + 63) / 64 * 64);
  return at + bytes > kMeetingBytes ? 0 : state_->meeting_at + at;
}
std::byte* World::at(std::uint64_t offset) const { return at_offset<std::byte>(state_, offset); }
std::uint64_t& World::root(int which) const { return state_->roots[which]; }

}  // namespace isleway::vgpu
