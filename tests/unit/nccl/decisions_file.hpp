// Reads tests/data/nccl/decisions-*.txt; its head describes the form.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "isleway/core.hpp"
#include "isleway/nccl.hpp"

namespace isleway::testing {

struct ExpectedGraph {
  int channels = 0;
  double bw_intra = 0, bw_inter = 0;
  std::string type_intra, type_inter;
  int pattern = 0, same_channels = 0, cross_nic = 0;
  std::vector<std::string> ports;        ///< by channel: "0:0>0:1", or "-"
  std::vector<std::vector<int>> orders;  ///< by channel
};

struct ExpectedRow {
  Collective collective = Collective::all_reduce;
  std::int64_t bytes = 0;
  std::string algorithm, protocol;
  int channels = 0, warps = 0;
  std::int64_t chunk = 0;
  double us = 0;
};

struct ExpectedPeers {
  std::string protocol;
  int channels = 0;
  std::int64_t chunk = 0, first = 0, last = 0;
};

struct ExpectedMachine {
  std::string name;  ///< for messages
  bool own = false;  ///< of the tests, not of the catalogue
  std::string machine;
  int hosts = 1, joined = 1, gpus = 1;
  bool same_guids = false, other_ring = false;
  std::map<std::string, std::string> env;
  std::map<std::string, ExpectedGraph> graphs;
  int channels = 0, nvls_channels = 0, p2p_channels = 0, channels_per_peer = 0;
  std::string rings, trees;  ///< hashes
  std::vector<ExpectedRow> rows;
  std::vector<ExpectedPeers> peers;
  int ranks() const { return hosts * gpus; }
};

class DecisionsFile {
 public:
  explicit DecisionsFile(const std::string& text) {
    for (const std::string_view line : split_lines(text)) {
      const auto views = split_words(line);
      const std::vector<std::string> words(views.begin(), views.end());
      if (words.empty() || words[0] == "#") continue;
      if (line.starts_with(' ')) add_detail(words);
      else add_head(words);
    }
  }

  const std::vector<ExpectedMachine>& machines() const { return machines_; }

 private:
  ExpectedMachine& machine() { return machines_.back(); }

  void add_head(const std::vector<std::string>& words) {
    section_ = words[0];
    if (section_ == "machine") {
      ExpectedMachine one;
      one.own = words[1] == "own";
      one.machine = words[2];
      one.hosts = std::stoi(words[3]);
      one.joined = std::stoi(words[5]);
      one.gpus = std::stoi(words[7]);
      for (std::size_t i = 1; i < words.size(); ++i) one.name += words[i] + " ";
      for (std::size_t i = 8; i < words.size(); ++i) {
        const auto setting = split(words[i], '=');
        if (words[i] == "same-guids") one.same_guids = true;
        else if (words[i] == "other-ring") one.other_ring = true;
        else one.env.emplace(setting[0], setting[1]);
      }
      machines_.push_back(std::move(one));
    } else if (section_ == "ring" || section_ == "tree" || section_ == "nvls") {
      machine().graphs[section_] = {
          std::stoi(words[1]), std::stod(words[2]), std::stod(words[3]), words[4], words[5],
          std::stoi(words[6]), std::stoi(words[7]), std::stoi(words[8]), {},       {}};
    } else if (section_ == "channels") {
      machine().channels = std::stoi(words[1]);
      machine().nvls_channels = std::stoi(words[2]);
      machine().p2p_channels = std::stoi(words[3]);
      machine().channels_per_peer = std::stoi(words[4]);
    } else if (section_ == "wired") {
      machine().rings = words[1];
      machine().trees = words[2];
    } else if (words.size() == 3) {  // "reduce as broadcast"
      const Collective same = *parse_collective(words[2]);
      const auto rows = machine().rows;
      for (ExpectedRow row : rows) {
        if (row.collective != same) continue;
        row.collective = *parse_collective(words[0]);
        machine().rows.push_back(std::move(row));
      }
    }
  }

  void add_detail(const std::vector<std::string>& words) {
    if (const auto graph = machine().graphs.find(section_); graph != machine().graphs.end())
      return add_channels(graph->second, words);
    if (section_ == "peers") {
      machine().peers.push_back({words[0], std::stoi(words[1]), std::stoll(words[2]),
                                 std::stoll(words[3]), std::stoll(words[4])});
      return;
    }
    ExpectedRow row{*parse_collective(section_),
                    0,
                    words[0],
                    words[1],
                    std::stoi(words[2]),
                    std::stoi(words[3]),
                    std::stoll(words[4])};
    std::int64_t bytes = std::int64_t{1} << std::stoi(words[5].substr(2));
    for (std::size_t i = 6; i < words.size(); ++i, bytes *= 2) {
      row.bytes = nccl::bench_size(row.collective, bytes, 4, machine().ranks()).bytes;
      row.us = std::stod(words[i]);
      machine().rows.push_back(row);
    }
  }

  void add_channels(ExpectedGraph& graph, const std::vector<std::string>& words) {
    std::vector<int> order;
    for (std::size_t i = 2; i < words.size(); ++i) {
      const auto dots = words[i].find("..");
      const int first = std::stoi(words[i]);
      const int last = dots == std::string::npos ? first : std::stoi(words[i].substr(dots + 2));
      for (int rank = first; rank != last; rank += first < last ? 1 : -1) order.push_back(rank);
      order.push_back(last);
    }
    for (int i = 0; i < std::stoi(words[0]); ++i) {
      graph.ports.push_back(words[1]);
      graph.orders.push_back(order);
    }
  }

  std::vector<ExpectedMachine> machines_;
  std::string section_;
};

}  // namespace isleway::testing
