// SPDX-License-Identifier: Apache-2.0
// Values on devices: the same bits after a way there and back, and every misuse found. Each test
// runs on the simulated device and, where there is one, on a CUDA device.
#include "headrace/data/device.h"

#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/device_testing.h"
#include "headrace/data/dictionary.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/exec/device_stream.h"
#include "headrace/memory/device/simulated_device.h"
#include "headrace/memory/log/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <numeric>

namespace hr {

namespace {

using ::testing::HasSubstr;
using testing::tensor_of;
using testing::values_of;

constexpr int64_t kMiB = int64_t{1} << 20;

Stream opened(SimulatedSettings settings = {.limit_bytes = 16 << 20, .latency_ns = 100'000}) {
  open_simulated(settings);
  return new_stream();
}

class Devices : public ::testing::TestWithParam<Place> {
 protected:
  static Place place() { return GetParam(); }

  static Stream opened() { return place().is_gpu() ? new_stream(place()) : hr::opened(); }
};

INSTANTIATE_TEST_SUITE_P(Device, Devices, ::testing::ValuesIn(testing::device_places()),
                         [](const auto& at) { return at.param.is_gpu() ? "Cuda" : "Simulated"; });

std::vector<double> numbers(int64_t count) {
  std::vector<double> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0.5);
  return values;
}

// An operator of the host, as a device would have it.
template <class F>
Tensor host_operator(std::string_view op, std::vector<Tensor> inputs, Dtype dtype, Shape shape,
                     Stream stream, F f) {
  return run_on_device(op, stream, std::move(inputs), dtype, std::move(shape),
                       [=](std::span<const Tensor> in) {
                         const Place place = in[0].place();
                         if (place.is_host()) return f(in);
                         std::vector<Tensor> here;
                         for (const Tensor& each : in)
                           here.push_back(to_place(each, host, current_stream(place)));
                         return to_place(f(here), place, current_stream(place));
                       });
}

Tensor add(const Tensor& a, const Tensor& b, Stream stream) {
  return host_operator("add", {a, b}, a.dtype(), a.shape(), stream, [](std::span<const Tensor> in) {
    std::vector<double> sum = values_of<double>(in[0]);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += in[1].as<double>()[i];
    return tensor_of(sum);
  });
}

Tensor sum(const Tensor& a, Stream stream) {
  return host_operator("sum", {a}, a.dtype(), {}, stream, [](std::span<const Tensor> in) {
    double total = 0;
    for (const double value : values_of<double>(in[0])) total += value;
    return scalar_tensor(total);
  });
}

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_P(Devices, ThereAndBackForEveryLayout) {
  const Stream stream = opened();
  clear_ledger();
  for (const int64_t size : testing::edge_sizes()) {
    const Tensor tensor = tensor_of(numbers(size));
    const Tensor there = to_place(tensor, place(), stream);
    EXPECT_EQ(there.place(), size > 0 ? place() : host);
    EXPECT_TRUE(testing::same_bits(to_place(there, host, stream), tensor));
  }
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(1000));
  for (int64_t i = 0; i < 1000; ++i) set_bit(validity.mutable_as<uint8_t>(), i, i % 3 != 0);
  const Column column(TypeId::kFloat64, 1000, tensor_of(numbers(1000)).buffer(), validity, -1);
  DictionaryBuilder builder;
  builder.add("low");
  builder.add("a rather high value");
  Buffer codes = Buffer::allocate_zeroed(4000);
  codes.mutable_as<int32_t>()[500] = 1;
  const Column categories = Column::categories(1000, codes, builder.finish(), validity, -1);
  for (const Column& whole : {column, categories})
    for (const int64_t begin : {0, 1, 8, 499}) {
      const Column part = whole.slice(begin, 500);
      const Column there = to_place(part, place(), stream);
      EXPECT_EQ(there.place(), place());
      const Column back = to_place(there, host, stream);
      ASSERT_EQ(back.null_count(), part.null_count());
      EXPECT_EQ(back.dictionary(), part.dictionary());
      for (int64_t row = 0; row < 500; ++row) {
        ASSERT_EQ(back.is_null(row), part.is_null(row));
        if (whole.dtype().is_category()) {
          ASSERT_EQ(back.string(row), part.string(row));
        } else {
          ASSERT_EQ(back.values<double>()[static_cast<size_t>(row)],
                    part.values<double>()[static_cast<size_t>(row)]);
        }
      }
    }
  clear_ledger();
}

TEST_P(Devices, TheLedgerShowsBothWays) {
  const Stream stream = opened();
  clear_ledger();
  const Tensor there = to_place(tensor_of(numbers(1000)), place(), stream);
  to_place(there, host, stream);
  const std::vector<LedgerEntry> entries = ledger_entries();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].reason, "host to device");
  EXPECT_EQ(entries[0].to.name(), place().name());
  EXPECT_EQ(entries[1].from.name(), place().name());
  EXPECT_EQ(entries[1].bytes, 8000);
  EXPECT_TRUE(entries[1].asked);
  const NoCopies none(true);
  EXPECT_THROW(to_place(there, host, stream), InvalidArgumentError);
  clear_ledger();
}

TEST_P(Devices, OperatorsRunThereInOrder) {
  const Stream stream = opened();
  const Tensor a = to_place(tensor_of(numbers(100'000)), place(), stream);
  Tensor total = a;
  for (int i = 0; i < 5; ++i) total = add(total, a, stream);
  const Tensor result = to_place(sum(total, stream), host, stream);
  EXPECT_EQ(result.item<double>(), 6 * (100'000.0 * 100'000 / 2));
}

TEST_P(Devices, UseBeforeReadyIsFound) {
  const Stream first = opened(), second = new_stream(place());
  const Tensor a = to_place(tensor_of(numbers(1000)), place(), first);
  EXPECT_THAT(refusal([&] { sum(a, second); }),
              HasSubstr("sum: the values are used before they are ready: written_by='to'"));
  EXPECT_THAT(refusal([&] { to_place(a, host, second); }), HasSubstr("to: the values are used"));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // ready by luck
  EXPECT_THAT(refusal([&] { sum(a, second); }), HasSubstr("before they are ready"));
  wait_event(second, record_event(first));
  EXPECT_EQ(refusal([&] { sum(a, second); }), "");
  synchronize(second);
}

TEST_P(Devices, TheDefaultStreamWaitsForOthers) {
  if (!place().is_gpu()) GTEST_SKIP() << "streams of the simulated device are made by hand";
  const std::vector<double> values = numbers(1'000'000);
  const Tensor there = to_place(tensor_of(values), place(), opened());
  DeviceCall call("test", place());
  call.reads(there.buffer());
  double last = 0;
  call.fetch(&last, there.as<double>() + values.size() - 1, 8);
  EXPECT_EQ(last, values.back());
}

TEST_P(Devices, MemoryIsCountedAndLimited) {
  if (!place().is_gpu()) GTEST_SKIP() << "HasABudgetOfItsOwn has it";
  const Stream stream = opened();
  synchronize(stream);
  const MemoryStatistics before = memory_statistics(place());
  const int64_t on_host = memory_statistics().used_bytes;
  set_memory_limit(before.used_bytes + kMiB, place());
  {
    const Tensor a = to_place(tensor_of(numbers(100'000)), place(), stream);
    EXPECT_EQ(memory_statistics(place()).used_bytes, before.used_bytes + 800'000);
    EXPECT_GE(memory_statistics(place()).peak_bytes, before.used_bytes + 800'000);
    EXPECT_EQ(memory_statistics().used_bytes, on_host);
    try {
      to_place(tensor_of(numbers(100'000)), place(), stream);
      FAIL();
    } catch (const OutOfMemoryError& error) {
      EXPECT_THAT(error.what(), HasSubstr("out of memory on the device: requested=800.0 kB"));
      EXPECT_THAT(error.what(), HasSubstr("the largest holders there:\n  800.0 kB"));
    }
  }
  EXPECT_EQ(memory_statistics(place()).used_bytes, before.used_bytes);
  EXPECT_NO_THROW(to_place(tensor_of(numbers(100'000)), place(), stream));
  set_memory_limit(std::numeric_limits<int64_t>::max(), place());
  synchronize(stream);
  trim_memory();
  EXPECT_GT(before.limit_bytes, 0);
}

TEST(Device, ValuesGoFromOneDeviceToAnother) {
  open_simulated({.devices = 2, .limit_bytes = 16 * kMiB, .latency_ns = 100'000});
  {
    const Stream first = new_stream(simulated_place(0)), second = new_stream(simulated_place(1));
    const Tensor x = tensor_of(numbers(1000));
    const int64_t before = ledger_bytes();
    const Tensor there =
        to_place(to_place(x, simulated_place(0), first), simulated_place(1), second);
    EXPECT_EQ(there.place(), simulated_place(1));
    EXPECT_EQ(ledger_bytes() - before, 16'000);
    EXPECT_TRUE(testing::same_bits(to_place(there, host, second), x));
    const Column nulls(TypeId::kInt64, 1000, x.buffer(), Buffer::allocate_zeroed(125), 1000);
    const Column moved = to_place(to_place(nulls.slice(3, 900), simulated_place(0), first),
                                  simulated_place(1), second);
    EXPECT_EQ(moved.place(), simulated_place(1));
    EXPECT_EQ(to_place(moved, host, second).null_count(), 900);
  }
  opened();
}

TEST_P(Devices, NoRowsLeaveNoMemoryBehind) {
  const Stream stream = opened();
  const Buffer text = Buffer::allocate_zeroed(64);
  const Column strings = Column::strings(2, Buffer::allocate_zeroed(32), {text});
  const Column there = to_place(strings, place(), stream).slice(1, 0);
  const Column back = to_place(there, host, stream);
  EXPECT_EQ(back.num_rows(), 0);
  EXPECT_TRUE(back.place().is_host());
  for (const Buffer& part : back.text_buffers()) EXPECT_TRUE(part.place().is_host());
}

TEST(Device, TheHostNeverReadsThere) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const Stream stream = opened();
  const Tensor a = to_place(tensor_of(numbers(1000)), simulated, stream);
  synchronize(stream);
  EXPECT_DEATH({ [[maybe_unused]] volatile double read = a.item<double>(); }, "");
  EXPECT_THAT(refusal([&] { sum(tensor_of(numbers(10)), stream); }),
              HasSubstr("sum: the values are not on the device: place='host'"));
}

TEST(Device, CopiesTakeTheirTime) {
  const Stream stream =
      opened({.limit_bytes = 16 << 20, .to_device = 10e6, .to_host = 20e6, .latency_ns = 0});
  const Tensor million = tensor_of(numbers(1'000'000));
  auto begin = std::chrono::steady_clock::now();
  const Tensor there = to_place(million, simulated, stream);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(400));
  synchronize(stream);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(800));
  begin = std::chrono::steady_clock::now();
  to_place(there, host, stream);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(400));
}

TEST(Device, ALimitIsAnErrorAndTheNextCallWorks) {
  const Stream stream = opened({.limit_bytes = kMiB, .latency_ns = 0});
  const Tensor a = to_place(tensor_of(numbers(50'000)), simulated, stream);
  EXPECT_THROW(to_place(tensor_of(numbers(100'000)), simulated, stream), OutOfMemoryError);
  {
    const Tensor b = add(a, a, stream);
    EXPECT_THROW(add(a, b, stream), OutOfMemoryError);
    synchronize(stream);
  }
  EXPECT_EQ(memory_statistics(simulated).used_bytes, 400'128);
  EXPECT_EQ(to_place(sum(a, stream), host, stream).item<double>(), 50'000.0 * 50'000 / 2);
}

TEST_P(Devices, ErrorsOfWorkCarryTheOperator) {
  const Stream stream = opened();
  const Tensor a = to_place(tensor_of(numbers(10)), place(), stream);
  run_on_device("scale", stream, {a}, TypeId::kFloat32, {10},
                [](std::span<const Tensor> in) { return in[0]; });
  EXPECT_THAT(refusal([&] { synchronize(stream); }),
              HasSubstr("scale: the kernel returned values of another dtype or shape"));
  EXPECT_EQ(to_place(sum(a, stream), host, stream).item<double>(), 50.0);
}

}  // namespace hr
