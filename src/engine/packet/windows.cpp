#include "engine/packet/windows.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/event_queue.hpp"

namespace isleway {
namespace {

/// Events of a window, some tens of microseconds' work, from which on waking others for the next
/// one pays.
constexpr std::uint64_t kWorthSharing = 200;
/// How often a thread looks for work before it sleeps, or lets others run.
constexpr int kPatience = 2000;

/// One thread leads: it opens windows and takes processes like all others. Whoever is ready takes
/// the next process, so that nobody waits for a thread that the system does not run.
class Windows {
 public:
  Windows(std::span<Process* const> processes, std::int64_t lookahead)
      : processes_(processes), lookahead_(lookahead) {
    for (auto& progress : progress_) progress.resize(processes.size());
    taken_ = processes.size();
  }

  void lead() {
    for (unsigned window = 0;; ++window) {
      std::int64_t first = kNever;
      std::uint64_t events = 0;
      for (const Process::Progress& one : progress_[window % 2]) {
        first = std::min(first, one.next);
        events += one.events;
      }
      if (first == kNever || first == Process::kStop) return;
      window_ = window;
      limit_ = processes_.size() == 1 ? kNever : first + lookahead_;
      done_.store(0, std::memory_order_relaxed);
      taken_.store(0, std::memory_order_release);
      opened_.fetch_add(1, std::memory_order_release);
      if (events > kWorthSharing) opened_.notify_all();
      take_all();
      await_others();
    }
  }

  void help() {
    for (unsigned seen = 0; !over_.load(std::memory_order_acquire);) {
      const unsigned opened = opened_.load(std::memory_order_acquire);
      if (opened != seen) {
        seen = opened;
        take_all();
        continue;
      }
      int tries = 0;
      while (tries < kPatience && opened_.load(std::memory_order_acquire) == seen) ++tries;
      if (tries == kPatience) opened_.wait(seen, std::memory_order_acquire);
    }
  }

  void end() {
    over_.store(true, std::memory_order_release);
    opened_.fetch_add(1, std::memory_order_release);
    opened_.notify_all();
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void take_all() {
    for (std::size_t i; (i = taken_.fetch_add(1, std::memory_order_acq_rel)) < processes_.size();) {
      progress_[(window_ + 1) % 2][i] = run(i);
      if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 == processes_.size())
        done_.notify_one();
    }
  }

  /// Until what they have taken is done.
  void await_others() {
    int tries = 0;
    for (std::size_t done; (done = done_.load(std::memory_order_acquire)) < processes_.size();)
      if (++tries > kPatience) done_.wait(done, std::memory_order_acquire);
  }

  Process::Progress run(std::size_t process) {
    try {
      return processes_[process]->run_until(limit_, window_);
    } catch (...) {
      const std::scoped_lock lock(failing_);
      if (!failure_) failure_ = std::current_exception();
      return {Process::kStop, 0};
    }
  }

  std::span<Process* const> processes_;
  std::int64_t lookahead_;
  /// By process, when the window before and when this one was over.
  std::array<std::vector<Process::Progress>, 2> progress_;
  // Of the open window; whoever takes a process sees them.
  unsigned window_ = 0;
  std::int64_t limit_ = 0;

  std::atomic<std::size_t> taken_, done_ = 0;
  std::atomic<unsigned> opened_ = 0;
  std::atomic<bool> over_ = false;
  std::mutex failing_;
  std::exception_ptr failure_;
};

}  // namespace

void run_windows(std::span<Process* const> processes, std::int64_t lookahead, unsigned threads) {
  Windows windows(processes, lookahead);
  {
    std::vector<std::jthread> others;
    for (unsigned t = 1; t < threads; ++t) others.emplace_back([&windows] { windows.help(); });
    windows.lead();
    windows.end();
  }
  windows.rethrow();
}

}  // namespace isleway
