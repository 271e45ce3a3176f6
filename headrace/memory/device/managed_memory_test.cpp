// SPDX-License-Identifier: Apache-2.0
// Managed memory with a fake driver: accounts, advice, and the refusal beyond the card.
#include "headrace/memory/device/managed_memory.h"

#include "headrace/base/error.h"
#include "headrace/memory/device/cuda_device.h"
#include "headrace/memory/external/external_allocator_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

namespace hr {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr size_t kCard = size_t{64} << 20;

// What the fake driver did.
struct Made {
  std::map<unsigned long long, size_t> live;
  std::vector<std::string> calls;
  int status = 0;  // of the next prefetch
};

Made* made = nullptr;

std::string place_text(CudaLocation location) {
  return location.type == 1 ? "device " + std::to_string(location.id) : "host";
}

size_t used() {
  size_t bytes = 0;
  for (const auto& [address, size] : made->live) bytes += size;
  return bytes;
}

class Managed : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda_functions()) GTEST_SKIP() << "a GPU is here";
    made = &made_;
    static constexpr CudaDriver kDriver{
        .device_count = [](int* count) { return *count = 1, 0; },
        .allocate = [](unsigned long long*, size_t, void*) { return 801; },
        .free = [](unsigned long long, void*) { return 801; },
        .memory = [](size_t* free,
                     size_t* total) { return *free = kCard - used(), *total = kCard, 0; },
        .current_device = [](int* device) { return *device = 0, 0; },
        .retain_context = [](void**, int) { return 0; },
        .push_context = [](void*) { return 0; },
        .pop_context = [](void**) { return 0; }};
    static constexpr ManagedFunctions kManaged{
        .allocate =
            [](unsigned long long* address, size_t bytes, unsigned flags) {
              *address = reinterpret_cast<uintptr_t>(std::malloc(bytes));
              made->live[*address] = bytes;
              return flags == 1 ? 0 : 1;
            },
        .free =
            [](unsigned long long address) {
              made->live.erase(address);
              std::free(reinterpret_cast<void*>(address));
              return 0;
            },
        .prefetch =
            [](unsigned long long, size_t bytes, CudaLocation to, unsigned flags, void*) {
              made->calls.push_back("prefetch " + std::to_string(bytes) + " to " + place_text(to));
              return flags == 0 ? made->status : 1;
            },
        .advise =
            [](unsigned long long, size_t, int advice, CudaLocation by) {
              made->calls.push_back("advice " + std::to_string(advice) + " by " + place_text(by));
              return 0;
            }};
    set_cuda_driver(&kDriver);
    set_managed_functions(&kManaged);
  }

  void TearDown() override {
    set_memory_limit_back();
    set_managed_functions(nullptr);
    set_cuda_driver(nullptr);
    EXPECT_TRUE(made_.live.empty());
  }

  static void set_memory_limit_back() {
    if (cuda_driver()) set_memory_limit(INT64_MAX, cuda_place());
  }

  Made made_;
};

TEST_F(Managed, BlocksPreferTheirDeviceAreFetchedAndCounted) {
  const AnyResource resource = managed_resource();
  EXPECT_EQ(resource.describe(), "managed memory of cuda:0");
  {
    const Buffer buffer = Buffer::allocate(1 << 20, resource);
    EXPECT_EQ(buffer.place(), cuda_place());
    EXPECT_EQ(memory_statistics(cuda_place()).used_bytes, 1 << 20);
    EXPECT_TRUE(is_managed_block(buffer.data()));
    prefetch_managed(buffer, host, nullptr);
    advise_managed(buffer, ManagedAdvice::kReadMostly, cuda_place());
  }
  EXPECT_EQ(memory_statistics(cuda_place()).used_bytes, 0);
  EXPECT_THAT(made_.calls, ElementsAre("advice 3 by device 0", "prefetch 1048576 to device 0",
                                       "prefetch 1048576 to host", "advice 1 by device 0"));
}

TEST_F(Managed, BeyondTheFreeMemoryOfTheCardIsRefused) {
  const AnyResource resource = managed_resource();
  const Buffer most = Buffer::allocate(48 << 20, resource);
  try {
    Buffer::allocate(20 << 20, resource);
    FAIL();
  } catch (const OutOfMemoryError& error) {
    EXPECT_THAT(error.what(), HasSubstr("more managed memory than the card has free: "
                                        "requested=21.0 MB, free=16.8 MB, total=67.1 MB"));
  }
  EXPECT_EQ(made_.live.size(), 1u);
  set_memory_limit(50 << 20, cuda_place());
  EXPECT_THROW(Buffer::allocate(4 << 20, resource), OutOfMemoryError);
  const Buffer rest = Buffer::allocate(2 << 20, resource);
}

TEST_F(Managed, WhatFailsHalfwayLeavesNothing) {
  made_.status = 1;
  EXPECT_THROW(Buffer::allocate(1 << 20, managed_resource()), DeviceError);
  EXPECT_TRUE(made_.live.empty());
  EXPECT_EQ(memory_statistics(cuda_place()).used_bytes, 0);
}

TEST_F(Managed, OtherMemoryAndOtherDevicesAreErrors) {
  const Buffer here = Buffer::allocate(1000);
  EXPECT_THROW(prefetch_managed(here, host, nullptr), InvalidArgumentError);
  EXPECT_THROW(advise_managed(here, ManagedAdvice::kPreferred, host), InvalidArgumentError);
  EXPECT_THROW(managed_resource(3), DeviceError);
}

TEST(ManagedWithoutADriver, IsAnErrorThatSaysSo) {
  if (cuda_device_count() > 0) GTEST_SKIP() << "a GPU is here";
  EXPECT_THROW(managed_resource(), DeviceError);
}

}  // namespace

}  // namespace hr
