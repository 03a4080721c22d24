#include "isleway/virtual/nvml/monitor.hpp"

#include <algorithm>
#include <cmath>

namespace isleway::vgpu::nvml {
namespace {

/// nvidia-smi's utilisation is over at most a second (NVML, nvmlUtilization_t).
const Time kWindow = Time::seconds(1);

/// What a board takes when idle, as a share of its power limit: an H100 of 700 W rests at
/// about 70 W (nvidia-smi, https://github.com/NVIDIA/k8s-test-infra).
constexpr double kIdlePower = 0.1;
constexpr int kIdleCelsius = 30, kBusyCelsius = 65;
constexpr int kIdleClock = 345;  ///< MHz, of an A100 or newer without work

bool newer_links(const Gpu& gpu) { return gpu.sm() >= 100; }

/// NVIDIA's catalogue of Xids (https://docs.nvidia.com/deploy/xid-errors/): 74 NVLink error up to
/// Hopper, 149 NVLink (NETIR) error from Blackwell on, 79 off the bus, 48 double-bit ECC.
int link_xid(const Gpu& gpu) { return newer_links(gpu) ? 149 : 74; }
constexpr int kOffTheBus = 79, kDoubleBit = 48;

int retrained(const Gpu& gpu) {
  int times = 0;
  for (const Port& port : gpu.ports) times += port.retrained;
  return times;
}

}  // namespace

std::vector<Event> events_between(const Node& before, const Node& after, const Fault& fault,
                                  Time at) {
  std::vector<Event> events;
  const auto tell = [&](const Gpu& gpu, Event::Kind kind, std::uint64_t data) {
    events.push_back({at, gpu.index, kind, data});
  };
  for (std::size_t i = 0; i < after.gpus().size(); ++i) {
    const Gpu& was = before.gpus()[i];
    const Gpu& is = after.gpus()[i];
    if (is.ecc_corrected > was.ecc_corrected)
      tell(is, Event::Kind::corrected_ecc, is.ecc_corrected - was.ecc_corrected);
    if (is.ecc_uncorrected > was.ecc_uncorrected) {
      tell(is, Event::Kind::uncorrected_ecc, is.ecc_uncorrected - was.ecc_uncorrected);
      tell(is, Event::Kind::xid, kDoubleBit);
    }
    if (is.lost && !was.lost) tell(is, Event::Kind::xid, kOffTheBus);
    const auto* xid = std::get_if<Fault::Xid>(&fault.kind);
    if (xid != nullptr && fault.device == is.ref && xid->code != kOffTheBus)
      tell(is, Event::Kind::xid, static_cast<std::uint64_t>(xid->code));
    const bool links = is.links_up() < was.links_up() || retrained(is) > retrained(was);
    if (!is.lost && links) tell(is, Event::Kind::xid, static_cast<std::uint64_t>(link_xid(is)));
  }
  return events;
}

Monitor::Monitor(World& world, Boards boards, Fabric healthy, std::vector<GpuId> gpus, Node node)
    : world_(&world),
      boards_(std::move(boards)),
      healthy_(std::move(healthy)),
      gpus_(std::move(gpus)),
      node_(std::move(node)) {}

Result<Monitor> Monitor::make(World& world, std::uint32_t host) {
  auto boards = Boards::load(world.catalogue());
  if (!boards) return tl::unexpected(boards.error());
  Fabric healthy = world.machine();
  std::vector<GpuId> gpus = gpus_of_host(healthy, host);
  std::erase_if(gpus, [&](GpuId id) { return healthy.device(healthy.gpu(id)).gpu().amd; });
  if (gpus.empty()) return fail("the machine has no NVIDIA GPU");
  auto node = Node::make(healthy, gpus, world.parts(), *boards);
  if (!node) return tl::unexpected(node.error());
  return Monitor(world, std::move(*boards), std::move(healthy), std::move(gpus), std::move(*node));
}

void Monitor::refresh() {
  if (world_->fault_count() != known_.size()) known_ = world_->faults();
  done_.resize(known_.size());
  const Time now = world_->now();
  std::vector<std::size_t> due;
  for (std::size_t i = 0; i < known_.size(); ++i)
    if (!done_[i] && known_[i].at <= now) due.push_back(i);
  std::stable_sort(due.begin(), due.end(),
                   [&](std::size_t a, std::size_t b) { return known_[a].at < known_[b].at; });
  for (const std::size_t i : due) {
    done_[i] = true;
    // A fault that cannot be, since what it breaks is gone already, changes nothing.
    const auto fault = parse_fault(healthy_, known_[i].text);
    if (!fault) continue;
    std::vector<Fault> in_force = taken_;
    in_force.push_back(*fault);
    auto left = faults_in_force(in_force);
    if (!left) continue;
    auto node = Node::make(healthy_, gpus_, world_->parts(), boards_, *left);
    if (!node) continue;
    for (const Event& event : events_between(node_, *node, *fault, known_[i].at))
      events_.push_back(event);
    taken_ = std::move(*left);
    node_ = std::move(*node);
  }
}

std::vector<MemoryUse> Monitor::memory_uses(const Gpu& gpu) const {
  return world_->memory_uses(gpu.id);
}

Time Monitor::busy(const Gpu& gpu) const { return world_->busy(gpu.id); }

const Node& Monitor::node() {
  refresh();
  return node_;
}

const std::vector<Event>& Monitor::events() {
  refresh();
  return events_;
}

Time Monitor::next_fault() {
  refresh();
  const Time now = world_->now();
  Time next = Time::max();
  for (const TimedFault& fault : known_)
    if (fault.at > now) next = std::min(next, fault.at);
  return next;
}

const Monitor::Window& Monitor::window(const Gpu& gpu) {
  Window& window = windows_[gpu.id];
  const Time now = world_->now();
  // The first question looks back to the run's start; later ones at most a second, in steps
  // of one, so that two questions at one moment get one answer.
  if (now - window.until >= kWindow || window.until == Time{}) {
    window.since = window.until;
    window.busy_since = window.busy_until;
    window.pcie_since = window.pcie_until;
    window.until = now;
    window.busy_until = busy(gpu);
    window.pcie_until = pcie_traffic(gpu);
  }
  return window;
}

Load Monitor::load(const Gpu& gpu) {
  const Window& seen = window(gpu);
  Load load;
  load.memory_used = world_->memory_used(gpu.id);
  if (seen.until > seen.since)
    load.utilisation = std::clamp(
        (seen.busy_until - seen.busy_since).seconds() / (seen.until - seen.since).seconds(), 0.0,
        1.0);
  const double most = gpu.board.power_watts, least = most * kIdlePower;
  load.watts = least + (most - least) * load.utilisation;
  load.joules = least * world_->now().seconds() + (most - least) * busy(gpu).seconds();
  load.celsius = kIdleCelsius +
                 static_cast<int>(std::lround((kBusyCelsius - kIdleCelsius) * load.utilisation));
  load.sm_clock =
      load.utilisation > 0 ? gpu.board.sm_clock : std::min(kIdleClock, gpu.board.sm_clock);
  load.memory_clock = gpu.board.memory_clock;
  return load;
}

Traffic Monitor::traffic(const Port& port) const {
  if (!port.up || port.in_bundle == 0) return {};
  const auto share = static_cast<std::uint64_t>(port.in_bundle);
  return {world_->link_bytes(port.link, port.from_a) / share,
          world_->link_bytes(port.link, !port.from_a) / share};
}

Traffic Monitor::pcie_traffic(const Gpu& gpu) const {
  const Unit& unit = healthy_.unit(gpu.ref.unit);
  const auto uplink = unit.pcie_uplink(gpu.ref.device);
  if (!uplink) return {};
  const LinkId link = healthy_.link_id(gpu.ref.unit, *uplink);
  const bool from_a = unit.link(*uplink).a == gpu.ref.device;
  return {world_->link_bytes(link, from_a), world_->link_bytes(link, !from_a)};
}

Traffic Monitor::pcie_rate(const Gpu& gpu) {
  const Window& seen = window(gpu);
  const double seconds = (seen.until - seen.since).seconds();
  if (!(seconds > 0)) return {};
  const auto rate = [&](std::uint64_t since, std::uint64_t until) {
    return static_cast<std::uint64_t>(static_cast<double>(until - since) / seconds);
  };
  return {rate(seen.pcie_since.sent, seen.pcie_until.sent),
          rate(seen.pcie_since.received, seen.pcie_until.received)};
}

}  // namespace isleway::vgpu::nvml
