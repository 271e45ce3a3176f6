// SPDX-License-Identifier: Apache-2.0
// What is known of the values of a window while it is folded, and all of them in order.
#pragma once
#include "headrace/algo/aggregate/aggregate.h"
#include "headrace/algo/aggregate/moments.h"
#include "headrace/algo/math/decimal_math.h"
#include "headrace/algo/reduce/quantile_math.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/column.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace hr {

// What a fold knows of some values. `result` gets how many they were.
template <class Sum>
struct SumOf {
  using Value = Sum;
  Sum sum{};

  void append(Sum value) {
    if constexpr (std::is_floating_point_v<Sum>)
      sum += value;
    else
      sum = static_cast<Sum>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(value));
  }

  static SumOf join(SumOf a, SumOf b) {
    a.append(b.sum);
    return a;
  }

  Sum result(int64_t, int64_t) const { return sum; }
};

struct DecimalSumOf {
  using Value = DecimalSum;
  DecimalSum sum{};

  void append(const DecimalSum& value) { sum += value; }

  static DecimalSumOf join(DecimalSumOf a, const DecimalSumOf& b) {
    a.append(b.sum);
    return a;
  }

  Int128 result(int64_t, int64_t) const {
    Int128 result;
    if (sum.get(&result)) return result;
    throw_error<InvalidArgumentError>("rolling", "the sum of a window has more than 38 digits", {},
                                      "use astype('float64') first");
  }
};

struct MeanOf : SumOf<double> {
  static MeanOf join(MeanOf a, MeanOf b) { return {{a.sum + b.sum}}; }

  double result(int64_t count, int64_t) const { return sum / static_cast<double>(count); }
};

// Worse than all values.
template <class T, bool kGreatest>
constexpr T no_extreme() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, Int128>)
    return (kGreatest ? -1 : 1) * power_of_ten(kMostDigits);
  else if constexpr (Limits::has_infinity)
    return kGreatest ? -Limits::infinity() : Limits::infinity();
  else
    return kGreatest ? Limits::lowest() : Limits::max();
}

template <class T, bool kGreatest>
struct ExtremeOf {
  using Value = T;
  T best = no_extreme<T, kGreatest>();

  void append(T value) { best = (kGreatest ? value > best : value < best) ? value : best; }

  static ExtremeOf join(ExtremeOf a, ExtremeOf b) {
    a.append(b.best);
    return a;
  }

  T result(int64_t, int64_t) const { return best; }
};

// Welford's update, and Chan's for two sets.
template <bool kRoot>
struct VarianceOf {
  using Value = double;
  double count = 0, mean = 0, squares = 0;

  void append(double value) {
    count += 1;
    const double change = value - mean;
    mean += change / count;
    squares += change * (value - mean);
  }

  static VarianceOf join(const VarianceOf& a, const VarianceOf& b) {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const double count = a.count + b.count, change = b.mean - a.mean;
    return {count, a.mean + change * (b.count / count),
            a.squares + b.squares + change * change * (a.count * b.count / count)};
  }

  double result(int64_t, int64_t ddof) const {
    const double variance = squares / (count - static_cast<double>(ddof));
    return kRoot ? std::sqrt(variance) : variance;
  }
};

struct SemOf : VarianceOf<true> {
  static SemOf join(const SemOf& a, const SemOf& b) { return {VarianceOf::join(a, b)}; }

  double result(int64_t, int64_t ddof) const {
    return VarianceOf::result(0, ddof) / std::sqrt(count);
  }
};

// Of two columns: sums of products of deviations, joined as those of VarianceOf.
template <bool kCorrelation>
struct PairOf {
  struct Value {
    double x, y;
  };
  double count = 0, mean_x = 0, mean_y = 0, squares_x = 0, squares_y = 0, products = 0;

  void append(Value value) {
    count += 1;
    const double x = value.x - mean_x, y = value.y - mean_y;
    mean_x += x / count;
    mean_y += y / count;
    squares_x += x * (value.x - mean_x);
    squares_y += y * (value.y - mean_y);
    products += x * (value.y - mean_y);
  }

  static PairOf join(const PairOf& a, const PairOf& b) {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const double count = a.count + b.count, share = a.count * b.count / count;
    const double x = b.mean_x - a.mean_x, y = b.mean_y - a.mean_y;
    return {count,
            a.mean_x + x * (b.count / count),
            a.mean_y + y * (b.count / count),
            a.squares_x + b.squares_x + x * x * share,
            a.squares_y + b.squares_y + y * y * share,
            a.products + b.products + x * y * share};
  }

  double result(int64_t, int64_t ddof) const {
    if constexpr (kCorrelation) return products / std::sqrt(squares_x * squares_y);
    return products / (count - static_cast<double>(ddof));
  }
};

template <double (Moments::*kStatistic)() const>
struct ShapeOf {
  using Value = double;
  Moments moments{};

  void append(double value) { moments = Moments::join(moments, {1, value}); }

  static ShapeOf join(const ShapeOf& a, const ShapeOf& b) {
    return {Moments::join(a.moments, b.moments)};
  }

  double result(int64_t, int64_t) const { return (moments.*kStatistic)(); }
};

// The values of a column, and which count: neither null nor NaN.
template <class In>
struct Values {
  using Value = In;
  const Column& column;
  const In* values;
  const uint8_t* valid;

  explicit Values(const Column& from)
      : column(from), values(from.values<In>().data()), valid(from.validity()) {}

  bool has(int64_t row) const {
    if (valid && !get_bit(valid, column.offset() + row)) return false;
    if constexpr (std::is_floating_point_v<In>) return values[row] == values[row];
    return true;
  }

  In operator[](int64_t row) const { return values[row]; }

  bool all_there(int64_t begin, int64_t end) const {
    if (valid && count_bits(valid, column.offset() + begin, end - begin) < end - begin)
      return false;
    if constexpr (std::is_floating_point_v<In>) {
      bool nan = false;
      for (int64_t row = begin; row < end; ++row) nan |= values[row] != values[row];
      return !nan;
    }
    return true;
  }
};

// The values of a window in order.
template <class In>
class SortedWindow {
 public:
  explicit SortedWindow(int64_t window) : buffer_(Buffer::allocate(8 * (window + 1))) {
    values_ = buffer_.mutable_as<double>();
  }

  void add(In value) {
    const auto number = static_cast<double>(value);
    double* const at = std::lower_bound(values_, values_ + count_, number);
    distinct_ += at == values_ + count_ || *at != number;
    std::memmove(at + 1, at, static_cast<size_t>(values_ + count_ - at) * sizeof *at);
    *at = number;
    ++count_;
  }

  void remove(In value) {
    double* const at = std::lower_bound(values_, values_ + count_, static_cast<double>(value));
    --count_;
    std::memmove(at, at + 1, static_cast<size_t>(values_ + count_ - at) * sizeof *at);
    distinct_ -= at == values_ + count_ || *at != static_cast<double>(value);
  }

  int64_t count() const { return count_; }
  int64_t distinct() const { return distinct_; }

  double median() const {
    const double above = values_[count_ / 2];
    return count_ % 2 ? above : interpolate(values_[count_ / 2 - 1], above, 0.5);
  }

  double quantile(double q, Interpolation interpolation) const {
    const auto [below, above, part] = quantile_place(count_, q, interpolation);
    return part == 1 ? values_[above] : interpolate(values_[below], values_[above], part);
  }

  /// Values less than `value`, and those that are not greater.
  int64_t below(double value) const {
    return std::lower_bound(values_, values_ + count_, value) - values_;
  }
  int64_t up_to(double value) const {
    return std::upper_bound(values_, values_ + count_, value) - values_;
  }

 private:
  Buffer buffer_;
  double* values_;
  int64_t count_ = 0;
  int64_t distinct_ = 0;
};

// Aggregates that do not fold: `rolling_between` follows the windows for each.
inline bool needs_bounds(Aggregate aggregate) {
  return aggregate == Aggregate::kQuantile || aggregate == Aggregate::kFirst ||
         aggregate == Aggregate::kLast || aggregate == Aggregate::kNunique;
}

// Calls `use` with the types of values, results and the fold of an aggregate.
template <class F>
Column visit_fold(Dtype dtype, Aggregate aggregate, F&& use) {
  if (dtype.is_decimal()) {
    if (aggregate == Aggregate::kSum)
      return use.template operator()<Int128, Int128, DecimalSumOf>();
    if (aggregate == Aggregate::kMin)
      return use.template operator()<Int128, Int128, ExtremeOf<Int128, false>>();
    return use.template operator()<Int128, Int128, ExtremeOf<Int128, true>>();
  }
  return visit_real(dtype, [&]<class In>(std::type_identity<In>) {
    using Sum = std::conditional_t<std::is_floating_point_v<In>, double,
                                   std::conditional_t<std::is_signed_v<In>, int64_t, uint64_t>>;
    using Total = std::conditional_t<std::is_same_v<In, float>, float, Sum>;
    using Floating = std::conditional_t<std::is_same_v<In, float>, float, double>;
    switch (aggregate) {
      case Aggregate::kSum:
        return use.template operator()<In, Total, SumOf<Sum>>();
      case Aggregate::kMin:
        return use.template operator()<In, In, ExtremeOf<In, false>>();
      case Aggregate::kMax:
        return use.template operator()<In, In, ExtremeOf<In, true>>();
      case Aggregate::kVariance:
        return use.template operator()<In, Floating, VarianceOf<false>>();
      case Aggregate::kStd:
        return use.template operator()<In, Floating, VarianceOf<true>>();
      case Aggregate::kSem:
        return use.template operator()<In, Floating, SemOf>();
      case Aggregate::kSkew:
        return use.template operator()<In, Floating, ShapeOf<&Moments::skewness>>();
      case Aggregate::kKurtosis:
        return use.template operator()<In, Floating, ShapeOf<&Moments::kurtosis>>();
      default:
        return use.template operator()<In, Floating, MeanOf>();
    }
  });
}

}  // namespace hr
