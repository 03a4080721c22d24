// Whole decisions against a table of NCCL 2.28.9's own, for machines of the catalogue.
#include <gtest/gtest.h>

#include <cmath>

#include "isleway/core.hpp"
#include "isleway/nccl.hpp"

namespace isleway::nccl {
namespace {

struct Stretch {
  Collective collective;
  std::string algorithm, protocol;
  int channels;
  std::int64_t size[2];
  double us[2];
};

struct Machine {
  std::string expression;
  int gpus = 0;
  std::map<std::string, std::string> env;
  std::map<std::string, std::vector<std::string>> graphs;
  int channels = 0, nvls_channels = 0;
  std::vector<Stretch> runs;
};

std::vector<Machine> read_table() {
  const auto text = read_file(ISLEWAY_SOURCE_DIR "/tests/data/nccl/decisions-2.28.9.txt");
  std::vector<Machine> machines;
  Collective collective = Collective::all_reduce;
  for (const std::string_view line : split_lines(*text)) {
    const auto views = split_words(line);
    const std::vector<std::string> words(views.begin(), views.end());
    if (words.empty() || words[0] == "#") continue;
    if (words[0] == "machine") {
      Machine& machine = machines.emplace_back();
      machine.expression = words[1];
      machine.gpus = std::stoi(words[2]);
      if (words.size() > 3) {
        const auto setting = split(words[3], '=');
        machine.env.emplace(setting[0], setting[1]);
      }
    } else if (words.size() == 6) {
      machines.back().graphs[words[0]] = {words.begin() + 1, words.end()};
    } else if (words[0] == "channels") {
      machines.back().channels = std::stoi(words[1]);
    } else if (words.size() == 1) {
      collective = *parse_collective(words[0]);
    } else {
      machines.back().runs.push_back({collective,
                                      words[0],
                                      words[1],
                                      std::stoi(words[2]),
                                      {std::stoll(words[3]), std::stoll(words[4])},
                                      {std::stod(words[5]), std::stod(words[6])}});
    }
  }
  return machines;
}

bool is_graph(const Graph& graph, const std::vector<std::string>& expected) {
  return graph.channels == std::stoi(expected[0]) &&
         std::abs(graph.bw_intra - std::stod(expected[1])) < 1e-3 &&
         std::abs(graph.bw_inter - std::stod(expected[2])) < 1e-3 &&
         name_of(graph.type_intra) == expected[3] &&
         (expected[4] == "-" || name_of(graph.type_inter) == expected[4]);
}

class Decisions : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    catalogue_ = new Catalogue(*Catalogue::open(ISLEWAY_SOURCE_DIR "/machines"));
  }
  static void TearDownTestSuite() { delete catalogue_; }

  std::unique_ptr<Communicator> communicator(const Machine& machine) {
    const auto whole = catalogue_->fabric(machine.expression);
    EXPECT_TRUE(whole) << whole.error().text();
    const auto fabric = with_first_gpus(*whole, machine.gpus);
    EXPECT_TRUE(fabric);
    Options options;
    options.version = {2, 28, 9};
    options.env = machine.env;
    auto made = Communicator::create(*fabric, catalogue_->parts(), options);
    EXPECT_TRUE(made) << made.error().text();
    return std::move(*made);
  }

  static inline Catalogue* catalogue_ = nullptr;
};

TEST_F(Decisions, AreNcclsOwn) {
  int rows = 0, equal = 0, machines = 0, equal_machines = 0;
  for (const Machine& machine : read_table()) {
    SCOPED_TRACE(machine.expression);
    const auto comm = communicator(machine);
    ++machines;
    bool same = is_graph(comm->ring(), machine.graphs.at("ring")) &&
                is_graph(comm->tree(), machine.graphs.at("tree")) &&
                comm->collective_channels() == machine.channels;
    const auto nvls = machine.graphs.find("nvls");
    same = same &&
           (nvls == machine.graphs.end() ? comm->nvls() == nullptr
                                         : comm->nvls() && is_graph(*comm->nvls(), nvls->second));
    equal_machines += same ? 1 : 0;
    if (!same) std::printf("graphs differ: %s x %d\n", machine.expression.c_str(), machine.gpus);
    for (const Stretch& run : machine.runs)
      for (int end = 0; end < 2; ++end) {
        const auto decision = comm->decide({run.collective, {run.size[end], 4}, comm->ranks(), 0});
        ASSERT_TRUE(decision) << decision.error().text();
        ++rows;
        equal += name_of(decision->algorithm) == run.algorithm &&
                 name_of(decision->protocol) == run.protocol &&
                 decision->channels == run.channels &&
                 std::abs(decision->estimate.us() - run.us[end]) <= .01 * run.us[end];
      }
  }
  std::printf("%d of %d rows, graphs of %d of %d machines\n", equal, rows, equal_machines,
              machines);
  EXPECT_GE(equal, rows * 995 / 1000);
  EXPECT_EQ(equal_machines, machines);
}

}  // namespace
}  // namespace isleway::nccl
