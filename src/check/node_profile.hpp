// A node's profile: the values of all entries, as texts that can be compared.
#pragma once

#include <map>
#include <string>

#include "check/facts.hpp"
#include "isleway/check/profile.hpp"

namespace isleway::check {

struct ProfileValue {
  std::string text;
  const Signal* line = nullptr;
};

/// By subject (and peer, "gpu0 to gpu1"); one with an empty key where the entry is per node.
using ProfileValues = std::map<std::string, ProfileValue>;

ProfileValues profile_values(const NodeFacts& node, const ProfileEntry& entry);

/// "gpu0 to gpu1"
std::string profile_key(const Signal& signal);

}  // namespace isleway::check
