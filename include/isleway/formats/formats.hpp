// Other tools' files: readers picked by content, and writers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "isleway/fabric.hpp"

namespace isleway::formats {

/// A measured table as nccl-tests prints it.
struct NcclTestsRow {
  std::int64_t bytes = 0, count = 0;
  std::string type, redop;
  int root = -1;
  struct Side {
    double time_us = 0, algbw_GBs = 0, busbw_GBs = 0;
    std::string wrong;  ///< "0", "N/A", or a number; old versions print an error value
  };
  std::optional<Side> out_of_place, in_place;
  int line = 0;
};
struct NcclTestsTable {
  std::string collective;    ///< empty when the output does not say
  int ranks = 0;             ///< 0 unknown
  int gpus_per_process = 0;  ///< nGpus; 0 unknown
  bool cuda_graph = false;
  std::string nccl_version;
  std::vector<std::string> devices;  ///< "NVIDIA H100 80GB HBM3", by rank
  std::vector<std::string> hosts;
  std::vector<NcclTestsRow> rows;
  std::optional<double> average_busbw;
  int line = 0;  ///< where it starts in the file
};
/// One run after the other into one log: in the order of the file, never empty.
using NcclTestsTables = std::vector<NcclTestsTable>;

/// What a benchmark of copies printed: nvbandwidth, p2pBandwidthLatencyTest.
struct CopyTable {
  std::string name;         ///< "device_to_device_memcpy_write_ce", "P2P=Enabled Latency"
  std::string description;  ///< what the tool says of the cells, with their unit
  /// By row, then by column; nothing where the file has no number. Lists have one row.
  std::vector<std::vector<std::optional<double>>> cells;
  int line = 0;
};
struct CopyTables {
  std::vector<std::string> devices;  ///< "NVIDIA H100 80GB HBM3", by number
  std::vector<CopyTable> tables;     ///< in the order of the file, none empty
};

/// What NCCL's INFO lines say of a run, apart from the topology.
struct NcclInfo {
  /// Something that the log says, where first, and in how many lines.
  struct Mention {
    std::string text;
    int line = 0, count = 0;
  };
  std::string version;
  int ranks = 0, nodes = 0;                        ///< 0 unknown
  int collective_channels = 0, nvls_channels = 0;  ///< 0 unknown or none
  std::vector<Mention> transports;  ///< "P2P/CUMEM", "SHM", "NET/IB/GDRDMA", "NET/Socket"
  std::vector<Mention> networks;    ///< "IB", "Socket": what was taken into use
  std::vector<Mention> settings;    ///< "NCCL_IB_HCA=mlx5_0": set by the environment
  std::vector<Mention> remarks;     ///< NVLS or GPUDirect that is off, peer access refused
  std::vector<Mention> warnings;    ///< lines of level WARN

  bool empty() const {
    return version.empty() && transports.empty() && networks.empty() && settings.empty() &&
           remarks.empty() && warnings.empty();
  }
};
/// Whatever of that there is in a text, beside whatever else it holds.
NcclInfo find_nccl_info(std::string_view text);

/// topo -p2p: which GPUs may reach one another.
struct P2pTable {
  std::vector<std::string> devices;
  std::vector<std::vector<std::string>> cells;  ///< "OK", "CNS", ... empty where missing
};

/// What a file turned out to hold.
struct Document {
  std::string format;  ///< the reader's name: "topo-m", "nccl-xml", ...
  std::variant<std::monostate, std::shared_ptr<const Unit>, Fabric, NcclTestsTables, P2pTable,
               CopyTables, NcclInfo>
      content;
  Notices notices;
};

/// What a reader may assume when its file does not tell.
struct ReadContext {
  const Catalogue* catalogue = nullptr;  ///< never null in use
  std::string file;                      ///< for messages
  std::string gpu;                       ///< the user's --gpu: a part key, or empty
  /// A paste may hold a machine and measurements: which of them is asked for.
  enum class Want { anything, machine, measurements } want = Want::anything;
};

/// One file of src/formats/readers defines one of these as `<stem>_reader`; the build
/// collects them.
struct Reader {
  const char* name;
  const char* title;
  /// How sure it is that `text` is its format, 0 to 100, by content alone.
  int (*recognise)(std::string_view text);
  Result<Document> (*read)(std::string_view text, const ReadContext& context);
};
std::span<const Reader* const> readers();

/// Reads with the reader that is most sure; of several outputs in one paste, the first that
/// can be read and is wanted, with a notice of the others. Error: there is none, with what
/// the text looks like and which formats are known.
Result<Document> read(std::string_view text, const ReadContext& context);

/// As a Fabric, when the document describes a machine.
Result<Fabric> to_fabric(const Document& document);

struct WriteOptions {
  std::uint32_t unit = 0;  ///< formats that describe one host take this unit
  int host = 0;            ///< and this host in it
  bool include_all = false;
};
/// One file of src/formats/writers defines one of these as `<stem>_writer`.
struct Writer {
  const char* name;
  const char* title;
  /// Error: what the format cannot express.
  Result<std::string> (*write)(const Fabric& fabric, const WriteOptions& options);
};
std::span<const Writer* const> writers();
const Writer* find_writer(std::string_view name);

}  // namespace isleway::formats
