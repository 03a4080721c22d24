#include "virtual/world/apart.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace isleway::vgpu {
namespace {

/// clone() as fork() is: on a copy of the caller's stack.
pid_t fork_with(unsigned long flags) {
  return static_cast<pid_t>(::syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, 0));
}

/// The first process of its own space, until all others have ended. Ends as `program` ends.
[[noreturn]] void look_after(pid_t program) {
  static volatile pid_t looked_after;
  looked_after = program;
  const auto hand_on = [](int signal) { ::kill(looked_after, signal); };
  ::signal(SIGTERM, hand_on);
  ::signal(SIGHUP, hand_on);
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGQUIT, SIG_IGN);
  int result = 0;
  for (int status = 0;;) {
    const pid_t ended = ::wait(&status);
    if (ended < 0 && errno == EINTR) continue;
    if (ended < 0) ::_exit(result);
    if (ended != program) continue;
    result = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    // What the program leaves behind ends with this process.
    ::_exit(result);
  }
}

}  // namespace

pid_t fork_apart(const std::function<void()>& child) {
  int ready[2];
  if (::pipe2(ready, O_CLOEXEC) != 0) ready[0] = ready[1] = -1;
  const pid_t apart = ready[0] < 0 ? -1 : fork_with(CLONE_NEWPID | CLONE_NEWNS);
  if (apart == 0) {
    // /proc must speak of the same numbers.
    const bool mounted = ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         ::mount("proc", "/proc", "proc", 0, nullptr) == 0;
    if (!mounted) ::_exit(0);
    const pid_t program = ::fork();
    if (program == 0) {
      child();
      ::_exit(127);
    }
    if (program > 0 && ::write(ready[1], "1", 1) == 1) {
      ::close(ready[1]);
      look_after(program);
    }
    ::_exit(0);
  }
  bool works = false;
  if (ready[0] >= 0) {
    ::close(ready[1]);
    char byte;
    works = apart > 0 && ::read(ready[0], &byte, 1) == 1;
    ::close(ready[0]);
  }
  if (works) return apart;
  if (apart > 0) ::waitpid(apart, nullptr, 0);
  const pid_t plain = ::fork();
  if (plain == 0) {
    child();
    ::_exit(127);
  }
  return plain;
}

}  // namespace isleway::vgpu
