// SPDX-License-Identifier: Apache-2.0
// Rows to codes, codes to counts. Compiled once for each SIMD level.
#define HWY_TARGET_INCLUDE "headrace/plot/cube_cpu.cpp"
#include "headrace/base/bits.h"
#include "headrace/base/simd_targets.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"
#include "headrace/plot/cube_kernels.h"
#include "headrace/plot/cube_math.h"

#include <algorithm>
#include <atomic>
#include <bit>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

/// Plain loops that the compiler turns into vectors of this level.
template <class T>
void codes_of_floats(const T* values, int64_t count, const Grid<double>& grid, uint16_t* codes) {
  const double inverse = 1 / grid.width;
  for (int64_t i = 0; i < count; ++i)
    codes[i] = static_cast<uint16_t>(cell_on(static_cast<double>(values[i]), grid, inverse));
}

template <class T>
void codes_of_integers(const T* values, int64_t count, const Grid<int64_t>& grid, uint16_t* codes) {
  const double inverse = 1 / static_cast<double>(grid.width);
  for (int64_t i = 0; i < count; ++i)
    codes[i] = static_cast<uint16_t>(cell_on(static_cast<int64_t>(values[i]), grid, inverse));
}

/// The part of an axis in the places of rows.
void add_places(const uint16_t* codes, const uint32_t* table, uint32_t last, int64_t count,
                uint32_t* places) {
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t code = codes[i];
    places[i] += table[code < last ? code : last];
  }
}

/// Values as float64; null ones become NaN, and the places of NaN the spare one.
template <class T>
void read_values(const T* values, int64_t count, uint32_t spare, uint32_t* places, double* read) {
  for (int64_t i = 0; i < count; ++i) {
    read[i] = static_cast<double>(values[i]);
    places[i] = read[i] == read[i] ? places[i] : spare;
  }
}

void limit_places(uint32_t spare, int64_t count, uint32_t* places) {
  for (int64_t i = 0; i < count; ++i) places[i] = places[i] < spare ? places[i] : spare;
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {
namespace {

/// Null rows are in no cell.
void clear_nulls(const Column& column, const Morsel& morsel, uint16_t none, uint16_t* codes) {
  const uint8_t* valid = column.validity();
  if (!valid) return;
  for (int64_t row = morsel.begin; row < morsel.end; row += 64) {
    const int64_t count = std::min<int64_t>(64, morsel.end - row);
    uint64_t null = ~load_bits(valid, column.offset() + row, count);
    if (count < 64) null &= (uint64_t{1} << count) - 1;
    for (; null; null &= null - 1) codes[row + std::countr_zero(null)] = none;
  }
}

constexpr int64_t kWords = 32;  // of 64 rows: a block whose places and values stay in L1
constexpr int64_t kBlock = 64 * kWords;

/// A block of rows of one request.
struct Block {
  uint32_t places[kBlock];
  double values[kBlock];
  uint64_t left[kWords];
};

/// Which rows the masks leave; false for none.
bool read_masks(const CubeJob& job, int64_t begin, int64_t count, uint64_t* left) {
  uint64_t any = 0;
  for (int64_t word = 0; 64 * word < count; ++word) {
    const int64_t rows = std::min<int64_t>(64, count - 64 * word);
    uint64_t bits = rows == 64 ? ~uint64_t{0} : (uint64_t{1} << rows) - 1;
    for (const Column& mask : job.masks)
      bits &= load_bits(mask.bits(), mask.offset() + begin + 64 * word, rows);
    left[word] = bits;
    any |= bits;
  }
  return any != 0;
}

/// Null rows of the values are in no cell.
void drop_nulls(const CubeJob& job, int64_t begin, int64_t count, Block& block) {
  const uint8_t* valid = job.values->validity();
  if (!valid) return;
  for (int64_t i = 0; i < count; i += 64) {
    const int64_t rows = std::min<int64_t>(64, count - i);
    uint64_t null = ~load_bits(valid, job.values->offset() + begin + i, rows);
    if (rows < 64) null &= (uint64_t{1} << rows) - 1;
    for (; null; null &= null - 1)
      block.places[i + std::countr_zero(null)] = static_cast<uint32_t>(job.cells);
  }
}

void count_all(const uint32_t* places, int64_t count, int64_t copy, int64_t turn,
               uint32_t* counts) {
  for (int64_t i = 0; i < count; ++i) ++counts[(i & turn) * copy + places[i]];
}

void count_left(const uint32_t* places, int64_t count, const uint64_t* left, int64_t copy,
                int64_t turn, uint32_t* counts) {
  for (int64_t i = 0; i < count; i += 64) {
    uint64_t bits = left[i / 64];
    if (bits == ~uint64_t{0})
      count_all(places + i, 64, copy, turn, counts);
    else
      for (; bits; bits &= bits - 1) {
        const int64_t row = i + std::countr_zero(bits);
        ++counts[(row & turn) * copy + places[row]];
      }
  }
}

void sum_left(const Block& block, int64_t count, uint32_t* counts, double* sums) {
  for (int64_t i = 0; i < count; i += 64)
    for (uint64_t bits = block.left[i / 64]; bits; bits &= bits - 1) {
      const int64_t row = i + std::countr_zero(bits);
      const uint32_t place = block.places[row];
      ++counts[place];
      sums[place] += block.values[row];
    }
}

void count_block(const CubeJob& job, int64_t begin, int64_t count, Block& block, uint32_t* counts,
                 double* sums) {
  if (!read_masks(job, begin, count, block.left)) return;
  const auto spare = static_cast<uint32_t>(job.cells);
  std::fill(block.places, block.places + count, 0);
  for (int64_t a = 0; a < job.num_axes; ++a) HR_SIMD(add_places)
  (job.codes[a] + begin, job.places[a], job.last[a], count, block.places);
  HR_SIMD(limit_places)(spare, count, block.places);
  if (job.values) {
    visit_real(job.values->dtype(), [&]<class T>(std::type_identity<T>) {
      HR_SIMD(read_values<T>)
      (job.values->values<T>().data() + begin, count, spare, block.places, block.values);
    });
    drop_nulls(job, begin, count, block);
    sum_left(block, count, counts, sums);
  } else if (job.masks.empty()) {
    count_all(block.places, count, job.cells + 1, job.lanes - 1, counts);
  } else {
    count_left(block.places, count, block.left, job.cells + 1, job.lanes - 1, counts);
  }
}

}  // namespace

void bin_codes(const Column& column, const Grid<double>& grid, uint16_t* codes) {
  visit_real(column.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* values = column.values<T>().data();
    parallel_morsels(column.num_rows(), {reads(column)}, [&](const Morsel& morsel) {
      HR_SIMD(codes_of_floats<T>)
      (values + morsel.begin, morsel.end - morsel.begin, grid, codes + morsel.begin);
      clear_nulls(column, morsel, static_cast<uint16_t>(grid.cells), codes);
    });
  });
}

void bin_codes(const Column& column, const Grid<int64_t>& grid, uint16_t* codes) {
  visit_real(column.dtype().storage(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      const T* values = column.values<T>().data();
      parallel_morsels(column.num_rows(), {reads(column)}, [&](const Morsel& morsel) {
        HR_SIMD(codes_of_integers<T>)
        (values + morsel.begin, morsel.end - morsel.begin, grid, codes + morsel.begin);
        clear_nulls(column, morsel, static_cast<uint16_t>(grid.cells), codes);
      });
    }
  });
}

void row_codes(int64_t rows, int64_t cells, uint16_t* codes) {
  parallel_for(cells, [&](int64_t cell) {
    std::fill(codes + cell * rows / cells, codes + (cell + 1) * rows / cells,
              static_cast<uint16_t>(cell));
  });
}

void count_cubes(std::span<const CubeJob> jobs, const CubeParts& parts, int64_t slots,
                 int64_t slot_cells, uint32_t* counts, int64_t part_sums, double* sums) {
  std::atomic<int64_t> next{0};
  parallel_for(slots, [&](int64_t slot) {
    Block block;
    for (int64_t part; (part = next.fetch_add(1)) < parts.count;) {
      const int64_t begin = part * parts.step, end = std::min(begin + parts.step, parts.rows);
      for (int64_t row = begin; row < end; row += kBlock)
        for (const CubeJob& job : jobs)
          count_block(job, row, std::min(kBlock, end - row), block,
                      counts + slot * slot_cells + job.first,
                      sums + part * part_sums + job.first_sum);
    }
  });
}

}  // namespace hr::cpu
#endif
