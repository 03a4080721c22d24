// What NCCL's log says for or against a hypothesis.
#pragma once

#include <string>
#include <vector>

#include "isleway/formats.hpp"

namespace isleway::verify {

/// Lines of the log that point to the hypothesis `key`, in words.
std::vector<std::string> evidence_for(const std::string& key, const formats::NcclInfo& log);

/// The log shows that it is not so.
bool is_refuted(const std::string& key, const formats::NcclInfo& log);

}  // namespace isleway::verify
