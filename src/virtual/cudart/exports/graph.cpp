// Captured streams, and graphs made of them or by hand.
#include <algorithm>
#include <cstring>

#include "virtual/cudart/exports/api.hpp"
#include "virtual/cudart/exports/boxes.hpp"
#include "virtual/cudart/fill.hpp"
#include "virtual/device/per_thread.hpp"

using namespace isleway::vgpu;
using namespace isleway::vgpu::cudart;

namespace {

/// cudaGraphExec_t points to one.
struct Executable {
  std::unique_ptr<Graph> graph;
  std::vector<Stream*> lanes;
};

/// cudaUserObject_t points to one.
struct UserObject {
  void (*destroy)(void*);
  void* data;
  long references;
};

enum CaptureStatus { none = 0, active = 1 };

unsigned long long next_capture() {
  static unsigned long long count = 0;
  return ++count;
}

std::vector<GraphNode*> list(GraphNode* const* nodes, std::size_t count) {
  return nodes == nullptr ? std::vector<GraphNode*>() : std::vector(nodes, nodes + count);
}

int add(const char* function, GraphNode** node, Graph* graph, GraphNode* const* after,
        std::size_t count, GraphNode::Kind kind, Recorded run) {
  return with_process(function, [&](Process&) -> int {
    if (node == nullptr || graph == nullptr || (count > 0 && after == nullptr))
      return invalid_value;
    *node = graph->add(kind, std::move(run), list(after, count));
    return success;
  });
}

int instantiate(const char* function, Executable** executable, Graph* graph) {
  return with_process(function, [&](Process&) -> int {
    if (executable == nullptr || graph == nullptr) return invalid_value;
    *executable = new Executable{graph->copy(), {}};
    return success;
  });
}

template <class Handle>
int nodes_of(const char* function, Graph* graph, Handle** nodes, std::size_t* count, bool roots) {
  if (graph == nullptr || count == nullptr) return remember(function, invalid_value);
  std::vector<GraphNode*> found;
  for (const auto& node : graph->nodes)
    if (!roots || node->after.empty()) found.push_back(node.get());
  if (nodes != nullptr) std::copy_n(found.begin(), std::min(*count, found.size()), nodes);
  *count = found.size();
  return success;
}

}  // namespace

ISLEWAY_API int cudaStreamBeginCapture(void* stream, int mode) {
  return with_stream(__func__, stream, [&](Process&, Stream& s) -> int {
    if (mode < 0 || mode > 2) return invalid_value;
    if (s.is_default) return capture_unsupported;
    if (s.capture) return illegal_state;
    s.capture = std::make_shared<Capture>();
    s.capture->origin = &s;
    s.capture->id = next_capture();
    s.capture->mode = mode;
    s.capture->lane_of(&s);
    return success;
  });
}
ISLEWAY_API int cudaStreamEndCapture(void* stream, Graph** graph) {
  return with_stream(__func__, stream, [&](Process& process, Stream& s) -> int {
    if (graph == nullptr) return invalid_value;
    *graph = nullptr;
    if (!s.capture) return illegal_state;
    if (s.capture->origin != &s) return capture_unmatched;
    const auto capture = s.capture;
    for (const Capture::Lane& lane : capture->lanes)
      if (process.knows(lane.stream)) lane.stream->capture.reset();
    *graph = capture->graph.release();
    return success;
  });
}
ISLEWAY_API int cudaStreamIsCapturing(void* stream, int* status) {
  return with_stream(__func__, stream, [&](Process&, Stream& s) -> int {
    if (status == nullptr) return invalid_value;
    *status = s.capture ? active : none;
    return success;
  });
}

namespace {
int capture_info(const char* function, void* stream, int* status, unsigned long long* id,
                 Graph** graph, GraphNode* const** ends, const void** edges, std::size_t* count) {
  return with_stream(function, stream, [&](Process&, Stream& s) -> int {
    if (status == nullptr) return invalid_value;
    *status = s.capture ? active : none;
    if (!s.capture) return success;
    auto& lane = s.capture->lanes[static_cast<std::size_t>(s.capture->lane_of(&s))];
    if (id != nullptr) *id = s.capture->id;
    if (graph != nullptr) *graph = s.capture->graph.get();
    if (ends != nullptr) *ends = lane.ends.data();
    if (edges != nullptr) *edges = nullptr;
    if (count != nullptr) *count = lane.ends.size();
    return success;
  });
}
int update_ends(const char* function, void* stream, GraphNode* const* nodes, std::size_t count,
                unsigned flags) {
  return with_stream(function, stream, [&](Process&, Stream& s) -> int {
    if (!s.capture) return illegal_state;
    if (flags > 1 || (count > 0 && nodes == nullptr)) return invalid_value;
    auto& ends = s.capture->lanes[static_cast<std::size_t>(s.capture->lane_of(&s))].ends;
    if (flags == 1) ends.clear();
    ends.insert(ends.end(), nodes, nodes + count);
    return success;
  });
}
}  // namespace

#if ISLEWAY_CUDART == 13
ISLEWAY_API int cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id,
                                         Graph** graph, GraphNode* const** ends, const void** edges,
                                         std::size_t* count) {
  return capture_info(__func__, stream, status, id, graph, ends, edges, count);
}
ISLEWAY_API int cudaStreamUpdateCaptureDependencies(void* stream, GraphNode** nodes, const void*,
                                                    std::size_t count, unsigned flags) {
  return update_ends(__func__, stream, nodes, count, flags);
}
ISLEWAY_API int cudaGraphAddDependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to,
                                         const void*, std::size_t count) {
#else
ISLEWAY_API int cudaStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* id,
                                            Graph** graph, GraphNode* const** ends,
                                            std::size_t* count) {
  return capture_info(__func__, stream, status, id, graph, ends, nullptr, count);
}
ISLEWAY_API int cudaStreamGetCaptureInfo_v3(void* stream, int* status, unsigned long long* id,
                                            Graph** graph, GraphNode* const** ends,
                                            const void** edges, std::size_t* count) {
  return capture_info(__func__, stream, status, id, graph, ends, edges, count);
}
ISLEWAY_API int cudaStreamUpdateCaptureDependencies(void* stream, GraphNode** nodes,
                                                    std::size_t count, unsigned flags) {
  return update_ends(__func__, stream, nodes, count, flags);
}
ISLEWAY_API int cudaGraphAddDependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to,
                                         std::size_t count) {
#endif
  if (graph == nullptr || (count > 0 && (from == nullptr || to == nullptr)))
    return remember(__func__, invalid_value);
  for (std::size_t i = 0; i < count; ++i) to[i]->after.push_back(from[i]);
  // Launching goes through the nodes in order.
  const auto place = [&](const GraphNode* node) {
    return std::find_if(graph->nodes.begin(), graph->nodes.end(),
                        [&](const auto& own) { return own.get() == node; });
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t i = 0; i < graph->nodes.size() && !moved; ++i)
      for (const GraphNode* before : graph->nodes[i]->after) {
        const auto at = place(before);
        if (at == graph->nodes.end() || at - graph->nodes.begin() < static_cast<std::ptrdiff_t>(i))
          continue;
        std::rotate(graph->nodes.begin() + static_cast<std::ptrdiff_t>(i), at, at + 1);
        moved = true;
        break;
      }
  }
  return success;
}

ISLEWAY_API int cudaThreadExchangeStreamCaptureMode(int* mode) {
  thread_local int current = 0;
  if (mode == nullptr || *mode < 0 || *mode > 2) return remember(__func__, invalid_value);
  std::swap(*mode, current);
  return success;
}

ISLEWAY_API int cudaGraphCreate(Graph** graph, unsigned flags) {
  if (graph == nullptr || flags != 0) return remember(__func__, invalid_value);
  *graph = new Graph;
  return success;
}
ISLEWAY_API int cudaGraphDestroy(Graph* graph) {
  if (graph == nullptr) return remember(__func__, invalid_value);
  for (const auto& [destroy, data] : graph->kept) destroy(data);
  delete graph;
  return success;
}
ISLEWAY_API int cudaGraphClone(Graph** copy, Graph* graph) {
  if (copy == nullptr || graph == nullptr) return remember(__func__, invalid_value);
  *copy = graph->copy().release();
  return success;
}
ISLEWAY_API int cudaGraphGetNodes(Graph* graph, GraphNode** nodes, std::size_t* count) {
  return nodes_of(__func__, graph, nodes, count, false);
}
ISLEWAY_API int cudaGraphGetRootNodes(Graph* graph, GraphNode** nodes, std::size_t* count) {
  return nodes_of(__func__, graph, nodes, count, true);
}
ISLEWAY_API int cudaGraphNodeGetType(GraphNode* node, int* type) {
  if (node == nullptr || type == nullptr) return remember(__func__, invalid_value);
  *type = static_cast<int>(node->kind);
  return success;
}
ISLEWAY_API int cudaGraphAddEmptyNode(GraphNode** node, Graph* graph, GraphNode* const* after,
                                      std::size_t count) {
  return add(__func__, node, graph, after, count, GraphNode::Kind::empty, {});
}
ISLEWAY_API int cudaGraphAddEventRecordNode(GraphNode** node, Graph* graph, GraphNode* const* after,
                                            std::size_t count, void* event) {
  auto* known = static_cast<Event*>(event);
  return add(__func__, node, graph, after, count, GraphNode::Kind::record_event,
             [known](Process& process, Stream& stream) {
               if (process.knows(known)) process.record(*known, stream);
             });
}
ISLEWAY_API int cudaGraphAddEventWaitNode(GraphNode** node, Graph* graph, GraphNode* const* after,
                                          std::size_t count, void* event) {
  auto* known = static_cast<Event*>(event);
  return add(__func__, node, graph, after, count, GraphNode::Kind::wait_event,
             [known](Process& process, Stream& stream) {
               if (process.knows(known))
                 if (const Ticket& ticket = process.ticket(*known)) process.wait(stream, ticket);
               process.put(stream, Work{});
             });
}

namespace {
struct HostParams {
  void (*function)(void*);
  void* data;
};
struct KernelParams {
  const void* stub;
  Dim3 grid, block;
  unsigned shared;
  void** arguments;
  void** packed;
};
struct MemsetParams {
  void* to;
  std::size_t pitch;
  unsigned value, element;
  std::size_t width, height;
};
}  // namespace

ISLEWAY_API int cudaGraphAddHostNode(GraphNode** node, Graph* graph, GraphNode* const* after,
                                     std::size_t count, const HostParams* params) {
  if (params == nullptr || params->function == nullptr) return remember(__func__, invalid_value);
  return add(__func__, node, graph, after, count, GraphNode::Kind::host,
             [call = *params](Process& process, Stream& stream) {
               Work work;
               work.effect = [call] { call.function(call.data); };
               process.put(stream, std::move(work));
             });
}
ISLEWAY_API int cudaGraphAddMemcpyNode1D(GraphNode** node, Graph* graph, GraphNode* const* after,
                                         std::size_t count, void* to, const void* from,
                                         std::size_t bytes, int) {
  if (to == nullptr || from == nullptr) return remember(__func__, invalid_value);
  return add(__func__, node, graph, after, count, GraphNode::Kind::copy,
             [=](Process& process, Stream& stream) {
               if (auto work = process.copy_work(to, from, bytes))
                 process.put(stream, std::move(*work));
             });
}
ISLEWAY_API int cudaGraphAddMemcpyNode(GraphNode** node, Graph* graph, GraphNode* const* after,
                                       std::size_t count, const Copy3D* params) {
  if (params == nullptr) return remember(__func__, invalid_value);
  const auto box = box_of(*params);
  if (!box) return remember(__func__, not_supported);
  return add(__func__, node, graph, after, count, GraphNode::Kind::copy,
             [box = *box](Process& process, Stream& stream) {
               if (auto work = copy_work(process, box)) process.put(stream, std::move(*work));
             });
}
ISLEWAY_API int cudaGraphAddKernelNode(GraphNode** node, Graph* graph, GraphNode* const* after,
                                       std::size_t count, const KernelParams* params) {
  if (params == nullptr) return remember(__func__, invalid_value);
  if (params->packed != nullptr) return remember(__func__, not_supported);
  const std::string* name = kernel_table().find(params->stub);
  if (name == nullptr) return remember(__func__, invalid_device_function);
  std::optional<KernelWork> work;
  const int status = with_device(__func__, [&](Process& process, int device) -> int {
    work = work_of_kernel(process, {*name, params->grid, params->block, params->arguments, device});
    return success;
  });
  if (status != success) return status;
  return add(__func__, node, graph, after, count, GraphNode::Kind::kernel,
             [work = std::move(*work)](Process& p, Stream& s) { p.put(s, work(p, s)); });
}
ISLEWAY_API int cudaGraphAddMemsetNode(GraphNode** node, Graph* graph, GraphNode* const* after,
                                       std::size_t count, const MemsetParams* params) {
  if (params == nullptr || params->to == nullptr || params->element == 0)
    return remember(__func__, invalid_value);
  const Fill fill{static_cast<std::byte*>(params->to),
                  params->pitch,
                  params->value,
                  params->element,
                  params->width * params->element,
                  std::max<std::size_t>(params->height, 1)};
  return add(__func__, node, graph, after, count, GraphNode::Kind::set,
             [fill](Process& process, Stream& stream) {
               process.put(stream, fill_work(process, stream.device, fill));
             });
}
ISLEWAY_API int cudaGraphAddChildGraphNode(GraphNode** node, Graph* graph, GraphNode* const* after,
                                           std::size_t count, Graph* child) {
  if (child == nullptr) return remember(__func__, invalid_value);
  std::shared_ptr<Graph> own = child->copy();
  return add(__func__, node, graph, after, count, GraphNode::Kind::child,
             [own](Process& process, Stream& stream) {
               std::vector<Stream*> lanes;
               own->launch(process, stream, lanes);
             });
}

ISLEWAY_API int cudaGraphInstantiate(Executable** executable, Graph* graph, unsigned long long) {
  return instantiate(__func__, executable, graph);
}
ISLEWAY_API int cudaGraphInstantiateWithFlags(Executable** executable, Graph* graph,
                                              unsigned long long) {
  return instantiate(__func__, executable, graph);
}
ISLEWAY_API int cudaGraphInstantiateWithParams(Executable** executable, Graph* graph, void*) {
  return instantiate(__func__, executable, graph);
}
ISLEWAY_API int cudaGraphExecDestroy(Executable* executable) {
  if (executable == nullptr) return remember(__func__, invalid_value);
  delete executable;
  return success;
}
ISLEWAY_API int cudaGraphExecUpdate(Executable* executable, Graph* graph, void*) {
  if (executable == nullptr || graph == nullptr) return remember(__func__, invalid_value);
  executable->graph = graph->copy();
  return success;
}
ISLEWAY_API int cudaGraphUpload(Executable* executable, void*) {
  return remember(__func__, executable == nullptr ? invalid_value : success);
}
ISLEWAY_API int cudaGraphLaunch(Executable* executable, void* stream) {
  return with_stream(__func__, stream, [&](Process& process, Stream& s) -> int {
    if (executable == nullptr) return invalid_value;
    process.clock().work(process.costs().enqueue);
    if (s.capture) {
      std::shared_ptr<Graph> own = executable->graph->copy();
      s.capture->record(s, GraphNode::Kind::child, [own](Process& p, Stream& on) {
        std::vector<Stream*> lanes;
        own->launch(p, on, lanes);
      });
      return success;
    }
    executable->graph->launch(process, s, executable->lanes);
    return success;
  });
}

ISLEWAY_API int cudaUserObjectCreate(UserObject** object, void* data, void (*destroy)(void*),
                                     unsigned references, unsigned) {
  if (object == nullptr || destroy == nullptr) return remember(__func__, invalid_value);
  *object = new UserObject{destroy, data, references};
  return success;
}
ISLEWAY_API int cudaUserObjectRetain(UserObject* object, unsigned count) {
  if (object == nullptr) return remember(__func__, invalid_value);
  object->references += count;
  return success;
}
ISLEWAY_API int cudaUserObjectRelease(UserObject* object, unsigned count) {
  if (object == nullptr) return remember(__func__, invalid_value);
  object->references -= count;
  if (object->references > 0) return success;
  object->destroy(object->data);
  delete object;
  return success;
}
ISLEWAY_API int cudaGraphRetainUserObject(Graph* graph, UserObject* object, unsigned count,
                                          unsigned flags) {
  if (graph == nullptr || object == nullptr) return remember(__func__, invalid_value);
  constexpr unsigned move = 1;
  if (flags != move) object->references += count;
  graph->kept.emplace_back(
      [](void* data) { cudaUserObjectRelease(static_cast<UserObject*>(data), 1); }, object);
  return success;
}
ISLEWAY_API int cudaGraphReleaseUserObject(Graph* graph, UserObject* object, unsigned) {
  if (graph == nullptr || object == nullptr) return remember(__func__, invalid_value);
  const auto found = std::find_if(graph->kept.begin(), graph->kept.end(),
                                  [&](const auto& kept) { return kept.second == object; });
  if (found == graph->kept.end()) return remember(__func__, invalid_value);
  graph->kept.erase(found);
  return cudaUserObjectRelease(object, 1);
}

ISLEWAY_PER_THREAD(cudaGraphLaunch, _ptsz);
ISLEWAY_PER_THREAD(cudaGraphUpload, _ptsz);
ISLEWAY_PER_THREAD(cudaStreamBeginCapture, _ptsz);
ISLEWAY_PER_THREAD(cudaStreamEndCapture, _ptsz);
ISLEWAY_PER_THREAD(cudaStreamIsCapturing, _ptsz);
ISLEWAY_PER_THREAD(cudaGraphInstantiateWithParams, _ptsz);
#if ISLEWAY_CUDART == 13
ISLEWAY_PER_THREAD(cudaStreamGetCaptureInfo, _ptsz);
ISLEWAY_PER_THREAD(cudaStreamUpdateCaptureDependencies, _ptsz);
#else
ISLEWAY_PER_THREAD(cudaStreamGetCaptureInfo_v2, _ptsz);
ISLEWAY_PER_THREAD(cudaStreamGetCaptureInfo_v3, _ptsz);
ISLEWAY_PER_THREAD(cudaStreamUpdateCaptureDependencies, _ptsz);
#endif
