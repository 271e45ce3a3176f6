// SPDX-License-Identifier: Apache-2.0
// Containers of C++ count as buffers do.
#include "headrace/memory/adaptors/allocator.h"

#include "headrace/base/error.h"
#include "headrace/memory/adaptors/recording_adaptors.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/log/tag.h"

#include <gtest/gtest.h>

#include <limits>
#include <list>
#include <map>
#include <numeric>
#include <thread>
#include <vector>

namespace hr {

namespace {

TEST(Allocator, ChargesTagsAndGivesBack) {
  const int64_t before = memory_statistics().used_bytes;
  const uint64_t serial = last_serial();
  {
    const ScopedTag tag(intern_tag("my_job", "job.py:7"));
    std::vector<double, allocator<double>> values(1000);
    std::iota(values.begin(), values.end(), 0);
    EXPECT_EQ(memory_statistics().used_bytes, before + 8000 + 64);
    const std::vector<Holder> holders = holders_since(serial);
    ASSERT_EQ(holders.size(), 1u);
    EXPECT_EQ(holders[0].tag.line, "job.py:7");
    values.resize(100'000, 1);
    EXPECT_EQ(values[999], 999);
    EXPECT_EQ(values[99'999], 1);
    const auto moved = std::move(values);
    EXPECT_EQ(moved.size(), 100'000u);
  }
  EXPECT_EQ(memory_statistics().used_bytes, before);
  EXPECT_TRUE(holders_since(serial).empty());
}

TEST(Allocator, KeepsTheLimit) {
  set_memory_limit(memory_statistics().used_bytes + (1 << 20));
  std::vector<char, allocator<char>> values;
  EXPECT_THROW(values.resize(2 << 20), OutOfMemoryError);
  EXPECT_TRUE(values.empty());
  values.resize(1 << 19);
  set_memory_limit(std::numeric_limits<int64_t>::max());
  EXPECT_THROW(allocator<double>().allocate(std::numeric_limits<size_t>::max() / 4), Error);
}

TEST(Allocator, TakesBlocksBackFromAnyThreadToTheResourceTheyCameFrom) {
  const auto track = std::make_shared<TrackAdaptor>(system_resource());
  std::list<int, allocator<int>> values;
  {
    const ScopedResource scope{AnyResource(track)};
    for (int i = 0; i < 100; ++i) values.push_back(i);
  }
  EXPECT_EQ(track->live_blocks().size(), 100u);
  std::thread([&] { values.clear(); }).join();
  EXPECT_TRUE(track->live_blocks().empty());
  EXPECT_EQ(track->wrong_deallocations(), 0);
}

TEST(Allocator, AlignsAsAsked) {
  for (size_t alignment = 1; alignment <= 8192; alignment *= 2)
    for (const size_t bytes : {0, 1, 63, 64, 65, 5000}) {
      void* const block = allocate_bytes(bytes, alignment);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % alignment, 0u);
      std::fill_n(static_cast<char*>(block), bytes, 'x');
      deallocate_bytes(block);
    }
  deallocate_bytes(nullptr);
  EXPECT_THROW(allocate_bytes(1, 3), InvalidArgumentError);
}

TEST(PolymorphicResource, ServesPmrContainersAndTheirPools) {
  const int64_t before = memory_statistics().used_bytes;
  {
    std::pmr::unsynchronized_pool_resource pool(polymorphic_resource());
    std::pmr::map<int, std::pmr::vector<int>> groups(&pool);
    for (int i = 0; i < 10'000; ++i) groups[i % 100].push_back(i);
    EXPECT_GT(memory_statistics().used_bytes, before + 40'000);
    EXPECT_EQ(groups[7][99], 9907);
  }
  EXPECT_EQ(memory_statistics().used_bytes, before);
  EXPECT_TRUE(polymorphic_resource()->is_equal(PolymorphicResource()));
  EXPECT_FALSE(polymorphic_resource()->is_equal(*std::pmr::new_delete_resource()));
}

}  // namespace

}  // namespace hr
