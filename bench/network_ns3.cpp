// The work of network_work.hpp in ns-3.
#include <ns3/core-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

#include <algorithm>
#include <ctime>
#include <random>
#include <vector>

#include "network_work.hpp"

namespace isleway::bench {
namespace {

/// What a switch must know of a packet. Counts among the packet's header bytes.
class WayHeader : public ns3::Header {
 public:
  std::uint32_t flow = 0, hop = 0;
  static ns3::TypeId GetTypeId() {
    static ns3::TypeId id =
        ns3::TypeId("isleway::WayHeader").SetParent<ns3::Header>().AddConstructor<WayHeader>();
    return id;
  }
  ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }
  std::uint32_t GetSerializedSize() const override { return 8; }
  void Serialize(ns3::Buffer::Iterator at) const override {
    at.WriteHtonU32(flow);
    at.WriteHtonU32(hop);
  }
  std::uint32_t Deserialize(ns3::Buffer::Iterator at) override {
    flow = at.ReadNtohU32();
    hop = at.ReadNtohU32();
    return GetSerializedSize();
  }
  void Print(std::ostream& out) const override { out << flow << ' ' << hop; }
};

constexpr int kPppBytes = 2;
constexpr std::uint16_t kProtocol = 0x0800;

class Simulation {
 public:
  explicit Simulation(const NetworkWork& work) : work_(work) {}

  NetworkResult run() {
    const std::clock_t began = std::clock();
    build();
    result_.finish_us.resize(work_.ways.size());
    for (std::uint32_t flow = 0; flow < work_.ways.size(); ++flow) start(flow);
    ns3::Simulator::Run();
    result_.seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
    ns3::Simulator::Destroy();
    return result_;
  }

 private:
  using Device = ns3::Ptr<ns3::PointToPointNetDevice>;
  struct Port {
    Device device;
    std::int64_t busy_until = 0;  ///< ps
  };

  /// The ports by which packets leave over a link from one member of the group at its end.
  std::vector<Port>& ports(std::uint32_t link, bool forward, std::uint32_t member) {
    return ports_[2 * link + (forward ? 0 : 1)][member];
  }

  Device device(const NetworkWork::Link& link, ns3::Ptr<ns3::Channel> channel,
                ns3::Ptr<ns3::Node> node, std::uint32_t member) {
    ns3::ObjectFactory queue("ns3::DropTailQueue<Packet>");
    queue.Set("MaxSize", ns3::StringValue("100000000p"));
    const Device made = ns3::CreateObject<ns3::PointToPointNetDevice>();
    made->SetAttribute("DataRate", ns3::DataRateValue(ns3::DataRate(link.bits_per_second)));
    made->SetMtu(NetworkWork::kPayload + NetworkWork::kHeaders);
    made->SetAddress(ns3::Mac48Address::Allocate());
    made->SetQueue(queue.Create<ns3::Queue<ns3::Packet>>());
    made->Attach(ns3::DynamicCast<ns3::PointToPointChannel>(channel));
    node->AddDevice(made);
    // After AddDevice, which takes the callback for the node's own protocols.
    made->SetReceiveCallback([this, member](ns3::Ptr<ns3::NetDevice>,
                                            ns3::Ptr<const ns3::Packet> packet, std::uint16_t,
                                            const ns3::Address&) {
      receive(packet->Copy(), member);
      return true;
    });
    return made;
  }

  void build() {
    std::vector<ns3::Ptr<ns3::Node>> nodes(work_.nodes);
    for (auto& node : nodes) node = ns3::CreateObject<ns3::Node>();
    for (const NetworkWork::Link& link : work_.links) {
      ports_.emplace_back(link.members_a);
      ports_.emplace_back(link.members_b);
      packet_ps_ = static_cast<std::int64_t>((NetworkWork::kPayload + NetworkWork::kHeaders) * 8 *
                                             1e12 / static_cast<double>(link.bits_per_second));
    }
    for (const NetworkWork::Cable& cable : work_.cables) {
      const NetworkWork::Link& link = work_.links[cable.link];
      const auto channel = ns3::CreateObject<ns3::PointToPointChannel>();
      channel->SetAttribute("Delay", ns3::TimeValue(ns3::PicoSeconds(link.latency_ps)));
      ports(cable.link, true, cable.member_a)
          .push_back({device(link, channel, nodes[cable.node_a], cable.member_a), 0});
      ports(cable.link, false, cable.member_b)
          .push_back({device(link, channel, nodes[cable.node_b], cable.member_b), 0});
    }
  }

  void start(std::uint32_t flow) {
    const std::int64_t packets = (work_.bytes + NetworkWork::kPayload - 1) / NetworkWork::kPayload;
    left_.push_back(packets);
    for (std::int64_t i = 0; i < packets; ++i) {
      WayHeader header;
      header.flow = flow;
      const auto packet = ns3::Create<ns3::Packet>(NetworkWork::kPayload + NetworkWork::kHeaders -
                                                   kPppBytes - header.GetSerializedSize());
      packet->AddHeader(header);
      send(packet, work_.ways[flow][0], 0);
    }
  }

  void send(ns3::Ptr<ns3::Packet> packet, const NetworkWork::Hop& hop, std::uint32_t member) {
    std::vector<Port>& choices = ports(hop.link, hop.forward, member);
    const std::int64_t now = ns3::Simulator::Now().GetPicoSeconds();
    std::size_t taken = 0;
    if (choices.size() > 1) {
      const std::size_t first = random_() % choices.size();
      std::int64_t shortest = INT64_MAX;
      for (std::size_t i = 0; i < choices.size() && shortest > now; ++i) {
        const std::size_t candidate = (first + i) % choices.size();
        if (choices[candidate].busy_until >= shortest) continue;
        shortest = choices[candidate].busy_until;
        taken = candidate;
      }
    }
    Port& port = choices[taken];
    port.busy_until = std::max(port.busy_until, now) + packet_ps_;
    port.device->Send(packet, port.device->GetBroadcast(), kProtocol);
  }

  void receive(ns3::Ptr<ns3::Packet> packet, std::uint32_t member) {
    WayHeader header;
    packet->RemoveHeader(header);
    const std::vector<NetworkWork::Hop>& way = work_.ways[header.flow];
    if (++header.hop == way.size()) {
      if (--left_[header.flow] == 0)
        result_.finish_us[header.flow] =
            static_cast<double>(ns3::Simulator::Now().GetPicoSeconds()) * 1e-6;
      return;
    }
    packet->AddHeader(header);
    send(packet, way[header.hop], member);
  }

  const NetworkWork& work_;
  std::vector<std::vector<std::vector<Port>>> ports_;  ///< by link and direction, by member
  std::vector<std::int64_t> left_;
  std::mt19937 random_{1};
  std::int64_t packet_ps_ = 0;
  NetworkResult result_;
};

}  // namespace

NetworkResult with_ns3(const NetworkWork& work) {
  static const bool once = [] {
    ns3::Time::SetResolution(ns3::Time::PS);
    return true;
  }();
  static_cast<void>(once);
  return Simulation(work).run();
}

}  // namespace isleway::bench
