#include "virtual/cudart/copy_rows.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "virtual/cudart/graph.hpp"

namespace isleway::vgpu::cudart {
namespace {

bool in_one_piece(const Box& box) {
  const auto dense = [&](const Side& side) {
    return (box.height <= 1 || side.pitch == box.width) &&
           (box.depth <= 1 || side.slice == box.width * box.height);
  };
  return dense(box.to) && dense(box.from);
}

/// From its first byte to its last.
std::size_t extent(const Box& box, const Side& side) {
  return (box.depth - 1) * side.slice + (box.height - 1) * side.pitch + box.width;
}

template <class Row>
void for_each_row(const Box& box, Row row) {
  for (std::size_t z = 0; z < box.depth; ++z)
    for (std::size_t y = 0; y < box.height; ++y)
      row(box.to.first + z * box.to.slice + y * box.to.pitch,
          box.from.first + z * box.from.slice + y * box.from.pitch);
}

bool on_gpu(Process& process, const std::byte* address) {
  const Block* block = process.memory().find(address);
  return block != nullptr && block->on_gpu();
}
bool pageable(Process& process, const std::byte* address) {
  return process.memory().find(address) == nullptr;
}

/// Whether the bytes are as the kind says, and inside what they begin in.
int check(Process& process, const Box& box, CopyKind kind) {
  if (static_cast<int>(kind) < 0 || kind > CopyKind::any) return invalid_memcpy_direction;
  if (box.empty()) return success;
  for (const Side* side : {&box.to, &box.from}) {
    if (side->first == nullptr) return invalid_value;
    const Block* block = process.memory().find(side->first);
    if (block == nullptr) continue;
    if (side->first + extent(box, *side) > block->base + block->bytes) return invalid_value;
    if (!block->accessible) return illegal_address;
    const bool of_one_gpu = block->on_gpu() && block->space != Space::multicast;
    const Status dead = of_one_gpu ? status_of(process.trouble_of(block->gpu)) : success;
    if (dead != success) return dead;
  }
  const bool to = on_gpu(process, box.to.first), from = on_gpu(process, box.from.first);
  switch (kind) {
    case CopyKind::host_to_host: return to || from ? invalid_value : success;
    case CopyKind::host_to_device: return from ? invalid_value : success;
    case CopyKind::device_to_host: return to ? invalid_value : success;
    case CopyKind::device_to_device:
    case CopyKind::any: return success;
  }
  return success;
}

}  // namespace

Box Box::row(void* to, const void* from, std::size_t bytes) {
  return rows(to, bytes, from, bytes, bytes, 1);
}

Box Box::rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
              std::size_t width, std::size_t height) {
  auto* source = static_cast<std::byte*>(const_cast<void*>(from));
  return {{static_cast<std::byte*>(to), to_pitch, to_pitch * height},
          {source, from_pitch, from_pitch * height},
          width,
          height,
          1};
}

Result<Work> copy_work(Process& process, const Box& box) {
  auto work = process.copy_work(box.to.first, box.from.first, box.bytes());
  if (!work || in_one_piece(box)) return work;
  work->effect = [&process, box] {
    DataOp op;
    for_each_row(box, [&](std::byte* to, const std::byte* from) {
      op.reads.push_back({from, box.width});
      op.writes.push_back({to, box.width});
    });
    op.run = [box] {
      for_each_row(
          box, [&](std::byte* to, const std::byte* from) { std::memmove(to, from, box.width); });
    };
    process.do_data(std::move(op));
  };
  return work;
}

int copy(Process& process, Stream& stream, const Box& box, CopyKind kind, bool asynchronous) {
  if (const int status = check(process, box, kind); status != success) return status;
  if (!asynchronous && stream.capture) return capture_implicit;
  if (box.empty()) return success;
  // Found out now, while it can be said.
  if (const auto possible = copy_work(process, box); !possible) {
    if (std::getenv("ISLEWAY_DEBUG") != nullptr)
      fmt::print(stderr, "isleway: {}\n", possible.error().text());
    return launch_failure;
  }
  if (asynchronous) process.clock().work(process.costs().enqueue);
  put_or_record(process, stream, GraphNode::Kind::copy, [box](Process& p, Stream& s) {
    if (auto work = copy_work(p, box)) p.put(s, std::move(*work));
  });
  if (stream.capture) return success;
  // The program's own memory may be gone or changed when this returns.
  const bool at_once =
      !asynchronous || pageable(process, box.from.first) || pageable(process, box.to.first);
  return at_once ? waited(process.synchronize(process.timeline().last(stream.id))) : success;
}

}  // namespace isleway::vgpu::cudart
