// A wiring at other prices, for what-ifs.
#pragma once

#include <functional>
#include <utility>

#include "isleway/engine/wiring.hpp"

namespace isleway {

/// `base` must outlive it. What `change` does to a connection must depend on that alone.
class ChangedWiring final : public Wiring {
 public:
  ChangedWiring(const Wiring& base, std::function<void(Connection&)> change, double start = 1)
      : base_(base), change_(std::move(change)), start_(start) {}

  Connection connection(Port from, Port to) const override {
    Connection connection = base_.connection(from, to);
    change_(connection);
    return connection;
  }
  /// `start` times what the call waits for on `base`.
  Time start() const override { return base_.start().scaled(start_); }
  Time finish() const override { return base_.finish(); }

 private:
  const Wiring& base_;
  std::function<void(Connection&)> change_;
  double start_;
};

}  // namespace isleway
