// How fast copies of programs on virtual GPUs really are, beside plain memcpy: in processor
// seconds, which virtual time does not change.
//   isleway run -m dgx-h100 -- build/bench/virtual_copies [MiB]
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>

extern "C" {
int cudaMalloc(void**, std::size_t);
int cudaHostAlloc(void**, std::size_t, unsigned);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaMemset(void*, int, std::size_t);
}

namespace {

double processor_seconds() {
  std::timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// The best of several, after one that touches all pages.
template <class Copy>
double gigabytes_per_second(std::size_t bytes, Copy copy) {
  double best = 0;
  copy(0);
  for (int i = 1; i <= 5; ++i) {
    const double begin = processor_seconds();
    copy(i);
    best = std::max(best, static_cast<double>(bytes) / (processor_seconds() - begin) * 1e-9);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t bytes = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 512) << 20;
  constexpr int to_device = 1, to_host = 2, between_devices = 3;
  void *pinned = nullptr, *device = nullptr, *other = nullptr;
  if (cudaHostAlloc(&pinned, bytes, 0) != 0 || cudaMalloc(&device, bytes) != 0 ||
      cudaMalloc(&other, bytes) != 0)
    return 1;
  std::memset(pinned, 1, bytes);
  const std::unique_ptr<char[]> from(new char[bytes]), to(new char[bytes]);
  std::memset(from.get(), 1, bytes);
  const double plain = gigabytes_per_second(bytes, [&](int i) {
    from[0] = static_cast<char>(i);
    std::memcpy(to.get(), from.get(), bytes);
  });
  const auto tell = [&](const char* what, double rate) {
    std::printf("%-24s %6.2f GB/s  %3.0f%%\n", what, rate, 100 * rate / plain);
  };
  tell("memcpy", plain);
  tell("pinned to device",
       gigabytes_per_second(bytes, [&](int) { cudaMemcpy(device, pinned, bytes, to_device); }));
  tell("device to pinned",
       gigabytes_per_second(bytes, [&](int) { cudaMemcpy(pinned, device, bytes, to_host); }));
  tell("pageable to device",
       gigabytes_per_second(bytes, [&](int) { cudaMemcpy(device, from.get(), bytes, to_device); }));
  tell("device to device", gigabytes_per_second(bytes, [&](int i) {
         cudaMemcpy(other, device, bytes, between_devices);
         cudaMemcpy(pinned, other, 1, to_host);  // what nobody looks at is not copied
         cudaMemset(device, i, 1);
       }));
  return 0;
}
