// SPDX-License-Identifier: Apache-2.0
// Codes and cubes equal the naive definition, for any number of threads.
#include "headrace/plot/cube.h"

#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/exec/simd_and_threads_testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace hr {
namespace {

using testing::column_of;
using testing::tensor_of;
using testing::values_of;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const std::vector<int64_t> kSizes{0, 1, 63, 64, 65, 131071, 131072, 131073, 700'001};

/// Codes of either width.
std::vector<uint16_t> codes_of(const Tensor& codes) {
  if (codes.dtype() == dtype_of<uint16_t>()) return values_of<uint16_t>(codes);
  const auto narrow = values_of<uint8_t>(codes);
  return {narrow.begin(), narrow.end()};
}

/// The last edge that is not above the value, the upper end counted to the last cell.
template <class T>
uint16_t naive_cell(T value, const Grid<T>& grid) {
  const auto edge = [&](int64_t k) {
    return static_cast<T>(grid.origin + static_cast<T>(k) * grid.width);
  };
  if (!(value >= edge(0)) || !(value <= edge(grid.cells))) return static_cast<uint16_t>(grid.cells);
  int64_t cell = 0;
  while (cell + 1 < grid.cells && value >= edge(cell + 1)) ++cell;
  return static_cast<uint16_t>(cell);
}

class Cubes : public testing::SimdAndThreadsTest {};

TEST_F(Cubes, CodesOfFloatsFollowTheEdges) {
  std::mt19937_64 random(1);
  for (const SimdLevel level : {SimdLevel::kBase, best_simd_level()}) {
    set_simd_level(level);
    for (const Grid<double>& grid : {Grid<double>{-1, 0.1, 20}, Grid<double>{0, 1, 1},
                                     Grid<double>{1e6, 1.0 / 3, 500}, Grid<double>{-7, 1e-9, 37}}) {
      std::vector<double> values{kNan, kInfinity, -kInfinity, 0, -0.0, 1e300, -1e300};
      for (int64_t k = 0; k <= grid.cells; ++k) {
        const double edge = grid.origin + static_cast<double>(k) * grid.width;
        values.insert(values.end(),
                      {edge, std::nextafter(edge, -kInfinity), std::nextafter(edge, kInfinity)});
      }
      std::uniform_real_distribution<double> share(-0.1, 1.1);
      const double span = static_cast<double>(grid.cells) * grid.width;
      for (int k = 0; k < 3000; ++k) values.push_back(grid.origin + share(random) * span);
      const auto codes = codes_of(bin_codes(column_of(values), grid));
      std::vector<float> narrow(values.begin(), values.end());
      const auto of_floats = codes_of(bin_codes(column_of(narrow), grid));
      for (size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(codes[i], naive_cell(values[i], grid)) << values[i];
        ASSERT_EQ(of_floats[i], naive_cell(static_cast<double>(narrow[i]), grid)) << narrow[i];
      }
    }
  }
}

TEST_F(Cubes, CodesOfIntegersAreExact) {
  const int64_t lowest = std::numeric_limits<int64_t>::min();
  const int64_t highest = std::numeric_limits<int64_t>::max();
  for (const Grid<int64_t>& grid :
       {Grid<int64_t>{0, 1, 5}, Grid<int64_t>{1'700'000'000'000'000'000, 86'400'000'000'007, 300},
        Grid<int64_t>{lowest, int64_t{1} << 46, 65535}, Grid<int64_t>{-3, 7, 11}}) {
    std::vector<int64_t> values{lowest, lowest + 1, -1, 0, 1, highest - 1, highest};
    for (int64_t k = 0; k <= grid.cells; k += 1 + grid.cells / 1000) {
      const int64_t edge = grid.origin + k * grid.width;
      values.insert(values.end(), {edge, edge + 1});
      if (edge > lowest) values.push_back(edge - 1);
    }
    const auto codes = codes_of(bin_codes(column_of(values), grid));
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(codes[i], naive_cell(values[i], grid)) << values[i];
  }
}

template <class T>
void check_narrow_integers() {
  const int64_t lowest = std::numeric_limits<T>::min(), highest = std::numeric_limits<T>::max();
  std::vector<T> values{static_cast<T>(lowest), static_cast<T>(lowest + 1), static_cast<T>(highest),
                        static_cast<T>(highest - 1)};
  for (int value = -20; value < 130; ++value) values.push_back(static_cast<T>(value));
  for (const int64_t width : {1, 2, 7})
    for (const int64_t origin : {int64_t{-9}, int64_t{0}, int64_t{3}, int64_t{97}, highest - 3}) {
      const Grid<int64_t> grid{origin, width, 40};
      const auto codes = codes_of(bin_codes(column_of(values), grid));
      for (size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(codes[i], naive_cell(static_cast<int64_t>(values[i]), grid))
            << int64_t{values[i]} << " from " << origin << " by " << width;
    }
}

TEST_F(Cubes, CodesOfNarrowIntegersAreExact) {
  for (const SimdLevel level : {SimdLevel::kBase, best_simd_level()}) {
    set_simd_level(level);
    check_narrow_integers<int8_t>();
    check_narrow_integers<uint8_t>();
    check_narrow_integers<int16_t>();
    check_narrow_integers<uint16_t>();
    check_narrow_integers<int32_t>();
    check_narrow_integers<uint32_t>();
  }
}

TEST_F(Cubes, NullsAreInNoCell) {
  for (const int64_t rows : kSizes) {
    std::vector<int16_t> values(static_cast<size_t>(rows));
    std::vector<bool> valid(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<int16_t>(i % 7);
      valid[i] = i % 3 != 1;
    }
    const Column whole = column_of(values, valid);
    const int64_t skip = std::min<int64_t>(rows, 3);
    const Column column = whole.slice(skip, rows - skip);
    const auto codes = codes_of(bin_codes(column, Grid<double>{0, 2, 3}));
    ASSERT_EQ(std::ssize(codes), rows - skip);
    for (size_t i = 0; i < codes.size(); ++i) {
      const size_t row = i + static_cast<size_t>(skip);
      ASSERT_EQ(codes[i], valid[row] ? std::min(values[row] / 2, values[row] == 6 ? 2 : 3) : 3);
    }
  }
}

TEST_F(Cubes, CodesOfRowsAreThePixelsOfAnEnvelope) {
  for (const int64_t rows : {0, 1, 5, 64, 1000, 131073})
    for (const int64_t cells : {1, 3, 700}) {
      const auto codes = codes_of(row_codes(rows, cells));
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t cell = codes[static_cast<size_t>(row)];
        ASSERT_LE(cell * rows / cells, row);
        ASSERT_GT((cell + 1) * rows / cells, row);
      }
    }
}

TEST_F(Cubes, CodesAreAsNarrowAsTheirCells) {
  const Column column = column_of<double>({0, 1, 2, 3});
  for (const int64_t cells : {1, 254, 255, 256, 65535}) {
    const Dtype wanted = cells <= 255 ? dtype_of<uint8_t>() : dtype_of<uint16_t>();
    EXPECT_EQ(bin_codes(column, Grid<double>{-7, 1, cells}).dtype(), wanted);
    EXPECT_EQ(bin_codes(column_of<int32_t>({5}), Grid<int64_t>{0, 1, cells}).dtype(), wanted);
    EXPECT_EQ(row_codes(9, cells).dtype(), wanted);
    const auto all = codes_of(bin_codes(column_of<double>({-1e9, 1e9}), Grid<double>{0, 1, cells}));
    EXPECT_EQ(all, (std::vector<uint16_t>(2, static_cast<uint16_t>(cells))));
  }
}

/// A bool column that does not begin at a byte.
Column mask_of(const std::vector<bool>& rows) {
  Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(std::ssize(rows) + 3));
  for (size_t i = 0; i < rows.size(); ++i)
    set_bit(bits.mutable_as<uint8_t>(), static_cast<int64_t>(i) + 3, rows[i]);
  return Column(TypeId::kBool, std::ssize(rows), bits, {}, 0, 3);
}

TEST_F(Cubes, CountsAndSumsEqualTheDefinition) {
  std::mt19937_64 random(2);
  for (const int64_t rows : kSizes) {
    const auto size = static_cast<size_t>(rows);
    std::vector<uint16_t> a(size), b(size), c(size);
    std::vector<double> v(size);
    std::vector<bool> valid(size), few(size), most(size);
    for (size_t i = 0; i < size; ++i) {
      a[i] = static_cast<uint16_t>(random() % 12);
      b[i] = static_cast<uint16_t>(i % 5 == 0 ? 65535 : random() % 6000);
      c[i] = static_cast<uint16_t>(random() % 3);
      v[i] = i % 11 == 0 ? kNan : static_cast<double>(random() % 1000) / 7;
      valid[i] = i % 13 != 0;
      few[i] = random() % 50 == 0;
      most[i] = (i / 64) % 3 != 0 || i % 2 == 0;  // whole words, halves
    }
    // Code 3 of the first axis is in no cell, 10 and 11 are beyond the table.
    const CubeAxis first{tensor_of(a), tensor_of<uint16_t>({0, 1, 2, 9, 4, 5, 3, 3, 2, 1}), 6};
    std::vector<uint16_t> halves(6000);
    for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i / 2);
    const CubeAxis second{tensor_of(b), tensor_of(halves), 3000};
    const CubeAxis third{tensor_of(c), tensor_of<uint16_t>({0, 1, 2}), 3};
    const Column values = column_of(v, valid);
    // The same as bytes, in bins of several codes: 3, which do not divide all, and 4.
    const std::vector<uint8_t> bytes(a.begin(), a.end());
    const CubeAxis narrow{tensor_of(bytes), tensor_of<uint16_t>({0, 0, 0, 1, 1, 1, 2, 2, 2, 3}), 4};
    std::vector<uint16_t> quarters(5999);
    for (size_t i = 0; i < quarters.size(); ++i) quarters[i] = static_cast<uint16_t>(i / 4);
    const CubeAxis wide{tensor_of(b), tensor_of(quarters), 1400};
    // Cells of one code and codes beyond them; a cell for each code of 16 bits.
    const CubeAxis units{tensor_of(bytes), tensor_of<uint16_t>({0, 1, 2, 3, 4, 5}), 9};
    halves.resize(65536);
    for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i / 2);
    const CubeAxis every{tensor_of(b), tensor_of(halves), 32768};
    const std::vector<CubeRequest> requests{
        {{first}, {}, {}},
        {{units}, {}, {}},
        {{every}, {}, {}},
        {{narrow}, {}, {}},
        {{narrow, first, narrow}, {mask_of(few)}, values},
        {{wide, narrow, third, third}, {}, {}},
        {{wide, first}, {mask_of(most)}, values},
        {{second, first}, {mask_of(few)}, {}},
        {{third, first, third}, {mask_of(few), mask_of(most)}, {}},
        {{first, third}, {mask_of(most)}, values},
        {{third}, {}, values},
        {{third, third, third, third}, {}, {}},
        {{}, {}, {}},
        {{}, {mask_of(few)}, values},
    };
    std::vector<Cube> before;
    for (const int count : {1, 2, 4}) {
      set_threads(count);
      const std::vector<Cube> cubes = count_cubes(rows, requests);
      ASSERT_EQ(cubes.size(), requests.size());
      for (size_t k = 0; k < cubes.size(); ++k) {
        const CubeRequest& request = requests[k];
        Shape shape;
        for (const CubeAxis& axis : request.axes) shape.push_back(axis.num_cells);
        ASSERT_EQ(cubes[k].counts.shape(), shape);
        std::vector<uint32_t> wanted(static_cast<size_t>(num_elements(shape)));
        std::vector<double> sums(wanted.size());
        for (int64_t row = 0; row < rows; ++row) {
          size_t place = 0;
          bool counted = true;
          for (const CubeAxis& axis : request.axes) {
            const bool small = axis.codes.dtype() == dtype_of<uint8_t>();
            const int64_t code =
                small ? axis.codes.as<uint8_t>()[row] : axis.codes.as<uint16_t>()[row];
            const int64_t cell =
                code < axis.cells.num_elements() ? axis.cells.as<uint16_t>()[code] : axis.num_cells;
            counted = counted && cell < axis.num_cells;
            place = place * static_cast<size_t>(axis.num_cells) + static_cast<size_t>(cell);
          }
          for (const Column& mask : request.masks) counted = counted && mask.bit(row);
          const auto i = static_cast<size_t>(row);
          if (request.values) counted = counted && valid[i] && !std::isnan(v[i]);
          if (!counted) continue;
          ++wanted[place];
          if (request.values) sums[place] += v[i];
        }
        ASSERT_EQ(values_of<uint32_t>(cubes[k].counts), wanted) << rows << " rows, request " << k;
        ASSERT_EQ(cubes[k].sums.num_elements(), request.values ? std::ssize(sums) : 0);
        const auto got = values_of<double>(cubes[k].sums);
        for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], sums[i], 1e-9 * sums[i]);
        if (!before.empty()) {
          ASSERT_EQ(got, values_of<double>(before[k].sums));
        }
      }
      before = cubes;
    }
  }
}

TEST_F(Cubes, BadInputIsRefused) {
  const Column column = column_of<double>({1, 2});
  EXPECT_THROW(bin_codes(column, Grid<double>{0, 1, 0}), InvalidArgumentError);
  EXPECT_THROW(bin_codes(column, Grid<double>{0, 1, 65536}), InvalidArgumentError);
  EXPECT_THROW(bin_codes(column, Grid<double>{0, 0, 5}), InvalidArgumentError);
  EXPECT_THROW(bin_codes(column, Grid<double>{kNan, 1, 5}), InvalidArgumentError);
  EXPECT_THROW(bin_codes(column, Grid<double>{0, kInfinity, 5}), InvalidArgumentError);
  EXPECT_THROW(bin_codes(column, Grid<double>{1e17, 1, 5}), InvalidArgumentError);
  EXPECT_THROW(bin_codes(column, Grid<int64_t>{0, 1, 5}), TypeMismatchError);
  const Column whole = column_of<int64_t>({1});
  EXPECT_THROW(bin_codes(whole, Grid<int64_t>{0, 0, 5}), InvalidArgumentError);
  EXPECT_THROW(bin_codes(whole, Grid<int64_t>{0, int64_t{1} << 62, 5}), InvalidArgumentError);
  EXPECT_THROW(row_codes(-1, 5), InvalidArgumentError);
  const auto codes = tensor_of<uint16_t>({0, 1, 2});
  const CubeAxis axis{codes, codes, 3};
  const auto refused = [](int64_t rows, CubeRequest request) {
    EXPECT_THROW(count_cubes(rows, std::span(&request, 1)), Error);
  };
  refused(2, {{axis}, {}, {}});
  refused(int64_t{1} << 32, {{axis}, {}, {}});
  refused(3, {{{codes, codes, 0}}, {}, {}});
  refused(3, {{{tensor_of<int32_t>({0, 1, 2}), codes, 3}}, {}, {}});
  refused(3, {{{tensor_of<uint16_t>({0, 1, 2}, 2), codes, 3}}, {}, {}});
  refused(3, {{{codes, codes, 65535}, {codes, codes, 65535}}, {}, {}});
  refused(3, {std::vector<CubeAxis>(7, axis), {}, {}});
  refused(3, {{axis}, {mask_of({true})}, {}});
  refused(3, {{axis}, {column_of<uint8_t>({1, 1, 1})}, {}});
  refused(3, {{axis}, {}, column_of<double>({1})});
  EXPECT_TRUE(count_cubes(3, {}).empty());
}

}  // namespace
}  // namespace hr
