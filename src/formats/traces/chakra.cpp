#include <fmt/format.h>

#include <bit>

#include "formats/notebook.hpp"
#include "formats/traces/wire.hpp"
#include "isleway/formats/execution_trace.hpp"

namespace isleway::formats {
namespace {

// Numbers of the schema's fields and values.
namespace node_field {
constexpr std::uint32_t id = 1, name = 2, type = 3, ctrl_deps = 4, data_deps = 5, duration = 7,
                        attr = 10;
}
namespace attr_field {
constexpr std::uint32_t name = 1, double_val = 3, float_val = 5, sint32_val = 15, sint64_val = 17,
                        string_val = 29;
}

constexpr std::size_t kMostNodes = 20'000'000;

/// A value of an attribute, in whichever of the schema's types it was written.
struct Value {
  std::int64_t number = 0;
  std::string_view text;
};

std::int64_t zigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

std::int64_t whole(double value) {
  constexpr double most = 9e18;
  return value > -most && value < most ? static_cast<std::int64_t>(value) : 0;
}

Value value_of(const WireField& field) {
  switch (field.number) {
    case attr_field::double_val: return {whole(std::bit_cast<double>(field.value)), {}};
    case attr_field::float_val:
      return {whole(std::bit_cast<float>(static_cast<std::uint32_t>(field.value))), {}};
    case attr_field::sint32_val:
    case attr_field::sint64_val: return {zigzag(field.value), {}};
    case attr_field::string_val: return {0, field.bytes};
    default: return {static_cast<std::int64_t>(field.value), {}};
  }
}

TraceNode::Kind kind_of(std::uint64_t type) {
  switch (type) {
    case 2:
    case 3: return TraceNode::Kind::memory;
    case 4: return TraceNode::Kind::compute;
    case 5: return TraceNode::Kind::send;
    case 6: return TraceNode::Kind::receive;
    case 7: return TraceNode::Kind::collective;
    default: return TraceNode::Kind::nothing;
  }
}

class ChakraReader {
 public:
  ChakraReader(std::string_view data, std::string file) : begin_(data.data()), reader_(data) {
    trace_.file = std::move(file);
  }

  Result<ExecutionTrace> read() {
    bool first = true;
    while (!reader_.at_end()) {
      const auto message = reader_.delimited();
      if (!message) return damaged(reader_.position(), "a message that ends too early");
      if (trace_.nodes.size() >= kMostNodes)
        return damaged(place(*message), "more nodes than can be held");
      // The metadata begin with their version as text, a node with its number.
      const bool is_node = !message->empty() && message->front() == '\x08';
      if (first && !is_node) {
        if (auto ok = read_metadata(*message); !ok) return tl::unexpected(ok.error());
      } else if (auto ok = read_node(*message); !ok) {
        return tl::unexpected(ok.error());
      }
      first = false;
    }
    if (trace_.nodes.empty()) return damaged(reader_.position(), "no node");
    return std::move(trace_);
  }

 private:
  std::size_t place(std::string_view part) const {
    return static_cast<std::size_t>(part.data() - begin_);
  }
  tl::unexpected<Error> damaged(std::size_t at, const std::string& what) const {
    return fail(fmt::format("has {} at byte {}", what, at), "a Chakra execution trace (.et)",
                "convert the trace again; compressed ones have to be unpacked first",
                {trace_.file});
  }

  Result<void> read_metadata(std::string_view message) {
    WireReader fields(message);
    while (const auto field = fields.field())
      if (field->number == 1 && field->type == WireField::Type::bytes)
        trace_.version = std::string(field->bytes.substr(0, 40));
    if (fields.damaged() || trace_.version.empty())
      return damaged(place(message), "something other than Chakra's metadata");
    return {};
  }

  Result<void> read_node(std::string_view message) {
    TraceNode node;
    std::int64_t type = -1;
    WireReader fields(message);
    while (const auto field = fields.field()) {
      const bool is_text = field->type == WireField::Type::bytes;
      switch (field->number) {
        case node_field::id: node.id = field->value; break;
        case node_field::name: node.name = std::string(field->bytes.substr(0, 200)); break;
        case node_field::type: type = static_cast<std::int64_t>(field->value & 0xFF); break;
        case node_field::duration: node.duration_us = field->value; break;
        case node_field::ctrl_deps:
        case node_field::data_deps:
          if (!is_text) node.after.push_back(field->value);
          else if (auto ok = read_list(field->bytes, node.after); !ok) return ok;
          break;
        case node_field::attr:
          if (auto ok = read_attribute(field->bytes, node); !ok) return ok;
          break;
        default: break;
      }
    }
    if (fields.damaged() || type < 0)
      return damaged(place(message), type < 0 ? "a node without a type" : "a damaged node");
    node.kind = kind_of(static_cast<std::uint64_t>(type));
    trace_.nodes.push_back(std::move(node));
    return {};
  }

  Result<void> read_list(std::string_view packed, std::vector<std::uint64_t>& into) {
    WireReader numbers(packed);
    while (!numbers.at_end()) {
      const auto number = numbers.varint();
      if (!number) return damaged(place(packed), "a damaged list of dependencies");
      into.push_back(*number);
    }
    return {};
  }

  Result<void> read_attribute(std::string_view message, TraceNode& node) {
    std::string_view name;
    Value value;
    WireReader fields(message);
    while (const auto field = fields.field()) {
      if (field->number == attr_field::name) name = field->bytes;
      else if (field->number >= attr_field::double_val) value = value_of(*field);
    }
    if (fields.damaged()) return damaged(place(message), "a damaged attribute");
    return set(name, value, node);
  }

  Result<void> set(std::string_view name, const Value& value, TraceNode& node) {
    const auto as_int = [&] {
      return static_cast<int>(value.number >= INT32_MIN && value.number <= INT32_MAX ? value.number
                                                                                     : -1);
    };
    if (name == "is_cpu_op") node.on_cpu = value.number != 0;
    else if (name == "num_ops") node.operations = value.number;
    else if (name == "tensor_size") node.tensor_bytes = value.number;
    else if (name == "comm_size") node.bytes = value.number;
    else if (name == "comm_dst") node.target = as_int();
    else if (name == "comm_src") node.source = as_int();
    else if (name == "comm_tag") node.tag = as_int();
    else if (name == "root" || name == "root_rank") node.root = as_int();
    else if (name == "pg_name") node.group = group_name(value);
    else if (name == "comm_type") {
      if (value.number < 0 || value.number > 9)
        return fail(fmt::format("node {} ({}) is a collective of type {}", node.id, cite(node.name),
                                value.number),
                    "0 to 9, as Chakra numbers them", {}, {trace_.file});
      node.collective = static_cast<TraceNode::Collective>(value.number);
    }
    if (node.operations < 0 || node.tensor_bytes < 0 || node.bytes < 0)
      return fail(
          fmt::format("node {} ({}) has a negative {}", node.id, cite(node.name), cite(name)), {},
          {}, {trace_.file});
    return {};
  }

  /// Some write a number.
  static std::string group_name(const Value& value) {
    return value.text.empty() ? std::to_string(value.number) : std::string(value.text);
  }

  const char* begin_;
  WireReader reader_;
  ExecutionTrace trace_;
};

}  // namespace

Result<ExecutionTrace> read_execution_trace(std::string_view data, const std::string& file) {
  if (data.empty()) return fail("is empty", "a Chakra execution trace (.et)", {}, {file});
  return ChakraReader(data, file).read();
}

}  // namespace isleway::formats
