// SPDX-License-Identifier: Apache-2.0
// As-of joins: two sorted keys, walked together within each group of equal other keys.
#include "headrace/relational/join/asof.h"

#include "headrace/algo/keys/normalized_keys.h"
#include "headrace/algo/scan/segments.h"
#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/gather.h"
#include "headrace/algo/sort/sort.h"
#include "headrace/base/enum_names.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"
#include "headrace/functions/temporal/calendar.h"
#include "headrace/functions/temporal/time_counts.h"
#include "headrace/plan/bind/binder.h"
#include "headrace/plan/bind/literal.h"
#include "headrace/relational/order/rank.h"
#include "headrace/relational/rows/operator_inputs.h"
#include "headrace/relational/rows/row_nodes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace hr {

namespace {

constexpr std::string_view kOp = "merge_asof";
constexpr std::string_view kDirections[] = {"backward", "forward", "nearest"};

// Throws for a key that is missing, or less than the one before.
template <class T>
void check_order(std::string_view side, const Column& keys) {
  const int64_t rows = keys.num_rows();
  const T* const at = keys.values<T>().data();
  const auto refuse = [&](std::string_view what, int64_t row, const char* fix) {
    throw_error<InvalidArgumentError>(kOp, what, {{"side", side}, {"row", row}}, fix);
  };
  parallel_morsels(rows, {reads(keys)}, [&](Morsel morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      if (keys.is_null(row) || at[row] != at[row])
        refuse("a key is missing", row, "drop these rows first: dropna(subset=...)");
      if (row > 0 && at[row] < at[row - 1])
        refuse("keys are not in order", row, "use sort_values on both sides first");
    }
  });
}

// How far two keys in order are apart.
uint64_t distance(int64_t low, int64_t high) {
  return static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
}

double distance(double low, double high) {
  return high - low;
}

template <class T>
struct Tolerance;
template <>
struct Tolerance<int64_t> {
  uint64_t most;
};
template <>
struct Tolerance<double> {
  double most;
};

// Of the nearest rows on both sides of a key, or -1, the one that matches.
template <class T>
int64_t chosen(T key, int64_t back, int64_t ahead, const T* right, const AsofOptions& options,
               Tolerance<T> tolerance) {
  if (options.has_tolerance) {
    if (back >= 0 && distance(right[back], key) > tolerance.most) back = -1;
    if (ahead >= 0 && distance(key, right[ahead]) > tolerance.most) ahead = -1;
  }
  if (ahead < 0) return back;
  const bool is_back = back >= 0 && distance(right[back], key) <= distance(key, right[ahead]);
  return is_back ? back : ahead;
}

// Rows of one group: left rows [begin, end) of a morsel, and all right ones [first, last). `put`
// gets a left row and its right row, or -1.
template <class T, class F>
void match_rows(const T* left, int64_t begin, int64_t end, const T* right, int64_t first,
                int64_t last, const AsofOptions& options, Tolerance<T> tolerance, F&& put) {
  // The first right row behind the key, and the first that is not before it.
  int64_t upper = std::upper_bound(right + first, right + last, left[begin]) - right;
  int64_t lower = std::lower_bound(right + first, right + last, left[begin]) - right;
  for (int64_t row = begin; row < end; ++row) {
    const T key = left[row];
    while (upper < last && right[upper] <= key) ++upper;
    while (lower < last && right[lower] < key) ++lower;
    int64_t back = (options.allow_exact ? upper : lower) - 1;
    int64_t ahead = options.allow_exact ? lower : upper;
    if (back < first || options.direction == AsofDirection::kForward) back = -1;
    if (ahead >= last || options.direction == AsofDirection::kBackward) ahead = -1;
    put(row, chosen(key, back, ahead, right, options, tolerance));
  }
}

// All rows in order, where a table of the groups is small: it keeps the row of each that came last.
template <class T>
void match_by_table(const Column& left, const Column& right, const NormalizedKeys& packed,
                    const AsofOptions& options, Tolerance<T> tolerance, int64_t* out) {
  const int64_t rows = left.num_rows(), others = right.num_rows();
  const Buffer groups = packed.to_buffer(0, rows), other_groups = packed.to_buffer(rows, others);
  const auto *const group = groups.as<uint64_t>(), *const other = other_groups.as<uint64_t>();
  const T *const key = left.values<T>().data(), *const at = right.values<T>().data();
  const auto domain = static_cast<int64_t>(packed.domain());
  Buffer table = Buffer::allocate(8 * domain);
  auto* const last = table.mutable_as<int64_t>();
  std::fill(out, out + rows, -1);
  if (options.direction != AsofDirection::kForward) {
    std::fill(last, last + domain, -1);
    for (int64_t row = 0, next = 0; row < rows; ++row) {
      while (next < others && (options.allow_exact ? at[next] <= key[row] : at[next] < key[row])) {
        last[other[next]] = next;
        ++next;
      }
      out[row] = last[group[row]];
    }
  }
  if (options.direction != AsofDirection::kBackward) std::fill(last, last + domain, -1);
  for (int64_t row = rows - 1, next = others - 1; row >= 0; --row) {
    int64_t ahead = -1;
    if (options.direction != AsofDirection::kBackward) {
      while (next >= 0 && (options.allow_exact ? at[next] >= key[row] : at[next] > key[row])) {
        last[other[next]] = next;
        --next;
      }
      ahead = last[group[row]];
    }
    out[row] = chosen(key[row], out[row], ahead, at, options, tolerance);
  }
}

// One side in the order of its groups.
struct GroupedSide {
  Column groups{}, keys{}, rows{};
};

GroupedSide grouped(const NormalizedKeys& packed, int64_t first, const Column& keys) {
  const int64_t rows = keys.num_rows();
  const Column groups(TypeId::kUInt64, rows, packed.to_buffer(first, rows));
  std::vector<Column> sorted =
      sort_rows({groups}, {SortOrder{}}, {groups, keys, row_numbers(rows)});
  return {sorted[0], sorted[1], sorted[2]};
}

template <class T>
void match_groups(const GroupedSide& left, const GroupedSide& right, const AsofOptions& options,
                  Tolerance<T> tolerance, int64_t* out) {
  const int64_t rows = left.keys.num_rows(), others = right.keys.num_rows();
  const auto* const group = left.groups.values<uint64_t>().data();
  const auto* const other = right.groups.values<uint64_t>().data();
  const auto* const left_rows = left.rows.values<int64_t>().data();
  const auto* const right_rows = right.rows.values<int64_t>().data();
  const Segments segments = Segments::of_keys(left.groups.values_buffer(), rows);
  parallel_morsels(rows, morsel_rows(), {reads(left.keys), reads(left.groups)}, [&](Morsel morsel) {
    int64_t from = 0;
    segments.visit(morsel.begin, morsel.end, [&](int64_t, int64_t begin, int64_t end) {
      const auto* const first = std::lower_bound(other + from, other + others, group[begin]);
      const auto* const last = std::upper_bound(first, other + others, group[begin]);
      from = last - other;
      match_rows(left.keys.values<T>().data(), begin, end, right.keys.values<T>().data(),
                 first - other, from, options, tolerance, [&](int64_t row, int64_t match) {
                   out[left_rows[row]] = match < 0 ? -1 : right_rows[match];
                 });
    });
  });
}

struct AsofRows final : OperatorOf<AsofRows> {
  AsofOptions options{};
  int64_t by = 0;  // pairs of keys that are equal
  int64_t nanos_per_unit = 0;

  std::string_view name() const override { return kOp; }

  std::string arguments() const override {
    return std::string(kDirections[static_cast<size_t>(options.direction)]);
  }

  Cost cost(const InputEstimates&) const override { return {.nanoseconds = by > 0 ? 60.0 : 5.0}; }

  Value execute(std::span<const Value> inputs) const override {
    const auto& left = std::get<Column>(inputs[0]);
    const auto& right = std::get<Column>(inputs[1]);
    std::vector<Column> keys;
    for (int64_t pair = 0; pair < by; ++pair) {
      const auto at = static_cast<size_t>(2 + 2 * pair);
      const std::array both{std::get<Column>(inputs[at]), std::get<Column>(inputs[at + 1])};
      keys.push_back(concatenate(kOp, both[0].dtype(), both));
    }
    if (left.dtype() == TypeId::kFloat64)
      return matched<double>(left, right, keys, {options.tolerance});
    const double whole = std::floor(options.tolerance);
    const uint64_t units = nanos_per_unit > 0
                               ? static_cast<uint64_t>(options.tolerance_nanos / nanos_per_unit)
                           : whole < 0x1p63 ? static_cast<uint64_t>(whole)
                                            : UINT64_MAX;
    return matched<int64_t>(left, right, keys, {units});
  }

  static auto parameters(auto& self) {
    return std::tie(self.options, self.by, self.nanos_per_unit);
  }

 private:
  template <class T>
  Column matched(const Column& left, const Column& right, const std::vector<Column>& keys,
                 Tolerance<T> tolerance) const {
    const int64_t rows = left.num_rows();
    Buffer buffer = Buffer::allocate(8 * rows);  // rows of groups are anywhere in it
    if (rows == 0) return Column(TypeId::kInt64, 0, std::move(buffer));
    auto* const out = buffer.mutable_as<int64_t>();
    if (right.num_rows() == 0) {
      std::fill(out, out + rows, -1);
      return Column(TypeId::kInt64, rows, std::move(buffer));
    }
    check_order<T>("left", left);
    check_order<T>("right", right);
    if (keys.empty()) {
      const std::vector<BufferAccess> accesses{reads(left)};
      parallel_morsels(rows, accesses, [&](Morsel morsel) {
        match_rows(left.values<T>().data(), morsel.begin, morsel.end, right.values<T>().data(), 0,
                   right.num_rows(), options, tolerance,
                   [&](int64_t row, int64_t match) { out[row] = match; });
      });
    } else {
      const NormalizedKeys packed =
          NormalizedKeys::of(kOp, keys, {.ordered = false, .drop_missing = false});
      const auto most = static_cast<uint64_t>(rows + right.num_rows() + morsel_rows());
      if (packed.domain() > 0 && packed.domain() <= most)
        match_by_table(left, right, packed, options, tolerance, out);
      else
        match_groups(grouped(packed, 0, left), grouped(packed, rows, right), options, tolerance,
                     out);
    }
    return Column(TypeId::kInt64, rows, std::move(buffer));
  }
};

struct AsofValues final : OperatorOf<AsofValues> {
  std::string_view name() const override { return kOp; }

  std::string arguments() const override { return "values"; }

  Value execute(std::span<const Value> inputs) const override {
    return gather_or_null(std::get<Column>(inputs[0]), as_tensor(std::get<Column>(inputs[1])));
  }
};

bool is_timed(Dtype dtype) {
  return dtype.is_temporal() || dtype.is_duration();
}

}  // namespace

AsofDirection asof_direction_from_name(std::string_view name) {
  return enum_from_name<AsofDirection>(kOp, "direction", name, kDirections);
}

NodePtr asof_rows(const NodePtr& left, const NodePtr& right, const std::vector<NodePtr>& left_by,
                  const std::vector<NodePtr>& right_by, const AsofOptions& options) {
  NodePtr ours = column_node(kOp, left), theirs = column_node(kOp, right);
  const Dtype a = ours->signature().dtype, b = theirs->signature().dtype;
  int64_t nanos_per_unit = 0;
  if (is_timed(a) && is_timed(b)) {
    BoundKeys bound = bind_keys(kOp, a, b);
    if (!bound.are_counts) bound.unit = count_unit(a);
    for (NodePtr* key : {&ours, &theirs})
      *key = cast(counts_of_unit(*key, bound.unit, false), TypeId::kInt64);
    nanos_per_unit = bound.unit ? kNanosecondsPerSecond / units_per_second(*bound.unit)
                                : 86'400 * kNanosecondsPerSecond;
  } else if (a.is_real() && b.is_real()) {
    const bool floats = a.is_floating() || b.is_floating();
    if (!floats && (a == TypeId::kUInt64 || b == TypeId::kUInt64))
      throw_error<TypeMismatchError>(kOp, "keys of uint64 are not supported", {},
                                     "use astype('int64')");
    for (NodePtr* key : {&ours, &theirs})
      *key = cast(*key, floats ? TypeId::kFloat64 : TypeId::kInt64);
  } else {
    throw_error<TypeMismatchError>(kOp, "keys must both be numbers or both be times",
                                   {{"left", a.name()}, {"right", b.name()}},
                                   "convert one of them with astype or to_datetime");
  }
  std::vector<NodePtr> inputs{ours, theirs};
  for (size_t pair = 0; pair < left_by.size(); ++pair) {
    NodePtr one = column_node(kOp, left_by[pair]), other = column_node(kOp, right_by[pair]);
    const BoundKeys bound = bind_keys(kOp, one->signature().dtype, other->signature().dtype);
    for (NodePtr* key : {&one, &other})
      inputs.push_back(bound.are_counts ? counts_of_unit(*key, bound.unit, true)
                                        : to_common_dtype(*key, bound.dtype));
  }
  Signature signature = ours->signature();
  signature.dtype = TypeId::kInt64;
  signature.nullable = false;
  return apply_operator(
      AsofRows::make(options, static_cast<int64_t>(left_by.size()), nanos_per_unit),
      std::move(signature), std::move(inputs));
}

NodePtr asof_values(const NodePtr& column, const NodePtr& rows) {
  const NodePtr values = column_node(kOp, column);
  Signature signature = rows->signature();
  signature.dtype = values->signature().dtype;
  signature.nullable = true;
  return apply_operator(AsofValues::make(), std::move(signature), {values, rows});
}

}  // namespace hr
