// SPDX-License-Identifier: Apache-2.0
// Exponentially weighted statistics: each row from the one before.
#include "headrace/algo/scan/ewm.h"

#include "headrace/algo/scan/window_math.h"
#include "headrace/base/enum_names.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace hr {

namespace {

constexpr std::string_view kStatistics[] = {"mean", "sum", "var", "std", "cov", "corr"};

// Means and covariance of two columns, or of one with itself, in weights that decay.
class Moving {
 public:
  explicit Moving(const EwmOptions& options)
      : options_(options), gain_(options.adjust ? 1 : 1 - options.decay) {}

  // A row later by `decay`, with a value of both or without.
  void step(std::optional<PairOf<true>::Value> value, double decay) {
    if (count_ == 0) {
      if (value) start(*value);
      return;
    }
    if (!value && options_.ignore_na) return;
    sum_ *= decay;
    weight_ *= decay;
    weights_ *= decay;
    squared_weights_ *= decay * decay;
    if (!value) return;
    ++count_;
    sum_ += value->x;
    // Of irregular times each value weighs what the others have lost.
    const bool is_timed = options_.half_life > 0;
    const double gain = options_.adjust ? 1 : is_timed ? 1 - weight_ : gain_;
    const double total = weight_ + gain, old_x = mean_x_, old_y = mean_y_;
    // Equal values stay as they are, without a rounding error.
    if (mean_x_ != value->x) mean_x_ = (weight_ * old_x + gain * value->x) / total;
    if (mean_y_ != value->y) mean_y_ = (weight_ * old_y + gain * value->y) / total;
    const auto moved = [&](double before, double a, double b, double at_a, double at_b, double to_a,
                           double to_b) {
      return (weight_ * (before + (a - to_a) * (b - to_b)) + gain * (at_a - to_a) * (at_b - to_b)) /
             total;
    };
    products_ = moved(products_, old_x, old_y, value->x, value->y, mean_x_, mean_y_);
    squares_x_ = moved(squares_x_, old_x, old_x, value->x, value->x, mean_x_, mean_x_);
    squares_y_ = moved(squares_y_, old_y, old_y, value->y, value->y, mean_y_, mean_y_);
    weights_ += gain;
    squared_weights_ += gain * gain;
    weight_ = total;
    if (options_.adjust) return;
    weights_ /= total;
    squared_weights_ /= total * total;
    weight_ = 1;
  }

  bool has_result() const {
    if (count_ == 0 || count_ < options_.min_periods) return false;
    const bool is_spread = options_.statistic == EwmStatistic::kVariance ||
                           options_.statistic == EwmStatistic::kStd ||
                           options_.statistic == EwmStatistic::kCovariance;
    return !is_spread || options_.bias || weights_ * weights_ > squared_weights_;
  }

  double result() const {
    const double squared = weights_ * weights_;
    const double factor = options_.bias ? 1 : squared / (squared - squared_weights_);
    switch (options_.statistic) {
      case EwmStatistic::kMean:
        return mean_x_;
      case EwmStatistic::kSum:
        return sum_;
      case EwmStatistic::kVariance:
        return factor * squares_x_;
      case EwmStatistic::kStd:
        return std::sqrt(factor * squares_x_);
      case EwmStatistic::kCovariance:
        return factor * products_;
      case EwmStatistic::kCorrelation:
        break;
    }
    return products_ / std::sqrt(squares_x_ * squares_y_);
  }

 private:
  void start(PairOf<true>::Value value) {
    count_ = 1;
    mean_x_ = sum_ = value.x;
    mean_y_ = value.y;
  }

  const EwmOptions& options_;
  const double gain_;
  int64_t count_ = 0;
  double weight_ = 1, weights_ = 1, squared_weights_ = 1;
  double mean_x_ = 0, mean_y_ = 0, sum_ = 0, products_ = 0, squares_x_ = 0, squares_y_ = 0;
};

double elapsed(const int64_t* times, int64_t row) {
  if (times[row] >= times[row - 1])
    return static_cast<double>(static_cast<uint64_t>(times[row]) -
                               static_cast<uint64_t>(times[row - 1]));
  throw_error<InvalidArgumentError>("ewm", "times are not in order", {{"row", row}},
                                    "use sort_values or sort_index first");
}

}  // namespace

EwmStatistic ewm_statistic_from_name(std::string_view name) {
  return enum_from_name<EwmStatistic>("ewm", "statistic", name, kStatistics);
}

Column ewm(const Column& column, const Column* other, const Column* times,
           const EwmOptions& options, const Segments& segments) {
  const int64_t rows = column.num_rows();
  Buffer buffer = Buffer::allocate_spillable(8 * rows);
  if (rows == 0) return Column(TypeId::kFloat64, 0, std::move(buffer));
  if (times && times->null_count() > 0)
    throw_error<InvalidArgumentError>("ewm", "a time is missing", {}, "drop these rows first");
  Buffer known_rows = Buffer::allocate(rows);  // bytes: tasks may end within a byte of bits
  auto* const is_known = known_rows.mutable_as<uint8_t>();
  auto* const out = buffer.mutable_as<double>();
  const Values<double> x(column), y(other ? *other : column);
  const int64_t* const at = times ? times->values<int64_t>().data() : nullptr;
  // A segment is one chain of rows; the task where it begins walks to its end.
  parallel_for((rows + morsel_rows() - 1) / morsel_rows(), [&](int64_t task) {
    const int64_t first = task * morsel_rows(), last = std::min(rows, first + morsel_rows());
    segments.visit(first, last, [&](int64_t segment, int64_t begin, int64_t end) {
      if (segment != begin) return;
      const int64_t stop = segments.next_border(end, rows);
      Moving moving(options);
      for (int64_t from = begin; from < stop; from += morsel_rows()) {
        const int64_t to = std::min(stop, from + morsel_rows());
        const Pin pin(ranges_of(std::vector{reads(column), writes(buffer, 8)}, from, to));
        for (int64_t row = from; row < to; ++row) {
          const double decay =
              at && row > begin ? std::exp2(-elapsed(at, row) / options.half_life) : options.decay;
          const bool counts = x.has(row) && y.has(row);
          moving.step(counts ? std::optional<PairOf<true>::Value>({x[row], y[row]}) : std::nullopt,
                      decay);
          const bool known = moving.has_result();
          is_known[row] = known;
          out[row] = known ? moving.result() : 0;
        }
      }
    });
  });
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
  auto* const bits = validity.mutable_as<uint8_t>();
  for (int64_t row = 0; row < rows; ++row)
    if (is_known[row]) set_bit(bits, row, true);
  return Column(TypeId::kFloat64, rows, std::move(buffer), std::move(validity), -1);
}

}  // namespace hr
