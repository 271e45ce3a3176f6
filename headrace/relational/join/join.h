// SPDX-License-Identifier: Apache-2.0
// Joins: which rows of two frames belong together.
#pragma once
#include "headrace/algo/select/filter.h"
#include "headrace/base/api.h"
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace hr {

enum class JoinKind : uint8_t {
  kInner,
  kLeft,   ///< every left row at least once
  kOuter,  ///< and every right row
  kSemi,   ///< left rows that have a match, once
  kAnti,   ///< left rows that have none
};

/// "inner", "left", "outer", "semi", "anti"; throws InvalidArgumentError for another word.
HR_API JoinKind join_kind_from_name(std::string_view name);

/// What stands in the rows of a join: left rows in order, of each its matches in order; of an
/// outer join then the right rows without one.
struct JoinedRows {
  int64_t rows = 0;
  bool keeps_left = false;  ///< every left row once, in order; `left` is empty then
  Tensor left{};            ///< int32 row of the left side, -1: none
  Tensor right{};           ///< of the right side; empty of semi and anti joins
};

/// Which sides may have no key twice; checked before anything is joined.
struct JoinUnique {
  bool left = false;
  bool right = false;
  bool swapped = false;  ///< the user's left side is the right one here

  static auto parameters(auto& self) { return std::tie(self.left, self.right, self.swapped); }
};

/// Throws InvalidArgumentError for more rows than numbers of 31 bits tell apart.
void check_join_rows(std::string_view side, int64_t rows);

/// Rows whose keys are equal, column by column; null is equal to null and NaN to NaN, as in pandas.
/// No keys: all rows belong together (a cross join). Dtypes of both sides agree. About 10 ns a row
/// of the larger side and core for keys from a small range, 30 for others (strings get numbers
/// first). Throws InvalidArgumentError for 2^31 rows or more, here or in the result, naming the
/// rows of the most frequent key, or for a key that is not `unique`, naming two of its rows;
/// TypeMismatchError for complex keys; OutOfMemoryError.
HR_API JoinedRows join_rows(const std::vector<Column>& left, int64_t left_rows,
                            const std::vector<Column>& right, int64_t right_rows, JoinKind kind,
                            JoinUnique unique = {});

/// The same rows, on the host, of keys on the host, by ranges of keys that `place` joins one after
/// the other. Nothing for a cross join and more rows than `join_rows` gives. Throws
/// OutOfMemoryError when a range of about `slice_bytes` does not fit there.
std::optional<JoinedRows> join_rows_in_slices(const std::vector<Column>& left, int64_t left_rows,
                                              const std::vector<Column>& right, int64_t right_rows,
                                              JoinKind kind, Place place, int64_t slice_bytes);

/// A bool a row: whether `values` has an equal in `set`, of the same dtype; null is equal to null
/// and NaN to NaN. False where the mask is not true. Errors as of join_rows.
HR_API Column is_in(const Column& values, const Column& set, const Mask* where = nullptr);

}  // namespace hr
