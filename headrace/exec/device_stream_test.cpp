// SPDX-License-Identifier: Apache-2.0
// Streams: order, delay, events, errors, and the knowledge of what is ordered and what is luck.
#include "headrace/exec/device_stream.h"

#include "headrace/base/error.h"
#include "headrace/memory/device/simulated_device.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace hr {

namespace {

using Clock = std::chrono::steady_clock;

void open_with(int64_t latency_ns) {
  SimulatedSettings settings;
  settings.limit_bytes = 1 << 20;
  settings.latency_ns = latency_ns;
  open_simulated(settings);
}

}  // namespace

TEST(DeviceStream, WorkStartsLateAndInOrder) {
  open_with(20'000'000);
  const Stream stream = new_stream();
  const auto begin = Clock::now();
  std::atomic<int> done{0};
  for (int i = 0; i < 100; ++i)
    enqueue(stream, [&done, i] {
      if (done == i) ++done;
    });
  EXPECT_EQ(done, 0);  // the call does not wait
  synchronize(stream);
  EXPECT_EQ(done, 100);
  EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(20));
}

TEST(DeviceStream, EventsOrderStreams) {
  open_with(1'000'000);
  const Stream first = new_stream(), second = new_stream();
  std::atomic<int> value{0};
  enqueue(first, [&value] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    value = 1;
  });
  const StreamEvent event = record_event(first);
  EXPECT_FALSE(is_ordered(second, event));
  wait_event(second, event);
  EXPECT_TRUE(is_ordered(second, event));
  int seen = 0;
  enqueue(second, [&value, &seen] { seen = value; });
  synchronize(second);
  EXPECT_EQ(seen, 1);
}

TEST(DeviceStream, OrderIsKnownAndNotGuessed) {
  open_with(0);
  const Stream a = new_stream(), b = new_stream(), c = new_stream();
  const StreamEvent first = enqueue(a, [] {});
  EXPECT_TRUE(is_ordered(a, first));
  EXPECT_FALSE(is_ordered(b, first));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(is_ordered(b, first));  // done by now, but not waited for
  wait_event(b, record_event(a));
  const StreamEvent second = enqueue(b, [] {});
  wait_event(c, record_event(b));
  EXPECT_TRUE(is_ordered(c, second));
  EXPECT_TRUE(is_ordered(c, first));  // through b
  const StreamEvent third = enqueue(a, [] {});
  EXPECT_FALSE(is_ordered(c, third));
  synchronize(a);
  EXPECT_TRUE(is_ordered(c, third));  // the host waited
}

TEST(DeviceStream, ErrorsComeWithTheNextSynchronize) {
  open_with(0);
  const Stream stream = new_stream();
  std::atomic<int> later{0};
  enqueue(stream, [] { throw_error<DeviceError>("add", "a test"); });
  enqueue(stream, [&later] { ++later; });
  EXPECT_THROW(synchronize(stream), DeviceError);
  EXPECT_EQ(later, 0);
  enqueue(stream, [&later] { ++later; });
  EXPECT_NO_THROW(synchronize(stream));
  EXPECT_EQ(later, 1);
  EXPECT_THROW(enqueue(Stream{12345}, [] {}), DeviceError);
  EXPECT_THROW(synchronize(Stream{}), DeviceError);
}

}  // namespace hr
