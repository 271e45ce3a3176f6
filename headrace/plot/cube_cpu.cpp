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
#include <limits>
#include <type_traits>
#include <utility>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// A plain loop that the compiler turns into vectors of this level.
template <class T>
void read_values(const T* values, int64_t count, double* read) {
  for (int64_t i = 0; i < count; ++i) read[i] = static_cast<double>(values[i]);
}

/// `cell_on` of vectors; the compiler makes none of it for AVX2.
void codes_of_doubles(const double* values, int64_t count, const Grid<double>& grid,
                      uint16_t* codes) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<int32_t, decltype(d)> whole;
  const hn::Rebind<uint16_t, decltype(d)> narrow;
  const double inverse = 1 / grid.width;
  const auto cells = static_cast<double>(grid.cells);
  const auto origin = hn::Set(d, grid.origin), width = hn::Set(d, grid.width);
  const auto end = hn::Set(d, grid.origin + cells * grid.width);
  const auto share = hn::Set(d, inverse), last = hn::Set(d, cells - 1), none = hn::Set(d, cells);
  const auto zero = hn::Zero(d), one = hn::Set(d, 1.0);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::LoadU(d, values + i);
    const auto inside = hn::And(hn::Ge(value, origin), hn::Le(value, end));
    auto cell = hn::IfThenElseZero(inside, hn::Mul(hn::Sub(value, origin), share));
    cell = hn::Floor(hn::Min(cell, last));
    const auto below = hn::Lt(value, hn::Add(origin, hn::Mul(cell, width)));
    const auto above = hn::Ge(value, hn::Add(origin, hn::Mul(hn::Add(cell, one), width)));
    cell = hn::Sub(cell, hn::IfThenElseZero(below, one));
    cell = hn::Add(cell, hn::IfThenElseZero(above, one));
    cell = hn::IfThenElse(inside, hn::Min(hn::Max(cell, zero), last), none);
    hn::StoreU(hn::DemoteTo(narrow, hn::DemoteTo(whole, cell)), narrow, codes + i);
  }
  for (; i < count; ++i) codes[i] = cell_on(values[i], grid, inverse);
}

/// Cells of width 1, such as those of categories. Differences wrap, so what is below the origin is
/// far beyond the end.
template <class T>
void codes_of_units(const T* values, int64_t count, const Grid<int64_t>& grid, uint16_t* codes) {
  using Word = std::make_unsigned_t<T>;
  const auto origin = static_cast<Word>(grid.origin);
  const auto cells = static_cast<Word>(grid.cells);
  for (int64_t i = 0; i < count; ++i) {
    const auto from = static_cast<Word>(static_cast<Word>(values[i]) - origin);
    const auto cell =
        static_cast<Word>(from - (from >= cells ? 1 : 0));  // the end, to the last cell
    codes[i] = static_cast<uint16_t>(cell < cells ? cell : cells);
  }
}

/// Distances from the origin of a grid that spans fewer than kExactSpan; -1 where outside.
template <class T>
void read_distances(const T* values, int64_t count, const Grid<int64_t>& grid, double* read) {
  const auto origin = static_cast<uint64_t>(grid.origin);
  const uint64_t span = static_cast<uint64_t>(grid.cells) * static_cast<uint64_t>(grid.width);
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t from = static_cast<uint64_t>(static_cast<int64_t>(values[i])) - origin;
    read[i] = from <= span ? static_cast<double>(static_cast<int64_t>(from)) : -1.0;
  }
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

constexpr int64_t kWords = 32;  // of 64 rows: a block whose values stay in L1
constexpr int64_t kBlock = 64 * kWords;

/// A block of rows of one request.
struct Block {
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

/// The values of a block as float64, NaN for null.
void read_block(const Column& column, int64_t begin, int64_t count, double* values) {
  visit_real(column.dtype(), [&]<class T>(std::type_identity<T>) {
    HR_SIMD(read_values<T>)(column.values<T>().data() + begin, count, values);
  });
  const uint8_t* valid = column.validity();
  if (!valid) return;
  for (int64_t i = 0; i < count; i += 64) {
    const int64_t rows = std::min<int64_t>(64, count - i);
    uint64_t null = ~load_bits(valid, column.offset() + begin + i, rows);
    if (rows < 64) null &= (uint64_t{1} << rows) - 1;
    for (; null; null &= null - 1)
      values[i + std::countr_zero(null)] = std::numeric_limits<double>::quiet_NaN();
  }
}

/// Counts rows of a request with this number of axes. Neighbouring rows take turns among copies of
/// the table.
template <int64_t kAxes>
class Counter {
 public:
  Counter(const CubeJob& job, int64_t begin, uint32_t* counts, double* sums)
      : copy_(job.lanes > 1 ? job.cells + 1 : 0),
        spare_(static_cast<uint32_t>(job.cells)),
        counts_(counts),
        sums_(sums) {
    for (int64_t a = 0; a < kAxes; ++a) {
      codes_[a] = job.codes[a] + begin;
      places_[a] = job.places[a];
    }
  }

  void count_rows(int64_t begin, int64_t end) const {
    uint32_t* const turns[] = {counts_, counts_ + copy_, counts_ + 2 * copy_, counts_ + 3 * copy_};
    int64_t row = begin;
    for (; row + 4 <= end; row += 4) {
      const uint32_t at[] = {place(row), place(row + 1), place(row + 2), place(row + 3)};
      ++turns[0][at[0]];
      ++turns[1][at[1]];
      ++turns[2][at[2]];
      ++turns[3][at[3]];
    }
    for (; row < end; ++row) ++turns[row & 3][place(row)];
  }

  void count_row(int64_t row) const { ++counts_[(row & 3) * copy_ + place(row)]; }

  void add_rows(int64_t begin, int64_t end, const double* values) const {
    for (int64_t row = begin; row < end; ++row) add_row(row, values);
  }

  void add_row(int64_t row, const double* values) const {
    const double value = values[row];
    const int64_t at = (row & 3) * copy_ + (value == value ? place(row) : spare_);
    ++counts_[at];
    sums_[at] += value;
  }

 private:
  uint32_t place(int64_t row) const {
    uint32_t sum = 0;
    for (int64_t a = 0; a < kAxes; ++a) sum += places_[a][codes_[a][row]];
    return sum;
  }

  const uint16_t* codes_[kAxes > 0 ? kAxes : 1];
  const uint32_t* places_[kAxes > 0 ? kAxes : 1];
  int64_t copy_;
  uint32_t spare_;
  uint32_t* counts_;
  double* sums_;
};

/// Calls `rows(begin, end)` for whole words of rows and `row(i)` for single ones.
template <class Rows, class Row>
void for_rows_left(const CubeJob& job, int64_t count, const uint64_t* left, Rows&& rows,
                   Row&& row) {
  if (job.masks.empty()) return rows(int64_t{0}, count);
  for (int64_t i = 0; i < count; i += 64) {
    uint64_t bits = left[i / 64];
    if (bits == ~uint64_t{0})
      rows(i, i + 64);
    else
      for (; bits; bits &= bits - 1) row(i + std::countr_zero(bits));
  }
}

template <int64_t kAxes>
void count_block_of(const CubeJob& job, int64_t begin, int64_t count, Block& block,
                    uint32_t* counts, double* sums) {
  const Counter<kAxes> counter(job, begin, counts, sums);
  if (job.values) {
    read_block(*job.values, begin, count, block.values);
    for_rows_left(
        job, count, block.left,
        [&](int64_t from, int64_t end) { counter.add_rows(from, end, block.values); },
        [&](int64_t row) { counter.add_row(row, block.values); });
  } else {
    for_rows_left(
        job, count, block.left, [&](int64_t from, int64_t end) { counter.count_rows(from, end); },
        [&](int64_t row) { counter.count_row(row); });
  }
}

void count_block(const CubeJob& job, int64_t begin, int64_t count, Block& block, uint32_t* counts,
                 double* sums) {
  static_assert(kMostCubeAxes == 6);
  if (!job.masks.empty() && !read_masks(job, begin, count, block.left)) return;
  constexpr decltype(&count_block_of<0>) kByAxes[] = {
      count_block_of<0>, count_block_of<1>, count_block_of<2>, count_block_of<3>,
      count_block_of<4>, count_block_of<5>, count_block_of<6>};
  kByAxes[job.num_axes](job, begin, count, block, counts, sums);
}

/// Calls `block(row, count)` for the rows of a column, and clears the codes of null ones.
template <class F>
void for_blocks(const Column& column, uint16_t none, uint16_t* codes, F&& block) {
  parallel_morsels(column.num_rows(), {reads(column)}, [&](const Morsel& morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; row += kBlock)
      block(row, std::min(kBlock, morsel.end - row));
    clear_nulls(column, morsel, none, codes);
  });
}

/// Bytes have few values: the cell of each is computed once.
template <class T, class G>
void codes_of_bytes(const Column& column, const Grid<G>& grid, uint16_t* codes) {
  uint16_t cells[256];
  const double inverse = 1 / static_cast<double>(grid.width);
  for (int value = 0; value < 256; ++value)
    cells[value] = cell_on(static_cast<G>(static_cast<T>(value)), grid, inverse);
  const auto* values = reinterpret_cast<const uint8_t*>(column.values<T>().data());
  parallel_morsels(column.num_rows(), {reads(column)}, [&](const Morsel& morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row) codes[row] = cells[values[row]];
    clear_nulls(column, morsel, static_cast<uint16_t>(grid.cells), codes);
  });
}

}  // namespace

void bin_codes(const Column& column, const Grid<double>& grid, uint16_t* codes) {
  visit_real(column.dtype(), [&]<class T>(std::type_identity<T>) {
    if constexpr (sizeof(T) == 1) return codes_of_bytes<T>(column, grid, codes);
    const T* values = column.values<T>().data();
    for_blocks(column, static_cast<uint16_t>(grid.cells), codes, [&](int64_t row, int64_t count) {
      double read[kBlock];
      HR_SIMD(read_values<T>)(values + row, count, read);
      HR_SIMD(codes_of_doubles)(read, count, grid, codes + row);
    });
  });
}

void bin_codes(const Column& column, const Grid<int64_t>& grid, uint16_t* codes) {
  const bool near = static_cast<uint64_t>(grid.cells * grid.width) < kExactSpan;
  const Grid<double> exact{0, static_cast<double>(grid.width), grid.cells};
  const double inverse = 1 / exact.width;
  visit_real(column.dtype().storage(), [&]<class T>(std::type_identity<T>) {
    if constexpr (sizeof(T) == 1) return codes_of_bytes<T>(column, grid, codes);
    if constexpr (std::is_integral_v<T>) {
      const T* values = column.values<T>().data();
      const bool units = grid.width == 1 && std::in_range<T>(grid.origin) &&
                         std::in_range<T>(grid.origin + grid.cells + 1);
      for_blocks(column, static_cast<uint16_t>(grid.cells), codes, [&](int64_t row, int64_t count) {
        double read[kBlock];
        if (units) {
          HR_SIMD(codes_of_units<T>)(values + row, count, grid, codes + row);
        } else if (near) {
          HR_SIMD(read_distances<T>)(values + row, count, grid, read);
          HR_SIMD(codes_of_doubles)(read, count, exact, codes + row);
        } else {
          for (int64_t i = row; i < row + count; ++i)
            codes[i] = cell_on(static_cast<int64_t>(values[i]), grid, inverse);
        }
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
