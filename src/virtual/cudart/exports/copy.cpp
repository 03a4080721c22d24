// Copies and fills.
#include <algorithm>
#include <cstring>

#include "virtual/cudart/exports/api.hpp"

using namespace isleway;
using namespace isleway::vgpu;
using namespace isleway::vgpu::cudart;

namespace {

/// Rows of bytes; one row for plain copies.
struct Rows {
  std::byte* to;
  std::size_t to_pitch;
  const std::byte* from;
  std::size_t from_pitch;
  std::size_t width, height;
};

bool in_one_piece(const Rows& rows) {
  return rows.height <= 1 || (rows.to_pitch == rows.width && rows.from_pitch == rows.width);
}

/// Whether the bytes are as the kind says, and inside what they begin in.
int check(Process& process, const Rows& rows, CopyKind kind) {
  if (static_cast<int>(kind) < 0 || kind > CopyKind::any) return invalid_memcpy_direction;
  if (rows.width == 0 || rows.height == 0) return success;
  if (rows.to == nullptr || rows.from == nullptr) return invalid_value;
  const auto inside = [&](const std::byte* first, std::size_t pitch) {
    const Block* block = process.memory().find(first);
    const std::size_t bytes = (rows.height - 1) * pitch + rows.width;
    return block == nullptr || first + bytes <= block->base + block->bytes;
  };
  if (!inside(rows.to, rows.to_pitch) || !inside(rows.from, rows.from_pitch)) return invalid_value;
  const auto on_device = [&](const std::byte* address) {
    const Block* block = process.memory().find(address);
    return block != nullptr && (block->space == Space::device || block->space == Space::peer);
  };
  const bool to = on_device(rows.to), from = on_device(rows.from);
  switch (kind) {
    case CopyKind::host_to_host: return to || from ? invalid_value : success;
    case CopyKind::host_to_device: return from ? invalid_value : success;
    case CopyKind::device_to_host: return to ? invalid_value : success;
    case CopyKind::device_to_device:
    case CopyKind::any: return success;
  }
  return success;
}

Result<Work> copy_work(Process& process, const Rows& rows) {
  if (in_one_piece(rows)) return process.copy_work(rows.to, rows.from, rows.width * rows.height);
  auto work = process.copy_work(rows.to, rows.from, rows.width * rows.height);
  if (!work) return work;
  work->effect = [&process, rows] {
    DataOp op;
    for (std::size_t y = 0; y < rows.height; ++y) {
      op.reads.push_back({rows.from + y * rows.from_pitch, rows.width});
      op.writes.push_back({rows.to + y * rows.to_pitch, rows.width});
    }
    op.run = [rows] {
      for (std::size_t y = 0; y < rows.height; ++y)
        std::memmove(rows.to + y * rows.to_pitch, rows.from + y * rows.from_pitch, rows.width);
    };
    process.do_data(std::move(op));
  };
  return work;
}

bool pageable(Process& process, const void* address) {
  return process.memory().find(address) == nullptr;
}

int copy(const char* function, const Rows& rows, CopyKind kind, void* handle, bool asynchronous) {
  return with_stream(function, handle, [&](Process& process, Stream& stream) -> int {
    if (const int status = check(process, rows, kind); status != success) return status;
    if (!asynchronous && stream.capture) return capture_implicit;
    if (rows.width == 0 || rows.height == 0) return success;
    // Found out now, while it can be said.
    if (const auto possible = copy_work(process, rows); !possible) {
      debug(possible.error().text().c_str(), launch_failure);
      return launch_failure;
    }
    if (asynchronous) process.clock().work(process.costs().enqueue);
    Ticket ticket;
    put_or_record(process, stream, GraphNode::Kind::copy,
                  [rows, &ticket, asynchronous](Process& p, Stream& s) {
                    auto work = copy_work(p, rows);
                    if (!work) return;
                    const Ticket put = p.put(s, std::move(*work));
                    if (!asynchronous) ticket = put;
                  });
    if (stream.capture) return success;
    // The program's own memory may be gone or changed when this returns.
    const bool at_once =
        !asynchronous || pageable(process, rows.from) || pageable(process, rows.to);
    return at_once ? waited(process.synchronize(process.timeline().last(stream.id))) : success;
  });
}

Rows row(void* to, const void* from, std::size_t bytes) {
  return {static_cast<std::byte*>(to), bytes, static_cast<const std::byte*>(from), bytes, bytes, 1};
}

int set(const char* function, void* to, std::size_t pitch, int value, std::size_t width,
        std::size_t height, void* handle, bool asynchronous) {
  return with_stream(function, handle, [&](Process& process, Stream& stream) -> int {
    if (width == 0 || height == 0) return success;
    const Block* block = process.memory().find(to);
    auto* first = static_cast<std::byte*>(to);
    const std::size_t span = (height - 1) * pitch + width;
    if (block == nullptr || first + span > block->base + block->bytes) return invalid_value;
    if (!asynchronous && stream.capture) return capture_implicit;
    const GpuPart* part = process.part(stream.device);
    const Rate rate = part != nullptr ? part->memory_rate : Rate::unlimited();
    const bool whole = height == 1 || pitch == width;
    process.clock().work(process.costs().enqueue);
    put_or_record(process, stream, GraphNode::Kind::set, [=](Process& p, Stream& s) {
      Work work;
      work.duration = p.costs().kernel;
      if (!rate.is_zero())
        work.duration += transfer_time(Bytes(static_cast<std::int64_t>(width * height)), rate);
      work.effect = [=, &p] {
        DataOp op;
        if (whole) op.writes.push_back({first, width * height});
        else
          for (std::size_t y = 0; y < height; ++y) op.writes.push_back({first + y * pitch, width});
        op.run = [writes = op.writes, value] {
          for (const Span& bytes : writes)
            std::memset(const_cast<std::byte*>(bytes.first), value, bytes.bytes);
        };
        p.do_data(std::move(op));
      };
      p.put(s, std::move(work));
    });
    // Host memory is set before the call returns.
    if (!stream.capture && block->space != Space::device && !asynchronous)
      return waited(process.synchronize(process.timeline().last(stream.id)));
    return success;
  });
}

/// The memory behind a __device__ variable, on the current device.
std::byte* symbol(Process& process, int device, const void* host, std::size_t* bytes) {
  KernelTable::Variable* variable = kernel_table().variable(host);
  if (variable == nullptr) return nullptr;
  if (bytes != nullptr) *bytes = variable->bytes;
  auto& memory = variable->memory[device];
  if (memory == nullptr)
    memory = process.memory().take_device(process.gpu(device), variable->bytes);
  return memory;
}

int copy_symbol(const char* function, const void* host, void* other, std::size_t bytes,
                std::size_t offset, int kind, void* stream, bool to_symbol, bool asynchronous) {
  std::byte* memory = nullptr;
  std::size_t size = 0;
  const int found = with_device(function, [&](Process& process, int device) -> int {
    memory = symbol(process, device, host, &size);
    if (memory == nullptr) return invalid_symbol;
    return offset > size || bytes > size - offset ? invalid_value : success;
  });
  if (found != success) return found;
  const Rows rows =
      to_symbol ? row(memory + offset, other, bytes) : row(other, memory + offset, bytes);
  return copy(function, rows, static_cast<CopyKind>(kind), stream, asynchronous);
}

}  // namespace

ISLEWAY_API int cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  return copy(__func__, row(to, from, bytes), static_cast<CopyKind>(kind), nullptr, false);
}
ISLEWAY_API int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind,
                                void* stream) {
  return copy(__func__, row(to, from, bytes), static_cast<CopyKind>(kind), stream, true);
}
ISLEWAY_API int cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t bytes) {
  return copy(__func__, row(to, from, bytes), CopyKind::any, nullptr, false);
}
ISLEWAY_API int cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                    std::size_t bytes, void* stream) {
  const int known = with_device(__func__, [&](Process& process, int) -> int {
    return is_device(process, to_device) && is_device(process, from_device) ? success
                                                                            : invalid_device;
  });
  if (known != success) return known;
  return copy(__func__, row(to, from, bytes), CopyKind::any, stream, true);
}
ISLEWAY_API int cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                             std::size_t from_pitch, std::size_t width, std::size_t height,
                             int kind) {
  if (width > to_pitch || width > from_pitch) return remember(__func__, invalid_value);
  return copy(__func__,
              {static_cast<std::byte*>(to), to_pitch, static_cast<const std::byte*>(from),
               from_pitch, width, height},
              static_cast<CopyKind>(kind), nullptr, false);
}
ISLEWAY_API int cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                  std::size_t from_pitch, std::size_t width, std::size_t height,
                                  int kind, void* stream) {
  if (width > to_pitch || width > from_pitch) return remember(__func__, invalid_value);
  return copy(__func__,
              {static_cast<std::byte*>(to), to_pitch, static_cast<const std::byte*>(from),
               from_pitch, width, height},
              static_cast<CopyKind>(kind), stream, true);
}
ISLEWAY_API int cudaMemcpyBatchAsync(void* const* to, const void* const* from,
                                     const std::size_t* bytes, std::size_t count, void*,
                                     std::size_t*, std::size_t,
#if ISLEWAY_CUDART == 12
                                     std::size_t*,
#endif
                                     void* stream) {
  if (count == 0 || to == nullptr || from == nullptr || bytes == nullptr)
    return remember(__func__, invalid_value);
  for (std::size_t i = 0; i < count; ++i)
    if (const int status =
            copy(__func__, row(to[i], from[i], bytes[i]), CopyKind::any, stream, true);
        status != success)
      return status;
  return success;
}

ISLEWAY_API int cudaMemset(void* to, int value, std::size_t bytes) {
  return set(__func__, to, bytes, value, bytes, 1, nullptr, false);
}
ISLEWAY_API int cudaMemsetAsync(void* to, int value, std::size_t bytes, void* stream) {
  return set(__func__, to, bytes, value, bytes, 1, stream, true);
}
ISLEWAY_API int cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                             std::size_t height) {
  return set(__func__, to, pitch, value, width, height, nullptr, false);
}
ISLEWAY_API int cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                                  std::size_t height, void* stream) {
  return set(__func__, to, pitch, value, width, height, stream, true);
}

ISLEWAY_API int cudaGetSymbolAddress(void** address, const void* host) {
  return with_device(__func__, [&](Process& process, int device) -> int {
    if (address == nullptr) return invalid_value;
    *address = symbol(process, device, host, nullptr);
    return *address == nullptr ? invalid_symbol : success;
  });
}
ISLEWAY_API int cudaGetSymbolSize(std::size_t* bytes, const void* host) {
  return with_device(__func__, [&](Process& process, int device) -> int {
    if (bytes == nullptr) return invalid_value;
    return symbol(process, device, host, bytes) == nullptr ? invalid_symbol : success;
  });
}
ISLEWAY_API int cudaMemcpyToSymbol(const void* host, const void* from, std::size_t bytes,
                                   std::size_t offset, int kind) {
  return copy_symbol(__func__, host, const_cast<void*>(from), bytes, offset, kind, nullptr, true,
                     false);
}
ISLEWAY_API int cudaMemcpyFromSymbol(void* to, const void* host, std::size_t bytes,
                                     std::size_t offset, int kind) {
  return copy_symbol(__func__, host, to, bytes, offset, kind, nullptr, false, false);
}
ISLEWAY_API int cudaMemcpyToSymbolAsync(const void* host, const void* from, std::size_t bytes,
                                        std::size_t offset, int kind, void* stream) {
  return copy_symbol(__func__, host, const_cast<void*>(from), bytes, offset, kind, stream, true,
                     true);
}
ISLEWAY_API int cudaMemcpyFromSymbolAsync(void* to, const void* host, std::size_t bytes,
                                          std::size_t offset, int kind, void* stream) {
  return copy_symbol(__func__, host, to, bytes, offset, kind, stream, false, true);
}
