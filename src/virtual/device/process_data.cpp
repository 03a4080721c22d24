// The part of a process that moves bytes: over which links, and when they are really moved.
#include <algorithm>
#include <cstring>

#include "virtual/device/process.hpp"

namespace isleway::vgpu {

Copies& Process::copies() {
  const auto now = present();
  if (!copies_) copies_ = std::make_unique<Copies>(now, world_->parts(), timeline_);
  return *copies_;
}

Result<Work> Process::copy_work(void* to, const void* from, std::uint64_t bytes) {
  const Block* target = memory_->find(to);
  const Block* source = memory_->find(from);
  if (target != nullptr && target->space == Space::multicast)
    return multicast_work(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes);
  if (source != nullptr && source->space == Space::multicast)
    return fail("a multicast object is only written to by copies");
  const auto place = [](const Block* block) -> std::optional<GpuId> {
    if (block == nullptr || block->on_host()) return std::nullopt;
    return block->gpu;
  };
  const auto a = place(source), b = place(target);
  bool peers = true;
  if (a && b && *a != *b) {
    const int da = device_of(*a), db = device_of(*b);
    // What is mapped here says itself who may reach it.
    peers = da < 0 || db < 0 || source->space == Space::mapped || target->space == Space::mapped ||
            peer_enabled(da, db) || peer_enabled(db, da);
  }
  Work work;
  if (bytes > 0 && (a || b)) {
    auto flow = copies().flow(a, b, peers, bytes);
    if (!flow) return tl::unexpected(flow.error());
    work.kind = Work::Kind::flow;
    work.flow = *flow;
  }
  const Span reads{static_cast<const std::byte*>(from), bytes};
  const Span writes{static_cast<const std::byte*>(to), bytes};
  work.effect = [this, reads, writes, to, from, bytes, a, b, peers] {
    copies().count(a, b, peers, bytes, [this](LinkId link, bool forward, std::uint64_t count) {
      world_->count_link_bytes(link, forward, count);
    });
    do_data({{reads}, {writes}, [to, from, bytes] { std::memmove(to, from, bytes); }});
  };
  return work;
}

Result<Work> Process::multicast_work(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  const Block* source = memory_->find(from);
  const std::vector<MappedMemory::Target> all = mapped_->targets(to, bytes);
  if (all.empty()) return fail("no memory is bound to the multicast object");
  if (source == nullptr || !source->on_gpu() || source->space == Space::multicast)
    return fail("a multicast object is written from one GPU's memory");
  std::vector<GpuId> gpus;
  for (const MappedMemory::Target& each : all) gpus.push_back(each.gpu);
  std::ranges::sort(gpus);
  auto flow = copies().multicast(source->gpu, gpus, bytes);
  if (!flow) return tl::unexpected(flow.error());
  Work work;
  work.kind = Work::Kind::flow;
  work.flow = *flow;
  const GpuId sender = source->gpu;
  work.effect = [this, all, from, bytes, sender] {
    DataOp op;
    op.reads.push_back({from, bytes});
    for (const MappedMemory::Target& each : all) {
      op.writes.push_back({each.address, bytes});
      if (each.gpu != sender)
        copies().count(sender, each.gpu, true, bytes,
                       [this](LinkId link, bool forward, std::uint64_t count) {
                         world_->count_link_bytes(link, forward, count);
                       });
    }
    op.run = [all, from, bytes] {
      for (const MappedMemory::Target& each : all) std::memmove(each.address, from, bytes);
    };
    do_data(std::move(op));
  };
  return work;
}

std::optional<Time> Process::latency(GpuId from, std::optional<GpuId> to) {
  return copies().latency(from, to);
}

void Process::do_deferred() {
  const auto all = std::exchange(deferred_, {});
  for (const auto& [order, op] : all) do_data(op);
}

void Process::settle(const void* address, std::uint64_t bytes) {
  do_deferred();
  data_.settle({static_cast<const std::byte*>(address), bytes});
}

void Process::free_device(void* address) {
  const Block* block = memory_->find(address);
  if (block == nullptr) return;
  data_.forget({block->base, block->bytes});
  memory_->retire(block->base);
  memory_->release([this](const Block& old) { return data_.mentions({old.base, old.bytes}); });
}

void Process::do_data(DataOp op) {
  if (!world_->plan().data) return;
  if (std::ranges::any_of(deferred_, [&](const auto& other) { return conflict(op, other.second); }))
    do_deferred();
  // What the host, or another process, can look at without asking must be there.
  const bool seen = std::ranges::any_of(op.writes, [&](const Span& span) {
    const Block* block = memory_->find(span.first);
    return block == nullptr || !block->is_private();
  });
  const bool from_outside = std::ranges::any_of(op.reads, [&](const Span& span) {
    const Block* block = memory_->find(span.first);
    return block == nullptr || !block->is_private();
  });
  const std::vector<Span> writes = op.writes, reads = op.reads;
  data_.add(std::move(op));
  if (seen)
    for (const Span& span : writes) data_.settle(span);
  // The program may write its own memory from now on.
  if (from_outside)
    for (const Span& span : writes) data_.settle(span);
}

}  // namespace isleway::vgpu
