// SPDX-License-Identifier: Apache-2.0
// Guard pages end the process at the first wrong byte.
#include "headrace/memory/resource/guard.h"

#include "headrace/memory/resource/resource.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>

namespace hr {

namespace {

class Guard : public testing::Test {
 protected:
  Guard() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  volatile char* allocate(size_t bytes, size_t alignment = 64) {
    return static_cast<volatile char*>(guard_->allocate(Stream{}, bytes, alignment));
  }

  void deallocate(volatile char* block, size_t bytes, size_t alignment = 64) {
    guard_->deallocate(Stream{}, const_cast<char*>(block), bytes, alignment);
  }

  std::unique_ptr<GuardResource> guard_ = std::make_unique<GuardResource>();
};

using GuardDeathTest = Guard;

TEST_F(Guard, FillsBlocks) {
  volatile char* const block = allocate(5000);
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(static_cast<unsigned char>(block[i]), 0xDF);
  std::memset(const_cast<char*>(block), 0, 5000);
  deallocate(block, 5000);
}

TEST_F(Guard, LivesThroughMoreBlocksThanItRemembers) {
  for (int i = 0; i < 10'000; ++i) deallocate(allocate(100), 100);
}

TEST_F(GuardDeathTest, AByteBeyondABlock) {
  volatile char* const block = allocate(4096);
  EXPECT_DEATH(block[4096] = 1, "");
  EXPECT_DEATH(static_cast<void>(block[5000]), "");
  deallocate(block, 4096);
}

TEST_F(GuardDeathTest, ABlockAfterItWasFreed) {
  volatile char* const block = allocate(100);
  deallocate(block, 100);
  EXPECT_DEATH(block[5] = 1, "");
}

TEST_F(GuardDeathTest, BytesAroundABlockThatIsFreed) {
  volatile char* const before = allocate(100);
  EXPECT_DEATH((before[-1] = 1, deallocate(before, 100)),
               "bytes outside of a block were overwritten");
  volatile char* const behind = allocate(100);
  EXPECT_DEATH((behind[100] = 1, deallocate(behind, 100)),
               "bytes outside of a block were overwritten");
}

TEST_F(GuardDeathTest, TheEnvironmentPutsItInThePoolsPlace) {
  EXPECT_EXIT(  // in a process of its own, where nothing was allocated before
      {
        setenv("HEADRACE_DEBUG_MEMORY", "1", 1);
        std::exit(current_resource().describe() == "guard" ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace

}  // namespace hr
