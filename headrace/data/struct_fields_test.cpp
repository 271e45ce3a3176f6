// SPDX-License-Identifier: Apache-2.0
// Fields of structs against the rows they were made of, in order and out of order.
#include "headrace/data/struct_fields.h"

#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/exec/simd_and_threads_testing.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>

namespace hr {

namespace {

class StructFields : public testing::ThreadsTest {};

INSTANTIATE_TEST_SUITE_P(Threads, StructFields, ::testing::Values(1, 2, 4));

const Dtype kPoint = Dtype::structure({{"x", TypeId::kInt64}, {"ok", TypeId::kBool}});

struct Fields {
  std::vector<int64_t> numbers;
  std::vector<bool> valid;
  std::vector<bool> truths;

  Fields(int64_t rows, std::mt19937_64& random) {
    for (int64_t row = 0; row < rows; ++row) {
      numbers.push_back(static_cast<int64_t>(random()));
      valid.push_back(random() % 5 > 0);
      truths.push_back(random() % 2 > 0);
    }
  }

  std::vector<Column> columns() const {
    const auto rows = static_cast<int64_t>(truths.size());
    Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(rows));
    for (int64_t row = 0; row < rows; ++row)
      if (truths[static_cast<size_t>(row)]) set_bit(bits.mutable_as<uint8_t>(), row, true);
    return {testing::column_of(numbers, valid), Column(TypeId::kBool, rows, std::move(bits))};
  }
};

// Against what `place(row)` says, which is none for a null struct.
template <class Place>
void expect_fields(const Column& structs, const Fields& fields, const Place& place) {
  const Column x = struct_field("test", structs, 0), ok = struct_field("test", structs, 1);
  ASSERT_EQ(x.num_rows(), structs.num_rows());
  ASSERT_EQ(ok.num_rows(), structs.num_rows());
  for (int64_t row = 0; row < structs.num_rows(); ++row) {
    const std::optional<int64_t> at = place(row);
    const auto i = static_cast<size_t>(at.value_or(0));
    ASSERT_EQ(structs.is_null(row), !at) << row;
    ASSERT_EQ(x.is_null(row), !at || !fields.valid[i]) << row;
    ASSERT_EQ(ok.is_null(row), !at) << row;
    if (!at) continue;
    if (fields.valid[i]) {
      ASSERT_EQ(x.values<int64_t>()[static_cast<size_t>(row)], fields.numbers[i]);
    }
    ASSERT_EQ(ok.bit(row), fields.truths[i]);
  }
}

TEST_P(StructFields, AreThoseOfTheRows) {
  std::mt19937_64 random(1);
  for (const int64_t rows : {0, 1, 63, 64, 65, 131'071, 131'073, 300'000}) {
    const Fields fields(rows, random);
    for (const bool nulls : {false, true}) {
      std::vector<bool> valid;
      for (int64_t row = 0; row < rows; ++row) valid.push_back(!nulls || random() % 4 > 0);
      const Column like = testing::column_of(std::vector<int8_t>(valid.size()), valid);
      const Column structs = Column::structs(kPoint, rows, fields.columns(), like.validity_buffer(),
                                             like.null_count());
      const auto same = [&](int64_t row) {
        return valid[static_cast<size_t>(row)] ? std::optional(row) : std::nullopt;
      };
      expect_fields(structs, fields, same);
      if (rows > 3)
        expect_fields(structs.slice(3, rows - 3), fields,
                      [&](int64_t row) { return same(row + 3); });
      std::vector<int64_t> places;
      for (int64_t row = 0; row < rows; ++row)
        places.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(rows)));
      const Column moved =
          Column::structs_at(kPoint, rows, testing::column_of(places).values_buffer(),
                             fields.columns(), like.validity_buffer(), like.null_count());
      check_structs("test", "moved", moved);
      expect_fields(moved, fields, [&](int64_t row) {
        return same(row) ? std::optional(places[static_cast<size_t>(row)]) : std::nullopt;
      });
    }
  }
}

TEST(StructColumn, SharesFieldsThatAreInOrder) {
  std::mt19937_64 random(1);
  const Fields fields(100, random);
  const std::vector<Column> columns = fields.columns();
  const Column structs = Column::structs(kPoint, 100, columns).slice(10, 50);
  EXPECT_EQ(struct_field("test", structs, 0).values<int64_t>().data(),
            columns[0].values<int64_t>().data() + 10);
  EXPECT_EQ(structs.size_bytes(), 50 * 8 + columns[0].size_bytes() + columns[1].size_bytes());
}

TEST(StructColumn, AllNullHasNoRowsOfFields) {
  const Column nulls(kPoint, 9, Buffer::allocate_zeroed(72), Buffer::allocate_zeroed(2), 9);
  const Column x = struct_field("test", nulls, 0);
  EXPECT_EQ(x.num_rows(), 9);
  EXPECT_EQ(x.null_count(), 9);
  EXPECT_EQ(struct_field("test", nulls, 1).null_count(), 9);
}

TEST(StructColumn, RefusesFieldsThatDoNotFit) {
  const Column x = testing::column_of<int64_t>({1, 2});
  EXPECT_THROW(Column::structs(kPoint, 2, {x}), InternalError);
  EXPECT_THROW(Column::structs(kPoint, 2, {x, x}), InternalError);
  EXPECT_THROW(Column::structs(Dtype::structure({{"x", TypeId::kInt64}}), 3, {x}), InternalError);
  EXPECT_THROW(Column::maps(0, {}, x), InternalError);
  const Dtype one = Dtype::structure({{"x", TypeId::kInt64}});
  const auto at = [&](int64_t place) {
    return Column::structs_at(one, 1, testing::column_of<int64_t>({place}).values_buffer(), {x});
  };
  check_structs("test", "s", at(1));
  EXPECT_THROW(check_structs("test", "s", at(2)), InvalidArgumentError);
  EXPECT_THROW(check_structs("test", "s", at(-1)), InvalidArgumentError);
}

}  // namespace

}  // namespace hr
