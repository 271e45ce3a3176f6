// SPDX-License-Identifier: Apache-2.0
// Windows of rows as the end of one block and the beginning of the next.
#include "headrace/algo/scan/rolling.h"

#include "headrace/algo/scan/window_math.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

namespace hr {

namespace {

constexpr int64_t kWindowsPerTask = 8;  // of long windows: folded again for an eighth of them

// Bits [begin, end) of a bitmap that only this task writes to.
void set_bits(uint8_t* bits, int64_t begin, int64_t end) {
  for (; begin < end && begin % 8 != 0; ++begin) set_bit(bits, begin, true);
  if (end - begin >= 8) {
    std::memset(bits + begin / 8, 0xFF, static_cast<size_t>((end - begin) / 8));
    begin += (end - begin) / 8 * 8;
  }
  for (; begin < end; ++begin) set_bit(bits, begin, true);
}

struct Span {
  int64_t window, ahead, needed, ddof;  // `ahead`: rows of the window behind the row itself

  // Rows of the window whose last row would be `last`, in a segment.
  int64_t rows(int64_t last, int64_t segment, int64_t end) const {
    return std::min(last, end - 1) - std::max(last - window + 1, segment) + 1;
  }
};

// The rows of one task.
template <class In, class Out, class Fold>
class Roller {
 public:
  Roller(const Values<In>& values, Span span, Buffer& out, Buffer& validity, bool pins)
      : values_(values),
        span_(span),
        buffer_(out),
        out_(out.mutable_as<Out>()),
        valid_(validity.mutable_as<uint8_t>()),
        pins_(pins) {}

  // Rows [begin, end) of a segment whose last row is before `segment_end`, as far as that matters.
  template <bool kMissing>
  void piece(int64_t segment, int64_t segment_end, int64_t begin, int64_t end) {
    const int64_t window = span_.window;
    const int64_t first = begin + span_.ahead, last = end + span_.ahead;
    for (int64_t block = segment + (first - segment) / window * window; block < last;
         block += window) {
      const int64_t from = std::max(first, block), to = std::min(last, block + window);
      const bool two = block > segment;
      if (two) fold_back<kMissing>(block, from + 1 - block, segment_end);
      Some<kMissing> some;
      for (int64_t row = block; row < std::min(from, segment_end); ++row) add(some, row);
      for (int64_t at = from; at < to;) {
        const int64_t stop = pins_ ? std::min(to, at + morsel_rows()) : to;
        const std::optional<Pin> pin = pins_ ? pin_of(at, stop, segment_end) : std::nullopt;
        const int64_t there = std::min(stop, segment_end);
        if (two) {
          const Some<kMissing>* const ends = ends_.as<Some<kMissing>>() + 1 - block;
          for (; at < there; ++at) {
            add(some, at);
            put<kMissing>(at, joined(ends[at], some), segment, segment_end);
          }
          for (; at < stop; ++at) put<kMissing>(at, joined(ends[at], some), segment, segment_end);
        } else {
          for (; at < there; ++at) {
            add(some, at);
            put<kMissing>(at, some, segment, segment_end);
          }
          for (; at < stop; ++at) put<kMissing>(at, some, segment, segment_end);
        }
      }
    }
    if constexpr (!kMissing) {
      const auto few = [&](int64_t row) {
        return span_.rows(row + span_.ahead, segment, segment_end) < span_.needed;
      };
      while (begin < end && few(begin)) ++begin;
      while (begin < end && few(end - 1)) --end;
      set_bits(valid_, begin, end);
    }
  }

 private:
  struct Nothing {};

  template <bool kMissing>
  struct Some {
    Fold fold{};
    [[no_unique_address]] std::conditional_t<kMissing, int64_t, Nothing> count{};
  };

  template <bool kMissing>
  void add(Some<kMissing>& some, int64_t row) const {
    if constexpr (kMissing) {
      if (!values_.has(row)) return;
      ++some.count;
    }
    some.fold.append(static_cast<typename Fold::Value>(values_.values[row]));
  }

  template <bool kMissing>
  static Some<kMissing> joined(const Some<kMissing>& a, const Some<kMissing>& b) {
    Some<kMissing> both{Fold::join(a.fold, b.fold), {}};
    if constexpr (kMissing) both.count = a.count + b.count;
    return both;
  }

  // The folds of all ends of the block before `block`, from its row `from` on.
  template <bool kMissing>
  void fold_back(int64_t block, int64_t from, int64_t segment_end) {
    const int64_t bytes = (span_.window + 1) * static_cast<int64_t>(sizeof(Some<kMissing>));
    if (ends_.size_bytes() < bytes) ends_ = Buffer::allocate(bytes);
    auto* const ends = ends_.mutable_as<Some<kMissing>>();
    const int64_t first = block - span_.window;
    Some<kMissing> some;
    int64_t at = span_.window;
    const int64_t there = std::min(span_.window, segment_end - first);
    for (; at >= from && at >= there; --at) ends[at] = some;
    for (; at >= from; --at) {
      add(some, first + at);
      ends[at] = some;
    }
  }

  template <bool kMissing>
  void put(int64_t last, const Some<kMissing>& some, int64_t segment, int64_t segment_end) const {
    const int64_t row = last - span_.ahead;
    int64_t count;
    if constexpr (kMissing)
      count = some.count;
    else
      count = span_.rows(last, segment, segment_end);
    const bool enough = count >= span_.needed;
    out_[row] = enough ? static_cast<Out>(some.fold.result(count, span_.ddof)) : Out{};
    if constexpr (kMissing)
      valid_[row / 8] = static_cast<uint8_t>(valid_[row / 8] | uint8_t{enough} << row % 8);
  }

  std::optional<Pin> pin_of(int64_t from, int64_t to, int64_t segment_end) const {
    const Column& column = values_.column;
    const int64_t in = sizeof(In), width = sizeof(Out), shift = column.offset();
    const int64_t there = std::max(from, std::min(to, segment_end));
    return std::optional<Pin>(
        std::in_place,
        std::initializer_list<PinnedRange>{
            {&column.values_buffer(), (shift + from) * in, (shift + there) * in, false},
            {&buffer_, (from - span_.ahead) * width, (to - span_.ahead) * width, true}});
  }

  const Values<In>& values_;
  const Span span_;
  const Buffer& buffer_;
  Out* const out_;
  uint8_t* const valid_;
  const bool pins_;
  Buffer ends_{};
};

// The same pieces with all values of a window in order.
template <class In>
class MedianRoller {
 public:
  MedianRoller(const Values<In>& values, Span span, Buffer& out, Buffer& validity, bool)
      : values_(values),
        span_(span),
        out_(out.mutable_as<double>()),
        valid_(validity.mutable_as<uint8_t>()),
        sorted_(span.window) {}

  template <bool kMissing>
  void piece(int64_t segment, int64_t segment_end, int64_t begin, int64_t end) {
    SortedWindow<In>& window = sorted_;
    int64_t low = std::max(begin + span_.ahead - span_.window + 1, segment), high = low;
    for (int64_t row = begin; row < end; ++row) {
      const int64_t last = row + span_.ahead;
      const int64_t from = std::max(last - span_.window + 1, segment);
      for (; low < from; ++low)
        if (!kMissing || values_.has(low)) window.remove(values_.values[low]);
      for (; high <= std::min(last, segment_end - 1); ++high)
        if (!kMissing || values_.has(high)) window.add(values_.values[high]);
      const bool enough = window.count() >= span_.needed;
      out_[row] = enough ? window.median() : 0;
      valid_[row / 8] = static_cast<uint8_t>(valid_[row / 8] | uint8_t{enough} << row % 8);
    }
    for (; low < high; ++low)
      if (!kMissing || values_.has(low)) window.remove(values_.values[low]);
  }

 private:
  const Values<In>& values_;
  const Span span_;
  double* const out_;
  uint8_t* const valid_;
  SortedWindow<In> sorted_;
};

template <class In, class Out, class Rolls>
Column roll(const Column& column, Dtype dtype, const RollingOptions& options, int64_t least,
            const Segments& segments, bool steps) {
  const int64_t rows = column.num_rows();
  Buffer buffer = Buffer::allocate_spillable(rows * static_cast<int64_t>(sizeof(Out)));
  if (rows == 0) return Column(dtype, 0, std::move(buffer));
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
  // No window has more rows than there are on both sides of a row.
  const int64_t window = std::min(options.window, 2 * rows + 1);
  const Span span{window, options.center ? (window - 1) / 2 : 0,
                  std::max(options.min_periods, least), options.ddof};
  const bool fits = window <= morsel_rows() || !steps;
  const int64_t task_rows =
      window <= morsel_rows() ? morsel_rows() : round_up(kWindowsPerTask * window, morsel_rows());
  BufferAccess accesses[] = {reads(column), writes(buffer, static_cast<int64_t>(sizeof(Out)))};
  accesses[0].before = 2 * window;
  accesses[0].after = span.ahead;
  const Values<In> values(column);
  parallel_for((rows + task_rows - 1) / task_rows, [&](int64_t k) {
    const int64_t begin = k * task_rows, end = std::min(rows, begin + task_rows);
    const Pin pin(fits ? ranges_of(accesses, begin, end) : std::vector<PinnedRange>{});
    Rolls rolls(values, span, buffer, validity, !fits);
    const bool all = values.all_there(std::max<int64_t>(0, begin - 2 * window),
                                      std::min(rows, end + span.ahead));
    segments.visit(begin, end, [&](int64_t segment, int64_t from, int64_t to) {
      const int64_t stop = segments.next_border(to, std::min(rows, to + span.ahead));
      if (all)
        rolls.template piece<false>(segment, stop, from, to);
      else
        rolls.template piece<true>(segment, stop, from, to);
    });
  });
  return Column(dtype, rows, std::move(buffer), std::move(validity), -1);
}

}  // namespace

void check_rolling(const RollingOptions& options, bool of_rows) {
  if (options.window < 1)
    throw_error<InvalidArgumentError>("rolling", "the window is too short",
                                      {{"window", options.window}}, "pass 1 or more");
  if (!(options.quantile >= 0 && options.quantile <= 1))
    throw_error<InvalidArgumentError>("rolling", "a quantile is outside [0, 1]",
                                      {{"quantile", options.quantile}});
  if (options.min_periods < 0 || (of_rows && options.min_periods > options.window))
    throw_error<InvalidArgumentError>(
        "rolling", "min_periods is out of range",
        {{"min_periods", options.min_periods}, {"window", options.window}}, "pass 0 to the window");
  if (options.ddof < 0)
    throw_error<InvalidArgumentError>("rolling", "ddof is negative", {{"ddof", options.ddof}});
}

Column rolling(const Column& column, Aggregate aggregate, RollingOptions options,
               const Segments& segments) {
  check_rolling(options);
  if (options.closed != Closed::kRight || needs_bounds(aggregate))
    return rolling_between(
        column, aggregate, options,
        windows_of_rows(options.window, options.center, options.closed, segments));
  const Dtype dtype = aggregate_dtype(aggregate, column.dtype(), AggregateForm::kRolling);
  const int64_t fewest = aggregate_row(aggregate).fewest_values(0, options.ddof);
  if (aggregate == Aggregate::kMedian)
    return visit_real(column.dtype(), [&]<class In>(std::type_identity<In>) {
      return roll<In, double, MedianRoller<In>>(column, dtype, options, fewest, segments, false);
    });
  return visit_fold(column.dtype(), aggregate, [&]<class In, class Out, class Fold>() {
    return roll<In, Out, Roller<In, Out, Fold>>(column, dtype, options, fewest, segments, true);
  });
}

}  // namespace hr
