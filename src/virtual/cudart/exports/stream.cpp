// Streams and events.
#include <cstring>

#include "virtual/cudart/exports/api.hpp"
#include "virtual/device/per_thread.hpp"

using namespace isleway::vgpu;
using namespace isleway::vgpu::cudart;

namespace {

int make_stream(const char* function, void** handle, unsigned flags, int priority) {
  return with_device(function, [&](Process& process, int device) -> int {
    if (handle == nullptr || flags > 1) return invalid_value;
    *handle = process.make_stream(device, flags == 1, priority);
    return success;
  });
}

int make_event(const char* function, void** handle, unsigned flags) {
  return with_device(function, [&](Process& process, int device) -> int {
    constexpr unsigned known = 7, no_timing = 2, between_processes = 4;
    if (handle == nullptr || (flags & ~known) != 0) return invalid_value;
    const bool shared = (flags & between_processes) != 0;
    if (shared && (flags & no_timing) == 0) return invalid_value;
    Event* event = process.make_event(device, flags);
    if (shared && !process.share(*event)) return out_of_memory;
    *handle = event;
    return success;
  });
}

template <class Body>
int with_event(const char* function, void* handle, Body body) {
  return with_device(function, [&](Process& process, int) -> int {
    auto* event = static_cast<Event*>(handle);
    return process.knows(event) ? body(process, *event) : int{invalid_resource_handle};
  });
}

void record(Process& process, Event& event, Stream& stream) {
  if (!stream.capture) {
    process.record(event, stream);
    event.captured_in.reset();
    return;
  }
  stream.capture->record(stream, GraphNode::Kind::record_event,
                         [known = &event](Process& p, Stream& s) {
                           if (p.knows(known)) p.record(*known, s);
                         });
  event.captured_in = stream.capture;
  event.captured_node = static_cast<int>(stream.capture->graph->nodes.size()) - 1;
}

/// What `stream` does next follows the event, in a capture as well.
int wait_event(Process& process, Stream& stream, Event& event) {
  if (const auto capture = event.captured_in.lock()) {
    if (stream.capture && stream.capture != capture) return capture_isolation;
    GraphNode* node = capture->graph->nodes[static_cast<std::size_t>(event.captured_node)].get();
    stream.capture = capture;
    const int lane = capture->lane_of(&stream);
    capture->lanes[static_cast<std::size_t>(lane)].ends.push_back(node);
    return success;
  }
  const Ticket& ticket = process.ticket(event);
  if (stream.capture) return ticket ? capture_isolation : success;
  if (ticket) process.wait(stream, ticket);
  return success;
}

/// A function of the host's, in a stream.
void put_host(Process& process, Stream& stream, std::function<void()> call) {
  put_or_record(process, stream, GraphNode::Kind::host, [call](Process& p, Stream& s) {
    Work work;
    work.effect = call;
    p.put(s, std::move(work));
  });
}

}  // namespace

ISLEWAY_API int cudaStreamCreate(void** stream) { return make_stream(__func__, stream, 0, 0); }
ISLEWAY_API int cudaStreamCreateWithFlags(void** stream, unsigned flags) {
  return make_stream(__func__, stream, flags, 0);
}
ISLEWAY_API int cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return make_stream(__func__, stream, flags, priority);
}
ISLEWAY_API int cudaStreamDestroy(void* handle) {
  return with_device(__func__, [&](Process& process, int) -> int {
    auto* stream = static_cast<Stream*>(handle);
    if (!process.knows(stream) || stream->is_default) return invalid_resource_handle;
    process.destroy(stream);
    return success;
  });
}
ISLEWAY_API int cudaStreamSynchronize(void* stream) {
  return with_stream(__func__, stream, [](Process& process, Stream& s) -> int {
    if (s.capture) return capture_unsupported;
    return waited(process.synchronize(process.timeline().last(s.id)));
  });
}
ISLEWAY_API int cudaStreamQuery(void* stream) {
  return with_stream(__func__, stream, [](Process& process, Stream& s) -> int {
    if (s.capture) return capture_unsupported;
    return process.poll(process.timeline().last(s.id)) ? success : not_ready;
  });
}
ISLEWAY_API int cudaStreamWaitEvent(void* stream, void* event, unsigned) {
  return with_stream(__func__, stream, [&](Process& process, Stream& s) -> int {
    auto* known = static_cast<Event*>(event);
    return process.knows(known) ? wait_event(process, s, *known) : int{invalid_resource_handle};
  });
}
ISLEWAY_API int cudaStreamGetFlags(void* stream, unsigned* flags) {
  return with_stream(__func__, stream, [&](Process&, Stream& s) -> int {
    if (flags == nullptr) return invalid_value;
    *flags = s.flags;
    return success;
  });
}
ISLEWAY_API int cudaStreamGetPriority(void* stream, int* priority) {
  return with_stream(__func__, stream, [&](Process&, Stream& s) -> int {
    if (priority == nullptr) return invalid_value;
    *priority = s.priority;
    return success;
  });
}
ISLEWAY_API int cudaStreamGetDevice(void* stream, int* device) {
  return with_stream(__func__, stream, [&](Process&, Stream& s) -> int {
    if (device == nullptr) return invalid_value;
    *device = s.device;
    return success;
  });
}
ISLEWAY_API int cudaStreamGetId(void* stream, unsigned long long* id) {
  return with_stream(__func__, stream, [&](Process&, Stream& s) -> int {
    if (id == nullptr) return invalid_value;
    *id = s.id + 1ull;
    return success;
  });
}
ISLEWAY_API int cudaStreamCopyAttributes(void*, void*) { return success; }
ISLEWAY_API int cudaStreamGetAttribute(void*, int, void* value) {
  if (value == nullptr) return remember(__func__, invalid_value);
  std::memset(value, 0, 64);
  return success;
}
ISLEWAY_API int cudaStreamSetAttribute(void*, int, const void* value) {
  return remember(__func__, value == nullptr ? invalid_value : success);
}
ISLEWAY_API int cudaStreamAttachMemAsync(void* stream, void* address, std::size_t, unsigned) {
  return with_stream(__func__, stream, [&](Process&, Stream&) -> int {
    return address == nullptr ? invalid_value : success;
  });
}
ISLEWAY_API int cudaStreamAddCallback(void* stream, void (*callback)(void*, int, void*), void* data,
                                      unsigned flags) {
  return with_stream(__func__, stream, [&](Process& process, Stream& s) -> int {
    if (callback == nullptr || flags != 0) return invalid_value;
    if (s.capture) return capture_unsupported;
    put_host(process, s, [=] { callback(stream, success, data); });
    return success;
  });
}
ISLEWAY_API int cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  return with_stream(__func__, stream, [&](Process& process, Stream& s) -> int {
    if (function == nullptr) return invalid_value;
    process.clock().work(process.costs().enqueue);
    put_host(process, s, [=] { function(data); });
    return success;
  });
}

ISLEWAY_API int cudaEventCreate(void** event) { return make_event(__func__, event, 0); }
ISLEWAY_API int cudaEventCreateWithFlags(void** event, unsigned flags) {
  return make_event(__func__, event, flags);
}
ISLEWAY_API int cudaEventDestroy(void* event) {
  return with_event(__func__, event, [](Process& process, Event& e) -> int {
    process.destroy(&e);
    return success;
  });
}
ISLEWAY_API int cudaEventRecord(void* event, void* stream) {
  return with_event(__func__, event, [&](Process& process, Event& e) -> int {
    Stream* on = stream_of(process, stream);
    if (on == nullptr || on->device != e.device) return invalid_resource_handle;
    record(process, e, *on);
    return success;
  });
}
ISLEWAY_API int cudaEventRecordWithFlags(void* event, void* stream, unsigned flags) {
  if (flags > 1) return remember(__func__, invalid_value);
  return cudaEventRecord(event, stream);
}
ISLEWAY_API int cudaEventQuery(void* event) {
  return with_event(__func__, event, [](Process& process, Event& e) -> int {
    const Ticket ticket = process.ticket(e);
    return !ticket || process.poll(ticket) ? success : not_ready;
  });
}
ISLEWAY_API int cudaEventSynchronize(void* event) {
  return with_event(__func__, event, [](Process& process, Event& e) -> int {
    const Ticket ticket = process.ticket(e);
    return ticket ? waited(process.synchronize(ticket)) : success;
  });
}
ISLEWAY_API int cudaEventElapsedTime(float* ms, void* start, void* end) {
  return with_event(__func__, start, [&](Process& process, Event& from) -> int {
    auto* to = static_cast<Event*>(end);
    if (ms == nullptr) return invalid_value;
    if (!process.knows(to) || !from.ticket || !to->ticket || !from.timed || !to->timed)
      return invalid_resource_handle;
    if (!process.poll(from.ticket) || !process.poll(to->ticket)) return not_ready;
    *ms = static_cast<float>((to->ticket->end - from.ticket->end).us() * 1e-3);
    return success;
  });
}
ISLEWAY_API int cudaEventElapsedTime_v2(float* ms, void* start, void* end) {
  return cudaEventElapsedTime(ms, start, end);
}

// Between processes: a handle says where in the run's shared memory the event is.
namespace {
constexpr std::uint64_t kEventMagic = 0x746e657665766c69;  // "ilvevent"
struct SharedEventHandle {
  std::uint64_t magic, place;
};
}  // namespace

ISLEWAY_API int cudaIpcGetEventHandle(IpcHandle* handle, void* event) {
  return with_event(__func__, event, [&](Process&, Event& e) -> int {
    if (handle == nullptr || e.shared == 0) return invalid_value;
    const SharedEventHandle shared{kEventMagic, e.shared};
    *handle = IpcHandle{};
    std::memcpy(handle->bytes, &shared, sizeof shared);
    return success;
  });
}
ISLEWAY_API int cudaIpcOpenEventHandle(void** event, IpcHandle handle) {
  return with_device(__func__, [&](Process& process, int device) -> int {
    SharedEventHandle shared;
    std::memcpy(&shared, handle.bytes, sizeof shared);
    if (event == nullptr || shared.magic != kEventMagic) return invalid_value;
    *event = process.open_event(device, shared.place);
    return success;
  });
}

ISLEWAY_PER_THREAD(cudaStreamSynchronize, _ptsz);
ISLEWAY_PER_THREAD(cudaStreamQuery, _ptsz);
ISLEWAY_PER_THREAD(cudaStreamWaitEvent, _ptsz);
ISLEWAY_PER_THREAD(cudaStreamGetFlags, _ptsz);
ISLEWAY_PER_THREAD(cudaStreamGetPriority, _ptsz);
ISLEWAY_PER_THREAD(cudaStreamGetDevice, _ptsz);
ISLEWAY_PER_THREAD(cudaStreamGetId, _ptsz);
ISLEWAY_PER_THREAD(cudaStreamCopyAttributes, _ptsz);
ISLEWAY_PER_THREAD(cudaStreamGetAttribute, _ptsz);
ISLEWAY_PER_THREAD(cudaStreamSetAttribute, _ptsz);
ISLEWAY_PER_THREAD(cudaStreamAttachMemAsync, _ptsz);
ISLEWAY_PER_THREAD(cudaStreamAddCallback, _ptsz);
ISLEWAY_PER_THREAD(cudaLaunchHostFunc, _ptsz);
ISLEWAY_PER_THREAD(cudaEventRecord, _ptsz);
ISLEWAY_PER_THREAD(cudaEventRecordWithFlags, _ptsz);
