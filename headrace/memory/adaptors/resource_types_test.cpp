// SPDX-License-Identifier: Apache-2.0
// One suite for every resource under every stack of adaptors: what a resource promises holds.
#include "headrace/memory/adaptors/resource_types.h"

#include "headrace/base/error.h"
#include "headrace/memory/adaptors/adaptors.h"
#include "headrace/memory/adaptors/recording_adaptors.h"
#include "headrace/memory/buffer/buffer.h"
#include "headrace/memory/resource/guard.h"
#include "headrace/memory/resource/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <random>
#include <thread>

namespace hr {

namespace {

constexpr const char* kBases[] = {"system",   "pool",  "fixed size",  "binning",
                                  "callback", "guard", "default pool"};
constexpr const char* kAdaptors[] = {"limit", "rate limit", "statistics", "log",  "track",
                                     "align", "pressure",   "fault",      "delay"};

AnyResource make_base(const std::string& name, const AnyResource& upstream) {
  if (name == "pool") return AnyResource(std::make_shared<PoolResource>(upstream));
  if (name == "fixed size")
    return AnyResource(std::make_shared<FixedSizeResource>(upstream, 4096, 8));
  if (name == "binning")
    return AnyResource(std::make_shared<BinningResource>(
        upstream, BinningResource::fixed_size_bins(upstream, 256, 65536)));
  if (name == "callback")
    return AnyResource(std::make_shared<CallbackResource>(
        [upstream](size_t n, size_t a) { return upstream.allocate(Stream{}, n, a); },
        [upstream](void* p, size_t n, size_t a) { upstream.deallocate(Stream{}, p, n, a); }));
  if (name == "guard") return AnyResource(std::make_shared<GuardResource>());
  if (name == "default pool") return current_resource();
  return upstream;
}

AnyResource make_adaptor(const std::string& name, const AnyResource& upstream) {
  if (name == "limit") return AnyResource(std::make_shared<LimitAdaptor>(upstream, 256 << 20));
  if (name == "rate limit")
    return AnyResource(std::make_shared<RateLimitAdaptor>(upstream, int64_t{1} << 50));
  if (name == "statistics") return AnyResource(std::make_shared<StatisticsAdaptor>(upstream));
  if (name == "log") return AnyResource(std::make_shared<LogAdaptor>(upstream, 100));
  if (name == "track") return AnyResource(std::make_shared<TrackAdaptor>(upstream));
  if (name == "align") return AnyResource(std::make_shared<AlignAdaptor>(upstream, 1024, 2000));
  if (name == "pressure")
    return AnyResource(std::make_shared<PressureAdaptor>(upstream, [](size_t) { return false; }));
  if (name == "fault") return AnyResource(std::make_shared<FaultAdaptor>(upstream, FaultPlan{}));
  return AnyResource(std::make_shared<DelayAdaptor>(upstream, 0, 1));
}

struct Stack {
  std::string base;
  std::vector<std::string> adaptors;

  friend std::ostream& operator<<(std::ostream& out, const Stack& stack) {
    out << stack.base;
    for (const std::string& name : stack.adaptors) out << " under " << name;
    return out;
  }
};

// Every base under no, one and two adaptors; the pool under every three.
std::vector<Stack> stacks() {
  std::vector<Stack> all;
  for (const char* base : kBases) {
    all.push_back({base, {}});
    for (const char* first : kAdaptors) {
      all.push_back({base, {first}});
      for (const char* second : kAdaptors) {
        all.push_back({base, {first, second}});
        for (const char* third : kAdaptors)
          if (base == std::string("pool")) all.push_back({base, {first, second, third}});
      }
    }
  }
  return all;
}

class Resource : public testing::TestWithParam<Stack> {
 protected:
  Resource() : resource_(make()) {}

  ~Resource() override {
    EXPECT_EQ(below_->wrong_deallocations(), 0);
    resource_ = system_resource();
    EXPECT_TRUE(below_->live_blocks().empty()) << "a stack that goes gives all back";
  }

  AnyResource make() const {
    AnyResource made = make_base(GetParam().base, AnyResource(below_));
    for (const std::string& name : GetParam().adaptors) made = make_adaptor(name, made);
    return made;
  }

  std::shared_ptr<TrackAdaptor> below_ = std::make_shared<TrackAdaptor>(system_resource());
  AnyResource resource_;
};

INSTANTIATE_TEST_SUITE_P(Stacks, Resource, testing::ValuesIn(stacks()));

TEST_P(Resource, GivesAlignedBlocksThatCanBeWrittenWhole) {
  for (const size_t alignment : {size_t{1}, size_t{64}, size_t{256}, size_t{8192}})
    for (const size_t bytes : {1, 63, 64, 65, 255, 257, 1999, 4096, 4097, 66000, 4 << 20}) {
      auto* const block =
          static_cast<unsigned char*>(resource_.allocate(Stream{}, bytes, alignment));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % alignment, 0u) << bytes;
      std::memset(block, 1, std::min(bytes, size_t{70000}));
      block[bytes - 1] = 2;
      resource_.deallocate(Stream{}, block, bytes, alignment);
    }
}

TEST_P(Resource, GivesAnAddressForZeroBytesWhichBuffersNeverAskFor) {
  void* const first = resource_.allocate(Stream{}, 0, 64);
  void* const second = resource_.allocate(Stream{}, 0, 64);
  EXPECT_NE(first, nullptr);
  EXPECT_NE(first, second);
  resource_.deallocate(Stream{}, first, 0, 64);
  resource_.deallocate(Stream{}, second, 0, 64);
  const auto counting = std::make_shared<StatisticsAdaptor>(resource_);
  const Buffer empty = Buffer::allocate(0, AnyResource(counting));
  EXPECT_EQ(counting->read().allocations, 0);
}

TEST_P(Resource, RefusesWhatNoMachineHasAndGoesOn) {
  constexpr size_t kMost = std::numeric_limits<size_t>::max();
  for (const size_t bytes :
       {size_t{1} << 50, kMostRequestBytes + 1, size_t{1} << 63, kMost - 4096, kMost - 63, kMost})
    EXPECT_THROW(resource_.allocate(Stream{}, bytes, 64), OutOfMemoryError) << bytes;
  for (const size_t alignment : {size_t{0}, size_t{3}, size_t{1} << 40})
    EXPECT_THROW(resource_.allocate(Stream{}, 100, alignment), InvalidArgumentError) << alignment;
  EXPECT_THROW(Buffer::allocate(std::numeric_limits<int64_t>::max(), resource_), Error);
  EXPECT_THROW(Buffer::allocate(int64_t{1} << 50, resource_), OutOfMemoryError);
  void* const block = resource_.allocate(Stream{}, 100, 64);
  resource_.deallocate(Stream{}, block, 100, 64);
}

TEST_P(Resource, IsEqualToItselfAloneAndSaysWhatItIs) {
  const AnyResource copy = resource_;
  EXPECT_EQ(copy, resource_);
  if (!GetParam().adaptors.empty()) {
    EXPECT_NE(make(), resource_);
  }
  EXPECT_EQ(resource_.properties().place, host);
  EXPECT_GE(resource_.properties().alignment, 64);
  const std::string text = resource_.describe();
  EXPECT_EQ(text.find('\n'), std::string::npos);
  size_t at = 0;
  for (size_t i = GetParam().adaptors.size(); i-- > 0;) {
    at = text.find(GetParam().adaptors[i], at);
    ASSERT_NE(at, std::string::npos) << text;
    ++at;
  }
}

// Each thread gives blocks to the next one, which checks and frees them.
TEST_P(Resource, PassesBlocksBetweenThreads) {
  struct Block {
    unsigned char* data;
    size_t bytes;
    unsigned char cookie;
  };
  constexpr int kThreads = 3;
  constexpr int kBlocks = 20;
  std::array<std::vector<Block>, kThreads> given;
  std::atomic<int> ready{0};
  std::atomic<int> wrong{0};
  const auto work = [&](unsigned t) {
    std::mt19937 random(t);
    for (int i = 0; i < kBlocks; ++i) {
      Block block{nullptr, size_t{1} << (random() % 15), static_cast<unsigned char>(16 * t + 1)};
      block.data = static_cast<unsigned char*>(resource_.allocate(Stream{}, block.bytes, 64));
      std::memset(block.data, block.cookie, block.bytes);
      given[(t + 1) % kThreads].push_back(block);  // one writer each until all are ready
    }
    for (++ready; ready < kThreads;) std::this_thread::yield();
    for (const Block& block : given[t]) {
      wrong += std::count(block.data, block.data + block.bytes, block.cookie) !=
               static_cast<std::ptrdiff_t>(block.bytes);
      resource_.deallocate(Stream{}, block.data, block.bytes, 64);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(FixedSizeResource, ReusesItsBlocksAndTrimsWholeSlabs) {
  const auto below = std::make_shared<StatisticsAdaptor>(system_resource());
  FixedSizeResource fixed{AnyResource(below), 1000, 4};
  EXPECT_EQ(fixed.block_bytes(), 1024u);
  std::vector<void*> blocks;
  for (int i = 0; i < 6; ++i) blocks.push_back(fixed.allocate(Stream{}, 1000, 64));
  EXPECT_EQ(below->read().live_blocks, 2);
  EXPECT_EQ(fixed.cached_bytes(), 2 * 1024);
  EXPECT_EQ(fixed.trim(), 0);
  for (void* block : blocks) fixed.deallocate(Stream{}, block, 1000, 64);
  void* const last = fixed.allocate(Stream{}, 1, 1);
  EXPECT_EQ(fixed.trim(), 4 * 1024) << "the slab without a live block";
  EXPECT_EQ(below->read().live_blocks, 1);
  fixed.deallocate(Stream{}, last, 1, 1);
  EXPECT_EQ(fixed.cached_bytes(), 4 * 1024);
  EXPECT_EQ(fixed.describe(), "fixed size(1.0 kB) over statistics over system");
  EXPECT_THROW(FixedSizeResource(system_resource(), 0), InvalidArgumentError);
}

TEST(BinningResource, TakesTheFirstBinThatIsLargeEnough) {
  const auto small = std::make_shared<StatisticsAdaptor>(system_resource());
  const auto large = std::make_shared<StatisticsAdaptor>(system_resource());
  const auto rest = std::make_shared<StatisticsAdaptor>(system_resource());
  const BinningResource binning{AnyResource(rest),
                                {{1000, AnyResource(large)}, {100, AnyResource(small)}}};
  for (const size_t bytes : {100, 101, 1000, 1001})
    binning.deallocate(Stream{}, binning.allocate(Stream{}, bytes, 64), bytes, 64);
  EXPECT_EQ(small->read().allocations, 1);
  EXPECT_EQ(large->read().allocations, 2);
  EXPECT_EQ(rest->read().allocations, 1);
  EXPECT_THROW(BinningResource::fixed_size_bins(system_resource(), 10, 5), InvalidArgumentError);
}

TEST(CallbackResource, TurnsNullAndCrookedBlocksIntoErrors) {
  alignas(64) static char block[128];
  int freed = 0;
  char* next = nullptr;
  const CallbackResource callback([&](size_t, size_t) { return next; },
                                  [&](void*, size_t, size_t) {
                                    ++freed;
                                    throw std::runtime_error("lost");
                                  });
  EXPECT_THROW(callback.allocate(Stream{}, 8, 64), OutOfMemoryError);
  EXPECT_EQ(freed, 0);
  next = block + 8;
  EXPECT_THROW(callback.allocate(Stream{}, 8, 64), OutOfMemoryError);
  EXPECT_EQ(freed, 1);
  next = block;
  EXPECT_EQ(callback.allocate(Stream{}, 8, 64), block);
  callback.deallocate(Stream{}, block, 8, 64);
  EXPECT_EQ(freed, 2);
  EXPECT_THROW(CallbackResource(nullptr, nullptr), InvalidArgumentError);
}

TEST(CurrentResource, IsOfThePlaceTheScopeAndTheThread) {
  const AnyResource first(std::make_shared<PoolResource>(system_resource()));
  const AnyResource before = current_resource();
  {
    const Buffer old = Buffer::allocate(5000);
    set_current_resource(host, first);
    EXPECT_EQ(current_resource(), first);
    std::thread([&] { EXPECT_EQ(current_resource(), first); }).join();
    auto outer = std::make_unique<ScopedResource>(system_resource());
    auto inner = std::make_unique<ScopedResource>(before);
    EXPECT_EQ(current_resource(), before);
    outer.reset();  // in the wrong order
    EXPECT_EQ(current_resource(), before);
    std::thread([&] { EXPECT_EQ(current_resource(), first); }).join();
    inner.reset();
    EXPECT_EQ(current_resource(), first);
    set_current_resource(host, before);
  }
  EXPECT_THROW(current_resource(Place{PlaceKind::kCuda, 7}), DeviceError);
  EXPECT_THROW(set_current_resource(Place{PlaceKind::kCuda, 7}, first), InvalidArgumentError);
}

TEST(CurrentResource, MayGoWhileItsBuffersLive) {
  const auto below = std::make_shared<TrackAdaptor>(system_resource());
  Buffer buffer;
  {
    const ScopedResource scope(AnyResource(std::make_shared<PoolResource>(AnyResource(below))));
    buffer = Buffer::allocate(1000);
  }
  std::memset(buffer.mutable_data(), 1, 1000);
  EXPECT_EQ(below->live_blocks().size(), 1u);
  buffer = Buffer();
  EXPECT_TRUE(below->live_blocks().empty());
}

TEST(CachedBlocks, OfAllResourcesCountAndAreTrimmed) {
  const int64_t before = cached_bytes();
  const auto pool = std::make_shared<PoolResource>(system_resource());
  const AnyResource resource(pool);
  const AnyResource again(pool);
  resource.deallocate(Stream{}, resource.allocate(Stream{}, 1 << 20, 64), 1 << 20, 64);
  EXPECT_EQ(cached_bytes(), before + (1 << 20)) << "once";
  EXPECT_GE(trim_caches(), 1 << 20);
  EXPECT_EQ(pool->cached_bytes(), 0);
}

}  // namespace

}  // namespace hr
