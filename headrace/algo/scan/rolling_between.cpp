// SPDX-License-Identifier: Apache-2.0
// Windows with bounds of their own: folded backwards up to a border, and forwards since.
#include "headrace/algo/scan/rolling.h"
#include "headrace/algo/scan/window_math.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

namespace hr {

namespace {

constexpr int64_t kWindowsPerTask = 8;  // of wide windows, which each task folds once more

// The values of two columns where both have one.
struct PairValues {
  using Value = PairOf<true>::Value;
  Values<double> x, y;

  bool has(int64_t row) const { return x.has(row) && y.has(row); }
  PairOf<true>::Value operator[](int64_t row) const { return {x[row], y[row]}; }
};

// Windows of rows of one task: `at(begin, end)` tells how many values the window has, `get()`
// their result.
template <class Source, class Fold>
class Folded {
 public:
  Folded(const Source& source, int64_t widest, const RollingOptions& options)
      : source_(source),
        ddof_(options.ddof),
        ends_(Buffer::allocate((widest + 1) * static_cast<int64_t>(sizeof(Some)))),
        back_(ends_.mutable_as<Some>()) {}

  int64_t at(int64_t begin, int64_t end) {
    if (begin >= border_) {
      Some some;
      for (int64_t row = end; row > begin;) {
        add(some, --row);
        back_[row - begin] = some;
      }
      base_ = begin;
      border_ = high_ = end;
      since_ = {};
    }
    for (; high_ < end; ++high_) add(since_, high_);
    whole_ = since_;
    if (begin < border_) {
      const Some& ends = back_[begin - base_];
      whole_ = {Fold::join(ends.fold, since_.fold), ends.count + since_.count};
    }
    return whole_.count;
  }

  auto get() const { return whole_.fold.result(whole_.count, ddof_); }

 private:
  struct Some {
    Fold fold{};
    int64_t count = 0;
  };

  void add(Some& some, int64_t row) const {
    if (!source_.has(row)) return;
    ++some.count;
    if constexpr (requires { source_[row].x; })
      some.fold.append({source_[row].x, source_[row].y});
    else
      some.fold.append(static_cast<typename Fold::Value>(source_[row]));
  }

  const Source& source_;
  const int64_t ddof_;
  Buffer ends_;
  Some* const back_;  // of each row from base_ to the border: the fold of it and those behind it
  Some since_{}, whole_{};
  int64_t base_ = 0, border_ = 0, high_ = 0;
};

// The values of a window in order, and what `Statistic` makes of them and of the last one.
template <class In, class Statistic>
class Sorted {
 public:
  Sorted(const Values<In>& values, int64_t widest, const Statistic& statistic)
      : values_(values), statistic_(statistic), window_(widest) {}

  int64_t at(int64_t begin, int64_t end) {
    for (const int64_t gone = std::min(begin, high_); low_ < gone; ++low_)
      if (values_.has(low_)) window_.remove(values_[low_]);
    if (begin > high_) low_ = high_ = begin;
    for (; high_ < end; ++high_)
      if (values_.has(high_)) window_.add(values_[high_]);
    last_ = end - 1;
    return Statistic::of_last && (end == begin || !values_.has(last_)) ? -1 : window_.count();
  }

  auto get() const {
    return statistic_(window_, Statistic::of_last ? static_cast<double>(values_[last_]) : 0.0);
  }

 private:
  const Values<In>& values_;
  const Statistic& statistic_;
  SortedWindow<In> window_;
  int64_t low_ = 0, high_ = 0, last_ = 0;
};

struct QuantileOf {
  static constexpr bool of_last = false;
  double q;
  Interpolation interpolation;

  template <class Window>
  double operator()(const Window& window, double) const {
    return window.count() > 0 ? window.quantile(q, interpolation) : 0;
  }
};

struct DistinctOf {
  static constexpr bool of_last = false;

  template <class Window>
  int64_t operator()(const Window& window, double) const {
    return window.distinct();
  }
};

struct RankOf {
  static constexpr bool of_last = true;
  WindowRank ties;
  bool descending, as_share;

  template <class Window>
  double operator()(const Window& window, double value) const {
    const int64_t count = window.count();
    int64_t first = window.below(value) + 1, last = window.up_to(value);
    if (descending) first = count + 1 - std::exchange(last, count + 1 - first);
    const double place = ties == WindowRank::kMin   ? static_cast<double>(first)
                         : ties == WindowRank::kMax ? static_cast<double>(last)
                                                    : static_cast<double>(first + last) / 2;
    return as_share ? place / static_cast<double>(count) : place;
  }
};

// The first or the last value of a window.
template <class In, bool kLast>
class Edge {
 public:
  explicit Edge(const Values<In>& values) : values_(values) {}

  int64_t at(int64_t begin, int64_t end) {
    if (begin > high_) {
      count_ = 0;
      low_ = high_ = begin;
    }
    for (; high_ < end; ++high_) {
      if (!values_.has(high_)) continue;
      last_ = high_;
      ++count_;
    }
    for (; low_ < begin; ++low_) count_ -= values_.has(low_);
    first_ = std::max(first_, begin);
    while (first_ < high_ && !values_.has(first_)) ++first_;
    return count_;
  }

  In get() const { return values_[kLast ? last_ : first_]; }

 private:
  const Values<In>& values_;
  int64_t low_ = 0, high_ = 0, first_ = 0, last_ = 0, count_ = 0;
};

// A column of what `walk` makes of each window; `make()` gives the walk of one task.
template <class Out, class F>
Column walk_windows(const std::vector<BufferAccess>& inputs, Dtype dtype, int64_t needed,
                    const WindowBounds& bounds, F&& make) {
  const int64_t rows = bounds.rows;
  Buffer buffer = Buffer::allocate_spillable(rows * static_cast<int64_t>(sizeof(Out)));
  if (rows == 0) return Column(dtype, 0, std::move(buffer));
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
  auto* const out = buffer.mutable_as<Out>();
  auto* const valid = validity.mutable_as<uint8_t>();
  const auto* const begins = bounds.begins.as<int64_t>();
  const auto* const ends = bounds.ends.as<int64_t>();
  const int64_t task_rows = bounds.widest <= morsel_rows()
                                ? morsel_rows()
                                : round_up(kWindowsPerTask * bounds.widest, morsel_rows());
  std::vector<BufferAccess> accesses = inputs;
  // Rows of wider windows are read without a pin.
  for (BufferAccess& access : accesses)
    access.before = access.after = std::min(bounds.widest, morsel_rows());
  accesses.push_back(writes(buffer, static_cast<int64_t>(sizeof(Out))));
  parallel_for((rows + task_rows - 1) / task_rows, [&](int64_t task) {
    auto walk = make();
    const int64_t last = std::min(rows, (task + 1) * task_rows);
    for (int64_t first = task * task_rows; first < last; first += morsel_rows()) {
      const int64_t stop = std::min(last, first + morsel_rows());
      const Pin pin(ranges_of(accesses, first, stop));
      for (int64_t row = first; row < stop; ++row) {
        const bool enough = walk.at(begins[row], ends[row]) >= needed;
        out[row] = enough ? static_cast<Out>(walk.get()) : Out{};
        valid[row / 8] = static_cast<uint8_t>(valid[row / 8] | uint8_t{enough} << row % 8);
      }
    }
  });
  return Column(dtype, rows, std::move(buffer), std::move(validity), -1);
}

template <class Out, class Statistic>
Column walk_sorted(const Column& column, int64_t needed, const WindowBounds& bounds,
                   const Statistic& statistic) {
  return visit_real(column.dtype(), [&]<class In>(std::type_identity<In>) {
    const Values<In> values(column);
    return walk_windows<Out>({reads(column)}, dtype_of<Out>(), needed, bounds, [&] {
      return Sorted<In, Statistic>(values, bounds.widest, statistic);
    });
  });
}

template <bool kLast>
Column walk_edges(const Column& column, int64_t needed, const WindowBounds& bounds) {
  const auto walked = [&]<class In>(std::type_identity<In>) {
    const Values<In> values(column);
    return walk_windows<In>({reads(column)}, column.dtype(), needed, bounds,
                            [&] { return Edge<In, kLast>(values); });
  };
  if (column.dtype().is_decimal()) return walked(std::type_identity<Int128>());
  return visit_real(column.dtype(), walked);
}

}  // namespace

Column rolling_between(const Column& column, Aggregate aggregate, const RollingOptions& options,
                       const WindowBounds& bounds) {
  const Dtype dtype = aggregate_dtype(aggregate, column.dtype(), AggregateForm::kRolling);
  const int64_t needed =
      std::max(options.min_periods, aggregate_row(aggregate).fewest_values(0, options.ddof));
  switch (aggregate) {
    case Aggregate::kMedian:
      return walk_sorted<double>(column, needed, bounds, QuantileOf{0.5, Interpolation::kLinear});
    case Aggregate::kQuantile:
      return walk_sorted<double>(column, needed, bounds,
                                 QuantileOf{options.quantile, options.interpolation});
    case Aggregate::kNunique:
      return walk_sorted<int64_t>(column, needed, bounds, DistinctOf{});
    case Aggregate::kFirst:
      return walk_edges<false>(column, needed, bounds);
    case Aggregate::kLast:
      return walk_edges<true>(column, needed, bounds);
    default:
      return visit_fold(column.dtype(), aggregate, [&]<class In, class Out, class Fold>() {
        const Values<In> values(column);
        return walk_windows<Out>({reads(column)}, dtype, needed, bounds, [&] {
          return Folded<Values<In>, Fold>(values, bounds.widest, options);
        });
      });
  }
}

Column rolling_pairs(const Column& x, const Column& y, bool correlation,
                     const RollingOptions& options, const WindowBounds& bounds) {
  const PairValues values{Values<double>(x), Values<double>(y)};
  const auto walked = [&]<class Fold>(Fold*) {
    const int64_t fewest = std::is_same_v<Fold, PairOf<true>> ? 2 : options.ddof + 1;
    return walk_windows<double>(
        {reads(x), reads(y)}, TypeId::kFloat64, std::max(options.min_periods, fewest), bounds,
        [&] { return Folded<PairValues, Fold>(values, bounds.widest, options); });
  };
  return correlation ? walked(static_cast<PairOf<true>*>(nullptr))
                     : walked(static_cast<PairOf<false>*>(nullptr));
}

Column rolling_rank(const Column& column, WindowRank ties, bool descending, bool as_share,
                    const RollingOptions& options, const WindowBounds& bounds) {
  return walk_sorted<double>(column, std::max<int64_t>(1, options.min_periods), bounds,
                             RankOf{ties, descending, as_share});
}

}  // namespace hr
