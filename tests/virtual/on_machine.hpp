// Clients of the virtual libraries. A process is on one machine for its life, so that every test
// runs in a child of its own.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>

namespace isleway::testing {

/// Runs `client` in a child that sees the machine; fails where it fails.
inline void on_machine(const char* machine, const std::function<void()>& client) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::setenv("ISLEWAY_MACHINE", machine, 1);
    ::setenv("ISLEWAY_DATA", ISLEWAY_SOURCE_DIR, 1);
    ::unsetenv("ISLEWAY_WORLD");
    client();
    std::fflush(nullptr);
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "on " << machine;
}

}  // namespace isleway::testing
