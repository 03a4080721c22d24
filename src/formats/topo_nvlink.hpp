// What wiring the NV# cells show: bridges, a mesh, or switches.
#pragma once

#include <string>
#include <vector>

#include "formats/topo_matrix.hpp"
#include "isleway/fabric/parts.hpp"

namespace isleway::formats {

/// GPUs are numbered as among the GPUs of the matrix, in column order.
struct TopoNvlink {
  struct Pair {
    int a = 0, b = 0, count = 0;
  };
  struct Island {
    std::vector<int> gpus;
    std::vector<Pair> pairs;  ///< as the cells say
    bool switched = false;
    int widest = 0;      ///< the largest NV#
    int most_links = 0;  ///< the largest sum of NV# at one of its GPUs
  };
  std::vector<Island> islands;  ///< of two GPUs and more
  std::vector<int> alone;       ///< GPUs without any NV#
  std::vector<int> widest;      ///< by GPU: its largest NV#, which behind switches is its links
};

/// `part` is what the user says the GPU is, or null.
TopoNvlink infer_nvlink(const TopoMatrix& matrix, const Parts& parts, const GpuPart* part,
                        Notebook& notes);

/// The likeliest GPU for that wiring: the key of a part, or empty.
std::string guess_gpu_from_wiring(const TopoMatrix& matrix, const TopoNvlink& nvlink, bool on_grace,
                                  const Parts& parts);

}  // namespace isleway::formats
