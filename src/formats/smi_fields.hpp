// What `nvidia-smi` says of a GPU, in its three forms: XML (-q -x), text (-q), CSV (--query-gpu).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "formats/signal_sink.hpp"

namespace isleway::formats {

struct SmiField {
  enum class Kind {
    text,      ///< as it stands, unless it means "not known"
    state,     ///< as it stands, also N/A
    number,    ///< with its unit left out
    yes_no,    ///< "Yes" as 1
    active,    ///< a reason for throttling: its own name where it is "Active"
    bus,       ///< a PCI address
    processes  ///< counted
  };
  const char* xml;   ///< path below <gpu>: "fabric/state"
  const char* text;  ///< heading and key of the text: "Fabric/State"
  const char* csv;   ///< column's name; empty where there is none
  const char* signal;
  const char* peer;
  Kind kind;
};

std::span<const SmiField> smi_fields();

/// Says on the sink's line what `value` states of this field of `gpu`.
void add_smi_field(SignalSink& sink, const SmiField& field, const std::string& gpu,
                   std::string_view value);

/// "GPU is lost", "ERR!", "Unknown Error": the driver's error in place of a value.
std::string_view smi_error(std::string_view value);

}  // namespace isleway::formats
