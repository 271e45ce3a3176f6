// SPDX-License-Identifier: Apache-2.0
// Room for the columns of a join's result, and where their values come from.
#include "headrace/relational/join/joined_columns.h"

#include "headrace/algo/select/concat.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/data/device.h"
#include "headrace/relational/join/joined_columns_kernels.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace hr {

namespace {

constexpr std::string_view kOp = "merge";

// Words of whole warps.
int64_t word_bytes(int64_t rows) {
  return round_up(bitmap_bytes(rows), 4);
}

cuda::MovedFrom reads_there(DeviceCall& call, const Column& column) {
  cuda::MovedFrom from;
  if (column.num_rows() == 0) return from;
  call.reads(column.values_buffer());
  from.values = column.values_buffer().data();
  from.offset = column.offset();
  if (column.null_count() == 0) return from;
  call.reads(column.validity_buffer());
  from.validity = column.validity();
  return from;
}

struct Made {
  Buffer values{};
  Buffer validity{};
};

/// Columns of the rows, up to 8 at a time; `others`: what stands in for columns, if any.
class Moves {
 public:
  Moves(const Tensor& rows, Place place) : place_(place), call_(kOp, place), rows_(rows) {
    call_.reads(rows.buffer());
    moves_.rows = rows.num_elements();
    moves_.at = rows.as<int32_t>();
    nulls_ = call_.scratch(sizeof counts_);
  }

  void use_others(const Tensor& rows) {
    call_.reads(rows.buffer());
    moves_.other = rows.as<int32_t>();
  }

  void add(const Column& column, const Column* other, bool may_miss) {
    cuda::RowMove& move = moves_.moves[moves_.count++];
    move.from = reads_there(call_, column);
    if (other) move.other = reads_there(call_, *other);
    const bool is_bool = column.dtype().is_bool();
    move.bytes = is_bool ? 0 : static_cast<int>(column.dtype().size_bytes());
    Made& made = made_.emplace_back();
    made.values =
        allocate_result(is_bool ? word_bytes(moves_.rows) : moves_.rows * move.bytes, place_);
    move.values = call_.writes(made.values);
    if (!may_miss && column.null_count() == 0 && (!other || other->null_count() == 0)) return;
    made.validity = allocate_result(word_bytes(moves_.rows), place_);
    move.validity = call_.writes_as<uint32_t>(made.validity);
    is_nullable_ = true;
  }

  /// Calls `take(column of the result, how many of its rows are null)` for what was added.
  template <class Take>
  void run(const Take& take) {
    std::byte* const nulls = call_.writes(nulls_);
    call_.fill(nulls, 0, sizeof counts_);
    moves_.nulls = reinterpret_cast<unsigned long long*>(nulls);
    cuda::move_rows(call_, moves_);
    cuda::finish_moves(call_);
    if (is_nullable_) call_.fetch(counts_, nulls, sizeof counts_);
    for (size_t m = 0; m < made_.size(); ++m) {
      if (counts_[m] == 0) made_[m].validity = {};
      take(m, std::move(made_[m]), static_cast<int64_t>(counts_[m]));
    }
  }

 private:
  Place place_;
  DeviceCall call_;
  Tensor rows_;
  cuda::RowMoves moves_{};
  std::vector<Made> made_{};
  Buffer nulls_{};
  unsigned long long counts_[cuda::kMostMoves]{};
  bool is_nullable_ = false;
};

}  // namespace

std::vector<Column> gather_joined(const std::vector<Column>& columns, const Tensor& rows,
                                  bool may_miss) {
  const int64_t count = rows.num_elements();
  std::vector<Column> results;
  if (count == 0) {
    for (const Column& column : columns) results.push_back(column.with_rows(0, {}, {}, 0));
    return results;
  }
  if constexpr (built_with_cuda) {
    for (size_t first = 0; first < columns.size(); first += cuda::kMostMoves) {
      Moves moves(rows, rows.place());
      const size_t end = std::min(columns.size(), first + cuda::kMostMoves);
      for (size_t c = first; c < end; ++c) moves.add(columns[c], nullptr, may_miss);
      moves.run([&](size_t m, Made made, int64_t nulls) {
        results.push_back(columns[first + m].with_rows(count, std::move(made.values),
                                                       std::move(made.validity), nulls));
      });
    }
  } else {
    check_on_host(kOp, rows.place());
  }
  return results;
}

Column coalesce_joined(const Column& left, const Column& right, const JoinedRows& joined) {
  if (joined.keeps_left) return left;
  if (left.dtype().is_string() && &left.text_buffers() != &right.text_buffers()) {
    const Column both =
        concatenate(kOp, left.dtype(), std::array{left, right});  // one text of both
    return coalesce_joined(both.slice(0, left.num_rows()),
                           both.slice(left.num_rows(), right.num_rows()), joined);
  }
  if (joined.rows == 0) return left.with_rows(0, {}, {}, 0);
  Column result = left;
  if constexpr (built_with_cuda) {
    Moves moves(joined.left, joined.left.place());
    moves.use_others(joined.right);
    moves.add(left, &right, false);
    moves.run([&](size_t, Made made, int64_t nulls) {
      result = left.with_rows(joined.rows, std::move(made.values), std::move(made.validity), nulls);
    });
  } else {
    check_on_host(kOp, joined.left.place());
  }
  return result;
}

Buffer indicate_joined(const JoinedRows& joined, bool swapped, Place place) {
  Buffer codes = allocate_result(4 * joined.rows, place);
  if (joined.rows == 0) return codes;
  if constexpr (built_with_cuda) {
    DeviceCall call(kOp, place);
    const auto numbers = [&](const Tensor& rows) -> const int32_t* {
      if (rows.num_elements() == 0) return nullptr;
      call.reads(rows.buffer());
      return rows.as<int32_t>();
    };
    cuda::indicate_rows(call, joined.rows, numbers(joined.left), numbers(joined.right), swapped,
                        call.writes_as<int32_t>(codes));
    cuda::finish_moves(call);
  } else {
    check_on_host(kOp, place);
  }
  return codes;
}

}  // namespace hr
