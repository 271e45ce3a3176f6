// SPDX-License-Identifier: Apache-2.0
// For tests that change the SIMD level and the number of threads.
#pragma once
#include "headrace/base/simd.h"
#include "headrace/exec/workers.h"

#include <gtest/gtest.h>

namespace hr::testing {

/// Both are as before after each test.
class SimdAndThreadsTest : public ::testing::Test {
 protected:
  void TearDown() override {
    set_simd_level(level_);
    set_threads(threads_);
  }

  SimdLevel level_ = simd_level();
  int threads_ = threads();
};

/// With as many threads as the parameter says; as before after each test.
class ThreadsTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_threads(GetParam()); }
  void TearDown() override { set_threads(before_); }

 private:
  int before_ = threads();
};

}  // namespace hr::testing
