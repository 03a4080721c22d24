// Calls between ncclGroupStart and ncclGroupEnd, which go on together.
#pragma once

#include <functional>
#include <vector>

#include "virtual/nccl/comm.hpp"

namespace isleway::vgpu::nccl {

/// Of the calling thread.
class Group {
 public:
  static Group& mine();

  void start() { ++depth_; }
  /// Launches all, where this ends the outermost group. The first error.
  int end(Process& process);
  /// Like end(), but says how long all would take instead of doing them.
  int simulate(Process& process, Time& estimate);
  bool open() const { return depth_ > 0; }

  /// Runs now, or with the group.
  int add(Process& process, RankHandle* handle, const Call& call, Stream* stream);
  int add(Process& process, RankHandle* handle, const Message& message, Stream* stream);
  /// A communicator that is being made; `complete` waits for the others.
  int add(Process& process, std::shared_ptr<Comm> comm);
  /// Something that can go on only when the group's other calls are made.
  void add(std::function<int()> later) { later_.push_back(std::move(later)); }
  void fail(int status) {
    if (error_ == success) error_ = status;
  }

 private:
  struct Item {
    RankHandle* handle;
    Stream* stream;
    std::optional<Call> call;  ///< else a message
    Message message;
  };
  struct Part {
    RankHandle* handle;
    Stream* stream;
    std::optional<Call> call;
    std::vector<Message> messages;
  };
  std::vector<Part> parts() const;
  int launch(Process& process);
  void clear();

  int depth_ = 0;
  int error_ = success;
  std::vector<Item> items_;
  std::vector<std::shared_ptr<Comm>> made_;
  std::vector<std::function<int()>> later_;
};

}  // namespace isleway::vgpu::nccl
