// A wiring at other prices, for what-ifs.
#pragma once

#include <functional>
#include <utility>

#include "isleway/engine/wiring.hpp"

namespace isleway {

/// What to change about a wiring.
struct Repricing {
  /// May be empty. What it does to a connection must depend on that alone.
  std::function<void(Connection&)> connection = {};
  double start = 1;  ///< times what the call waits for before it starts
};

/// `base` must outlive it.
class ChangedWiring final : public Wiring {
 public:
  ChangedWiring(const Wiring& base, Repricing repricing)
      : base_(base), repricing_(std::move(repricing)) {}

  Connection connection(Port from, Port to) const override {
    Connection connection = base_.connection(from, to);
    if (repricing_.connection) repricing_.connection(connection);
    return connection;
  }
  Rate own_rate(bool reduces) const override { return base_.own_rate(reduces); }
  Time start() const override { return base_.start().scaled(repricing_.start); }
  Time finish() const override { return base_.finish(); }

 private:
  const Wiring& base_;
  Repricing repricing_;
};

}  // namespace isleway
