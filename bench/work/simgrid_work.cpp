// The same work by SimGrid: its pure max-min model of the network, no TCP effects.
#include <simgrid/s4u.hpp>

#include "work.hpp"

namespace sg4 = simgrid::s4u;

namespace {

/// Hosts around a switch that is never the bottleneck.
std::vector<sg4::Host*> star(int hosts, double latency) {
  auto* zone = sg4::create_star_zone("star");
  std::vector<sg4::Host*> all;
  for (int i = 0; i < hosts; ++i) {
    const std::string name = "h" + std::to_string(i);
    auto* host = zone->create_host(name, 1e9);
    const auto* link = zone->create_split_duplex_link(name + "_link", work::kRate)
                           ->set_latency(latency / 2)
                           ->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                    {{link, sg4::LinkInRoute::Direction::UP}}, true);
    all.push_back(host);
  }
  zone->seal();
  return all;
}

/// Only the pairs that talk get a route.
std::vector<sg4::Host*> fat_tree(const work::FatTree& tree, const std::vector<work::Flow>& flows) {
  auto* zone = sg4::create_full_zone("tree");
  std::vector<sg4::Host*> all;
  for (int i = 0; i < tree.hosts; ++i)
    all.push_back(zone->create_host("h" + std::to_string(i), 1e9));
  std::vector<const sg4::Link*> links;
  for (int i = 0; i < tree.link_count(); ++i)
    links.push_back(
        zone->create_link("l" + std::to_string(i), work::kRate)->set_latency(0)->seal());
  std::vector<bool> known(static_cast<std::size_t>(tree.hosts) * tree.hosts);
  for (const work::Flow& flow : flows) {
    const auto pair = static_cast<std::size_t>(flow.from) * tree.hosts + flow.to;
    if (known[pair]) continue;
    known[pair] = true;
    std::vector<sg4::LinkInRoute> route;
    for (const int link : tree.path(flow.from, flow.to)) route.emplace_back(links[link]);
    zone->add_route(all[flow.from]->get_netpoint(), all[flow.to]->get_netpoint(), nullptr, nullptr,
                    route, false);
  }
  zone->seal();
  return all;
}

void ring(const std::vector<sg4::Host*>& hosts, std::vector<double>& times) {
  const int ranks = static_cast<int>(hosts.size());
  for (int step = 0; step < work::ring_steps(ranks); ++step) {
    std::vector<sg4::CommPtr> comms;
    comms.reserve(hosts.size());
    for (int i = 0; i < ranks; ++i)
      comms.push_back(
          sg4::Comm::sendto_async(hosts[i], hosts[(i + 1) % ranks], work::ring_chunk(ranks)));
    sg4::Comm::wait_all(comms);
  }
  times.push_back(sg4::Engine::get_clock());
}

void all_to_all(const std::vector<sg4::Host*>& hosts, std::vector<double>& times) {
  std::vector<sg4::CommPtr> comms;
  for (auto* from : hosts)
    for (auto* to : hosts)
      if (from != to) comms.push_back(sg4::Comm::sendto_async(from, to, work::kPairBytes));
  sg4::Comm::wait_all(comms);
  times.push_back(sg4::Engine::get_clock());
}

/// An actor for each flow, since only who waits for a transfer alone notices its end at once.
void random_traffic(const std::vector<sg4::Host*>& hosts, const std::vector<work::Flow>& flows,
                    std::vector<double>& times) {
  times.resize(flows.size());
  for (std::size_t i = 0; i < flows.size(); ++i) {
    sg4::this_actor::sleep_until(flows[i].start);
    auto* from = hosts[flows[i].from];
    auto* to = hosts[flows[i].to];
    sg4::Actor::create("flow", from, [from, to, bytes = flows[i].bytes, time = &times[i]] {
      sg4::Comm::sendto(from, to, bytes);
      *time = sg4::Engine::get_clock();
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  const work::Request request = work::read_request(argc, argv);
  const char* options[] = {"simgrid",
                           "--cfg=network/model:CM02",
                           "--cfg=network/TCP-gamma:0",
                           "--cfg=network/crosstraffic:0",
                           "--cfg=network/weight-S:0",
                           "--cfg=network/bandwidth-factor:1",
                           "--cfg=network/latency-factor:1",
                           "--cfg=surf/precision:1e-12",
                           "--cfg=contexts/stack-size:64",
                           "--log=root.thresh:critical"};
  int count = static_cast<int>(std::size(options));
  sg4::Engine engine(&count, const_cast<char**>(options));
  const bool is_tree = request.what == "s4", is_ring = request.what == "s1";
  const work::FatTree tree(request.size);
  const auto flows = is_tree ? work::random_flows(tree.hosts, 10000) : std::vector<work::Flow>{};
  const auto hosts =
      is_tree ? fat_tree(tree, flows) : star(request.size, is_ring ? work::kLatency : 0);
  std::vector<double> times;
  sg4::Actor::create("main", hosts[0], [&] {
    if (is_tree) random_traffic(hosts, flows, times);
    else if (is_ring) ring(hosts, times);
    else all_to_all(hosts, times);
  });
  const double before = work::cpu_seconds();
  engine.run();
  work::report(request, work::cpu_seconds() - before, 0, times);
}
