// SPDX-License-Identifier: Apache-2.0
// Running results: what each morsel gives alone, then what all before it give.
#include "headrace/algo/scan/cumulative.h"

#include "headrace/algo/math/decimal_math.h"
#include "headrace/algo/scan/cumulative_kernels.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/device.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

namespace hr {

namespace {

// Of numbers, decimals and sums of decimals.
template <class T>
T start_of(Aggregate aggregate) {
  if constexpr (std::is_same_v<T, DecimalSum>) {
    return {};
  } else if constexpr (std::is_same_v<T, Int128>) {
    return aggregate == Aggregate::kMin ? power_of_ten(kMostDigits) : -power_of_ten(kMostDigits);
  } else {
    using Limits = std::numeric_limits<T>;
    switch (aggregate) {
      case Aggregate::kSum:
        return T{0};
      case Aggregate::kProduct:
        return T{1};
      case Aggregate::kMin:
        return Limits::has_infinity ? Limits::infinity() : Limits::max();
      case Aggregate::kMax:
        return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
      default:
        return T{};
    }
  }
}

template <class T>
T join(Aggregate aggregate, T a, T b) {
  if constexpr (std::is_same_v<T, DecimalSum>) {
    return a += b;
  } else {
    if (aggregate == Aggregate::kMin) return b < a ? b : a;
    if (aggregate == Aggregate::kMax) return b > a ? b : a;
    if constexpr (std::is_floating_point_v<T>)
      return aggregate == Aggregate::kSum ? a + b : a * b;
    else
      return static_cast<T>(aggregate == Aggregate::kSum
                                ? static_cast<uint64_t>(a) + static_cast<uint64_t>(b)
                                : static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
}

template <class Out, class Sum>
Out result_of(const Sum& total, int64_t row, Dtype dtype) {
  if constexpr (std::is_same_v<Sum, DecimalSum>) {
    Int128 result;
    if (total.get(&result)) return result;
    throw_error<InvalidArgumentError>("cumsum", "a running sum has more than 38 digits",
                                      {{"row", row}, {"dtype", dtype.name()}},
                                      "use astype('float64') first");
  } else {
    return static_cast<Out>(total);
  }
}

// `In` values as `Out`, whose totals are `Sum`.
template <class In, class Out,
          class Sum = std::conditional_t<std::is_floating_point_v<Out>, double, Out>, class Read>
Column run(Aggregate aggregate, const Column& column, const Segments& segments, Dtype dtype,
           Read&& read) {
  const int64_t rows = column.num_rows();
  const uint8_t* const valid = column.validity();
  Buffer buffer = Buffer::allocate_spillable(rows * static_cast<int64_t>(sizeof(Out)));
  const auto counts = [&](int64_t row, In value) {
    if (valid && !get_bit(valid, column.offset() + row)) return false;
    if constexpr (std::is_floating_point_v<In>) return value == value;
    return true;
  };
  const int64_t step = morsel_rows();  // after which floats are rounded
  std::vector<Sum> before(static_cast<size_t>(divide_up(rows, step)) + 1, start_of<Sum>(aggregate));
  const auto walk = [&](int64_t begin, int64_t end, auto&& visit) {
    Sum total = start_of<Sum>(aggregate);
    for (int64_t row = begin; row < end; ++row) {
      const In value = read(row);
      const bool has = counts(row, value);
      if (has) total = join<Sum>(aggregate, total, static_cast<Sum>(value));
      visit(row, value, has, total);
    }
    return total;
  };
  std::vector<char> goes_on(before.size());  // the segment that a morsel ends in began before it
  parallel_morsels(rows, step, {reads(column)}, [&](Morsel morsel) {
    const auto next = static_cast<size_t>(morsel.index) + 1;
    segments.visit(morsel.begin, morsel.end, [&](int64_t segment, int64_t begin, int64_t end) {
      goes_on[next] = segment < morsel.begin;
      if (end == morsel.end) before[next] = walk(begin, end, [](int64_t, In, bool, Sum) {});
    });
  });
  for (size_t i = 1; i < before.size(); ++i)
    if (goes_on[i]) before[i] = join<Sum>(aggregate, before[i - 1], before[i]);
  if (rows > 0) {
    Out* const out = buffer.mutable_as<Out>();
    const int64_t width = static_cast<int64_t>(sizeof(Out));
    parallel_morsels(rows, step, {reads(column), writes(buffer, width)}, [&](Morsel morsel) {
      segments.visit(morsel.begin, morsel.end, [&](int64_t segment, int64_t begin, int64_t end) {
        const Sum first = segment < morsel.begin ? before[static_cast<size_t>(morsel.index)]
                                                 : start_of<Sum>(aggregate);
        walk(begin, end, [&](int64_t row, In value, bool has, Sum total) {
          if (has)
            out[row] = result_of<Out>(join<Sum>(aggregate, first, total), row, dtype);
          else
            out[row] = static_cast<Out>(std::is_floating_point_v<In> ? value : In{0});
        });
      });
    });
  }
  Buffer validity;
  if (valid) {
    validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
    for (int64_t row = 0; row < rows; row += 64) {
      const int64_t count = std::min<int64_t>(64, rows - row);
      const uint64_t bits = load_bits(valid, column.offset() + row, count);
      std::memcpy(validity.mutable_as<uint8_t>() + row / 8, &bits,
                  static_cast<size_t>(bitmap_bytes(count)));
    }
  }
  return Column(dtype, rows, std::move(buffer), std::move(validity), column.null_count());
}

// How many totals of all groups and morsels are held at once: fewer than 2^20, and in less memory
// than half of the values; morsels are longer where there would be more.
int64_t most_totals(int64_t rows) {
  return std::min(rows / 4, int64_t{1} << 20);
}

// The same with a total for each group and morsel.
template <class In, class Out,
          class Sum = std::conditional_t<std::is_floating_point_v<Out>, double, Out>, class Read>
Column run_groups(Aggregate aggregate, const Column& column, const ReadGroups& read_groups,
                  int64_t groups, int64_t missing, std::vector<BufferAccess> accesses, Dtype dtype,
                  Read&& read) {
  const int64_t rows = column.num_rows();
  const int64_t parts = std::max<int64_t>(most_totals(rows) / groups, 1);
  const int64_t step =
      morsel_rows() * std::max<int64_t>(divide_up(divide_up(rows, morsel_rows()), parts), 1);
  const int64_t morsels = divide_up(rows, step);
  const uint8_t* const valid = column.validity();
  const auto counts = [&](int64_t row, In value) {
    if (valid && !get_bit(valid, column.offset() + row)) return false;
    if constexpr (std::is_floating_point_v<In>) return value == value;
    return true;
  };
  using Totals = BudgetedVector<Sum>;
  Totals totals(static_cast<size_t>(std::max<int64_t>(morsels, 1) * groups),
                start_of<Sum>(aggregate));
  const auto walk = [&](Morsel morsel, Sum* own, auto&& visit) {
    uint32_t block[kBlockRows];
    for (int64_t begin = morsel.begin; begin < morsel.end; begin += kBlockRows) {
      const int64_t count = std::min(kBlockRows, morsel.end - begin);
      read_groups(begin, count, block);
      for (int64_t i = 0; i < count; ++i) {
        const In value = read(begin + i);
        const bool has = counts(begin + i, value) && static_cast<int64_t>(block[i]) != missing;
        if (has) own[block[i]] = join<Sum>(aggregate, own[block[i]], static_cast<Sum>(value));
        visit(begin + i, block[i], value, has);
      }
    }
  };
  accesses.push_back(reads(column));
  const auto totals_of = [&](int64_t morsel) { return totals.data() + morsel * groups; };
  parallel_morsels(rows, step, accesses, [&](Morsel morsel) {
    if (morsel.end < rows)  // nothing comes after the last one
      walk(morsel, totals_of(morsel.index + 1), [](int64_t, uint32_t, In, bool) {});
  });
  for (int64_t morsel = 1; morsel < morsels; ++morsel)
    for (int64_t group = 0; group < groups; ++group)
      totals_of(morsel)[group] =
          join<Sum>(aggregate, totals_of(morsel - 1)[group], totals_of(morsel)[group]);
  const auto width = static_cast<int64_t>(sizeof(Out));
  Buffer buffer = Buffer::allocate_spillable(rows * width);
  const bool has_nulls = valid || missing >= 0;
  Buffer validity = has_nulls ? Buffer::allocate_zeroed(bitmap_bytes(rows)) : Buffer();
  std::vector<int64_t> nulls(static_cast<size_t>(morsels));
  if (rows > 0) {
    Out* const out = buffer.mutable_as<Out>();
    uint8_t* const bits = has_nulls ? validity.mutable_as<uint8_t>() : nullptr;
    accesses.push_back(writes(buffer, width));
    parallel_morsels(rows, step, accesses, [&](Morsel morsel) {
      const Sum* const first = totals_of(morsel.index);
      Totals own(static_cast<size_t>(groups), start_of<Sum>(aggregate));
      walk(morsel, own.data(), [&](int64_t row, uint32_t group, In value, bool has) {
        if (has)
          out[row] = result_of<Out>(join<Sum>(aggregate, first[group], own[group]), row, dtype);
        else
          out[row] = static_cast<Out>(std::is_floating_point_v<In> ? value : In{0});
        if (!bits) return;
        const bool is_null = static_cast<int64_t>(group) == missing ||
                             (valid && !get_bit(valid, column.offset() + row));
        if (is_null) ++nulls[static_cast<size_t>(morsel.index)];
        if (!is_null) set_bit(bits, row, true);
      });
    });
  }
  const int64_t absent = std::accumulate(nulls.begin(), nulls.end(), int64_t{0});
  return Column(dtype, rows, std::move(buffer), std::move(validity), absent);
}

// Calls `run` with the types of the values, the results and their totals.
template <class Run>
Column with_types(Aggregate aggregate, const Column& column, Run&& run) {
  const Dtype dtype = aggregate_dtype(aggregate, column.dtype(), AggregateForm::kCumulative);
  check_on_host(aggregate_name(aggregate, AggregateForm::kCumulative), column.place());
  if (column.dtype().is_bool())
    return run.template operator()<int64_t, int64_t, int64_t>(
        dtype, [&](int64_t row) { return int64_t{get_bit(column.bits(), column.offset() + row)}; });
  if (dtype.is_decimal()) {
    const Int128* const values = column.values<Int128>().data();
    const auto read = [values](int64_t row) { return values[row]; };
    if (aggregate == Aggregate::kSum)
      return run.template operator()<Int128, Int128, DecimalSum>(dtype, read);
    return run.template operator()<Int128, Int128, Int128>(dtype, read);
  }
  return visit_real(column.dtype(), [&]<class In>(std::type_identity<In>) {
    const In* const values = column.values<In>().data();
    const auto read = [values](int64_t row) { return values[row]; };
    using Total = std::conditional_t<std::is_floating_point_v<In>, double, In>;
    if (dtype == column.dtype()) return run.template operator()<In, In, Total>(dtype, read);
    using Wide = std::conditional_t<std::is_unsigned_v<In>, uint64_t, int64_t>;
    return run.template operator()<In, Wide, Wide>(dtype, read);
  });
}

}  // namespace

Column cumulative(Aggregate aggregate, const Column& column) {
  if constexpr (built_with_cuda)
    if (column.place().is_gpu())
      return cuda::cumulative(
          aggregate, column,
          aggregate_dtype(aggregate, column.dtype(), AggregateForm::kCumulative));
  return cumulative(aggregate, column, Segments(column.num_rows()));
}

Column cumulative(Aggregate aggregate, const Column& column, const Segments& segments) {
  const Dtype dtype = aggregate_dtype(aggregate, column.dtype(), AggregateForm::kCumulative);
  if (dtype.has_unit() || dtype.is_date())
    return cumulative(aggregate, column.with_dtype(dtype.storage()), segments).with_dtype(dtype);
  return with_types(aggregate, column, [&]<class In, class Out, class Sum>(Dtype made, auto read) {
    return run<In, Out, Sum>(aggregate, column, segments, made, read);
  });
}

Column cumulative(Aggregate aggregate, const Column& column, const ReadGroups& read_groups,
                  int64_t groups, int64_t missing, const std::vector<BufferAccess>& accesses) {
  const Dtype dtype = aggregate_dtype(aggregate, column.dtype(), AggregateForm::kCumulative);
  if (dtype.has_unit() || dtype.is_date())
    return cumulative(aggregate, column.with_dtype(dtype.storage()), read_groups, groups, missing,
                      accesses)
        .with_dtype(dtype);
  return with_types(aggregate, column, [&]<class In, class Out, class Sum>(Dtype made, auto read) {
    return run_groups<In, Out, Sum>(aggregate, column, read_groups, groups, missing, accesses, made,
                                    read);
  });
}

}  // namespace hr
