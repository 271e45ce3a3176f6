// SPDX-License-Identifier: Apache-2.0
// Accumulators: what groups keep of their rows while they are read, one number a slot.
#pragma once
#include "headrace/algo/aggregate/aggregate.h"
#include "headrace/base/api.h"
#include "headrace/data/column.h"
#include "headrace/memory/buffer/pin.h"

#include <cstdint>
#include <vector>

namespace hr {

/// How values are read for an accumulator: float64 with NaN for missing ones, int64 or uint64
/// next to one byte per row; kNothing: only whether they are valid.
enum class ValueClass : uint8_t { kFloating, kSigned, kUnsigned, kNothing };

/// One column (or two, whose rows count where both are there) and what is folded of it.
struct AccumulatorInput {
  Column values{};
  int64_t place = -1;     ///< of them among what was asked for
  bool computed = false;  ///< `values` has no rows but a dtype: they come block by block
  ValueClass value_class = ValueClass::kNothing;
  bool has_other = false;  ///< both are floats then
  Column other{};
  std::vector<Accumulator> accumulators{};
  int64_t top = 0;

  bool can_miss() const;
  bool needs_rows() const;
  bool needs_second() const;
};

/// The class of a dtype's values; bools are 0 and 1, strings nothing.
HR_API ValueClass value_class_of(Dtype dtype);

/// Rows of a class: float64, int64 or uint64; `space` has room for them. Points into the column
/// where its values are like that.
HR_API const void* read_values(const Column& column, ValueClass value_class, int64_t row,
                               int64_t count, void* space);
/// A byte a row: 1 where there is a value.
HR_API void read_valid(const Column& column, int64_t row, int64_t count, uint8_t* valid);

/// What the slots of some rows have of one input.
struct AccumulatorStates {
  /// 8 bytes a slot (and a place of the top; 16 for squares), for each accumulator.
  std::vector<Buffer> values{};
  std::vector<Buffer> rows{};  ///< int64 a slot, for kArgmin and kArgmax
  Buffer missing{};            ///< uint32 a slot; empty while nothing was missing
  Buffer means{};              ///< float64 a slot, for the second pass
  Buffer other_means{};
};

/// What a fresh state is filled with, as bits.
HR_API uint64_t start_word(Accumulator accumulator, ValueClass value_class);

/// Fresh states of `slots` slots; of the first or of the second pass.
HR_API void start_accumulators(const AccumulatorInput& input, int64_t slots, bool second,
                               AccumulatorStates& states);

/// Up to kBlockRows rows and their slots. `valid` null: all are there; `values` null: only
/// counted. `rows` null: row i is first_row + i.
struct AccumulatorRows {
  const uint32_t* slots;
  const void* values;
  const uint8_t* valid;
  const double* other;
  const int64_t* rows;
  int64_t first_row;
  int64_t count;
};

/// Folds the rows in order; missing values (null, NaN) are counted and left out.
HR_API void accumulate_rows(const AccumulatorInput& input, int64_t num_slots, bool second,
                            const AccumulatorRows& rows, AccumulatorStates& states);

/// Adds slots [begin, end) of `right`, whose rows come later, to `left`.
HR_API void merge_accumulators(const AccumulatorInput& input, bool second, int64_t begin,
                               int64_t end, AccumulatorStates& left,
                               const AccumulatorStates& right);

/// Means of the slots between the walks; `sizes` are their rows.
HR_API void make_means(const AccumulatorInput& input, int64_t slots, const uint32_t* sizes,
                       AccumulatorStates& states);

}  // namespace hr
