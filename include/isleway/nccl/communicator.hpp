// What NCCL decides for a call on a fabric, and the schedule and wiring that follow.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isleway/collective.hpp"
#include "isleway/engine.hpp"

namespace isleway::formats {
struct Algorithm;
}

namespace isleway::nccl {

/// In the order in which NCCL compares them; the order breaks ties.
enum class Algorithm : std::uint8_t {
  tree,
  ring,
  collnet_direct,
  collnet_chain,
  nvls,
  nvls_tree,
  pat,
  p2p  ///< send/recv: no choice is made
};
enum class Protocol : std::uint8_t { ll, ll128, simple };
const char* name_of(Algorithm algorithm);  ///< "TREE", "RING", "NVLS_TREE", as NCCL prints
const char* name_of(Protocol protocol);    ///< "LL", "LL128", "SIMPLE"
Result<Algorithm> parse_algorithm(std::string_view text);
Result<Protocol> parse_protocol(std::string_view text);

struct Version {
  int major = 2, minor = 28, patch = 9;
  friend auto operator<=>(const Version&, const Version&) = default;
  std::string text() const;
};
Result<Version> parse_version(std::string_view text);

/// How the ranks are driven; decides the cost of launching.
struct LaunchModel {
  int gpus_per_process = 1;  ///< on which it launches one after the other
  bool cuda_graph = false;
};

struct Options {
  Version version;
  std::map<std::string, std::string> env;  ///< NCCL_* as the user set them
  LaunchModel launch;
};

/// The result of NCCL's graph search for one pattern.
struct Graph {
  int channels = 0;
  double bw_intra = 0, bw_inter = 0;  ///< GB/s per channel, NCCL's units
  double latency_inter = 0;           ///< us, what the network plugin claims
  PathKind type_intra = PathKind::dis, type_inter = PathKind::dis;
  bool same_channels = true;
  int cross_nic = 0;
  int pattern = 0;                      ///< NCCL's NCCL_TOPO_PATTERN_*
  std::vector<std::vector<int>> intra;  ///< per channel, local GPU order on a node
};

struct Decision {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  int channels = 1;
  int threads = 512;
  Chunking chunking;
  Time estimate;  ///< NCCL's own, from its tuning model
};

/// Sizes, as nccl-tests counts them, for which times were held against measured tables.
struct MeasuredRange {
  std::int64_t first = 0, last = 0;
  bool holds(std::int64_t bytes) const { return bytes >= first && bytes <= last; }
};

/// One candidate of the tuner, for `explain`.
struct Candidate {
  Algorithm algorithm;
  Protocol protocol;
  std::optional<Time> estimate;  ///< nothing: not available
  std::string why_not;
};

class Communicator {
 public:
  /// A communicator over every GPU of the fabric, ranks in GpuId order. Error: no GPU; or a
  /// setting that cannot be honoured, with NCCL's reason.
  static Result<std::unique_ptr<Communicator>> create(const Fabric& fabric, const Parts& parts,
                                                      Options options);
  virtual ~Communicator() = default;

  virtual int ranks() const = 0;
  virtual int nodes() const = 0;  ///< NCCL's notion: an MNNVL clique is one node
  virtual const Graph& ring() const = 0;
  virtual const Graph& tree() const = 0;
  virtual const Graph* nvls() const = 0;  ///< null when there is none
  virtual int collective_channels() const = 0;

  /// With `algorithm` or `protocol` forced when given. Error: that combination does not
  /// exist here, with NCCL's reason.
  virtual Result<Decision> decide(const CollectiveCall& call,
                                  std::optional<Algorithm> algorithm = {},
                                  std::optional<Protocol> protocol = {}) const = 0;
  virtual std::vector<Candidate> candidates(const CollectiveCall& call) const = 0;
  virtual Result<std::unique_ptr<Schedule>> schedule(const CollectiveCall& call,
                                                     const Decision& decision) const = 0;
  virtual std::unique_ptr<Wiring> wiring(const CollectiveCall& call,
                                         const Decision& decision) const = 0;
  /// Of an algorithm that a file holds, run as MSCCL and MSCCL++ would: its protocol, and the
  /// largest message. Error: a protocol that is not known.
  virtual Result<Decision> program_decision(const formats::Algorithm& algorithm) const = 0;
  virtual std::unique_ptr<Wiring> program_wiring(const formats::Algorithm& algorithm,
                                                 const CollectiveCall& call,
                                                 const Decision& decision) const = 0;
  /// Of machines of this kind; nothing where no measurement stands behind the times.
  virtual std::optional<MeasuredRange> measured() const = 0;
  /// What the host does for a call before the next one can be launched: a process that calls
  /// again and again cannot be faster.
  virtual Time host_time(const CollectiveCall& call) const = 0;
  /// How much later than on average the last channel is done, when the channels of a call move
  /// data for `moving`. Zero for one channel.
  virtual Time skew(const Decision& decision, Time moving) const = 0;
  /// Prices with other constants from now on; choices stay. Says whether any price changed.
  /// Error: names the constant that is missing.
  virtual Result<bool> retime(const Parts& parts) = 0;
  /// Settings that were not understood or do nothing here, in words.
  virtual std::vector<std::string> remarks() const = 0;
};

}  // namespace isleway::nccl
