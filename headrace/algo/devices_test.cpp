// SPDX-License-Identifier: Apache-2.0
// The operators of this room have the host's bits on every device.
#include "headrace/algo/keys/integer_levels.h"
#include "headrace/algo/linalg/column_statistics.h"
#include "headrace/algo/linalg/gram.h"
#include "headrace/algo/linalg/matmul.h"
#include "headrace/algo/reduce/histogram.h"
#include "headrace/algo/scan/cumulative.h"
#include "headrace/algo/scan/diff.h"
#include "headrace/algo/select/filter.h"
#include "headrace/algo/select/gather.h"
#include "headrace/algo/select/nonzero.h"
#include "headrace/algo/sort/sort.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/device_testing.h"
#include "headrace/data/tensor_testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>

namespace hr {

namespace {

using testing::tensor_of;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

class AlgoDevices : public testing::OnDevices {
 protected:
  static Column sent(const Column& column) {
    return to_place(column, GetParam(), current_stream(GetParam()));
  }

  /// Rows of a device and of the host: the same nulls, the same bits where there is a value.
  static void expect_same_column(const Column& there, const Column& here) {
    EXPECT_EQ(there.place(), GetParam());
    const Column back = to_place(there, host, current_stream(GetParam()));
    ASSERT_EQ(back.num_rows(), here.num_rows());
    ASSERT_EQ(back.null_count(), here.null_count());
    ASSERT_EQ(back.dtype(), here.dtype());
    const int64_t width = here.dtype().size_bytes();
    const auto at = [&](const Column& column, int64_t row) {
      return column.values_buffer().data() + (column.offset() + row) * width;
    };
    for (int64_t row = 0; row < here.num_rows(); ++row) {
      ASSERT_EQ(back.is_null(row), here.is_null(row)) << row;
      if (here.is_null(row)) continue;
      if (here.dtype().is_bool())
        ASSERT_EQ(back.bit(row), here.bit(row)) << row;
      else
        ASSERT_EQ(std::memcmp(at(back, row), at(here, row), static_cast<size_t>(width)), 0)
            << here.dtype().name() << " row " << row;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Device, AlgoDevices, ::testing::ValuesIn(testing::device_places()),
                         AlgoDevices::name);

template <class T>
std::vector<T> mixed(int64_t count, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) {
    if constexpr (std::is_floating_point_v<T>)
      value = static_cast<T>(std::normal_distribution<double>(1, 3)(random));
    else
      value = static_cast<T>(random() >> (random() % 64));
  }
  return values;
}

template <class F>
void each_dtype(F&& f) {
  f(double{});
  f(float{});
  f(int8_t{});
  f(int32_t{});
  f(int64_t{});
  f(uint16_t{});
  f(uint64_t{});
}

Buffer random_bits(int64_t rows, uint32_t seed) {
  std::mt19937 random(seed);
  Buffer bits = Buffer::allocate((rows + 7) / 8 + 8);
  for (int64_t i = 0; i < bits.size_bytes(); ++i)
    bits.mutable_as<uint8_t>()[i] = static_cast<uint8_t>(random());
  return bits;
}

Column bools(int64_t rows, uint32_t seed, bool nulls) {
  return Column(TypeId::kBool, rows, random_bits(rows, seed),
                nulls ? random_bits(rows, seed + 1) : Buffer(), nulls ? -1 : 0);
}

template <class T>
Column with_nulls(const std::vector<T>& values, uint32_t seed) {
  const Tensor tensor = tensor_of(values);
  const auto rows = static_cast<int64_t>(values.size());
  return Column(tensor.dtype(), rows, tensor.buffer(), random_bits(rows, seed), -1);
}

/// Of few different values, among them what has an order of its own.
template <class T>
std::vector<T> repeating(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) {
    value = static_cast<T>(static_cast<int>(random() % 9) - (std::is_signed_v<T> ? 4 : 0));
    if constexpr (std::is_floating_point_v<T>) {
      if (value == 4) value = static_cast<T>(kNan);
      if (value == 3) value = static_cast<T>(-kInf);
      if (value == 2) value = static_cast<T>(-0.0);
    }
  }
  return values;
}

std::vector<int64_t> sizes() {
  std::vector<int64_t> some = testing::edge_sizes();
  for (const int64_t size : {8191, 8192, 8193}) some.push_back(size);
  return some;
}

}  // namespace

TEST_P(AlgoDevices, Diff) {
  const auto work = [](std::span<const Tensor> in) { return diff(in[0]); };
  each_dtype([&]<class T>(T) {
    for (const int64_t size : sizes()) expect_same({tensor_of(mixed<T>(size, 1))}, work);
  });
  for (const int64_t stride : {2, -1, -3})
    expect_same({tensor_of(mixed<double>(5000, 2), stride)}, work);
  expect_same({tensor_of<double>({0, kNan, kInf, kInf, -kInf, 1})}, work);
}

TEST_P(AlgoDevices, IndexOfTrue) {
  for (const int64_t size : sizes())
    for (const double share : {0.0, 0.001, 0.5, 1.0}) {
      std::mt19937 random(3);
      std::vector<uint8_t> gate(static_cast<size_t>(size));
      for (uint8_t& each : gate)
        each = std::bernoulli_distribution(share)(random) ? static_cast<uint8_t>(1 + random() % 255)
                                                          : 0;
      for (const int64_t stride : {1, 3, -1}) {
        const Tensor bytes = tensor_of(gate, stride);
        expect_same({bytes}, [](std::span<const Tensor> in) {
          return nonzero(Tensor(TypeId::kBool, in[0].shape(), in[0].strides(), in[0].buffer(),
                                in[0].byte_offset()));
        });
      }
    }
}

TEST_P(AlgoDevices, IndexOfTrueOfColumns) {
  if (!GetParam().is_gpu()) GTEST_SKIP() << "columns have no simulated operators";
  for (const int64_t rows : {0, 1, 31, 32, 33, 100'000}) {
    const Column whole = bools(rows, 4, false);
    for (const int64_t begin : {0, 1, 7, 8, 13}) {
      if (begin > rows) continue;
      const Column part = whole.slice(begin, rows - begin);
      const Column there = to_place(part, GetParam(), current_stream(GetParam()));
      EXPECT_TRUE(testing::same_bits(testing::fetched(nonzero(there)), nonzero(part)));
    }
  }
}

TEST_P(AlgoDevices, Compress) {
  const auto work = [](std::span<const Tensor> in) {
    return filter(in[0],
                  Mask(Tensor(TypeId::kBool, in[1].shape(), in[1].buffer(), in[1].byte_offset())));
  };
  std::mt19937 random(9);
  each_dtype([&]<class T>(T) {
    for (const int64_t size : sizes()) {
      std::vector<uint8_t> mask(static_cast<size_t>(size));
      for (uint8_t& each : mask) each = static_cast<uint8_t>(random() % 3 == 0);
      const Tensor x = tensor_of(mixed<T>(3 * size, 10));
      expect_same({Tensor(x.dtype(), {size}, x.buffer()), tensor_of(mask)}, work);
      if (size > 0) expect_same({Tensor(x.dtype(), {size, 3}, x.buffer()), tensor_of(mask)}, work);
    }
  });
}

TEST_P(AlgoDevices, CompressOfColumns) {
  if (!GetParam().is_gpu()) GTEST_SKIP() << "columns have no simulated operators";
  const int64_t rows = 100'003;
  const Tensor values = tensor_of(mixed<double>(rows, 12));
  const Column column = Column(TypeId::kFloat64, rows, values.buffer()).slice(5, rows - 9);
  const Column mask = bools(rows, 11, false).slice(7, rows - 9);
  const Column gate = sent(mask);
  expect_same_column(filter(sent(column), Mask(gate)), filter(column, Mask(mask)));
  expect_same_column(filter(gate, Mask(gate)), filter(mask, Mask(mask)));
  const Column nullable = with_nulls(mixed<float>(rows, 13), 14).slice(5, rows - 9);
  expect_same_column(filter(sent(nullable), Mask(gate)), filter(nullable, Mask(mask)));
  const Column some = bools(rows - 9, 15, true);  // null counts as false
  expect_same_column(filter(gate, Mask(sent(some))), filter(mask, Mask(some)));
  EXPECT_THROW(filter(sent(column).slice(0, 3), Mask(gate)), InvalidArgumentError);
}

TEST_P(AlgoDevices, Argsort) {
  for (const bool descending : {false, true})
    for (const bool missing_first : {false, true}) {
      const auto work = [=](std::span<const Tensor> in) {
        return argsort({as_column(in[0])}, {{descending, missing_first}});
      };
      each_dtype([&]<class T>(T) {
        for (const int64_t size : sizes()) {
          expect_same({tensor_of(mixed<T>(size, 20))}, work);
          expect_same({tensor_of(repeating<T>(size, 21))}, work);
        }
      });
    }
  expect_same({tensor_of<int64_t>({INT64_MAX, INT64_MIN, 0, -1, 1, INT64_MIN})},
              [](std::span<const Tensor> in) { return argsort({as_column(in[0])}, {{}}); });
}

TEST_P(AlgoDevices, SortOfOneColumn) {
  for (const bool descending : {false, true}) {
    const auto work = [=](std::span<const Tensor> in) {
      const Column column = as_column(in[0]);
      return as_tensor(sort_rows({column}, {{descending, false}}, {column})[0]);
    };
    each_dtype([&]<class T>(T) {
      for (const int64_t size : sizes()) expect_same({tensor_of(mixed<T>(size, 50))}, work);
      expect_same({tensor_of(repeating<T>(3000, 51))}, work);
      expect_same({tensor_of(std::vector<T>(3000, T{5}))}, work);
    });
  }
}

TEST_P(AlgoDevices, SortOfSeveralKeysAndNulls) {
  if (!GetParam().is_gpu()) GTEST_SKIP() << "columns have no simulated operators";
  const int64_t rows = 200'003;
  const std::vector<Column> keys{with_nulls(repeating<int32_t>(rows + 3, 22), 23).slice(3, rows),
                                 bools(rows + 1, 24, true).slice(1, rows),
                                 with_nulls(repeating<double>(rows, 26), 27),
                                 with_nulls(mixed<uint16_t>(rows, 28), 29)};
  std::vector<Column> moved;
  for (const Column& key : keys) moved.push_back(sent(key));
  const Stream stream = current_stream(GetParam());
  for (int way = 0; way < 16; ++way) {
    const SortOrder order{(way & 1) != 0, (way & 2) != 0}, other{(way & 4) != 0, (way & 8) != 0};
    for (const size_t count : {size_t{1}, size_t{2}, keys.size()}) {
      std::vector<SortOrder> orders(count, other);
      orders[0] = order;
      const auto some = [&](const std::vector<Column>& all) {
        return std::vector<Column>(all.begin(), all.begin() + static_cast<int64_t>(count));
      };
      EXPECT_TRUE(testing::same_bits(to_place(argsort(some(moved), orders), host, stream),
                                     argsort(some(keys), orders)));
      if (count == 2) {
        const std::vector<Column> there = sort_rows(some(moved), orders, moved);
        const std::vector<Column> here = sort_rows(some(keys), orders, keys);
        for (size_t c = 0; c < here.size(); ++c) expect_same_column(there[c], here[c]);
        EXPECT_TRUE(testing::same_bits(to_place(first_rows(some(moved), orders, 77), host, stream),
                                       first_rows(some(keys), orders, 77)));
      }
    }
  }
  EXPECT_THROW(argsort(moved, {}), InvalidArgumentError);
  EXPECT_THROW(argsort({moved[0], moved[1].slice(0, 5)}, {{}, {}}), InvalidArgumentError);
}

TEST_P(AlgoDevices, Gather) {
  const auto work = [](std::span<const Tensor> in) { return gather(in[0], in[1]); };
  std::mt19937 random(30);
  const auto positions = [&]<class P>(P, int64_t count, int64_t rows, int64_t stride) {
    std::vector<P> at(static_cast<size_t>(count));
    for (P& each : at) {
      each = static_cast<P>(random() % static_cast<unsigned>(rows));
      if (std::is_signed_v<P> && random() % 2) each = static_cast<P>(each - rows);
    }
    return tensor_of(at, stride);
  };
  each_dtype([&]<class T>(T) {
    const Tensor x = tensor_of(mixed<T>(3 * 120, 31));
    for (const int64_t count : {0, 1, 31, 32, 33, 10'000}) {
      expect_same({x, positions(int64_t{}, count, 360, 1)}, work);
      expect_same({Tensor(x.dtype(), {120, 3}, x.buffer()), positions(int8_t{}, count, 120, 1)},
                  work);
    }
    expect_same({x, positions(uint64_t{}, 999, 360, 3)}, work);
    expect_same({x, positions(int16_t{}, 999, 360, -2)}, work);
  });
}

TEST_P(AlgoDevices, GatherOfColumns) {
  if (!GetParam().is_gpu()) GTEST_SKIP() << "columns have no simulated operators";
  std::vector<int32_t> at = mixed<int32_t>(50'001, 32);
  for (int32_t& each : at) each = each % 3000;
  const Tensor positions = tensor_of(at);
  for (int32_t& each : at) each = std::max(each, -1);
  const Tensor or_none = tensor_of(at);
  for (const Column& column : {with_nulls(mixed<double>(3007, 33), 34).slice(7, 3000),
                               bools(3007, 35, true).slice(7, 3000), bools(3000, 37, false)}) {
    expect_same_column(gather(sent(column), testing::sent(positions, GetParam())),
                       gather(column, positions));
    expect_same_column(gather_or_null(sent(column), testing::sent(or_none, GetParam())),
                       gather_or_null(column, or_none));
  }
  const Column few = sent(bools(5, 38, false));
  try {
    gather(few, testing::sent(tensor_of<int16_t>({4, -5, 5, 7, -6}), GetParam()));
    FAIL();
  } catch (const InvalidArgumentError& error) {
    EXPECT_STREQ(error.what(), "take: position out of range: at=2, position='5', rows=5");
  }
  EXPECT_THROW(gather(few, testing::sent(tensor_of<uint64_t>({UINT64_MAX}), GetParam())),
               InvalidArgumentError);
}

TEST_P(AlgoDevices, Cumulate) {
  for (const Aggregate how :
       {Aggregate::kSum, Aggregate::kProduct, Aggregate::kMin, Aggregate::kMax}) {
    const auto work = [=](std::span<const Tensor> in) {
      return as_tensor(cumulative(how, as_column(in[0])));
    };
    each_dtype([&]<class T>(T) {
      for (const int64_t size : sizes()) expect_same({tensor_of(mixed<T>(size, 40))}, work);
      // 0 * inf is a NaN, and which one differs.
      if (how != Aggregate::kProduct) expect_same({tensor_of(repeating<T>(1000, 41))}, work);
    });
    expect_same({tensor_of(mixed<float>(1'000'003, 42))}, work);
    expect_same({tensor_of(mixed<double>(1'000'003, 43))}, work);
    expect_same({tensor_of<double>({-0.0, 0.0, kNan, -0.0, 7, 1})}, work);
    expect_same({tensor_of<double>({-0.0, kInf, kNan, kInf, 1, -3})}, work);
  }
}

TEST_P(AlgoDevices, CumulateOfColumns) {
  if (!GetParam().is_gpu()) GTEST_SKIP() << "columns have no simulated operators";
  const int64_t rows = 300'001;
  for (const Aggregate how :
       {Aggregate::kSum, Aggregate::kProduct, Aggregate::kMin, Aggregate::kMax}) {
    const auto expect = [&](const Column& column) {
      expect_same_column(cumulative(how, sent(column)), cumulative(how, column));
    };
    each_dtype([&]<class T>(T) { expect(with_nulls(mixed<T>(rows, 44), 45).slice(3, rows - 4)); });
    if (how == Aggregate::kSum || how == Aggregate::kProduct)
      expect(bools(rows, 46, true).slice(5, rows - 9));
  }
}

TEST_P(AlgoDevices, Histogram) {
  const auto counts = [](auto... arguments) {
    return [=](std::span<const Tensor> in) { return histogram(in[0], arguments...).counts; };
  };
  const auto edges = [](std::span<const Tensor> in) { return histogram(in[0], 50).edges; };
  each_dtype([&]<class T>(T) {
    for (const int64_t size : sizes()) {
      const Tensor x = tensor_of(mixed<T>(size, 5));
      expect_same({x}, counts(int64_t{10}));
      expect_same({x}, edges);
    }
    const Tensor x = tensor_of(mixed<T>(100'000, 6), 2);
    for (const int64_t bins : {1, 2, 1000, 5000, 20'000}) {
      expect_same({x}, counts(bins, std::optional(HistogramRange{-1.5, 3.7})));
      if (bins < 20'000 || sizeof(T) == 8) expect_same({x}, counts(bins));
    }
  });
  expect_same({tensor_of<double>({kNan, kInf, -kInf, 0, 1, 0.5})},
              counts(int64_t{2}, std::optional(HistogramRange{0, 1})));
}

TEST_P(AlgoDevices, HistogramBetweenEdges) {
  const auto work = [](std::span<const Tensor> in) { return histogram(in[0], in[1]).counts; };
  each_dtype([&]<class T>(T) {
    const Tensor x = tensor_of(mixed<T>(50'000, 7));
    expect_same({x, tensor_of<double>({-1, 0, 0, 0.5, 3, 100, 1e300})}, work);
    expect_same({x, tensor_of<int64_t>({-5, 0, 1, 2, 90, int64_t{1} << 62})}, work);
    expect_same({x, tensor_of<uint64_t>({0, 1, 2, 90, uint64_t{1} << 63})}, work);
  });
  std::vector<double> many(30'000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i) / 1000 - 10;
  expect_same({tensor_of(mixed<double>(100'000, 8)), tensor_of(many)}, work);
  expect_same({tensor_of<double>({kNan, kInf, -kInf, 0, 1}), tensor_of<double>({-kInf, 0, kInf})},
              work);
}

TEST_P(AlgoDevices, BadInputIsAnErrorThere) {
  if (!GetParam().is_gpu()) GTEST_SKIP();
  const Tensor there = testing::sent(tensor_of<double>({1, kNan, 2}), GetParam());
  EXPECT_THROW(histogram(there, int64_t{3}), InvalidArgumentError);
  EXPECT_THROW(histogram(there, testing::sent(tensor_of<double>({1, 0}), GetParam())),
               InvalidArgumentError);
}

namespace {

template <class T>
Tensor matrix_of(int64_t rows, int64_t columns, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(3, 2);
  std::vector<T> values(static_cast<size_t>(rows * columns));
  for (T& value : values) value = static_cast<T>(normal(random));
  return Tensor(dtype_of<T>(), {rows, columns}, tensor_of(values).buffer());
}

Tensor transposed(const Tensor& x) {
  return Tensor(x.dtype(), {x.shape()[1], x.shape()[0]}, {x.strides()[1], x.strides()[0]},
                x.buffer(), 0);
}

}  // namespace

TEST_P(AlgoDevices, GramAndItsMeans) {
  const auto part = [](bool weighted, Tensor SecondMoments::* which) {
    return [=](std::span<const Tensor> in) {
      return second_moments(RowTiles({in[0], in[1]}), weighted ? &in[2] : nullptr, true).*which;
    };
  };
  for (const int64_t columns : {1, 7, 31, 64, 65, 129})
    for (const int64_t rows : {1, 15, 16, 17, 255, 256, 257, 1000, 17'000}) {
      std::vector<double> each;
      for (int64_t i = 0; i < rows; ++i) each.push_back(0.5 + static_cast<double>(i % 3));
      const Tensor x = matrix_of<float>(rows, columns, 1), y = matrix_of<double>(rows, 2, 2);
      for (const bool weighted : {false, true}) {
        expect_same({x, y, tensor_of(each)}, part(weighted, &SecondMoments::means));
        expect_same({x, y, tensor_of(each)}, part(weighted, &SecondMoments::products));
      }
      const Tensor wide = matrix_of<double>(rows, columns, 3);
      expect_same({wide}, [](std::span<const Tensor> in) { return gram(RowTiles(in[0])); });
    }
}

TEST_P(AlgoDevices, ColumnStatistics) {
  for (const int64_t columns : {1, 3, 33})
    for (const int64_t rows : {1, 16, 2047, 2048, 2049, 9000}) {
      std::vector<float> values = testing::values_of<float>(matrix_of<float>(rows, columns, 1));
      for (size_t i = 0; i < values.size(); i += 5) values[i] = std::nanf("");
      const Tensor x(dtype_of<float>(), {rows, columns}, tensor_of(values).buffer());
      expect_same({x}, [](std::span<const Tensor> in) { return column_statistics(in[0], true); });
      const Tensor wide = matrix_of<double>(rows, columns, 2);
      expect_same({wide},
                  [](std::span<const Tensor> in) { return column_statistics(in[0], false); });
    }
}

TEST_P(AlgoDevices, IntegerLevels) {
  const auto each = [&](const Tensor& x) {
    const auto levels = [](std::span<const Tensor> in) { return distinct_integers(in[0]); };
    expect_same({x}, levels);
    const Tensor found = distinct_integers(x);
    const Tensor some(found.dtype(), {found.num_elements() / 2}, found.buffer());
    expect_same({x}, [&](std::span<const Tensor> in) { return level_places(in[0], some); });
    const Tensor places = level_places(x, found);
    expect_same({places}, [](std::span<const Tensor> in) { return row_starts(in[0], 1); });
  };
  for (const int64_t rows : {1, 2, 4095, 4097, 20'000}) {
    each(tensor_of(mixed<int32_t>(rows, 1)));
    each(tensor_of(mixed<int64_t>(rows, 2)));
    std::vector<int8_t> close;
    for (int64_t i = 0; i < rows; ++i) close.push_back(static_cast<int8_t>(i * i % 7 - 3));
    each(tensor_of(close));
  }
  const std::vector<Tensor> pairs = {tensor_of(mixed<int64_t>(10, 2))};
  const auto starts = [](std::span<const Tensor> in) { return row_starts(in[0], 2); };
  EXPECT_EQ(testing::values_of<int64_t>(starts(pairs)), (std::vector<int64_t>{0, 2, 4, 6, 8, 10}));
  expect_same(pairs, starts);
  EXPECT_THROW(row_starts(pairs[0], 3), InvalidArgumentError);
}

TEST_P(AlgoDevices, Matmul) {
  const auto product = [](Dtype dtype) {
    return [=](std::span<const Tensor> in) { return matmul(in[0], in[1], dtype); };
  };
  for (const int64_t rows : {1, 63, 65, 300})
    for (const int64_t depth : {1, 15, 17, 255, 256, 257, 700})
      for (const int64_t columns : {1, 2, 16, 70}) {
        const Tensor a = matrix_of<float>(rows, depth, 1), b = matrix_of<float>(depth, columns, 2);
        expect_same({a, b}, product(dtype_of<float>()));
        expect_same({a, b}, product(dtype_of<double>()));
        expect_same({matrix_of<double>(rows, depth, 3), b}, product(dtype_of<double>()));
        if (!GetParam().is_gpu()) continue;
        expect_same({transposed(matrix_of<float>(depth, rows, 4)),
                     transposed(matrix_of<float>(columns, depth, 5))},
                    product(dtype_of<float>()));
      }
}

}  // namespace hr
