#include <array>

#include "isleway/core.hpp"
#include "isleway/nccl/communicator.hpp"

namespace isleway::nccl {
namespace {

constexpr std::array<const char*, 8> kAlgorithms = {
    "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT", "P2P"};
constexpr std::array<const char*, 3> kProtocols = {"LL", "LL128", "SIMPLE"};

template <class T, std::size_t N>
Result<T> parse(std::string_view text, const std::array<const char*, N>& names, const char* what) {
  std::string plain;
  for (const char c : text)
    if (c != '_' && c != '-') plain += c;
  std::string all;
  for (std::size_t i = 0; i < N; ++i) {
    std::string name;
    for (const char* c = names[i]; *c != 0; ++c)
      if (*c != '_') name += *c;
    if (equal_ignoring_case(plain, name)) return static_cast<T>(i);
    all += (all.empty() ? "" : ", ") + std::string(names[i]);
  }
  return fail("there is no " + std::string(what) + " \"" + std::string(text) + "\"",
              "one of " + all);
}

}  // namespace

const char* name_of(Algorithm algorithm) {
  return kAlgorithms[static_cast<std::size_t>(algorithm)];
}
const char* name_of(Protocol protocol) { return kProtocols[static_cast<std::size_t>(protocol)]; }

Result<Algorithm> parse_algorithm(std::string_view text) {
  return parse<Algorithm>(text, kAlgorithms, "algorithm");
}
Result<Protocol> parse_protocol(std::string_view text) {
  return parse<Protocol>(text, kProtocols, "protocol");
}

std::string Version::text() const {
  return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
}

Result<Version> parse_version(std::string_view text) {
  const auto pieces = split(text, '.');
  Version version{0, 0, 0};
  int* const fields[] = {&version.major, &version.minor, &version.patch};
  bool good = pieces.size() >= 2 && pieces.size() <= 3;
  for (std::size_t i = 0; good && i < pieces.size(); ++i) {
    const auto number = parse_int(pieces[i]);
    good = number && *number >= 0 && *number < 1000;
    if (good) *fields[i] = static_cast<int>(*number);
  }
  if (!good) return fail("\"" + std::string(text) + "\" is no NCCL version", "2.28 or 2.28.9");
  return version;
}

}  // namespace isleway::nccl
