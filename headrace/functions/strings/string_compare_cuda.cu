// SPDX-License-Identifier: Apache-2.0
// Strings compared on a CUDA device.
#include "headrace/functions/strings/string_compare_kernels.h"
#include "headrace/functions/strings/string_rows_device.h"

#include <algorithm>
#include <cstring>

namespace hr::cuda {

namespace {

__device__ bool holds_there(Op op, int order) {
  switch (op) {
    case Op::kEqual:
      return order == 0;
    case Op::kNotEqual:
      return order != 0;
    case Op::kLess:
      return order < 0;
    case Op::kLessEqual:
      return order <= 0;
    case Op::kGreater:
      return order > 0;
    default:
      return order >= 0;
  }
}

/// Equal to a text or not: its view tells of most rows.
struct EqualRows {
  DeviceStrings strings;
  Pattern text;
  uint32_t words[4];  // as a view has them
  bool wanted;

  __device__ bool is_valid(int64_t row) const { return strings.is_valid(row); }

  __device__ bool test(int64_t row) const {
    const uint32_t* const own = strings.view(row);
    if (own[0] != words[0] || own[1] != words[1]) return !wanted;
    const bool same = text.size <= sizeof(StringView::inlined)
                          ? own[2] == words[2] && own[3] == words[3]
                          : has_part_at(strings[row], 0, text);
    return same == wanted;
  }
};

struct OrderedRows {
  DeviceStrings strings;
  Pattern text;
  Op op;

  __device__ bool is_valid(int64_t row) const { return strings.is_valid(row); }
  __device__ bool test(int64_t row) const { return holds_there(op, order_of(strings[row], text)); }
};

struct PairRows {
  DeviceStrings left;
  DeviceStrings right;
  Op op;

  __device__ bool is_valid(int64_t row) const { return left.is_valid(row) && right.is_valid(row); }

  __device__ bool test(int64_t row) const {
    if (op == Op::kEqual || op == Op::kNotEqual) return are_equal(row) == (op == Op::kEqual);
    return holds_there(op, order_of(left[row], right[row]));
  }

 private:
  __device__ bool are_equal(int64_t row) const {
    const uint32_t* const a = left.view(row);
    const uint32_t* const b = right.view(row);
    if (a[0] != b[0] || a[1] != b[1]) return false;
    if (a[0] <= sizeof(StringView::inlined)) return a[2] == b[2] && a[3] == b[3];
    return has_part_at(left[row], 0, right[row]);
  }
};

}  // namespace

Column compare_text(Op op, const Column& column, std::string_view text) {
  DeviceCall call(op_row(op).name, column.place());
  std::vector<Buffer> tables;
  const DeviceStrings strings = strings_of(call, column, tables);
  const Pattern pattern = pattern_of(call, text, tables);
  if (op != Op::kEqual && op != Op::kNotEqual)
    return test_string_rows(call, column.place(), OrderedRows{strings, pattern, op},
                            column.num_rows(), column.null_count());
  EqualRows rows{strings, pattern, {}, op == Op::kEqual};
  StringView view{};
  view.size = pattern.size;
  std::memcpy(view.inlined, text.data(), std::min(text.size(), sizeof view.inlined));
  std::memcpy(rows.words, &view, sizeof view);
  return test_string_rows(call, column.place(), rows, column.num_rows(), column.null_count());
}

Column compare_text(Op op, const Column& left, const Column& right) {
  DeviceCall call(op_row(op).name, left.place());
  std::vector<Buffer> tables;
  const PairRows rows{strings_of(call, left, tables), strings_of(call, right, tables), op};
  const bool has_nulls = left.null_count() > 0 || right.null_count() > 0;
  return test_string_rows(call, left.place(), rows, left.num_rows(), has_nulls ? -1 : 0);
}

}  // namespace hr::cuda
