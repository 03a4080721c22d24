#include "check/gpu_matrix.hpp"

#include <algorithm>
#include <map>

#include "check/words.hpp"
#include "isleway/core.hpp"

namespace isleway::check {
namespace {

constexpr std::size_t kMostGpus = 256;  // beyond, it is no host

int nvlinks_of(const Signal& signal) {
  if (const double number = number_of(signal); number > 0) return static_cast<int>(number);
  const std::string text = value_text(signal);
  if (!text.starts_with("NV")) return 0;
  return static_cast<int>(parse_int(text.substr(2)).value_or(0));
}

}  // namespace

GpuMatrix::GpuMatrix(const NodeFacts& node) {
  // Outputs other than topo -m state only the pairs that are joined.
  const auto facts = node.has("topo.link") ? node.named("topo.link") : node.named("topo.nvlinks");
  std::map<std::string_view, int> position;
  for (const Fact& fact : facts)
    for (const std::string* end : {&fact.signal->subject, &fact.signal->peer})
      if (gpu_number(*end) >= 0) subjects_.push_back(*end);
  std::sort(subjects_.begin(), subjects_.end(), counts_before);
  subjects_.erase(std::unique(subjects_.begin(), subjects_.end()), subjects_.end());
  if (subjects_.size() > kMostGpus) subjects_.clear();
  for (const std::string& subject : subjects_)
    position.emplace(subject, static_cast<int>(position.size()));
  links_.assign(subjects_.size() * subjects_.size(), 0);
  cells_.assign(links_.size(), nullptr);
  for (const Fact& fact : facts) {
    const auto a = position.find(fact.signal->subject), b = position.find(fact.signal->peer);
    if (a == position.end() || b == position.end() || a == b) continue;
    const int there = a->second * size() + b->second, back = b->second * size() + a->second;
    cells_[there] = fact.signal;
    links_[there] = links_[back] = std::max(links_[back], nvlinks_of(*fact.signal));
  }
}

int GpuMatrix::widest(int gpu) const {
  const auto from = links_.begin() + static_cast<std::ptrdiff_t>(gpu) * size();
  return *std::max_element(from, from + size());
}

int GpuMatrix::sum(int gpu) const {
  int sum = 0;
  for (int other = 0; other < size(); ++other) sum += links(gpu, other);
  return sum;
}

const Signal* GpuMatrix::cell(int a, int b) const {
  const Signal* there = cells_[a * size() + b];
  return there ? there : cells_[b * size() + a];
}

const Signal* GpuMatrix::row(int gpu) const {
  for (int other = 0; other < size(); ++other)
    if (cells_[gpu * size() + other]) return cells_[gpu * size() + other];
  for (int other = 0; other < size(); ++other)
    if (cells_[other * size() + gpu]) return cells_[other * size() + gpu];
  return nullptr;
}

}  // namespace isleway::check
