#include "isleway/link/congestion.hpp"

#include <algorithm>

namespace isleway::link {

double EcnRules::probability(std::int64_t queue_bytes) const {
  if (queue_bytes <= low.count()) return 0;
  if (queue_bytes >= high.count()) return 1;
  return most * static_cast<double>(queue_bytes - low.count()) /
         static_cast<double>(high.count() - low.count());
}

bool Dcqcn::notified(Time now) {
  rate(now);
  if (cut_once_ && now - last_cut_ < rules_->notification_gap) return false;
  target_ = current_;
  current_ = std::max(rules_->least, current_ * (1 - alpha_ / 2));
  alpha_ = (1 - rules_->gain) * alpha_ + rules_->gain;
  cut_once_ = true;
  increases_ = 0;
  last_cut_ = now;
  next_decay_ = now + rules_->alpha_timer;
  next_increase_ = now + rules_->increase_timer;
  return true;
}

void Dcqcn::increase() {
  ++increases_;
  if (increases_ > 2 * rules_->fast_recovery) {
    target_ = std::min(line_, target_ + rules_->hyper);
  } else if (increases_ > rules_->fast_recovery) {
    target_ = std::min(line_, target_ + rules_->additive);
  }
  current_ = std::min(line_, (current_ + target_) / 2);
}

Rate Dcqcn::rate(Time now) {
  // Until the first cut nothing is to be done; at the line rate nothing is left to do.
  while (cut_once_ && next_decay_ <= now) {
    alpha_ *= 1 - rules_->gain;
    next_decay_ += rules_->alpha_timer;
  }
  while (cut_once_ && current_ < line_ && next_increase_ <= now) {
    increase();
    next_increase_ += rules_->increase_timer;
  }
  return current_;
}

}  // namespace isleway::link
