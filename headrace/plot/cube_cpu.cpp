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

template <class D>
hn::Vec<D> load_doubles(D d, const double* values) {
  return hn::LoadU(d, values);
}

template <class D>
hn::Vec<D> load_doubles(D d, const float* values) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), values));
}

/// `cell_on` of vectors; the compiler makes none of it for AVX2. The guess is half a cell low: the
/// rounding of the edges, of the distance and of the product is less than that (`bin_codes`
/// refuses narrower cells), so it is the cell or the one before.
template <class Types>
void codes_of_floats(const typename Types::Value* values, int64_t count, const Grid<double>& grid,
                     typename Types::Code* codes) {
  using Code = typename Types::Code;
  const hn::ScalableTag<double> d;
  const hn::Rebind<int32_t, decltype(d)> whole;
  const hn::Rebind<Code, decltype(d)> narrow;
  const double inverse = 1 / grid.width;
  const auto cells = static_cast<double>(grid.cells);
  const auto origin = hn::Set(d, grid.origin), width = hn::Set(d, grid.width);
  const auto end = hn::Set(d, grid.origin + cells * grid.width);
  const auto share = hn::Set(d, inverse), last = hn::Set(d, cells - 1), none = hn::Set(d, cells);
  const auto zero = hn::Zero(d), half = hn::Set(d, 0.5), one = hn::Set(d, 1.0);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto value = load_doubles(d, values + i);
    const auto inside = hn::And(hn::Ge(value, origin), hn::Le(value, end));
    const auto guess = hn::IfThenElseZero(inside, hn::MulSub(hn::Sub(value, origin), share, half));
    auto cell = hn::Floor(hn::Max(guess, zero));
    const auto next = hn::Add(cell, one);
    const auto above = hn::Ge(value, hn::Add(origin, hn::Mul(next, width)));
    cell = hn::Min(hn::IfThenElse(above, next, cell), last);
    cell = hn::IfThenElse(inside, cell, none);
    hn::StoreU(hn::DemoteTo(narrow, hn::DemoteTo(whole, cell)), narrow, codes + i);
  }
  for (; i < count; ++i)
    codes[i] = static_cast<Code>(cell_on(static_cast<double>(values[i]), grid, inverse));
}

/// Cells of width 1, such as those of categories. Differences wrap, so what is below the origin is
/// far beyond the end.
template <class Types>
void codes_of_units(const typename Types::Value* values, int64_t count, const Grid<int64_t>& grid,
                    typename Types::Code* codes) {
  using Word = std::make_unsigned_t<typename Types::Value>;
  const auto origin = static_cast<Word>(grid.origin);
  const auto cells = static_cast<Word>(grid.cells);
  for (int64_t i = 0; i < count; ++i) {
    const auto from = static_cast<Word>(static_cast<Word>(values[i]) - origin);
    const auto cell =
        static_cast<Word>(from - (from >= cells ? 1 : 0));  // the end, to the last cell
    codes[i] = static_cast<typename Types::Code>(cell < cells ? cell : cells);
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

/// `none` for codes beyond `num_codes`. In 16 bits throughout, so that a vector holds twice as
/// many; they have no share of 2^16, that of cells of one code.
template <class Code>
void cells_by_share(const Code* codes, int64_t count, uint16_t num_codes, uint32_t share,
                    uint16_t none, uint16_t* cells) {
  if (share == 65536) {
    for (int64_t i = 0; i < count; ++i) cells[i] = codes[i] < num_codes ? codes[i] : none;
    return;
  }
  const auto factor = static_cast<uint16_t>(share);
  for (int64_t i = 0; i < count; ++i) {
    const uint16_t code = codes[i];
    const auto cell = static_cast<uint16_t>(uint32_t{code} * factor >> 16);
    cells[i] = code < num_codes ? cell : none;
  }
}

/// Takes one axis more, with `wide` cells, into the places of rows.
template <class Place>
void add_axis(const uint16_t* cells, int64_t count, Place wide, Place* places) {
  for (int64_t i = 0; i < count; ++i)
    places[i] = static_cast<Place>(static_cast<Place>(places[i] * wide) + cells[i]);
}

template <class Place>
void copy_cells(const uint16_t* cells, int64_t count, Place* places) {
  for (int64_t i = 0; i < count; ++i) places[i] = cells[i];
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {
namespace {

/// What a kernel reads and makes: HR_SIMD takes templates of one parameter.
template <class V, class C>
struct BinTypes {
  using Value = V;
  using Code = C;
};

/// Null rows are in no cell.
template <class Code>
void clear_nulls(const Column& column, const Morsel& morsel, Code none, Code* codes) {
  const uint8_t* valid = column.validity();
  if (!valid) return;
  for (int64_t row = morsel.begin; row < morsel.end; row += 64) {
    const int64_t count = std::min<int64_t>(64, morsel.end - row);
    uint64_t null = ~load_bits(valid, column.offset() + row, count);
    if (count < 64) null &= (uint64_t{1} << count) - 1;
    for (; null; null &= null - 1) codes[row + std::countr_zero(null)] = none;
  }
}

constexpr int64_t kBlock = kCubeBlock;
constexpr int64_t kWords = kBlock / 64;

/// A block of rows of one request.
struct Block {
  uint64_t left[kWords];
  double values[kBlock];
  uint16_t near[kBlock];  // places among up to 2^16 cells
  uint32_t far[kBlock];
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

/// The cells of a block along an axis.
template <class Code>
void cells_of(const CellsJob& axis, const Code* codes, int64_t count, uint16_t* cells) {
  if (!axis.table) {
    const auto by_share = &HR_SIMD(cells_by_share<Code>);
    by_share(codes, count, static_cast<uint16_t>(axis.num_codes), axis.share,
             static_cast<uint16_t>(axis.num_cells), cells);
    return;
  }
  for (int64_t i = 0; i < count; ++i) cells[i] = axis.table[codes[i]];
}

/// The places of a block among the cells of a request; made in `room` unless they are there.
template <class Place>
const Place* places_of(const CubeJob& job, int64_t count, const uint16_t* cells, Place* room) {
  const auto along = [&](int64_t a) { return cells + job.axes[a] * kBlock; };
  if (job.num_axes == 0) {
    std::fill_n(room, count, Place{0});
    return room;
  }
  if constexpr (std::is_same_v<Place, uint16_t>)
    if (job.num_axes == 1) return along(0);
  const auto copy = &HR_SIMD(copy_cells<Place>);
  const auto add = &HR_SIMD(add_axis<Place>);
  copy(along(0), count, room);
  for (int64_t a = 1; a < job.num_axes; ++a)
    add(along(a), count, static_cast<Place>(job.wide[a]), room);
  return room;
}

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

/// Calls `row(i, turn)` for the rows that are left. Neighbouring rows take turns among copies of
/// the table.
template <class F>
void for_turns(const CubeJob& job, int64_t count, const uint64_t* left, F&& row) {
  for_rows_left(
      job, count, left,
      [&](int64_t begin, int64_t end) {
        int64_t i = begin;  // a multiple of kCubeLanes
        for (; i + kCubeLanes <= end; i += kCubeLanes) {
#pragma GCC unroll 8
          for (int64_t turn = 0; turn < kCubeLanes; ++turn) row(i + turn, turn);
        }
        for (; i < end; ++i) row(i, i % kCubeLanes);
      },
      [&](int64_t i) { row(i, i % kCubeLanes); });
}

/// Counts rows by their places.
template <class Place>
void count_places(const CubeJob& job, int64_t count, const uint64_t* left, const Place* places,
                  uint32_t* counts) {
  const int64_t copy = job.lanes > 1 ? job.cells + 1 : 0;
  for_turns(job, count, left,
            [&](int64_t row, int64_t turn) { ++counts[turn * copy + places[row]]; });
}

/// The same with the sums of values; rows whose value is NaN have a place of their own.
template <class Place>
void add_places(const CubeJob& job, int64_t count, const uint64_t* left, const double* values,
                const Place* places, uint32_t* counts, double* sums) {
  const int64_t copy = job.lanes > 1 ? job.cells + 1 : 0, spare = job.cells;
  for_turns(job, count, left, [&](int64_t row, int64_t turn) {
    const double value = values[row];
    const int64_t at = value == value ? int64_t{places[row]} : spare;
    ++counts[turn * copy + at];
    sums[turn * copy + at] += value;
  });
}

void count_block(const CubeJob& job, int64_t begin, int64_t count, const uint16_t* cells,
                 Block& block, uint32_t* counts, double* sums) {
  if (!job.masks.empty() && !read_masks(job, begin, count, block.left)) return;
  if (job.num_axes == 0 && !job.values) {
    for_rows_left(
        job, count, block.left,
        [&](int64_t from, int64_t end) { counts[0] += static_cast<uint32_t>(end - from); },
        [&](int64_t) { ++counts[0]; });
    return;
  }
  if (job.values) read_block(*job.values, begin, count, block.values);
  const auto count_at = [&](const auto* places) {
    if (job.values)
      add_places(job, count, block.left, block.values, places, counts, sums);
    else
      count_places(job, count, block.left, places, counts);
  };
  if (job.cells <= 65536)
    count_at(places_of(job, count, cells, block.near));
  else
    count_at(places_of(job, count, cells, block.far));
}

/// Calls `block(row, count)` for the rows of a column, and clears the codes of null ones.
template <class Code, class F>
void for_blocks(const Column& column, int64_t none, Code* codes, F&& block) {
  parallel_morsels(column.num_rows(), {reads(column)}, [&](const Morsel& morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; row += kBlock)
      block(row, std::min(kBlock, morsel.end - row));
    clear_nulls(column, morsel, static_cast<Code>(none), codes);
  });
}

/// Bytes have few values: the cell of each is computed once.
template <class T, class G, class Code>
void codes_of_bytes(const Column& column, const Grid<G>& grid, Code* codes) {
  Code cells[256];
  const double inverse = 1 / static_cast<double>(grid.width);
  for (int value = 0; value < 256; ++value)
    cells[value] = static_cast<Code>(cell_on(static_cast<G>(static_cast<T>(value)), grid, inverse));
  const auto* values = reinterpret_cast<const uint8_t*>(column.values<T>().data());
  for_blocks(column, grid.cells, codes, [&](int64_t begin, int64_t count) {
    for (int64_t row = begin; row < begin + count; ++row) codes[row] = cells[values[row]];
  });
}

}  // namespace

template <class Code>
void bin_codes(const Column& column, const Grid<double>& grid, Code* codes) {
  visit_real(column.dtype(), [&]<class T>(std::type_identity<T>) {
    if constexpr (sizeof(T) == 1) return codes_of_bytes<T>(column, grid, codes);
    using Types = BinTypes<T, Code>;
    using OfDoubles = BinTypes<double, Code>;
    const T* values = column.values<T>().data();
    for_blocks(column, grid.cells, codes, [&](int64_t row, int64_t count) {
      if constexpr (std::is_floating_point_v<T>) {
        HR_SIMD(codes_of_floats<Types>)(values + row, count, grid, codes + row);
      } else {
        double read[kBlock];
        HR_SIMD(read_values<T>)(values + row, count, read);
        HR_SIMD(codes_of_floats<OfDoubles>)(read, count, grid, codes + row);
      }
    });
  });
}

template <class Code>
void bin_codes(const Column& column, const Grid<int64_t>& grid, Code* codes) {
  const bool near = static_cast<uint64_t>(grid.cells * grid.width) < kExactSpan;
  const Grid<double> exact{0, static_cast<double>(grid.width), grid.cells};
  const double inverse = 1 / exact.width;
  visit_real(column.dtype().storage(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      const bool units = grid.width == 1 && std::in_range<T>(grid.origin) &&
                         std::in_range<T>(grid.origin + grid.cells + 1);
      if constexpr (sizeof(T) == 1)
        if (!units) return codes_of_bytes<T>(column, grid, codes);
      using Types = BinTypes<T, Code>;
      using OfDoubles = BinTypes<double, Code>;
      const T* values = column.values<T>().data();
      for_blocks(column, grid.cells, codes, [&](int64_t row, int64_t count) {
        double read[kBlock];
        if (units) {
          HR_SIMD(codes_of_units<Types>)(values + row, count, grid, codes + row);
        } else if (near) {
          HR_SIMD(read_distances<T>)(values + row, count, grid, read);
          HR_SIMD(codes_of_floats<OfDoubles>)(read, count, exact, codes + row);
        } else {
          for (int64_t i = row; i < row + count; ++i)
            codes[i] = static_cast<Code>(cell_on(static_cast<int64_t>(values[i]), grid, inverse));
        }
      });
    }
  });
}

template <class Code>
void row_codes(int64_t rows, int64_t cells, Code* codes) {
  parallel_for(cells, [&](int64_t cell) {
    std::fill(codes + cell * rows / cells, codes + (cell + 1) * rows / cells,
              static_cast<Code>(cell));
  });
}

template void bin_codes(const Column&, const Grid<double>&, uint8_t*);
template void bin_codes(const Column&, const Grid<double>&, uint16_t*);
template void bin_codes(const Column&, const Grid<int64_t>&, uint8_t*);
template void bin_codes(const Column&, const Grid<int64_t>&, uint16_t*);
template void row_codes(int64_t, int64_t, uint8_t*);
template void row_codes(int64_t, int64_t, uint16_t*);

void count_cubes(std::span<const CellsJob> axes, std::span<const CubeJob> jobs,
                 const CubeParts& parts, const CubeOutputs& to) {
  std::atomic<int64_t> next{0};
  parallel_for(to.slots, [&](int64_t slot) {
    Block block;
    uint16_t* cells = to.cells + slot * std::ssize(axes) * kBlock;
    uint32_t* counts = to.counts + slot * to.slot_cells;
    for (int64_t part; (part = next.fetch_add(1)) < parts.count;) {
      const int64_t begin = part * parts.step, end = std::min(begin + parts.step, parts.rows);
      double* sums = to.sums + part * to.part_sums;
      for (int64_t row = begin; row < end; row += kBlock) {
        const int64_t count = std::min(kBlock, end - row);
        for (size_t a = 0; a < axes.size(); ++a) {
          uint16_t* found = cells + static_cast<int64_t>(a) * kBlock;
          if (axes[a].narrow)
            cells_of(axes[a], axes[a].narrow + row, count, found);
          else
            cells_of(axes[a], axes[a].wide + row, count, found);
        }
        for (const CubeJob& job : jobs)
          count_block(job, row, count, cells, block, counts + job.first, sums + job.first_sum);
      }
    }
  });
}

}  // namespace hr::cpu
#endif
