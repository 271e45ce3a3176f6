// SPDX-License-Identifier: Apache-2.0
// Snapshots and matrices of columns against loops over elements.
#include "headrace/exchange/strided.h"

#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/exec/simd_and_threads_testing.h"
#include "headrace/memory/log/ledger.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace hr {

namespace {

using testing::column_of;
using testing::tensor_of;

class Strided : public testing::ThreadsTest {};

INSTANTIATE_TEST_SUITE_P(Threads, Strided, ::testing::Values(1, 2, 4));

TEST_P(Strided, ASnapshotHasTheBytesAndTheShapeInMemoryOfItsOwn) {
  for (const int64_t count : testing::edge_sizes()) {
    const Tensor from = tensor_of(testing::random_values<int32_t>(count, 3, std::identity{}));
    clear_ledger();
    const Tensor made = snapshot("Series", from, false);
    EXPECT_TRUE(testing::same_bits(made, from)) << count;
    EXPECT_EQ(ledger_bytes(), 4 * count);
    EXPECT_TRUE(count == 0 || made.data() != from.data());
  }
  const Tensor matrix(TypeId::kFloat64, {2, 3}, tensor_of<double>({1, 2, 3, 4, 5, 6}).buffer());
  EXPECT_TRUE(testing::same_bits(snapshot("DataFrame", matrix, true), matrix));
}

TEST_P(Strided, ASnapshotBeginsWhereATensorDoes) {
  const Tensor whole = tensor_of<int64_t>({1, 2, 3, 4, 5});
  const Tensor part(TypeId::kInt64, {3}, {1}, whole.buffer(), 8);
  EXPECT_EQ(testing::values_of<int64_t>(snapshot("Series", part, false)),
            (std::vector<int64_t>{2, 3, 4}));
}

TEST_P(Strided, ASnapshotLeavesWhatIsCopiedAnyway) {
  clear_ledger();
  for (const int64_t stride : {2, -1}) {
    const Tensor apart = tensor_of<double>({1, 2, 3}, stride);
    EXPECT_EQ(snapshot("Series", apart, false).data(), apart.data());
  }
  const Tensor bools = Tensor(TypeId::kBool, {4}, tensor_of<uint8_t>({1, 0, 1, 1}).buffer());
  EXPECT_EQ(snapshot("Series", bools, false).data(), bools.data());
  EXPECT_EQ(ledger_bytes(), 0);
}

TEST_P(Strided, ASnapshotIsRefusedWhereNothingMayBeCopied) {
  const NoCopies none;
  const Tensor tensor = tensor_of<double>({1, 2});
  EXPECT_THROW(snapshot("Series", tensor, false), InvalidArgumentError);
  EXPECT_NO_THROW(snapshot("Series", tensor, true));
}

TEST_P(Strided, AMatrixHasTheRowsOfItsColumns) {
  std::mt19937_64 random(7);
  for (const int64_t rows : testing::edge_sizes()) {
    const auto size = static_cast<size_t>(rows + 5);
    std::vector<double> floats(size);
    std::vector<float> narrow(size);
    std::vector<int64_t> integers(size);
    std::vector<uint8_t> bytes(size);
    std::vector<bool> valid(size);
    for (size_t i = 0; i < size; ++i) {
      floats[i] = random() % 7 ? static_cast<double>(random() % 1000) : std::nan("");
      narrow[i] = static_cast<float>(random() % 1000) / 8;
      integers[i] = static_cast<int64_t>(random() % 1000) - 500;
      bytes[i] = static_cast<uint8_t>(random());
      valid[i] = random() % 3 > 0;
    }
    const std::vector<Column> columns{
        column_of(floats, valid).slice(5, rows), column_of(narrow, valid).slice(5, rows),
        column_of(integers, valid).slice(5, rows), column_of(bytes).slice(5, rows)};
    std::vector<double> made(static_cast<size_t>(4 * rows) + 1, -1);
    fill_matrix(columns, TypeId::kFloat64, reinterpret_cast<std::byte*>(made.data()));
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
      const size_t from = row + 5;
      const double values[] = {floats[from], narrow[from], static_cast<double>(integers[from]),
                               static_cast<double>(bytes[from])};
      for (size_t c = 0; c < 4; ++c) {
        const bool missing = (c < 3 && !valid[from]) || std::isnan(values[c]);
        const double got = made[4 * row + c];
        ASSERT_TRUE(missing ? std::isnan(got) : got == values[c]) << row << ", " << c;
      }
    }
    EXPECT_EQ(made.back(), -1);  // nothing past the end
  }
}

TEST_P(Strided, AMatrixOfOneDtypeKeepsIt) {
  const std::vector<int64_t> large{int64_t{1} << 62, -7}, more{(int64_t{1} << 53) + 1, 3};
  std::vector<int64_t> made(4);
  fill_matrix({column_of(large), column_of(more)}, TypeId::kInt64,
              reinterpret_cast<std::byte*>(made.data()));
  EXPECT_EQ(made, (std::vector<int64_t>{large[0], more[0], -7, 3}));
  std::vector<float> floats(2);
  fill_matrix({column_of<float>({1.5F, 2}, {true, false})}, TypeId::kFloat32,
              reinterpret_cast<std::byte*>(floats.data()));
  EXPECT_EQ(floats[0], 1.5F);
  EXPECT_TRUE(std::isnan(floats[1]));
  fill_matrix({}, TypeId::kFloat64, nullptr);
}

TEST_P(Strided, AMatrixMayHaveMoreColumnsThanABlockHasBytes) {
  constexpr int64_t kColumns = 5000;  // 40,000 bytes per row
  std::vector<Column> columns;
  for (int64_t c = 0; c < kColumns; ++c)
    columns.push_back(column_of<int32_t>({static_cast<int32_t>(c), static_cast<int32_t>(-c)}));
  std::vector<double> made(2 * kColumns);
  fill_matrix(columns, TypeId::kFloat64, reinterpret_cast<std::byte*>(made.data()));
  for (int64_t c = 0; c < kColumns; ++c) {
    ASSERT_EQ(made[static_cast<size_t>(c)], c);
    ASSERT_EQ(made[static_cast<size_t>(kColumns + c)], -c);
  }
}

}  // namespace

}  // namespace hr
