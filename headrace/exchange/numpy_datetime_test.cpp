// SPDX-License-Identifier: Apache-2.0
// Dates and timestamps: shared where the layout is equal, NaT for null and back, refusals.
#include "headrace/exchange/numpy_datetime.h"

#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/exchange/arrow.h"
#include "headrace/exchange/protocol.h"
#include "headrace/exchange/strided.h"
#include "headrace/memory/log/ledger.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace hr {
namespace {

constexpr TimeUnit kUnits[] = {TimeUnit::kSecond, TimeUnit::kMilli, TimeUnit::kMicro,
                               TimeUnit::kNano};

Tensor tensor_of(Dtype dtype, const std::vector<int64_t>& values) {
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(values.size()) * 8);
  if (!values.empty()) std::memcpy(buffer.mutable_data(), values.data(), values.size() * 8);
  return Tensor(dtype, {static_cast<int64_t>(values.size())}, std::move(buffer));
}

Column roundtrip(const Column& column, const char* format) {
  ArrowSchema schema{};
  ArrowArray array{};
  to_arrow_schema(column, &schema);
  to_arrow_array(column, &array);
  EXPECT_EQ(std::string(schema.format), format);
  const ArrowColumns back = from_arrow("from_arrow", schema, &array);
  schema.release(&schema);
  return back.chunks[0].at(0);
}

TEST(NumpyDatetime, ArrowSharesDatesAndTimestamps) {
  const int64_t copied = ledger_bytes();
  const char* const formats[] = {"tss:", "tsm:", "tsu:", "tsn:"};
  for (size_t u = 0; u < 4; ++u) {
    const Column column = column_of("series", tensor_of(Dtype::timestamp(kUnits[u]), {5, -7, 9}));
    const Column back = roundtrip(column.slice(1, 2), formats[u]);
    EXPECT_EQ(back.dtype(), column.dtype());
    EXPECT_EQ(back.values<int64_t>().data(), column.values<int64_t>().data() + 1);
  }
  Buffer days = Buffer::allocate_zeroed(3 * 4);
  const Column dates(TypeId::kDate, 3, days);
  EXPECT_EQ(roundtrip(dates, "tdD").values<int32_t>().data(), dates.values<int32_t>().data());
  EXPECT_EQ(ledger_bytes(), copied);
}

TEST(NumpyDatetime, NotATimeBecomesNullAndBack) {
  for (const size_t rows : {0u, 1u, 63u, 64u, 65u, 1000u}) {
    for (const size_t every : {0u, 3u}) {
      std::vector<int64_t> values(rows);
      for (size_t i = 0; i < rows; ++i)
        values[i] = every && i % every == 0 ? kNotATime : static_cast<int64_t>(i);
      const Dtype dtype = Dtype::timestamp(TimeUnit::kNano);
      const Tensor times = tensor_of(dtype, values);
      const Column column = column_of("series", times);
      EXPECT_EQ(column.values_buffer(), times.buffer());
      const Tensor back = dense("to_numpy", column);
      EXPECT_EQ(back.dtype(), dtype);
      ASSERT_EQ(back.num_elements(), static_cast<int64_t>(rows));
      for (size_t i = 0; i < rows; ++i) {
        ASSERT_EQ(back.as<int64_t>()[i], values[i]);
        ASSERT_EQ(column.is_null(static_cast<int64_t>(i)), values[i] == kNotATime);
      }
      if (!every) {
        EXPECT_EQ(back.buffer(), times.buffer());
      }
    }
  }
  clear_ledger();
}

TEST(NumpyDatetime, ViewsIntoTheMiddleAndStridedOnes) {
  const Dtype dtype = Dtype::timestamp(TimeUnit::kMicro);
  const Tensor whole = tensor_of(dtype, {1, kNotATime, 3, kNotATime, 5});
  const Column middle = column_of("series", Tensor(dtype, {3}, whole.buffer(), 16));
  EXPECT_EQ(middle.values<int64_t>().data(), whole.as<int64_t>() + 2);
  EXPECT_FALSE(middle.is_null(0));
  EXPECT_TRUE(middle.is_null(1));
  EXPECT_EQ(middle.null_count(), 1);
  const Column strided = column_of("series", Tensor(dtype, {2}, {3}, whole.buffer(), 0));
  EXPECT_EQ(strided.values<int64_t>()[0], 1);
  EXPECT_TRUE(strided.is_null(1));
  clear_ledger();
}

TEST(NumpyDatetime, DaysNarrowAndWiden) {
  const Tensor days = tensor_of(TypeId::kInt64, {0, kNotATime, -719'528, INT32_MAX, INT32_MIN});
  const Column dates = dates_of_days("series", days);
  EXPECT_EQ(dates.dtype(), Dtype(TypeId::kDate));
  EXPECT_TRUE(dates.is_null(1));
  EXPECT_EQ(dates.values<int32_t>()[2], -719'528);
  const Tensor back = days_of("to_numpy", dates);
  EXPECT_EQ(std::memcmp(back.data(), days.data(), 5 * 8), 0);
  EXPECT_EQ(dates_of_days("series", Tensor(TypeId::kInt64, {2}, {2}, days.buffer(), 0))
                .values<int32_t>()[1],
            -719'528);
  EXPECT_EQ(dates_of_days("series", tensor_of(TypeId::kInt64, {})).num_rows(), 0);
  EXPECT_THROW(dates_of_days("series", tensor_of(TypeId::kInt64, {int64_t{1} << 31})),
               InvalidArgumentError);
  EXPECT_THROW(dense("to_numpy", dates), ExchangeError);
  EXPECT_THROW(as_tensor(dates), TypeMismatchError);
  clear_ledger();
}

TEST(NumpyDatetime, Date64MustBeMidnight) {
  constexpr int64_t kDay = 86'400'000;
  const std::vector<int64_t> values = {kDay, 5, -kDay};
  Buffer buffer = tensor_of(TypeId::kInt64, values).buffer();
  Buffer validity = Buffer::allocate_zeroed(1);
  validity.mutable_as<uint8_t>()[0] = 0b101;
  const Column dates =
      dates_of_milliseconds("from_arrow", Column(TypeId::kInt64, 3, buffer, validity, -1));
  EXPECT_EQ(dates.values<int32_t>()[0], 1);
  EXPECT_TRUE(dates.is_null(1));
  EXPECT_EQ(dates.values<int32_t>()[2], -1);
  EXPECT_THROW(dates_of_milliseconds("from_arrow", Column(TypeId::kInt64, 3, buffer)),
               InvalidArgumentError);
  clear_ledger();
}

}  // namespace
}  // namespace hr
