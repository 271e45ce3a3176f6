// SPDX-License-Identifier: Apache-2.0
// Accumulators: what groups keep of their rows while they are read.
#include "headrace/algo/aggregate/accumulators.h"

#include "headrace/algo/aggregate/grouped_sum.h"
#include "headrace/base/bits.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace hr {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool keeps_row(Accumulator accumulator) {
  return accumulator == Accumulator::kFirst || accumulator == Accumulator::kLast;
}

bool is_argument(Accumulator accumulator) {
  return accumulator == Accumulator::kArgmin || accumulator == Accumulator::kArgmax;
}

bool is_least(Accumulator accumulator) {
  return accumulator == Accumulator::kMin || accumulator == Accumulator::kArgmin;
}

bool is_top(Accumulator accumulator) {
  return accumulator == Accumulator::kLargest || accumulator == Accumulator::kSmallest;
}

// Numbers that a slot has of a fold.
int64_t width_of(Accumulator accumulator, int64_t top) {
  if (accumulator == Accumulator::kSquares || accumulator == Accumulator::kOtherSquares) return 2;
  return is_top(accumulator) ? top : 1;
}

// Beside the squares what a rounded mean leaves: the sum of the deviations.
void add_square(double apart, double* sums) {
  sums[0] += apart * apart;
  sums[1] += apart;
}

// Calls f with the type of the lane.
template <class F>
decltype(auto) visit_class(ValueClass value_class, F&& f) {
  if (value_class == ValueClass::kFloating) return f(std::type_identity<double>{});
  if (value_class == ValueClass::kUnsigned) return f(std::type_identity<uint64_t>{});
  return f(std::type_identity<int64_t>{});
}

template <class T>
T first_state(Accumulator accumulator) {
  using Limits = std::numeric_limits<T>;
  if (accumulator == Accumulator::kProduct) return T{1};
  if (accumulator == Accumulator::kMin || accumulator == Accumulator::kArgmin ||
      accumulator == Accumulator::kSmallest)
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  if (accumulator == Accumulator::kMax || accumulator == Accumulator::kArgmax ||
      accumulator == Accumulator::kLargest)
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  return T{0};
}

// Integer sums and products wrap, as NumPy's.
template <class T>
T plus(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

template <class T>
T times(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

template <class T>
void accumulate_argument(bool least, const AccumulatorRows& r, const T* x, T* state, int64_t* at) {
  for (int64_t i = 0; i < r.count; ++i) {
    const uint32_t slot = r.slots[i];
    if (at[slot] >= 0 && !(least ? x[i] < state[slot] : state[slot] < x[i])) continue;
    state[slot] = x[i];
    at[slot] = r.rows[i];
  }
}

// Puts a value to its place among the best so far.
template <class T>
void insert_top(bool least, int64_t top, T value, T* best) {
  const auto beats = [&](T other) { return least ? value < other : other < value; };
  if (!beats(best[top - 1])) return;
  int64_t at = top - 1;
  for (; at > 0 && beats(best[at - 1]); --at) best[at] = best[at - 1];
  best[at] = value;
}

// Rows that are all there.
template <class T>
void accumulate_present(const AccumulatorInput& input, bool second, const AccumulatorRows& r,
                        AccumulatorStates& states) {
  const T* x = static_cast<const T*>(r.values);
  const uint32_t* slots = r.slots;
  for (size_t k = 0; k < input.accumulators.size(); ++k) {
    const Accumulator accumulator = input.accumulators[k];
    if (is_second(accumulator) != second) continue;
    T* state = states.values[k].mutable_as<T>();
    double* number = states.values[k].mutable_as<double>();
    int64_t* row = states.values[k].mutable_as<int64_t>();
    const double* mean = states.means ? states.means.as<double>() : nullptr;
    const double* other = states.other_means ? states.other_means.as<double>() : nullptr;
    switch (accumulator) {
      case Accumulator::kSum:
        for (int64_t i = 0; i < r.count; ++i) state[slots[i]] = plus(state[slots[i]], x[i]);
        break;
      case Accumulator::kProduct:
        for (int64_t i = 0; i < r.count; ++i) state[slots[i]] = times(state[slots[i]], x[i]);
        break;
      case Accumulator::kMin:
        for (int64_t i = 0; i < r.count; ++i)
          state[slots[i]] = x[i] < state[slots[i]] ? x[i] : state[slots[i]];
        break;
      case Accumulator::kMax:
        for (int64_t i = 0; i < r.count; ++i)
          state[slots[i]] = state[slots[i]] < x[i] ? x[i] : state[slots[i]];
        break;
      case Accumulator::kNonZero:
        for (int64_t i = 0; i < r.count; ++i) row[slots[i]] += x[i] != T{0};
        break;
      case Accumulator::kFirst:
        for (int64_t i = 0; i < r.count; ++i)
          row[slots[i]] = row[slots[i]] < 0 ? r.rows[i] : row[slots[i]];
        break;
      case Accumulator::kLast:
        for (int64_t i = 0; i < r.count; ++i) row[slots[i]] = r.rows[i];
        break;
      case Accumulator::kArgmin:
      case Accumulator::kArgmax:
        accumulate_argument(is_least(accumulator), r, x, state,
                            states.rows[k].mutable_as<int64_t>());
        break;
      case Accumulator::kLargest:
      case Accumulator::kSmallest:
        for (int64_t i = 0; i < r.count; ++i)
          insert_top(accumulator == Accumulator::kSmallest, input.top, x[i],
                     state + slots[i] * input.top);
        break;
      case Accumulator::kSquares:
        for (int64_t i = 0; i < r.count; ++i)
          add_square(static_cast<double>(x[i]) - mean[slots[i]], number + 2 * int64_t{slots[i]});
        break;
      case Accumulator::kCubes:
      case Accumulator::kFourths:
        for (int64_t i = 0; i < r.count; ++i) {
          const double apart = static_cast<double>(x[i]) - mean[slots[i]];
          number[slots[i]] +=
              apart * apart * (accumulator == Accumulator::kCubes ? apart : apart * apart);
        }
        break;
      case Accumulator::kOtherSum:
        for (int64_t i = 0; i < r.count; ++i) number[slots[i]] += r.other[i];
        break;
      case Accumulator::kOtherSquares:
        for (int64_t i = 0; i < r.count; ++i)
          add_square(r.other[i] - other[slots[i]], number + 2 * int64_t{slots[i]});
        break;
      case Accumulator::kCross:
        for (int64_t i = 0; i < r.count; ++i)
          number[slots[i]] +=
              (static_cast<double>(x[i]) - mean[slots[i]]) * (r.other[i] - other[slots[i]]);
        break;
    }
  }
}

// Which rows have no value: bytes, and whether there are any.
bool find_missing(const AccumulatorInput& input, const AccumulatorRows& r, uint8_t* present) {
  if (input.value_class == ValueClass::kFloating) {
    const auto* x = static_cast<const double*>(r.values);
    if (all_finite(x, r.count) && (!input.has_other || all_finite(r.other, r.count))) return false;
    uint8_t any = 0;
    for (int64_t i = 0; i < r.count; ++i) {
      present[i] = x[i] == x[i];
      any |= !present[i];
    }
    if (input.has_other)
      for (int64_t i = 0; i < r.count; ++i) {
        present[i] &= r.other[i] == r.other[i];
        any |= !present[i];
      }
    return any;
  }
  if (!r.valid) return false;
  std::memcpy(present, r.valid, static_cast<size_t>(r.count));
  return std::memchr(present, 0, static_cast<size_t>(r.count)) != nullptr;
}

}  // namespace

bool AccumulatorInput::can_miss() const {
  const auto some = [](const Column& column) {
    return column.dtype().is_floating() || column.null_count() > 0;
  };
  return computed || some(values) || (has_other && some(other));
}

bool AccumulatorInput::needs_rows() const {
  return std::any_of(accumulators.begin(), accumulators.end(), [](Accumulator accumulator) {
    return keeps_row(accumulator) || is_argument(accumulator);
  });
}

bool AccumulatorInput::needs_second() const {
  return std::any_of(accumulators.begin(), accumulators.end(), is_second);
}

ValueClass value_class_of(Dtype dtype) {
  if (dtype.is_floating()) return ValueClass::kFloating;
  if (dtype.is_unsigned()) return ValueClass::kUnsigned;
  if (dtype.is_bool() || dtype.storage().is_signed()) return ValueClass::kSigned;
  return ValueClass::kNothing;
}

const void* read_values(const Column& column, ValueClass value_class, int64_t row, int64_t count,
                        void* space) {
  if (column.dtype().is_bool()) {
    const auto put = [&](auto* out) {
      for (int64_t i = 0; i < count; ++i)
        out[i] = get_bit(column.bits(), column.offset() + row + i);
    };
    if (value_class == ValueClass::kFloating)
      put(static_cast<double*>(space));
    else
      put(static_cast<int64_t*>(space));
  } else {
    const bool as_it_is =
        value_class_of(column.dtype()) == value_class && column.dtype().size_bytes() == 8;
    const bool nulls_as_nan = value_class == ValueClass::kFloating && column.null_count() > 0;
    if (as_it_is && !nulls_as_nan)
      return column.values_buffer().data() + 8 * (column.offset() + row);
    visit_real(column.dtype().storage(), [&]<class T>(std::type_identity<T>) {
      const T* in = column.values_buffer().as<T>() + column.offset() + row;
      visit_class(value_class, [&]<class Out>(std::type_identity<Out>) {
        auto* out = static_cast<Out*>(space);
        for (int64_t i = 0; i < count; ++i) out[i] = static_cast<Out>(in[i]);
      });
    });
  }
  if (value_class == ValueClass::kFloating && column.null_count() > 0) {
    uint8_t valid[kBlockRows];
    read_valid(column, row, count, valid);
    auto* out = static_cast<double*>(space);
    for (int64_t i = 0; i < count; ++i)
      if (!valid[i]) out[i] = kNan;
  }
  return space;
}

void read_valid(const Column& column, int64_t row, int64_t count, uint8_t* valid) {
  const uint8_t* bits = column.validity();
  for (int64_t at = 0; at < count; at += 64) {
    const int64_t some = std::min<int64_t>(64, count - at);
    const uint64_t word = bits ? load_bits(bits, column.offset() + row + at, some) : ~uint64_t{0};
    for (int64_t i = 0; i < some; ++i) valid[at + i] = (word >> i) & 1;
  }
}

uint64_t start_word(Accumulator accumulator, ValueClass value_class) {
  if (keeps_row(accumulator)) return static_cast<uint64_t>(int64_t{-1});
  return visit_class(value_class, [&]<class T>(std::type_identity<T>) {
    return std::bit_cast<uint64_t>(first_state<T>(accumulator));
  });
}

void start_accumulators(const AccumulatorInput& input, int64_t slots, bool second,
                        AccumulatorStates& states) {
  states.values.resize(input.accumulators.size());
  states.rows.resize(input.accumulators.size());
  for (size_t k = 0; k < input.accumulators.size(); ++k) {
    const Accumulator accumulator = input.accumulators[k];
    if (is_second(accumulator) != second) continue;
    const int64_t items = slots * width_of(accumulator, input.top);
    states.values[k] = Buffer::allocate(8 * items);
    if (slots == 0) continue;
    std::fill_n(states.values[k].mutable_as<uint64_t>(), items,
                start_word(accumulator, input.value_class));
    if (is_argument(accumulator)) {
      states.rows[k] = Buffer::allocate(8 * slots);
      std::fill_n(states.rows[k].mutable_as<int64_t>(), slots, int64_t{-1});
    }
  }
}

void accumulate_rows(const AccumulatorInput& input, int64_t num_slots, bool second,
                     const AccumulatorRows& all, AccumulatorStates& states) {
  AccumulatorRows rows = all;
  int64_t numbers[kBlockRows];
  uint64_t values[kBlockRows];
  double other[kBlockRows];
  uint32_t slots[kBlockRows];
  uint8_t present[kBlockRows];
  if (!rows.rows && input.needs_rows()) {
    for (int64_t i = 0; i < rows.count; ++i) numbers[i] = rows.first_row + i;
    rows.rows = numbers;
  }
  if (input.can_miss() && find_missing(input, rows, present)) {
    if (!second && !states.missing) states.missing = Buffer::allocate_zeroed(4 * num_slots);
    auto* missing = second ? nullptr : states.missing.mutable_as<uint32_t>();
    const auto* from = static_cast<const uint64_t*>(rows.values);
    int64_t kept = 0;
    for (int64_t i = 0; i < rows.count; ++i) {
      if (!present[i]) {
        if (missing) ++missing[rows.slots[i]];
        continue;
      }
      slots[kept] = rows.slots[i];
      if (from) values[kept] = from[i];
      if (rows.other) other[kept] = rows.other[i];
      if (rows.rows) numbers[kept] = rows.rows[i];
      ++kept;
    }
    rows.slots = slots;
    if (from) rows.values = values;
    if (rows.other) rows.other = other;
    if (rows.rows) rows.rows = numbers;
    rows.count = kept;
  }
  if (!input.accumulators.empty())
    visit_class(input.value_class, [&]<class T>(std::type_identity<T>) {
      accumulate_present<T>(input, second, rows, states);
    });
}

void merge_accumulators(const AccumulatorInput& input, bool second, int64_t begin, int64_t end,
                        AccumulatorStates& left, const AccumulatorStates& right) {
  for (size_t k = 0; k < input.accumulators.size(); ++k) {
    const Accumulator accumulator = input.accumulators[k];
    if (is_second(accumulator) != second) continue;
    const int64_t width = width_of(accumulator, input.top);
    const auto merge = [&](auto* a, const auto* b, auto&& one) {
      for (int64_t i = width * begin; i < width * end; ++i) a[i] = one(a[i], b[i]);
    };
    if (accumulator == Accumulator::kFirst || accumulator == Accumulator::kLast ||
        accumulator == Accumulator::kNonZero) {
      merge(left.values[k].mutable_as<int64_t>(), right.values[k].as<int64_t>(),
            [&](int64_t a, int64_t b) {
              if (accumulator == Accumulator::kNonZero) return a + b;
              return accumulator == Accumulator::kFirst ? (a < 0 ? b : a) : (b < 0 ? a : b);
            });
      continue;
    }
    if (second || accumulator == Accumulator::kOtherSum) {
      merge(left.values[k].mutable_as<double>(), right.values[k].as<double>(), plus<double>);
      continue;
    }
    visit_class(input.value_class, [&]<class T>(std::type_identity<T>) {
      T* a = left.values[k].mutable_as<T>();
      const T* b = right.values[k].as<T>();
      if (accumulator == Accumulator::kSum) return merge(a, b, plus<T>);
      if (is_top(accumulator)) {
        for (int64_t slot = begin; slot < end; ++slot)
          for (int64_t i = slot * input.top; i < (slot + 1) * input.top; ++i)
            insert_top(accumulator == Accumulator::kSmallest, input.top, b[i],
                       a + slot * input.top);
        return;
      }
      if (accumulator == Accumulator::kProduct) return merge(a, b, times<T>);
      if (!is_argument(accumulator))
        return merge(a, b,
                     [&](T x, T y) { return (is_least(accumulator) ? y < x : x < y) ? y : x; });
      int64_t* at = left.rows[k].mutable_as<int64_t>();
      const int64_t* from = right.rows[k].as<int64_t>();
      for (int64_t slot = begin; slot < end; ++slot) {
        const bool better = is_least(accumulator) ? b[slot] < a[slot] : a[slot] < b[slot];
        if (from[slot] < 0 || (at[slot] >= 0 && !better)) continue;
        a[slot] = b[slot];
        at[slot] = from[slot];
      }
    });
  }
  if (!second && right.missing) {
    auto* a = left.missing.mutable_as<uint32_t>();
    const auto* b = right.missing.as<uint32_t>();
    for (int64_t slot = begin; slot < end; ++slot) a[slot] += b[slot];
  }
}

void make_means(const AccumulatorInput& input, int64_t slots, const uint32_t* sizes,
                AccumulatorStates& states) {
  if (slots == 0) return;
  const auto divide = [&](size_t k) {
    Buffer means = Buffer::allocate(8 * slots);
    auto* out = means.mutable_as<double>();
    const auto* missing = states.missing ? states.missing.as<uint32_t>() : nullptr;
    const bool own = input.accumulators[k] == Accumulator::kSum;
    visit_class(
        own ? input.value_class : ValueClass::kFloating, [&]<class T>(std::type_identity<T>) {
          const T* sums = states.values[k].as<T>();
          for (int64_t slot = 0; slot < slots; ++slot) {
            const int64_t count = int64_t{sizes[slot]} - (missing ? missing[slot] : 0);
            out[slot] =
                count == 0 ? kNan : static_cast<double>(sums[slot]) / static_cast<double>(count);
          }
        });
    return means;
  };
  for (size_t k = 0; k < input.accumulators.size(); ++k) {
    if (input.accumulators[k] == Accumulator::kSum) states.means = divide(k);
    if (input.accumulators[k] == Accumulator::kOtherSum) states.other_means = divide(k);
  }
}

}  // namespace hr
