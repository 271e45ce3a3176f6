// SPDX-License-Identifier: Apache-2.0
// Free blocks of devices: which request gets one, and when they go back; with a fake driver, and on
// a GPU where there is one.
#include "headrace/memory/device/device_blocks.h"

#include "headrace/base/error.h"
#include "headrace/memory/buffer/buffer.h"
#include "headrace/memory/device/cuda_device.h"
#include "headrace/memory/external/external_allocator_device.h"
#include "headrace/memory/log/tag.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <thread>
#include <vector>

namespace hr {

namespace {

constexpr size_t kMb = size_t{1} << 20;
constexpr size_t kCard = 600 * kMb;
void* const kLasting = reinterpret_cast<void*>(0x51000);
void* const kOther = reinterpret_cast<void*>(0x52000);

// What the fake driver gave.
struct Made {
  std::map<unsigned long long, size_t> live;
  unsigned long long next = uint64_t{1} << 40;
  int calls = 0;
};

Made* made = nullptr;

size_t live_bytes() {
  size_t bytes = 0;
  for (const auto& [address, size] : made->live) bytes += size;
  return bytes;
}

class DeviceBlocksTest : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda_functions()) GTEST_SKIP() << "a GPU is here";
    made = &made_;
    static constexpr CudaDriver kDriver{
        .device_count = [](int* count) { return *count = 2, 0; },
        .allocate =
            [](unsigned long long* address, size_t bytes, void*) {
              ++made->calls;
              if (live_bytes() + bytes > kCard) return 2;
              *address = made->next += 4096;
              made->live[*address] = bytes;
              return 0;
            },
        .free =
            [](unsigned long long address, void*) {
              ++made->calls;
              return made->live.erase(address) == 1 ? 0 : 1;
            },
        .memory = [](size_t* free,
                     size_t* total) { return *free = kCard - live_bytes(), *total = kCard, 0; },
        .current_device = [](int* device) { return *device = 0, 0; },
        .retain_context = [](void**, int) { return 0; },
        .push_context = [](void*) { return 0; },
        .pop_context = [](void**) { return 0; }};
    set_cuda_driver(&kDriver);
    note_lasting_stream(kLasting);
  }

  void TearDown() override {
    if (!made) return;
    set_memory_limit(INT64_MAX, cuda_place());
    set_cuda_driver(nullptr);  // what is kept goes before
    EXPECT_TRUE(made_.live.empty());
    made = nullptr;
  }

  static MemoryStatistics now() { return memory_statistics(cuda_place()); }

  Made made_;
};

TEST_F(DeviceBlocksTest, ARequestOfTheSizeOnTheStreamGetsTheBlock) {
  void* const block = device_allocate(kMb - 100, 0, kLasting, 0);
  EXPECT_EQ(made->live.begin()->second, kMb);
  device_free(block, nullptr);
  EXPECT_EQ(now().used_bytes, 0);
  EXPECT_EQ(now().cached_bytes, static_cast<int64_t>(kMb));
  EXPECT_EQ(device_block_bytes(block), 0u);
  const int calls = made->calls;
  EXPECT_EQ(device_allocate(kMb, 0, kLasting, intern_tag("test")), block);
  EXPECT_EQ(made->calls, calls);
  EXPECT_EQ(device_block_bytes(block), kMb);
  EXPECT_EQ(now().used_bytes, static_cast<int64_t>(kMb));
  EXPECT_EQ(now().external_bytes, static_cast<int64_t>(kMb));
  EXPECT_EQ(now().cached_bytes, 0);
  ASSERT_EQ(device_holders().size(), 1u);
  device_free(block, kLasting);
}

TEST_F(DeviceBlocksTest, NobodyElseGetsIt) {
  void* const block = device_allocate(kMb, 0, kLasting, 0);
  device_free(block, nullptr);
  std::set<void*> others{device_allocate(kMb, 0, nullptr, 0), device_allocate(kMb, 1, kLasting, 0),
                         device_allocate(kMb + 1, 0, kLasting, 0),
                         device_allocate(kMb - 512, 0, kLasting, 0)};
  EXPECT_EQ(others.size(), 4u);
  EXPECT_EQ(others.count(block), 0u);
  for (void* const other : others) device_free(other, nullptr);
  EXPECT_EQ(device_allocate(kMb, 0, kLasting, 0), block);
  // From here on it is the null stream's, which it was freed on.
  device_free(block, nullptr);
  device_free(device_allocate(kMb, 0, kLasting, 0), nullptr);
}

TEST_F(DeviceBlocksTest, StreamsThatMayEndKeepNothing) {
  void* const block = device_allocate(1000, 0, kOther, 0);
  EXPECT_EQ(made->live.begin()->second, 1000u);
  device_free(block, kOther);
  EXPECT_TRUE(made->live.empty());
  void* const moved = device_allocate(1000, 0, kOther, 0);
  device_free(moved, kLasting);  // not of a whole granule
  EXPECT_TRUE(made->live.empty());
  device_free(device_allocate(FreeDeviceBlocks::kMostBlockBytes + 1, 0, kLasting, 0), kLasting);
  EXPECT_TRUE(made->live.empty());
}

TEST_F(DeviceBlocksTest, TrimGivesThemBack) {
  device_free(device_allocate(kMb, 0, kLasting, 0), nullptr);
  device_free(device_allocate(2 * kMb, 1, nullptr, 0), nullptr);
  EXPECT_EQ(live_bytes(), 3 * kMb);
  EXPECT_EQ(trim_devices(), static_cast<int64_t>(3 * kMb));
  EXPECT_TRUE(made->live.empty());
  EXPECT_EQ(trim_devices(), 0);
}

TEST_F(DeviceBlocksTest, WhatIsKeptIsWithinTheLimit) {
  set_memory_limit(4 * static_cast<int64_t>(kMb), cuda_place());
  void* const kept = device_allocate(3 * kMb, 0, kLasting, 0);
  device_free(kept, nullptr);
  void* const small = device_allocate(kMb, 0, kLasting, 0);
  EXPECT_EQ(live_bytes(), 4 * kMb);
  void* const next = device_allocate(kMb / 2, 0, kLasting, 0);
  EXPECT_EQ(live_bytes(), kMb + kMb / 2);
  EXPECT_EQ(device_allocate(3 * kMb, 0, kLasting, 0), nullptr);
  device_free(next, nullptr);
  set_memory_limit(static_cast<int64_t>(kMb), cuda_place());
  EXPECT_EQ(live_bytes(), kMb);
  device_free(small, nullptr);
}

TEST_F(DeviceBlocksTest, ACardThatIsFullGetsThemFirst) {
  std::vector<void*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(device_allocate(30 * kMb, 0, kLasting, 0));
  for (void* const block : blocks) device_free(block, nullptr);
  EXPECT_EQ(live_bytes(), 240 * kMb);
  void* const large = device_allocate(500 * kMb, 0, kLasting, 0);
  ASSERT_NE(large, nullptr);
  EXPECT_EQ(live_bytes(), 500 * kMb);
  device_free(large, nullptr);
}

TEST_F(DeviceBlocksTest, TheyAreBounded) {
  std::vector<void*> blocks;
  for (size_t i = 0; i <= FreeDeviceBlocks::kMostBlocks; ++i)
    blocks.push_back(device_allocate(512 * (1 + i % 7), 0, kLasting, 0));
  for (void* const block : blocks) device_free(block, nullptr);
  EXPECT_EQ(made->live.size(), 1u);
  blocks.clear();
  for (int i = 0; i < 9; ++i) blocks.push_back(device_allocate(30 * kMb, 0, kLasting, 0));
  for (void* const block : blocks) device_free(block, nullptr);
  EXPECT_LE(now().cached_bytes, FreeDeviceBlocks::kMostBytes);
}

TEST_F(DeviceBlocksTest, ThreadsShareThem) {
  std::vector<void*> blocks;  // enough that the fake driver is not asked, which has no lock
  for (int i = 0; i < 16; ++i) blocks.push_back(device_allocate(kMb, 0, kLasting, 0));
  for (void* const block : blocks) device_free(block, nullptr);
  const int calls = made->calls;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 3000; ++i) {
        void* const mine[] = {device_allocate(kMb, 0, kLasting, 0),
                              device_allocate(kMb, 0, kLasting, 0)};
        EXPECT_NE(mine[0], mine[1]);
        for (void* const block : mine) {
          EXPECT_EQ(device_block_bytes(block), kMb);
          device_free(block, nullptr);
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made->calls, calls);
  EXPECT_EQ(now().used_bytes, 0);
}

// ---- on a GPU ----------------------------------------------------------------------------------
class DeviceBlocksOfCuda : public testing::Test {
 protected:
  void SetUp() override {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    cuda_ = cuda_functions();
    stream_ = own_stream(0);
  }

  const CudaFunctions* cuda_ = nullptr;
  Stream stream_;
};

TEST_F(DeviceBlocksOfCuda, AreReusedCountedAndTrimmed) {
  const AnyResource resource = cuda_resource(0);
  void* const first = resource.allocate(stream_, kMb, 64);
  resource.deallocate(stream_, first, kMb, 64);
  EXPECT_GE(memory_statistics(cuda_place()).cached_bytes, static_cast<int64_t>(kMb));
  void* const second = resource.allocate(stream_, kMb, 64);
  EXPECT_EQ(second, first);
  resource.deallocate(stream_, second, kMb, 64);
  const CudaScope on("test", 0);
  ASSERT_EQ(cuda_->synchronize_stream(native_stream(stream_)), 0);
  EXPECT_GE(trim_devices(), static_cast<int64_t>(kMb));
}

// A block is read on another stream for a long time when it is freed, and written by its next
// holder: what was read must not show that.
TEST_F(DeviceBlocksOfCuda, WaitForOtherStreams) {
  const CudaScope on("test", 0);
  void* other = nullptr;
  ASSERT_EQ(cuda_->make_stream(&other, 1), 0);
  const AnyResource resource = cuda_resource(0);
  constexpr size_t kBytes = 16 * kMb;
  const auto address = [](void* pointer) { return reinterpret_cast<uintptr_t>(pointer); };
  void* const copy = resource.allocate(stream_, kBytes, 64);
  std::vector<unsigned char> here(kBytes);
  for (unsigned char round = 1; round <= 20; ++round) {
    void* const block = resource.allocate(stream_, kBytes, 64);
    ASSERT_EQ(cuda_->fill(address(block), round, kBytes, native_stream(stream_)), 0);
    ASSERT_EQ(cuda_->synchronize_stream(native_stream(stream_)), 0);
    for (int k = 0; k < 200; ++k)
      ASSERT_EQ(cuda_->copy_on_device(address(copy), address(block), kBytes, other), 0);
    note_device_use(block, other);
    resource.deallocate(stream_, block, kBytes, 64);
    void* const next = resource.allocate(stream_, kBytes, 64);
    EXPECT_EQ(next, block);
    ASSERT_EQ(cuda_->fill(address(next), 0xEE, kBytes, native_stream(stream_)), 0);
    ASSERT_EQ(cuda_->synchronize_stream(other), 0);
    ASSERT_EQ(cuda_->copy_to_host(here.data(), address(copy), kBytes, other), 0);
    ASSERT_EQ(cuda_->synchronize_stream(other), 0);
    EXPECT_EQ(here, std::vector<unsigned char>(kBytes, round));
    resource.deallocate(stream_, next, kBytes, 64);
  }
  resource.deallocate(stream_, copy, kBytes, 64);
}

}  // namespace

}  // namespace hr
