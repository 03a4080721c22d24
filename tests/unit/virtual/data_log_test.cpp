#include "virtual/device/data_log.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstring>

namespace isleway::vgpu {
namespace {

using Bytes = std::array<std::byte, 64>;

Span span(const Bytes& bytes, std::size_t first, std::size_t count) {
  return {bytes.data() + first, count};
}

TEST(DataLog, WhatIsOverwrittenUnreadIsNeverDone) {
  Bytes memory{};
  int done = 0;
  DataLog log;
  for (int i = 0; i < 20; ++i) log.add({{}, {span(memory, 0, 64)}, [&] { ++done; }});
  log.settle(span(memory, 5, 1));
  EXPECT_EQ(done, 1);
}

TEST(DataLog, WhatIsReadInBetweenIsDone) {
  Bytes a{}, b{};
  int first = 0, second = 0;
  DataLog log;
  log.add({{}, {span(a, 0, 64)}, [&] { ++first; }});
  log.add({{span(a, 0, 64)}, {span(b, 0, 64)}, [&] { ++second; }});
  log.add({{}, {span(a, 0, 64)}, [] {}});
  log.settle(span(b, 0, 1));
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
}

TEST(DataLog, OnlyWhatIsNeededIsDone) {
  Bytes a{}, b{};
  int needed = 0, other = 0;
  DataLog log;
  log.add({{}, {span(a, 0, 32)}, [&] { ++needed; }});
  log.add({{}, {span(b, 0, 32)}, [&] { ++other; }});
  log.settle(span(a, 31, 1));
  EXPECT_EQ(needed, 1);
  EXPECT_EQ(other, 0);
  EXPECT_TRUE(log.mentions(span(b, 0, 1)));
  log.forget(span(b, 0, 64));
  EXPECT_FALSE(log.mentions(span(b, 0, 1)));
}

struct Copy {
  std::size_t from, to, count;
  bool fill;
  std::uint8_t value;
};

/// What a fill writes there.
std::byte filled(const Copy& copy, std::size_t at) {
  return static_cast<std::byte>(copy.value + at);
}

void run(Bytes& memory, const Copy& copy) {
  if (!copy.fill) std::memmove(memory.data() + copy.to, memory.data() + copy.from, copy.count);
  else
    for (std::size_t i = 0; i < copy.count; ++i) memory[copy.to + i] = filled(copy, i);
}

/// Of `lazy`. Some copies take what they read from whoever can make it.
DataOp operation(Bytes& lazy, const Copy& copy, bool takes_parts) {
  DataOp op;
  op.writes.push_back(span(lazy, copy.to, copy.count));
  op.run = [&lazy, copy] { run(lazy, copy); };
  if (copy.fill) {
    op.produce = [copy](std::size_t offset, std::span<std::byte> out) {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = filled(copy, offset + i);
    };
    return op;
  }
  op.reads.push_back(span(lazy, copy.from, copy.count));
  if (takes_parts)
    op.run_from = [&lazy, copy](std::span<const Producer> sources) {
      Bytes value{};
      if (!sources[0]) std::memcpy(value.data(), lazy.data() + copy.from, copy.count);
      else
        for (std::size_t i = 0; i < copy.count; ++i) sources[0](i, std::span(value).subspan(i, 1));
      std::memcpy(lazy.data() + copy.to, value.data(), copy.count);
    };
  return op;
}

/// Whatever is copied over whatever else, and wherever one looks in between.
RC_GTEST_PROP(DataLog, GivesWhatDoingAllInOrderGives, ()) {
  Bytes lazy{}, eager{};
  for (std::size_t i = 0; i < lazy.size(); ++i) lazy[i] = eager[i] = static_cast<std::byte>(i);
  DataLog log;
  const int steps = *rc::gen::inRange(1, 40);
  for (int i = 0; i < steps; ++i) {
    Copy copy{};
    copy.count = *rc::gen::inRange<std::size_t>(1, 33);
    copy.from = *rc::gen::inRange<std::size_t>(0, 64 - copy.count + 1);
    copy.to = *rc::gen::inRange<std::size_t>(0, 64 - copy.count + 1);
    copy.fill = *rc::gen::arbitrary<bool>();
    copy.value = *rc::gen::arbitrary<std::uint8_t>();
    run(eager, copy);
    log.add(operation(lazy, copy, *rc::gen::arbitrary<bool>()));
    if (*rc::gen::inRange(0, 4) != 0) continue;
    const auto first = *rc::gen::inRange<std::size_t>(0, 64);
    const auto count = *rc::gen::inRange<std::size_t>(1, 65 - first);
    if (const Producer known = log.producer(span(lazy, first, count))) {
      Bytes value{};
      known(0, std::span(value).first(count));
      RC_ASSERT(std::memcmp(value.data(), eager.data() + first, count) == 0);
      continue;
    }
    log.settle(span(lazy, first, count));
    RC_ASSERT(std::memcmp(lazy.data() + first, eager.data() + first, count) == 0);
  }
  log.settle_all();
  RC_ASSERT(lazy == eager);
}

TEST(DataLog, WhatCanBeMadeInPartsIsNotWrittenDown) {
  Bytes input{}, output{};
  int written = 0, summed = 0;
  DataLog log;
  DataOp fill{{}, {span(input, 0, 64)}, [&] { ++written; }};
  fill.produce = [](std::size_t, std::span<std::byte> out) {
    for (std::byte& byte : out) byte = std::byte{3};
  };
  log.add(fill);
  DataOp reduce{{span(input, 0, 64)}, {span(output, 0, 64)}, {}};
  reduce.run_from = [&](std::span<const Producer> sources) {
    ++summed;
    ASSERT_TRUE(sources[0]);
    sources[0](0, output);
  };
  log.add(reduce);
  log.settle(span(output, 0, 64));
  EXPECT_EQ(summed, 1);
  EXPECT_EQ(written, 0);
  EXPECT_EQ(output[63], std::byte{3});
  log.settle(span(input, 0, 1));  // until somebody looks
  EXPECT_EQ(written, 1);
}

}  // namespace
}  // namespace isleway::vgpu
