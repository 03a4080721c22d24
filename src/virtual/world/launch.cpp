#include "isleway/virtual/launch.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "isleway/core.hpp"
#include "virtual/world/apart.hpp"

namespace isleway::vgpu {
namespace {

namespace fs = std::filesystem;

constexpr const char* kClock = "libisleway-clock.so";

/// Beside the program while it is built, in lib/isleway once it is installed.
Result<fs::path> library_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  for (const char* below : {"virtual", "../lib/isleway/virtual"}) {
    const fs::path folder = program.parent_path() / below;
    if (fs::exists(folder / kClock, error)) return fs::weakly_canonical(folder, error);
  }
  return fail("the virtual GPUs' libraries were not found",
              "a folder virtual/ beside " + program.string());
}

/// As a shell finds it. Empty: nowhere.
std::string find_program(const std::string& name) {
  if (name.find('/') != name.npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path != nullptr ? path : "/usr/bin:/bin", ':')) {
    const std::string file = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
    std::error_code error;
    if (::access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file, error)) return file;
  }
  return {};
}

/// The value of a list variable with `first` in front.
std::string with_first(const char* variable, const std::string& first) {
  const char* old = std::getenv(variable);
  return old == nullptr || *old == '\0' ? first : first + ":" + old;
}

[[noreturn]] void become(const std::string& program, const std::vector<std::string>& command,
                         const fs::path& libraries, const World& world) {
  ::setenv("ISLEWAY_WORLD", world.name().c_str(), 1);
  ::setenv("LD_LIBRARY_PATH", with_first("LD_LIBRARY_PATH", libraries.string()).c_str(), 1);
  if (world.plan().time != TimeMode::real)
    ::setenv("LD_PRELOAD", with_first("LD_PRELOAD", (libraries / kClock).string()).c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  fmt::print(stderr, "isleway: {}: {}\n", program, std::strerror(errno));
  ::_exit(127);
}

/// For the handler, which is given nothing else.
volatile pid_t running = 0;
void hand_on(int signal) {
  if (running > 0) ::kill(running, signal);
}

Result<int> wait_for(pid_t child) {
  // The program gets the terminal's signals itself, and decides what becomes of the run.
  struct sigaction ignore {
  }, interrupt{}, quit{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGINT, &ignore, &interrupt);
  ::sigaction(SIGQUIT, &ignore, &quit);
  // Asked to end, the program ends first, and what the run shares is cleared away.
  running = child;
  struct sigaction forward {
  }, terminate{}, hang_up{};
  forward.sa_handler = hand_on;
  ::sigaction(SIGTERM, &forward, &terminate);
  ::sigaction(SIGHUP, &forward, &hang_up);
  int status = 0;
  pid_t ended;
  do ended = ::waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  running = 0;
  ::sigaction(SIGTERM, &terminate, nullptr);
  ::sigaction(SIGHUP, &hang_up, nullptr);
  ::sigaction(SIGINT, &interrupt, nullptr);
  ::sigaction(SIGQUIT, &quit, nullptr);
  if (ended < 0) return fail(std::string("the program was lost: ") + std::strerror(errno));
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Result<RunEnd> run_program(World& world, const std::vector<std::string>& command) {
  if (command.empty())
    return fail("no program to run", "isleway run -m MACHINE -- PROGRAM ARGUMENTS");
  const std::string program = find_program(command.front());
  if (program.empty())
    return fail("there is no program " + command.front(), "the path of an executable file");
  // Launchers such as mpirun are given the program as an argument.
  for (const std::string& word : command) {
    const std::string& file = &word == &command.front() ? program : word;
    std::error_code error;
    if (fs::is_regular_file(file, error) && has_static_cudart(file))
      return tl::unexpected(static_cudart_error(file));
  }
  const auto libraries = library_folder();
  if (!libraries) return tl::unexpected(libraries.error());

  std::fflush(nullptr);
  const pid_t child = fork_apart([&] { become(program, command, *libraries, world); });
  if (child < 0) return fail(std::string("no new process: ") + std::strerror(errno));
  const auto status = wait_for(child);
  if (!status) return tl::unexpected(status.error());

  RunEnd end;
  end.status = *status;
  if (world.processes().empty())
    end.remarks.push_back(
        "no process of the program used a virtual GPU: does it load libcudart.so, libnccl.so.2, "
        "libcuda.so.1 or libnvidia-ml.so.1?");
  if (!world.plan().data)
    end.remarks.push_back(
        "no data was moved (--data none): times are as with data, but what the program says of "
        "results means nothing");
  return end;
}

}  // namespace isleway::vgpu
