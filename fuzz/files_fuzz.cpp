// What is read apart from machines: algorithms, execution traces. Whatever the bytes are, each
// answers with what it read or an error; an algorithm that was read is tried, too.
#include <cstdlib>

#include "isleway/collective/program.hpp"
#include "isleway/formats/execution_trace.hpp"

namespace {

using namespace isleway;

template <class T>
bool is_whole(const Result<T>& read) {
  if (!read && read.error().what.empty()) std::abort();
  return read.has_value();
}

void try_algorithm(std::string_view text) {
  const auto algorithm = formats::read_algorithm(text, "input");
  if (is_whole(algorithm)) is_whole(prove_program(*algorithm));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if constexpr (ISLEWAY_ALGORITHMS) try_algorithm(text);
  else is_whole(formats::read_execution_trace(text, "input"));
  return 0;
}
