// SPDX-License-Identifier: Apache-2.0
// Folds: what groups keep of their rows while they are read, one number a slot.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/column.h"
#include "headrace/memory/buffer/pin.h"

#include <cstdint>
#include <vector>

namespace hr {

/// How values are read for a fold: float64 with NaN for missing ones, int64 or uint64 beside a byte
/// a row; kNothing: only whether they are there.
enum class Lane : uint8_t { kFloating, kSigned, kUnsigned, kNothing };

enum class Fold : uint8_t {
  kSum,
  kProduct,
  kMin,
  kMax,
  kNonZero,  ///< counts values other than 0
  kFirst,    ///< the first row
  kLast,     ///< the last row
  kArgmin,   ///< the first row of the least value
  kArgmax,
  kLargest,  ///< the `top` greatest values of the input, greatest first
  kSmallest,
  kSquares,   ///< sums of squared deviations from the slot's mean, each beside that of deviations
  kOtherSum,  ///< of a second column
  kOtherSquares,
  kCross,  ///< sums of products of both deviations
};

/// Folds that need the means of their slots take a second walk over the rows.
inline bool is_second(Fold fold) {
  return fold == Fold::kSquares || fold == Fold::kOtherSquares || fold == Fold::kCross;
}

/// One column (or two, whose rows count where both are there) and what is folded of it.
struct FoldInput {
  Column values{};
  int64_t place = -1;     ///< of them among what was asked for
  bool computed = false;  ///< `values` has no rows but a dtype: they come block by block
  Lane lane = Lane::kNothing;
  bool has_other = false;  ///< both are float lanes then
  Column other{};
  std::vector<Fold> folds{};
  int64_t top = 0;

  bool can_miss() const;
  bool needs_rows() const;
  bool needs_second() const;
};

/// The lane of a dtype's values; bools are 0 and 1, strings nothing.
HR_API Lane lane_of(Dtype dtype);

/// Rows of a lane: float64, int64 or uint64; `space` has room for them. Points into the column
/// where its values are like that.
HR_API const void* read_lane(const Column& column, Lane lane, int64_t row, int64_t count,
                             void* space);
/// A byte a row: 1 where there is a value.
HR_API void read_valid(const Column& column, int64_t row, int64_t count, uint8_t* valid);

/// What the slots of some rows have of one input.
struct FoldStates {
  /// 8 bytes a slot (and a place of the top; 16 for squares), for each fold.
  std::vector<Buffer> values{};
  std::vector<Buffer> rows{};  ///< int64 a slot, for kArgmin and kArgmax
  Buffer missing{};            ///< uint32 a slot; empty while nothing was missing
  Buffer means{};              ///< float64 a slot, for the second walk
  Buffer other_means{};
};

/// Fresh states of `slots` slots; of the first or of the second walk.
HR_API void start_folds(const FoldInput& input, int64_t slots, bool second, FoldStates& states);

/// Up to kBlockRows rows and their slots. `valid` null: all are there; `values` null: only
/// counted. `rows` null: row i is first_row + i.
struct FoldRows {
  const uint32_t* slots;
  const void* values;
  const uint8_t* valid;
  const double* other;
  const int64_t* rows;
  int64_t first_row;
  int64_t count;
};

/// Folds the rows in order; missing values (null, NaN) are counted and left out.
HR_API void fold_rows(const FoldInput& input, int64_t num_slots, bool second, const FoldRows& rows,
                      FoldStates& states);

/// Adds slots [begin, end) of `right`, whose rows come later, to `left`.
HR_API void merge_folds(const FoldInput& input, bool second, int64_t begin, int64_t end,
                        FoldStates& left, const FoldStates& right);

/// Means of the slots between the walks; `sizes` are their rows.
HR_API void make_means(const FoldInput& input, int64_t slots, const uint32_t* sizes,
                       FoldStates& states);

}  // namespace hr
