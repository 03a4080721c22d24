#include "virtual/cudart/fill.hpp"

#include <cstring>

#include "virtual/cudart/graph.hpp"
#include "virtual/cudart/places.hpp"

namespace isleway::vgpu::cudart {
namespace {

void write(std::byte* to, std::size_t bytes, std::uint32_t value, unsigned element) {
  if (element == 1) {
    std::memset(to, static_cast<int>(value & 0xff), bytes);
    return;
  }
  for (std::size_t i = 0; i + element <= bytes; i += element) std::memcpy(to + i, &value, element);
}

}  // namespace

int check(Process& process, const Fill& fill) {
  if (fill.element != 1 && fill.element != 2 && fill.element != 4) return invalid_value;
  if (fill.width == 0 || fill.height == 0) return success;
  const Block* block = process.memory().find(fill.to);
  const std::size_t span = (fill.height - 1) * fill.pitch + fill.width;
  if (block == nullptr || fill.to + span > block->base + block->bytes) return invalid_value;
  return block->accessible ? success : illegal_address;
}

Work fill_work(Process& process, int device, const Fill& fill) {
  const GpuPart* part = process.part(device);
  const Rate rate = part != nullptr ? part->memory_rate : Rate::unlimited();
  Work work;
  work.duration = process.costs().kernel;
  if (!rate.is_zero())
    work.duration +=
        transfer_time(Bytes(static_cast<std::int64_t>(fill.width * fill.height)), rate);
  work.effect = [fill, &process] {
    DataOp op;
    const bool whole = fill.height == 1 || fill.pitch == fill.width;
    const std::size_t row = whole ? fill.width * fill.height : fill.width;
    for (std::size_t y = 0; y < (whole ? 1 : fill.height); ++y)
      for (std::byte* place : places(process, fill.to + y * fill.pitch, row))
        op.writes.push_back({place, row});
    op.run = [writes = op.writes, value = fill.value, element = fill.element] {
      for (const Span& bytes : writes)
        write(const_cast<std::byte*>(bytes.first), bytes.bytes, value, element);
    };
    process.do_data(std::move(op));
  };
  return work;
}

int set(Process& process, Stream& stream, const Fill& fill, bool asynchronous) {
  if (const int status = check(process, fill); status != success) return status;
  if (fill.width == 0 || fill.height == 0) return success;
  if (!asynchronous && stream.capture) return capture_implicit;
  process.clock().work(process.costs().enqueue);
  put_or_record(process, stream, GraphNode::Kind::set,
                [fill](Process& p, Stream& s) { p.put(s, fill_work(p, s.device, fill)); });
  // Host memory is set before the call returns.
  const bool on_gpu = process.memory().find(fill.to)->on_gpu();
  if (stream.capture || on_gpu || asynchronous) return success;
  return waited(process.synchronize(process.timeline().last(stream.id)));
}

}  // namespace isleway::vgpu::cudart
