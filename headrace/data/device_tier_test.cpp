// SPDX-License-Identifier: Apache-2.0
// More on a device than its limit holds: what leaves, what stays, and the same bits whatever moved.
#include "headrace/memory/device/device_tier.h"

#include "headrace/base/error.h"
#include "headrace/data/device_testing.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/device/lent_copies.h"
#include "headrace/memory/log/ledger.h"
#include "headrace/memory/spill/spill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace hr {

namespace {

using ::testing::HasSubstr;

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kLimit = 8 * kMiB;
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

class DeviceTiers : public ::testing::TestWithParam<Place> {
 protected:
  DeviceTiers() : pinned_(pinned_limit()) {
    if (place().is_simulated()) {
      open_simulated({.limit_bytes = kLimit, .to_device = 1e12, .to_host = 1e12, .latency_ns = 0});
      stream_ = new_stream();
    } else {
      trim_memory();
      set_memory_limit(kLimit, place());
      stream_ = current_stream(place());
    }
    before_ = device_tier_statistics(place());
    used_ = memory_statistics(place()).used_bytes;
    clear_ledger();
  }

  ~DeviceTiers() override {
    set_pinned_limit(pinned_);
    set_memory_limit(kNoLimit);
    EXPECT_EQ(memory_statistics(place()).used_bytes, used_);
    if (place().is_gpu()) set_memory_limit(kNoLimit, place());
  }

  static Place place() { return GetParam(); }

  static Tensor numbers(uint64_t seed, int64_t bytes) {
    std::vector<uint64_t> values(static_cast<size_t>(bytes / 8));
    for (size_t i = 0; i < values.size(); ++i) values[i] = seed * 1'000'003 + i;
    return testing::tensor_of(values);
  }

  // A sealed value on the device.
  Tensor there(uint64_t seed, int64_t bytes = kMiB) {
    Tensor made = to_place(numbers(seed, bytes), place(), stream_);
    made.buffer().seal();
    return made;
  }

  bool holds(const Tensor& tensor, uint64_t seed) {
    const Tensor expected = numbers(seed, tensor.num_elements() * 8);
    return std::memcmp(to_place(tensor, host, stream_).data(), expected.data(),
                       static_cast<size_t>(tensor.num_elements() * 8)) == 0;
  }

  // Brings it to the device and lets it go.
  static void use(const Tensor& tensor) { const DevicePin pin(tensor.buffer()); }

  // Whether it is on the device, by what a fetch moves.
  bool is_there(const Tensor& tensor) const {
    const int64_t before = moved().fetched_bytes;
    use(tensor);
    return moved().fetched_bytes == before;
  }

  DeviceTierStatistics moved() const {
    DeviceTierStatistics now = device_tier_statistics(place());
    now.evicted_bytes -= before_.evicted_bytes;
    now.copied_bytes -= before_.copied_bytes;
    now.fetched_bytes -= before_.fetched_bytes;
    return now;
  }

  int64_t moved_in_ledger(Place from, Place to) const {
    int64_t bytes = 0;
    for (const LedgerEntry& entry : ledger_entries())
      if (entry.reason == "memory limit" && entry.from == from && entry.to == to)
        bytes += entry.bytes;
    return bytes;
  }

  std::string refusal(int64_t bytes) {
    try {
      there(99, bytes);
    } catch (const OutOfMemoryError& error) {
      return error.what();
    }
    return "";
  }

  Stream stream_;
  DeviceTierStatistics before_;
  int64_t used_;
  int64_t pinned_;
};

INSTANTIATE_TEST_SUITE_P(Device, DeviceTiers, ::testing::ValuesIn(testing::device_places()),
                         [](const auto& at) { return at.param.is_gpu() ? "Cuda" : "Simulated"; });

TEST_P(DeviceTiers, HoldMoreThanTheDeviceAndKeepTheBits) {
  std::vector<Tensor> all;
  for (uint64_t k = 0; k < 20; ++k) all.push_back(there(k));
  EXPECT_EQ(moved().evicted_bytes, 12 * kMiB);
  EXPECT_EQ(moved().pinned_bytes, 12 * kMiB);
  for (const Tensor& each : all) EXPECT_EQ(each.place(), place());
  for (uint64_t k = 0; k < 20; ++k) EXPECT_TRUE(holds(all[k], k));
  EXPECT_EQ(moved().fetched_bytes, 0);  // what is away is read where it is
  for (uint64_t k = 0; k < 20; ++k) use(all[k]);
  for (uint64_t k = 0; k < 20; ++k) EXPECT_TRUE(holds(all[k], k));
  EXPECT_EQ(moved_in_ledger(place(), pinned_host), moved().copied_bytes);
  EXPECT_EQ(moved_in_ledger(pinned_host, place()), moved().fetched_bytes);
}

TEST_P(DeviceTiers, WorkFindsItsInputsAndItsResultsCanLeave) {
  std::vector<Tensor> all;
  for (uint64_t k = 0; k < 12; ++k) all.push_back(there(k));
  for (size_t k = 0; k + 1 < all.size(); ++k) {
    const Tensor copy =
        run_on_device("copy", stream_, {all[k], all[k + 1]}, TypeId::kUInt64, all[k].shape(),
                      [at = place()](std::span<const Tensor> in) {
                        if (!at.is_gpu()) return in[0];
                        DeviceCall call("copy", at);
                        const Buffer out = allocate_result(kMiB, at);
                        call.reads(in[0].buffer());
                        cuda_functions()->copy_on_device(
                            reinterpret_cast<uint64_t>(call.writes(out)),
                            reinterpret_cast<uint64_t>(in[0].data()), kMiB, call.stream());
                        call.finish(0);
                        return Tensor(TypeId::kUInt64, in[0].shape(), out);
                      });
    copy.buffer().seal();
    EXPECT_TRUE(holds(copy, k));
  }
  EXPECT_GT(moved().fetched_bytes, 0);
}

TEST_P(DeviceTiers, ACopyIsKeptSoTheSecondWayOutIsFree) {
  std::vector<Tensor> all;
  for (uint64_t k = 0; k < 10; ++k) all.push_back(there(k));
  for (int pass = 0; pass < 5; ++pass)
    for (const Tensor& each : all) use(each);
  EXPECT_LE(moved().copied_bytes, 10 * kMiB);
  EXPECT_GT(moved().evicted_bytes, moved().copied_bytes);
  // A loop loses what it needs last, not what it needs next: a pass fetches little more than two.
  EXPECT_LE(moved().fetched_bytes, 5 * 4 * kMiB);
}

TEST_P(DeviceTiers, WhatTheHostKeepsAnywayLeavesWithoutACopy) {
  std::vector<Tensor> here, all;
  for (uint64_t k = 0; k < 12; ++k) {
    here.push_back(numbers(k, kMiB));
    here.back().buffer().seal();
    all.push_back(to_place(here.back(), place(), stream_));
    lend_copy(all.back().buffer(), here.back().buffer());  // ignored: still being written
    all.back().buffer().seal();
    lend_copy(all.back().buffer(), Buffer());
    lend_copy(all.back().buffer(), numbers(99, kMiB / 2).buffer());
    lend_copy(all.back().buffer(), here.back().buffer());
  }
  EXPECT_EQ(moved().evicted_bytes, 4 * kMiB);
  EXPECT_EQ(moved().copied_bytes, 0);
  EXPECT_EQ(moved().pinned_bytes + moved().host_bytes, before_.pinned_bytes + before_.host_bytes);
  EXPECT_TRUE(is_away(all[0].buffer()));
  EXPECT_FALSE(is_away(all[11].buffer()));
  EXPECT_FALSE(is_away(here[0].buffer()));
  for (int pass = 0; pass < 2; ++pass) {
    for (uint64_t k = 0; k < 12; ++k) use(all[k]);
    for (uint64_t k = 0; k < 12; ++k) EXPECT_TRUE(holds(all[k], k));
  }
  EXPECT_GT(moved().fetched_bytes, 0);
  EXPECT_EQ(moved().copied_bytes, 0);
  here.clear();  // the bytes that are away stay
  for (uint64_t k = 0; k < 12; ++k) EXPECT_TRUE(holds(all[k], k));
}

TEST_P(DeviceTiers, WhatThePlanNeedsLastLeavesFirst) {
  std::vector<Tensor> all;
  for (uint64_t k = 0; k < 8; ++k) all.push_back(there(k));
  const int64_t first = reserve_steps(10);
  for (int64_t k = 0; k < 8; ++k)
    expect_uses(all[static_cast<size_t>(k)].buffer(), {first + 1 + (k * 3) % 8});
  begin_step(first);
  const Tensor more = there(8);  // 3 * 5 % 8 is 7
  EXPECT_FALSE(is_there(all[5]));
}

TEST_P(DeviceTiers, WhatIsInUseOrSeenByOthersOrBeingMadeStays) {
  std::vector<Tensor> all;
  for (uint64_t k = 0; k < 8; ++k) all.push_back(to_place(numbers(k, kMiB), place(), stream_));
  for (size_t k = 0; k < 4; ++k) all[k].buffer().seal();
  {
    const DevicePin pin(all[0].buffer());
    all[1].buffer().note_export(1);
    const Tensor more = there(9, 2 * kMiB);
    EXPECT_TRUE(is_there(all[0]));
    EXPECT_TRUE(is_there(all[1]));
    more.buffer().note_export(1);
    const std::string text = refusal(kMiB);
    more.buffer().note_export(-1);
    EXPECT_THAT(text, HasSubstr("out of memory on the device: requested=1.0 MB, limit=8.4 MB"));
    EXPECT_THAT(text, HasSubstr("tier=" + place().name()));
    EXPECT_THAT(text, HasSubstr(": being written"));
    EXPECT_THAT(text, HasSubstr(": in use"));
    EXPECT_THAT(text, HasSubstr(": another library has its address"));
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 14);
    all[1].buffer().note_export(-1);
  }
  EXPECT_EQ(refusal(2 * kMiB), "");
  EXPECT_THAT(refusal(16 * kMiB), HasSubstr("requested=16.8 MB"));
  for (uint64_t k = 0; k < 8; ++k) EXPECT_TRUE(holds(all[k], k));
}

TEST_P(DeviceTiers, PinnedMemoryIsFollowedByTheHostAndTheDisk) {
  const int64_t used = memory_statistics().used_bytes;
  set_memory_limit(used + 12 * kMiB);
  set_pinned_limit(2 * kMiB);
  const int64_t on_disk = spill_statistics().evicted_bytes;
  std::vector<Tensor> all;
  for (uint64_t k = 0; k < 40; ++k) {
    all.push_back(there(k));
    synchronize(stream_);  // which holds what is sent
  }
  EXPECT_EQ(moved().pinned_bytes, 2 * kMiB);
  EXPECT_EQ(moved().host_bytes, 30 * kMiB);
  EXPECT_GT(spill_statistics().evicted_bytes, on_disk);
  for (uint64_t k = 40; k-- > 0;) EXPECT_TRUE(holds(all[k], k));
  for (uint64_t k = 0; k < 40; ++k) {
    use(all[k]);
    EXPECT_TRUE(holds(all[k], k));
  }
  EXPECT_GT(moved_in_ledger(host, place()), 0);
}

TEST_P(DeviceTiers, AHostThatIsFullToo) {
  set_pinned_limit(0);
  const int64_t spill = spill_limit();
  set_spill_limit(0);
  std::vector<Tensor> all;
  for (uint64_t k = 0; k < 8; ++k) all.push_back(there(k));
  synchronize(stream_);  // which holds what is sent
  set_memory_limit(memory_statistics().used_bytes + 4 * kMiB);
  std::string text;
  for (uint64_t k = 8; k < 16 && text.empty(); ++k) try {
      all.push_back(there(k));
    } catch (const OutOfMemoryError& error) {
      text = error.what();
    }
  EXPECT_THAT(text, HasSubstr("out of memory"));
  set_spill_limit(spill);
  set_memory_limit(kNoLimit);
  for (uint64_t k = 0; k < all.size(); ++k) EXPECT_TRUE(holds(all[k], k));
}

TEST_P(DeviceTiers, ManyThreadsAgainstAModel) {
  std::array<Tensor, 24> values;
  for (uint64_t k = 0; k < values.size(); ++k) values[k] = there(k, kMiB / 2 + 4096 * int64_t(k));
  set_pinned_limit(6 * kMiB);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (unsigned t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      for (int step = 0; step < 300; ++step) {
        const size_t k = random() % values.size();
        const size_t other = random() % values.size();
        if (step % 3 == 0) {
          const DevicePin first(values[k].buffer());
          const DevicePin second(values[other].buffer());
          if (!values[k].data() || !values[other].data()) ++wrong;
        } else if (step % 3 == 1) {
          use(values[k]);
        } else if (!holds(values[k], k)) {
          ++wrong;
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  for (uint64_t k = 0; k < values.size(); ++k) EXPECT_TRUE(holds(values[k], k));
}

TEST(DeviceTier, AChildOfAForkLetsGoOfItWithoutAWord) {
  open_simulated({.limit_bytes = kMiB, .latency_ns = 0});
  Buffer first = Buffer::allocate(kMiB, simulated_resource());
  first.seal();
  Buffer second = Buffer::allocate(kMiB, simulated_resource());
  const pid_t child = fork();
  if (child == 0) {
    first = Buffer();
    second = Buffer();
    _exit(0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(DeviceTier, BytesThatLeftAreNotTouchedWithoutAPin) {
  open_simulated({.limit_bytes = kMiB, .latency_ns = 0});
  Buffer first = Buffer::allocate(kMiB, simulated_resource());
  first.seal();
  EXPECT_NE(first.data(), nullptr);
  const Buffer second = Buffer::allocate(kMiB, simulated_resource());
  EXPECT_THROW(first.data(), InternalError);
}

}  // namespace

}  // namespace hr
