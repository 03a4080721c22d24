// Clients of libcuda.so.1: memory that is made, given addresses and mapped in steps; what other
// processes import; multicast objects.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "virtual/call.hpp"
#include "virtual/on_machine.hpp"

namespace {

using isleway::testing::call;
using isleway::testing::on_machine;
using Pointer = unsigned long long;
using Handle = unsigned long long;
using Size = std::size_t;

constexpr Size kPage = Size{2} << 20;
enum { kFile = 1, kFabric = 8 };
enum Status {
  kSuccess = 0,
  kInvalidValue = 1,
  kNoMemory = 2,
  kBadDevice = 101,
  kIllegalState = 401,
  kIllegalAddress = 700,
  kNotPermitted = 800,
  kNotSupported = 801,
};

struct Location {
  int type, id;
};
struct Properties {
  int type = 1, handles = 0;
  Location location{1, 0};
  void* windows = nullptr;
  unsigned char flags[8] = {};
};
struct Access {
  Location location;
  int flags;
};
struct MulticastProperties {
  unsigned devices;
  Size size;
  unsigned long long handles, flags;
};
struct IpcHandle {
  unsigned char bytes[64];
};

void begin(int device = 0) {
  void* context = nullptr;
  ASSERT_EQ(call("cuInit", 0u), kSuccess);
  ASSERT_EQ(call("cuCtxCreate_v2", &context, 0u, device), kSuccess);
}
Handle create(int device, Size bytes = kPage, int handles = 0) {
  Properties properties;
  properties.location.id = device;
  properties.handles = handles;
  const Properties* given = &properties;
  Handle handle = 0;
  EXPECT_EQ(call("cuMemCreate", &handle, bytes, given, 0ull), kSuccess);
  return handle;
}
Pointer mapped(Handle handle, int device, Size bytes = kPage) {
  Pointer address = 0;
  EXPECT_EQ(call("cuMemAddressReserve", &address, bytes, Size{0}, Pointer{0}, 0ull), kSuccess);
  EXPECT_EQ(call("cuMemMap", address, bytes, Size{0}, handle, 0ull), kSuccess);
  const Access access = {{1, device}, 3};
  const Access* given = &access;
  EXPECT_EQ(call("cuMemSetAccess", address, bytes, given, Size{1}), kSuccess);
  return address;
}
unsigned word_at(Pointer address) {
  unsigned word = 0;
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(&word), address, sizeof word), kSuccess);
  return word;
}

TEST(CudaDriverVmm, MemoryIsMappedAndUnmapped) {
  on_machine("dgx-h100", [] {
    begin();
    Properties properties;
    const Properties* given = &properties;
    Size grain = 0;
    EXPECT_EQ(call("cuMemGetAllocationGranularity", &grain, given, 0), kSuccess);
    EXPECT_EQ(grain, kPage);
    Handle handle = 0, again = 0;
    EXPECT_EQ(call("cuMemCreate", &handle, kPage + 1, given, 0ull), kInvalidValue);
    EXPECT_EQ(call("cuMemCreate", &handle, Size{1} << 50, given, 0ull), kNoMemory);
    properties.location.id = 8;
    EXPECT_EQ(call("cuMemCreate", &handle, kPage, given, 0ull), kBadDevice);
    handle = create(1, 2 * kPage);

    Pointer address = 0;
    ASSERT_EQ(call("cuMemAddressReserve", &address, 4 * kPage, Size{1} << 26, Pointer{0}, 0ull),
              kSuccess);
    EXPECT_EQ(address % (Size{1} << 26), 0u);
    EXPECT_EQ(call("cuMemMap", address, 4 * kPage, Size{0}, handle, 0ull), kInvalidValue);
    ASSERT_EQ(call("cuMemMap", address + kPage, 2 * kPage, Size{0}, handle, 0ull), kSuccess);
    EXPECT_EQ(call("cuMemMap", address, 2 * kPage, Size{0}, handle, 0ull), kInvalidValue);
    // Nobody may touch it yet.
    EXPECT_EQ(call("cuMemsetD32_v2", address + kPage, 7u, Size{4}), kIllegalAddress);
    unsigned long long flags = 9;
    const Location here = {1, 1};
    const Location* at = &here;
    EXPECT_EQ(call("cuMemGetAccess", &flags, at, address + kPage), kSuccess);
    EXPECT_EQ(flags, 0u);
    const Access access = {here, 3};
    const Access* accesses = &access;
    EXPECT_EQ(call("cuMemSetAccess", address + kPage, 2 * kPage, accesses, Size{1}), kSuccess);
    EXPECT_EQ(call("cuMemGetAccess", &flags, at, address + kPage), kSuccess);
    EXPECT_EQ(flags, 3u);
    EXPECT_EQ(call("cuMemsetD32_v2", address + kPage, 7u, kPage / 2), kSuccess);
    EXPECT_EQ(word_at(address + 3 * kPage - 4), 7u);

    // The same memory at two addresses.
    const Pointer other = mapped(handle, 1, 2 * kPage);
    EXPECT_EQ(word_at(other), 7u);
    EXPECT_EQ(call("cuMemsetD32_v2", other, 8u, Size{1}), kSuccess);
    EXPECT_EQ(word_at(address + kPage), 8u);

    EXPECT_EQ(call("cuMemRetainAllocationHandle", &again, reinterpret_cast<void*>(other)),
              kSuccess);
    EXPECT_EQ(again, handle);
    Properties got;
    EXPECT_EQ(call("cuMemGetAllocationPropertiesFromHandle", &got, handle), kSuccess);
    EXPECT_EQ(got.location.id, 1);
    EXPECT_EQ(call("cuMemRelease", handle), kSuccess);
    EXPECT_EQ(call("cuMemRelease", handle), kSuccess);
    EXPECT_EQ(word_at(other), 8u);  // mapped memory stays
    EXPECT_EQ(call("cuMemUnmap", other, 2 * kPage), kSuccess);
    EXPECT_EQ(call("cuMemAddressFree", address, 4 * kPage), kInvalidValue);
    EXPECT_EQ(call("cuMemUnmap", address + kPage, 2 * kPage), kSuccess);
    EXPECT_EQ(call("cuMemAddressFree", address, 4 * kPage), kSuccess);
    EXPECT_EQ(call("cuMemRelease", handle), kInvalidValue);
    Size free = 0, total = 1;
    EXPECT_EQ(call("cuMemGetInfo_v2", &free, &total), kSuccess);
    EXPECT_EQ(free, total);
  });
}

/// Hands a file over a socket, as programs do with memory handles.
void send_file(int socket, int file) {
  char none = 0, control[CMSG_SPACE(sizeof file)] = {};
  iovec data{&none, 1};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof file);
  std::memcpy(CMSG_DATA(header), &file, sizeof file);
  EXPECT_EQ(::sendmsg(socket, &message, 0), 1);
}
int receive_file(int socket) {
  char none = 0, control[CMSG_SPACE(sizeof(int))] = {};
  iovec data{&none, 1};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  EXPECT_EQ(::recvmsg(socket, &message, 0), 1);
  int file = -1;
  std::memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
  return file;
}

/// What one process makes and another one imports; `child` gets its end of the socket.
void two_processes(const char* machine, const std::function<void(int)>& parent,
                   const std::function<void(int)>& child) {
  on_machine(machine, [&] {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    begin(0);
    std::fflush(nullptr);
    const pid_t forked = ::fork();
    if (forked == 0) {
      child(ends[1]);
      ::_exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    parent(ends[0]);
    int status = 1;
    ::waitpid(forked, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  });
}
void tell(int socket) { EXPECT_EQ(::write(socket, "x", 1), 1); }
void hear(int socket) {
  char byte;
  EXPECT_EQ(::read(socket, &byte, 1), 1);
}

TEST(CudaDriverVmm, FilesCarryMemoryBetweenProcesses) {
  two_processes(
      "dgx-h100",
      [](int socket) {
        const Handle handle = create(0, kPage, kFile);
        const Pointer address = mapped(handle, 0);
        EXPECT_EQ(call("cuMemsetD32_v2", address, 0x1234u, kPage / 4), kSuccess);
        int file = -1;
        ASSERT_EQ(call("cuMemExportToShareableHandle", static_cast<void*>(&file), handle,
                       unsigned{kFile}, 0ull),
                  kSuccess);
        EXPECT_EQ(call("cuMemExportToShareableHandle", static_cast<void*>(&file), handle,
                       unsigned{kFabric}, 0ull),
                  kInvalidValue);
        send_file(socket, file);
        hear(socket);
        EXPECT_EQ(word_at(address), 0x4321u);
      },
      [](int socket) {
        const auto file = static_cast<std::intptr_t>(receive_file(socket));
        Handle handle = 0;
        ASSERT_EQ(call("cuMemImportFromShareableHandle", &handle, reinterpret_cast<void*>(file),
                       unsigned{kFile}),
                  kSuccess);
        const Pointer address = mapped(handle, 1);
        EXPECT_EQ(word_at(address + kPage - 4), 0x1234u);
        EXPECT_EQ(call("cuMemsetD32_v2", address, 0x4321u, Size{1}), kSuccess);
        tell(socket);
      });
}

TEST(CudaDriverVmm, FabricHandlesAreBytes) {
  on_machine("dgx-a100", [] {
    begin();
    Properties properties;
    properties.handles = kFabric;
    const Properties* given = &properties;
    Handle handle = 0;
    EXPECT_EQ(call("cuMemCreate", &handle, kPage, given, 0ull), kNotSupported);
  });
  on_machine("gb200-nvl72", [] {
    begin();
    const Handle handle = create(0, kPage, kFabric);
    unsigned char bytes[64] = {};
    ASSERT_EQ(call("cuMemExportToShareableHandle", static_cast<void*>(bytes), handle,
                   unsigned{kFabric}, 0ull),
              kSuccess);
    Handle again = 0;
    EXPECT_EQ(call("cuMemImportFromShareableHandle", &again, static_cast<void*>(bytes),
                   unsigned{kFabric}),
              kSuccess);
    EXPECT_EQ(again, handle);
    std::memset(bytes, 1, sizeof bytes);
    EXPECT_NE(call("cuMemImportFromShareableHandle", &again, static_cast<void*>(bytes),
                   unsigned{kFabric}),
              kSuccess);
  });
}

TEST(CudaDriverVmm, OneWriteReachesAllThatAreBound) {
  on_machine("dgx-h100", [] {
    begin();
    MulticastProperties properties = {2, kPage, 0, 0};
    const MulticastProperties* given = &properties;
    Size grain = 0;
    EXPECT_EQ(call("cuMulticastGetGranularity", &grain, given, 1), kSuccess);
    EXPECT_EQ(grain, kPage);
    Handle object = 0;
    ASSERT_EQ(call("cuMulticastCreate", &object, given), kSuccess);
    const Handle one = create(0), two = create(1);
    const Pointer first = mapped(one, 0), second = mapped(two, 1);
    EXPECT_EQ(call("cuMulticastAddDevice", object, 0), kSuccess);
    EXPECT_EQ(call("cuMulticastBindMem", object, Size{0}, one, Size{0}, kPage, 0ull),
              kIllegalState);  // a device is missing
    EXPECT_EQ(call("cuMulticastAddDevice", object, 1), kSuccess);
    EXPECT_EQ(call("cuMulticastAddDevice", object, 2), kInvalidValue);
    EXPECT_EQ(call("cuMulticastBindMem", object, Size{0}, one, Size{0}, kPage, 0ull), kSuccess);
    EXPECT_EQ(call("cuMulticastBindAddr", object, Size{0}, second, kPage, 0ull), kSuccess);
    const Pointer both = mapped(object, 0);
    EXPECT_EQ(call("cuMemsetD32_v2", both, 0x77u, kPage / 4), kSuccess);
    EXPECT_EQ(word_at(first + kPage - 4), 0x77u);
    EXPECT_EQ(word_at(second), 0x77u);
    Pointer source = 0;
    ASSERT_EQ(call("cuMemAlloc_v2", &source, kPage), kSuccess);
    EXPECT_EQ(call("cuMemsetD32_v2", source, 0x99u, kPage / 4), kSuccess);
    EXPECT_EQ(call("cuMemcpyDtoD_v2", both, source, kPage), kSuccess);
    EXPECT_EQ(word_at(first), 0x99u);
    EXPECT_EQ(word_at(second + 8), 0x99u);
    EXPECT_EQ(call("cuMulticastUnbind", object, 1, Size{0}, kPage), kSuccess);
    EXPECT_EQ(call("cuMulticastUnbind", object, 1, Size{0}, kPage), kInvalidValue);
    EXPECT_EQ(call("cuMemsetD32_v2", both, 0x55u, Size{1}), kSuccess);
    EXPECT_EQ(word_at(first), 0x55u);
    EXPECT_EQ(word_at(second), 0x99u);
  });
  on_machine("dgx-a100", [] {
    begin();
    MulticastProperties properties = {2, kPage, 0, 0};
    const MulticastProperties* given = &properties;
    Handle object = 0;
    EXPECT_EQ(call("cuMulticastCreate", &object, given), kNotSupported);
  });
}

TEST(CudaDriverVmm, ProcessesOpenMemoryAndEvents) {
  two_processes(
      "dgx-h100",
      [](int socket) {
        Pointer memory = 0;
        void* event = nullptr;
        IpcHandle shared, told;
        ASSERT_EQ(call("cuMemAlloc_v2", &memory, kPage), kSuccess);
        ASSERT_EQ(call("cuEventCreate", &event, 6u), kSuccess);
        ASSERT_EQ(call("cuIpcGetMemHandle", &shared, memory), kSuccess);
        ASSERT_EQ(call("cuIpcGetEventHandle", &told, event), kSuccess);
        EXPECT_EQ(call("cuMemsetD32Async", memory, 6u, kPage / 4, static_cast<void*>(nullptr)),
                  kSuccess);
        EXPECT_EQ(call("cuEventRecord", event, static_cast<void*>(nullptr)), kSuccess);
        EXPECT_EQ(::write(socket, &shared, sizeof shared), ssize_t{sizeof shared});
        EXPECT_EQ(::write(socket, &told, sizeof told), ssize_t{sizeof told});
        hear(socket);
      },
      [](int socket) {
        IpcHandle shared, told;
        EXPECT_EQ(::read(socket, &shared, sizeof shared), ssize_t{sizeof shared});
        EXPECT_EQ(::read(socket, &told, sizeof told), ssize_t{sizeof told});
        Pointer memory = 0;
        void* event = nullptr;
        ASSERT_EQ(call("cuIpcOpenEventHandle", &event, told), kSuccess);
        ASSERT_EQ(call("cuIpcOpenMemHandle", &memory, shared, 1u), kSuccess);
        EXPECT_EQ(call("cuIpcCloseMemHandle", memory), kSuccess);
        ASSERT_EQ(call("cuIpcOpenMemHandle_v2", &memory, shared, 1u), kSuccess);
        EXPECT_EQ(call("cuStreamWaitEvent", static_cast<void*>(nullptr), event, 0u), kSuccess);
        EXPECT_EQ(word_at(memory + kPage - 4), 6u);
        tell(socket);
      });
}

}  // namespace
