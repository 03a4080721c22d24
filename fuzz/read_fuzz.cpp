// One reader under libFuzzer: whatever the bytes are, it answers with a document or an error.
#include <cstdlib>

#include "isleway/formats.hpp"

namespace isleway::formats {
extern const Reader ISLEWAY_READER;
}

namespace {

using namespace isleway;

const Catalogue& catalogue() {
  static const Catalogue opened = [] {
    auto result = Catalogue::open(ISLEWAY_MACHINES);
    if (!result) std::abort();
    return *std::move(result);
  }();
  return opened;
}

/// Walks through what was read, so that a bad index inside it shows.
void use(const formats::Document& document) {
  const auto fabric = formats::to_fabric(document);
  if (!fabric) return;
  for (const formats::Writer* writer : formats::writers())
    if (const auto text = writer->write(*fabric, {}); text && text->empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const formats::Reader& reader = formats::ISLEWAY_READER;
  const int certainty = reader.recognise(text);
  if (certainty < 0 || certainty > 100) std::abort();
  const formats::ReadContext context{&catalogue(), "input", "", {}};
  // Also what it does not recognise: it may be asked by name.
  const auto document = reader.read(text, context);
  if (document) use(*document);
  else if (document.error().what.empty()) std::abort();
  return 0;
}
