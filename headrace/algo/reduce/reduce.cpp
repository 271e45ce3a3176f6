// SPDX-License-Identifier: Apache-2.0
// Reductions: rules, partials and their trees, drivers over columns and tensors.
#include "headrace/algo/reduce/reduce.h"

#include "headrace/algo/aggregate/moments.h"
#include "headrace/algo/bits/blend.h"
#include "headrace/algo/reduce/partial_run.h"
#include "headrace/algo/reduce/reduce_axis.h"
#include "headrace/algo/reduce/reduce_kernels.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/device.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

namespace hr {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool is_extreme(Aggregate r) {
  return r == Aggregate::kMin || r == Aggregate::kMax || r == Aggregate::kArgmin ||
         r == Aggregate::kArgmax;
}

bool wants_least(Aggregate r) {
  return r == Aggregate::kMin || r == Aggregate::kArgmin;
}

bool wants_position(Aggregate r) {
  return r == Aggregate::kArgmin || r == Aggregate::kArgmax;
}

// What its blocks fold: of a position the extreme value itself.
Accumulator block_fold(Aggregate r) {
  if (is_extreme(r)) return wants_least(r) ? Accumulator::kMin : Accumulator::kMax;
  return aggregate_row(r).accumulators[0];
}

// Calls f with the type whose values lie in memory: bool as bytes.
template <class F>
decltype(auto) visit_values(Dtype dtype, F&& f) {
  if (dtype.is_bool()) return f(std::type_identity<uint8_t>{});
  return visit_real(dtype, f);
}

bool is_valid(const uint64_t* valid, int64_t i) {
  return !valid || ((valid[i >> 6] >> (i & 63)) & 1);
}

int64_t count_valid(const uint64_t* valid, int64_t count) {
  int64_t kept = 0;
  for (int64_t i = 0; i < count; i += 64) {
    const uint64_t last = count - i < 64 ? (uint64_t{1} << (count - i)) - 1 : ~uint64_t{0};
    kept += std::popcount(valid[i >> 6] & last);
  }
  return kept;
}

int64_t padded(int64_t count) {
  return (count + 31) / 32 * 32;
}

// The values with `missing` in place of nulls (and NaN) and behind the end; returns how many
// stayed.
template <class T, class Out>
int64_t fill_missing(const T* values, const uint64_t* valid, int64_t count, bool skip_nan,
                     Out missing, Out* out) {
  int64_t kept = 0;
  if constexpr (std::is_same_v<T, double> && std::is_same_v<Out, double>) {
    kept = cpu::keep_valid(values, valid, count, skip_nan, missing, out);
    for (int64_t i = count; i < padded(count); ++i) out[i] = missing;
    return kept;
  }
  for (int64_t begin = 0; begin < count; begin += 64) {
    uint64_t word = valid ? valid[begin / 64] : ~uint64_t{0};
    const int64_t end = std::min(begin + 64, count);
    for (int64_t i = begin; i < end; ++i, word >>= 1) {
      bool keep = word & 1;
      if constexpr (std::is_floating_point_v<T>) keep &= !skip_nan | (values[i] == values[i]);
      out[i] = choose(keep, static_cast<Out>(values[i]), missing);
      kept += keep;
    }
  }
  for (int64_t i = count; i < padded(count); ++i) out[i] = missing;
  return kept;
}

template <class T>
T identity(Aggregate reduction) {
  using Limits = std::numeric_limits<T>;
  if (reduction == Aggregate::kProduct) return T{1};
  if (is_extreme(reduction)) {
    if constexpr (std::is_floating_point_v<T>)
      return wants_least(reduction) ? Limits::infinity() : -Limits::infinity();
    else
      return wants_least(reduction) ? Limits::max() : Limits::min();
  }
  if constexpr (std::is_floating_point_v<T>) return T{-0.0};
  return T{0};
}

// The fold of a block of which nothing is missing, where it lies: NaN would show in the result.
template <class T>
std::optional<double> fold_whole(Accumulator fold, const T* values, const uint64_t* valid,
                                 int64_t count) {
  if constexpr (std::is_floating_point_v<T>) {
    if (valid || count == 0) return {};
    const double folded = cpu::accumulate_block(fold, values, count, 0);
    if (folded == folded) return folded;
  }
  return {};
}

Moments moments_of(const ReducePartial& partial) {
  return {static_cast<double>(partial.count), partial.value, partial.squares, partial.cubes,
          partial.fourths};
}

void set_moments(const Moments& moments, ReducePartial& partial) {
  partial.value = moments.mean;
  partial.squares = moments.squares;
  partial.cubes = moments.cubes;
  partial.fourths = moments.fourths;
}

// Of values, of which there is a multiple of 32, around about their mean, the partial's value.
template <class T>
void add_moments(Aggregate reduction, const T* values, int64_t count, ReducePartial& partial) {
  if (!aggregate_row(reduction).has(Accumulator::kCubes)) {
    partial.squares = cpu::accumulate_block(Accumulator::kSquares, values, count, partial.value);
    return;
  }
  double powers[4];
  cpu::sum_powers(values, count, partial.value, powers);
  set_moments(Moments::of(static_cast<double>(partial.count), partial.value, powers), partial);
}

template <class T>
ReducePartial moment_block(Aggregate reduction, const ReduceOptions& options, const T* values,
                           const uint64_t* valid, int64_t count) {
  alignas(64) double block[kBlockRows];
  ReducePartial partial;
  const bool folds = reduction == Aggregate::kMean || count % 32 == 0;  // moments need the padding
  const std::optional<double> whole =
      folds ? fold_whole(Accumulator::kSum, values, valid, count) : std::nullopt;
  partial.count = whole ? count : fill_missing(values, valid, count, options.skip_nan, -0.0, block);
  if (partial.count == 0) return partial;
  const double sum =
      whole ? *whole : cpu::accumulate_block(Accumulator::kSum, block, padded(count), 0);
  if (reduction == Aggregate::kMean) {
    partial.value = sum;
    return partial;
  }
  partial.value = sum / static_cast<double>(partial.count);
  if constexpr (std::is_floating_point_v<T>) {
    if (whole) {
      add_moments(reduction, values, count, partial);
      return partial;
    }
  }
  fill_missing(values, valid, count, options.skip_nan, partial.value, block);
  add_moments(reduction, block, padded(count), partial);
  return partial;
}

// First position that holds the extreme value (or the first NaN).
template <class T>
int64_t position(const T* values, const uint64_t* valid, int64_t count, T extreme) {
  for (int64_t i = 0; i < count; ++i) {
    const bool same = values[i] == extreme || (extreme != extreme && values[i] != values[i]);
    if (same && is_valid(valid, i)) return i;
  }
  return -1;
}

template <class T>
ReducePartial plain_block(Aggregate reduction, const ReduceOptions& options, Dtype dtype,
                          const T* values, const uint64_t* valid, int64_t count,
                          int64_t first_row) {
  const Accumulator fold = block_fold(reduction);
  ReducePartial partial;
  partial.count = count;
  const T* dense = values;
  alignas(64) T block[kBlockRows];
  const std::optional<double> whole = fold_whole(fold, values, valid, count);
  const bool drops_nan = options.skip_nan && std::is_floating_point_v<T>;
  if (!whole && (valid || drops_nan || count % 32 != 0)) {
    partial.count =
        fill_missing(values, valid, count, options.skip_nan, identity<T>(reduction), block);
    dense = block;
  }
  if (partial.count == 0) return partial;
  const int64_t n = padded(count);
  if constexpr (std::is_floating_point_v<T>) {
    partial.value = whole ? *whole : cpu::accumulate_block(fold, dense, n, 0);
    if (wants_position(reduction))
      partial.index = first_row + position(values, valid, count, static_cast<T>(partial.value));
  } else {
    partial.integer = cpu::fold_integers(fold, dtype, dense, n);
    if (wants_position(reduction))
      partial.index = first_row + position(values, valid, count, static_cast<T>(partial.integer));
  }
  return partial;
}

template <class T>
ReducePartial count_block(Aggregate reduction, const ReduceOptions& options, Dtype dtype,
                          const T* values, const uint64_t* valid, int64_t count) {
  ReducePartial partial;
  if constexpr (!std::is_floating_point_v<T>) {
    if (!valid && count > 0) {
      partial.count = count;
      if (reduction != Aggregate::kCount)
        partial.integer = cpu::fold_integers(Accumulator::kNonZero, dtype, values, count);
      return partial;
    }
  }
  for (int64_t i = 0; i < count; ++i) {
    if (!is_valid(valid, i) || (options.skip_nan && values[i] != values[i])) continue;
    ++partial.count;
    partial.integer += values[i] != T{0};
  }
  return partial;
}

// Whether b beats a; for equals the left one stays. NaN beats all.
template <class T>
bool beats(Aggregate reduction, T b, T a) {
  if (a != a) return false;
  if (b != b) return true;
  return wants_least(reduction) ? b < a : a < b;
}

}  // namespace

Reducer::Reducer(Aggregate reduction, Dtype dtype, ReduceOptions options)
    : reduction_(reduction), dtype_(dtype), options_(options) {
  aggregate_dtype(reduction, dtype, AggregateForm::kColumn);  // refuses what cannot be reduced
}

ReducePartial Reducer::block(const void* values, const uint64_t* valid, int64_t count,
                             int64_t first_row) const {
  if (valid && !options_.skip_null) {
    if (count_valid(valid, count) < count) {
      ReducePartial partial;
      partial.has_null = true;
      return partial;
    }
    valid = nullptr;
  }
  if (reduction_ == Aggregate::kCount && !dtype_.is_floating()) {  // of any dtype
    ReducePartial partial;
    partial.count = valid ? count_valid(valid, count) : count;
    return partial;
  }
  return visit_values(dtype_, [&]<class T>(std::type_identity<T>) {
    const T* typed = static_cast<const T*>(values);
    const AggregateRow& row = aggregate_row(reduction_);
    if (row.result == AggregateResult::kMoment)
      return moment_block(reduction_, options_, typed, valid, count);
    if (row.accumulators.empty() || row.has(Accumulator::kNonZero))
      return count_block(reduction_, options_, dtype_, typed, valid, count);
    return plain_block(reduction_, options_, dtype_, typed, valid, count, first_row);
  });
}

ReducePartial Reducer::merge(const ReducePartial& a, const ReducePartial& b) const {
  ReducePartial result = a.count == 0 ? b : a;
  result.has_null = a.has_null || b.has_null;
  if (a.count == 0 || b.count == 0) return result;
  result.count = a.count + b.count;
  switch (reduction_) {
    case Aggregate::kSum:
    case Aggregate::kMean:
      result.value = a.value + b.value;
      result.integer = a.integer + b.integer;
      return result;
    case Aggregate::kProduct:
      result.value = a.value * b.value;
      result.integer = a.integer * b.integer;
      return result;
    case Aggregate::kSkew:
    case Aggregate::kKurtosis:
      set_moments(Moments::join(moments_of(a), moments_of(b)), result);
      return result;
    case Aggregate::kVariance:
    case Aggregate::kStd:
    case Aggregate::kSem: {
      // Chan, Golub, LeVeque: Updating formulae for computing sample variances (1979)
      const double n = static_cast<double>(result.count), nb = static_cast<double>(b.count);
      const double delta = b.value - a.value;
      result.value = a.value + delta * (nb / n);
      result.squares =
          a.squares + b.squares + delta * delta * (static_cast<double>(a.count) * (nb / n));
      return result;
    }
    case Aggregate::kMin:
    case Aggregate::kMax:
    case Aggregate::kArgmin:
    case Aggregate::kArgmax: {
      const bool right = dtype_.is_floating() ? beats(reduction_, b.value, a.value)
                         : dtype_.is_signed() ? beats(reduction_, static_cast<int64_t>(b.integer),
                                                      static_cast<int64_t>(a.integer))
                                              : beats(reduction_, b.integer, a.integer);
      const ReducePartial& best = right ? b : a;
      result.value = best.value;
      result.integer = best.integer;
      result.index = best.index;
      return result;
    }
    default:
      result.integer = a.integer + b.integer;
      return result;
  }
}

namespace {

Scalar scalar_of_bits(Dtype dtype, uint64_t bits) {
  if (dtype.is_bool()) return Scalar(bits != 0);
  return visit_real(dtype,
                    [&]<class T>(std::type_identity<T>) { return Scalar(static_cast<T>(bits)); });
}

// The NaN of a sum has the sign of one of its operands, which compilers exchange: one for all.
double with_one_nan(double value) {
  return value == value ? value : kNan;
}

Scalar scalar_of_double(Dtype dtype, double value) {
  value = with_one_nan(value);
  if (dtype.id() == TypeId::kFloat32) return Scalar(static_cast<float>(value));
  return Scalar(value);
}

}  // namespace

Scalar Reducer::finish(const ReducePartial& total) const {
  const Dtype dtype = aggregate_dtype(reduction_, dtype_, AggregateForm::kColumn);
  if (total.has_null) return Scalar::null(dtype);
  const double count = static_cast<double>(total.count);
  if (total.count == 0 && is_extreme(reduction_)) {
    if (options_.empty_is_null) return Scalar::null(dtype);
    throw_error<InvalidArgumentError>(aggregate_name(reduction_, AggregateForm::kColumn),
                                      "there are no values", {}, "check the size first");
  }
  switch (reduction_) {
    case Aggregate::kSum:
      return dtype.is_floating() ? scalar_of_double(dtype, total.value)
                                 : scalar_of_bits(dtype, total.integer);
    case Aggregate::kProduct:
      if (total.count == 0)
        return dtype.is_floating() ? scalar_of_double(dtype, 1) : scalar_of_bits(dtype, 1);
      return dtype.is_floating() ? scalar_of_double(dtype, total.value)
                                 : scalar_of_bits(dtype, total.integer);
    case Aggregate::kMean:
      return scalar_of_double(dtype, total.count == 0 ? kNan : total.value / count);
    case Aggregate::kSkew:
      return scalar_of_double(dtype, moments_of(total).skewness());
    case Aggregate::kKurtosis:
      return scalar_of_double(dtype, moments_of(total).kurtosis());
    case Aggregate::kVariance:
    case Aggregate::kStd:
    case Aggregate::kSem: {
      const int64_t freedom = total.count - options_.ddof;
      double variance = freedom > 0 ? total.squares / static_cast<double>(freedom) : kNan;
      if (reduction_ != Aggregate::kVariance) variance = std::sqrt(variance);
      if (reduction_ == Aggregate::kSem) variance /= std::sqrt(count);
      return scalar_of_double(dtype, variance);
    }
    case Aggregate::kMin:
    case Aggregate::kMax:
      return dtype.is_floating() ? scalar_of_double(dtype, total.value)
                                 : scalar_of_bits(dtype, total.integer);
    case Aggregate::kArgmin:
    case Aggregate::kArgmax:
      return Scalar(total.index);
    case Aggregate::kAny:
      return Scalar(total.integer > 0);
    case Aggregate::kAll:
      return Scalar(static_cast<int64_t>(total.integer) == total.count);
    default:
      return Scalar(total.count);
  }
}

void PartialTree::push(const ReducePartial& partial) {
  ReducePartial carry = partial;
  int level = 0;
  for (uint64_t bits = pushed_++; bits & 1; bits >>= 1)
    carry = reducer_->merge(levels_[level++], carry);
  levels_[level] = carry;
}

ReducePartial PartialTree::total() const {
  ReducePartial sum;
  bool first = true;
  for (int level = 0; level < 64; ++level) {
    if (!((pushed_ >> level) & 1)) continue;
    sum = first ? levels_[level] : reducer_->merge(levels_[level], sum);
    first = false;
  }
  return sum;
}

namespace {

/// Tree over blocks in a morsel, tree over morsels; `block(first_row, count)` gives a partial.
template <class F>
ReducePartial reduce_blocks(const Reducer& reducer, int64_t rows, bool parallel, F&& block,
                            const std::vector<BufferAccess>& accesses = {}) {
  std::vector<ReducePartial> morsels(static_cast<size_t>(num_morsels(rows)));
  auto run = [&](int64_t k) {
    PartialTree tree(reducer);
    const auto [index, begin, end] = morsel_at(k, rows);
    const Pin pin(ranges_of(accesses, begin, end));
    for (int64_t row = begin; row < end; row += kBlockRows)
      tree.push(block(row, std::min(kBlockRows, end - row)));
    morsels[static_cast<size_t>(index)] = tree.total();
  };
  if (parallel)
    parallel_for(num_morsels(rows), run);
  else
    for (int64_t k = 0; k < num_morsels(rows); ++k) run(k);
  PartialTree tree(reducer);
  for (const ReducePartial& partial : morsels) tree.push(partial);
  return tree.total();
}

// Elements of a line or of a whole tensor in row-major order, read block by block.
struct StridedReader {
  const std::byte* data;
  int64_t width;
  Shape shape;
  Shape strides;

  void read(int64_t first, int64_t count, std::byte* out) const {
    Shape index(shape.size());
    int64_t rest = first, element = 0;
    for (size_t d = shape.size(); d-- > 0;) {
      index[d] = rest % shape[d];
      rest /= shape[d];
      element += index[d] * strides[d];
    }
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(out + i * width, data + element * width, static_cast<size_t>(width));
      for (size_t d = shape.size(); d-- > 0;) {
        element += strides[d];
        if (++index[d] < shape[d]) break;
        element -= strides[d] * shape[d];
        index[d] = 0;
      }
    }
  }
};

ReducePartial reduce_strided(const Reducer& reducer, const StridedReader& reader, int64_t rows,
                             bool parallel) {
  return reduce_blocks(reducer, rows, parallel, [&](int64_t row, int64_t count) {
    alignas(64) std::byte block[kBlockRows * 8];
    reader.read(row, count, block);
    return reducer.block(block, nullptr, count, row);
  });
}

}  // namespace

Scalar reduce(const Column& column, Aggregate reduction, ReduceOptions options) {
  options.empty_is_null = true;
  const int64_t rows = column.num_rows();
  if (reduction == Aggregate::kCount && !(options.skip_nan && column.dtype().is_floating()))
    return Scalar(rows - column.null_count());
  const Reducer reducer(reduction, column.dtype(), options);
  const auto block = [&](int64_t row, int64_t count) {
    return column_block(reducer, column, row, count, row);
  };
  const ReducePartial total = reduce_blocks(reducer, rows, true, block, {reads(column)});
  return reducer.finish(total);
}

Scalar reduce(const Tensor& tensor, Aggregate reduction, ReduceOptions options) {
  const Reducer reducer(reduction, tensor.dtype(), options);
  const int64_t rows = tensor.num_elements();
  const int64_t width = tensor.dtype().size_bytes();
  if (tensor.is_contiguous())
    return reducer.finish(reduce_blocks(reducer, rows, true,
                                        [&](int64_t row, int64_t count) {
                                          return reducer.block(tensor.data() + row * width, nullptr,
                                                               count, row);
                                        },
                                        {reads(tensor)}));
  const StridedReader reader{tensor.data(), width, tensor.shape(), tensor.strides()};
  return reducer.finish(reduce_strided(reducer, reader, rows, true));
}

namespace {

/// Lines of a tensor along one axis. Those that differ in the last other dimension alone are read
/// together, so that the cache lines they share are read once.
class Lines {
 public:
  Lines(const Tensor& x, size_t along, Aggregate reduction, const ReduceOptions& options)
      : data_(x.data()),
        width_(x.dtype().size_bytes()),
        length_(x.shape()[along]),
        step_(x.strides()[along]),
        outer_(x.shape()),
        strides_(x.strides()) {
    outer_.erase(outer_.begin() + static_cast<int64_t>(along));
    strides_.erase(strides_.begin() + static_cast<int64_t>(along));
    in_row_ = outer_.empty() ? 1 : outer_.back();
    folds_ = !options.skip_nan && x.dtype().is_floating() && is_one_fold(reduction);
    by_rows_ = folds_ && turns() && !outer_.empty() && strides_.back() == 1;
    is_single_ = width_ == sizeof(float);
    fold_ = reduction == Aggregate::kMean ? Accumulator::kSum : block_fold(reduction);
    const int64_t bytes = by_rows_ ? kBytesOfRow : kBytesAtOnce;
    // Lines that lie contiguous are reduced where they lie.
    const int64_t most =
        turns() ? bytes / width_
                : std::min(kLinesAtOnce, 8 * kBlockRows / std::max<int64_t>(1, length_));
    at_once_ = outer_.empty() ? 1 : std::min(in_row_, most);
    at_once_ = std::max<int64_t>(1, at_once_);
    // Work for every thread: which lines are read together does not change their sums.
    const int64_t morsels = divide_up(std::max<int64_t>(1, length_), kMorselRows);
    while (by_rows_ && at_once_ * width_ > kBytesAtOnce && groups() * morsels < 4 * threads())
      at_once_ /= 2;
  }

  int64_t length() const { return length_; }

  int64_t count() const { return num_elements(outer_); }

  int64_t groups() const {
    return in_row_ == 0 ? 0 : count() / in_row_ * divide_up(in_row_, at_once_);
  }

  /// Lines of a group, at most.
  int64_t at_once() const { return at_once_; }

  /// Values that a task of one group reads.
  int64_t values() const { return at_once_ * std::max<int64_t>(1, std::min(length_, kMorselRows)); }

  /// The first line of a group and the one behind its last.
  std::pair<int64_t, int64_t> bounds(int64_t group) const {
    const int64_t in_row = divide_up(in_row_, at_once_);
    const int64_t row = group / in_row * in_row_, first = group % in_row * at_once_;
    return {row + first, row + std::min(in_row_, first + at_once_)};
  }

  /// Whether the partials of a line are its fold alone.
  bool folds() const { return folds_; }

  /// Room that `reduce` works in.
  Buffer tile() const {
    const int64_t bytes = by_rows_  ? 32 * at_once_ * int64_t{sizeof(double)}
                          : turns() ? at_once_ * kTileRows * width_
                                    : 0;
    const int64_t folded = at_once_ * int64_t{sizeof(double)};
    const int64_t trees = length_ <= kBlockRows ? 0 : kLevels * at_once_;
    return Buffer::allocate(trees * int64_t{sizeof(ReducePartial)} + folded + bytes);
  }

  /// The folds of the lines of a group; each is one block.
  void fold(int64_t group, std::byte* tile, double* out) const {
    const auto [first, last] = bounds(group);
    fold_block(data_ + offset(first) * width_, last - first, length_, tile, out);
  }

  /// Partials of rows [begin, end) of the lines of a group: a tree for each, as PartialTree, all of
  /// which grow together.
  void reduce(const Reducer& reducer, int64_t group, int64_t begin, int64_t end, std::byte* tile,
              ReducePartial* out) const {
    if (begin == end) return;
    const auto [first, last] = bounds(group);
    const int64_t lines = last - first;
    auto* const levels = reinterpret_cast<ReducePartial*>(tile);
    if (length_ > kBlockRows) tile += kLevels * at_once_ * int64_t{sizeof(ReducePartial)};
    const std::byte* const from = data_ + offset(first) * width_;
    uint64_t pushed = 0;
    for (int64_t row = begin; row < end; row += kBlockRows) {
      reduce_block(reducer, from + row * step_ * width_, lines, row,
                   std::min(kBlockRows, end - row), tile, out);
      if (end - begin <= kBlockRows) return;
      ReducePartial* level = levels;
      for (uint64_t bits = pushed++; bits & 1; bits >>= 1, level += at_once_)
        for (int64_t line = 0; line < lines; ++line)
          out[line] = reducer.merge(level[line], out[line]);
      std::copy_n(out, lines, level);
    }
    const ReducePartial* level = levels + std::countr_zero(pushed) * at_once_;
    std::copy_n(level, lines, out);
    for (uint64_t bits = pushed >> (std::countr_zero(pushed) + 1); bits != 0; bits >>= 1) {
      level += at_once_;
      for (int64_t line = 0; line < lines && (bits & 1); ++line)
        out[line] = reducer.merge(level[line], out[line]);
    }
  }

 private:
  static constexpr int64_t kBytesAtOnce = 256;
  // Read together where columns are folded by rows. The sums of 400 rows of 1e5 doubles take 6.3
  // ms, with 4 KiB 7.6 and with 32 KiB 7.1; a plain read takes 4.9.
  static constexpr int64_t kBytesOfRow = 16 << 10;

  static constexpr int64_t kLinesAtOnce = 256;           // that lie contiguous
  static constexpr int64_t kTileRows = kBlockRows + 16;  // else all lines lie in one set of a cache

  static constexpr int64_t kLevels = 8;  // of a tree over the blocks of a morsel
  static_assert(kMorselRows / kBlockRows < int64_t{1} << kLevels);

  bool turns() const { return step_ != 1; }

  void reduce_block(const Reducer& reducer, const std::byte* rows, int64_t lines, int64_t row,
                    int64_t count, std::byte* tile, ReducePartial* out) const {
    if (folds_) {
      auto* const folded = reinterpret_cast<double*>(tile);
      fold_block(rows, lines, count, tile + at_once_ * int64_t{sizeof(double)}, folded);
      for (int64_t line = 0; line < lines; ++line)
        out[line] = {.count = count, .value = folded[line]};
      return;
    }
    if (turns()) turn(rows, lines, count, tile);
    for (int64_t line = 0; line < lines; ++line)
      out[line] = reducer.block(values_of(line, rows, tile), nullptr, count, row);
  }

  void fold_block(const std::byte* rows, int64_t lines, int64_t count, std::byte* tile,
                  double* out) const {
    if (turns() && !by_rows_) turn(rows, lines, count, tile);
    const auto fold = [&]<class T>(std::type_identity<T>) {
      if (by_rows_)
        return cpu::accumulate_columns(fold_, reinterpret_cast<const T*>(rows), step_, count, lines,
                                       reinterpret_cast<double*>(tile), out);
      for (int64_t line = 0; line < lines; ++line)
        out[line] = cpu::accumulate_block(
            fold_, reinterpret_cast<const T*>(values_of(line, rows, tile)), count, 0);
    };
    is_single_ ? fold(std::type_identity<float>{}) : fold(std::type_identity<double>{});
  }

  /// Where a line of a block lies, which is turned into the tile if its values lie apart.
  const std::byte* values_of(int64_t line, const std::byte* rows, const std::byte* tile) const {
    const int64_t apart = turns() ? kTileRows : strides_.empty() ? 0 : strides_.back();
    return (turns() ? tile : rows) + line * apart * width_;
  }

  static bool is_one_fold(Aggregate r) {
    return r == Aggregate::kSum || r == Aggregate::kMean || r == Aggregate::kProduct ||
           r == Aggregate::kMin || r == Aggregate::kMax;
  }

  int64_t offset(int64_t line) const {
    int64_t element = 0;
    for (size_t d = outer_.size(); d-- > 0; line /= outer_[d])
      element += line % outer_[d] * strides_[d];
    return element;
  }

  void turn(const std::byte* rows, int64_t lines, int64_t count, std::byte* tile) const {
    const auto by_width = [&]<class T>(std::type_identity<T>) {
      const int64_t beside = strides_.empty() ? 0 : strides_.back();
      const T* from = reinterpret_cast<const T*>(rows);
      T* to = reinterpret_cast<T*>(tile);
      for (int64_t row = 0; row < count; ++row, from += step_)
        for (int64_t line = 0; line < lines; ++line)
          to[line * kTileRows + row] = from[line * beside];
    };
    if (width_ == 8) return by_width(std::type_identity<uint64_t>{});
    if (width_ == 4) return by_width(std::type_identity<uint32_t>{});
    if (width_ == 2) return by_width(std::type_identity<uint16_t>{});
    by_width(std::type_identity<uint8_t>{});
  }

  const std::byte* data_;
  int64_t width_;
  int64_t length_;
  int64_t step_;
  Shape outer_;
  Shape strides_;
  int64_t in_row_;
  int64_t at_once_;
  bool folds_ = false;
  bool by_rows_ = false;
  bool is_single_ = false;
  Accumulator fold_ = Accumulator::kSum;
};

}  // namespace

std::string why_no_axis_kernel(const Tensor& tensor, Aggregate reduction, int64_t axis,
                               const ReduceOptions& options) {
  if (options.skip_nan) return "skipping NaN along an axis has no kernel for CUDA";
  if (reduction > Aggregate::kSem) return "this aggregate has no kernel for CUDA";
  if (!tensor.dtype().is_number()) return "this dtype has no kernel for CUDA";
  const int64_t length =
      tensor.shape()[static_cast<size_t>(axis < 0 ? axis + tensor.num_dimensions() : axis)];
  return length == 0 && is_extreme(reduction) ? "an empty axis" : "";
}

Tensor reduce_axis(const Tensor& tensor, Aggregate reduction, int64_t axis, ReduceOptions options,
                   bool keep_axis) {
  const int64_t dimensions = tensor.num_dimensions();
  if (axis < -dimensions || axis >= dimensions)
    throw_error<InvalidArgumentError>(aggregate_name(reduction, AggregateForm::kColumn),
                                      "the axis is out of range",
                                      {{"axis", axis}, {"dimensions", dimensions}});
  const size_t along = static_cast<size_t>(axis < 0 ? axis + dimensions : axis);
  const Reducer reducer(reduction, tensor.dtype(), options);
  const Dtype dtype = aggregate_dtype(reduction, tensor.dtype(), AggregateForm::kColumn);
  Shape shape = tensor.shape();
  shape[along] = 1;
  if (!keep_axis) shape.erase(shape.begin() + static_cast<int64_t>(along));
  if constexpr (built_with_cuda)
    if (tensor.place().is_gpu()) {
      if (const std::string why = why_no_axis_kernel(tensor, reduction, axis, options);
          !why.empty())
        throw_error<UnsupportedError>("reduce", why, {}, "move the values first: x.to('cpu')");
      const int64_t count = num_elements(shape);
      Buffer out =
          allocate_result(checked_multiply("reduce", count, dtype.size_bytes()), tensor.place());
      if (count > 0) cuda::reduce_axis(tensor, reduction, along, options, dtype, out);
      return Tensor(dtype, std::move(shape), std::move(out));
    }
  const Lines lines(tensor, along, reduction, options);
  Buffer buffer = Buffer::allocate(checked_multiply("reduce", lines.count(), dtype.size_bytes()));
  std::byte* out = buffer.mutable_data();
  const bool as_it_is = lines.folds() && dtype == TypeId::kFloat64 && lines.length() > 0 &&
                        reduction != Aggregate::kMean;
  const auto finish = [&](int64_t line, const ReducePartial& total) {
    if (as_it_is) {
      reinterpret_cast<double*>(out)[line] = with_one_nan(total.value);
      return;
    }
    const Scalar value = reducer.finish(total);
    if (dtype.is_bool())
      reinterpret_cast<uint8_t*>(out)[line] = value.as<uint8_t>();
    else
      visit_real(dtype, [&]<class T>(std::type_identity<T>) {
        reinterpret_cast<T*>(out)[line] = value.as<T>();
      });
  };
  // Tasks are morsels of groups of lines, or several groups of short lines.
  constexpr int64_t kTaskValues = int64_t{1} << 16;
  const int64_t morsels = std::max<int64_t>(1, num_morsels(lines.length()));
  const bool is_one_block = as_it_is && morsels == 1 && lines.length() <= kBlockRows;
  const int64_t step = morsels > 1 ? 1 : std::max<int64_t>(1, kTaskValues / lines.values());
  const int64_t kept = checked_multiply("reduce", morsels > 1 ? morsels : 0, lines.count());
  Buffer room = Buffer::allocate(checked_multiply("reduce", kept, int64_t{sizeof(ReducePartial)}));
  auto* const partials = room.mutable_as<ReducePartial>();
  parallel_for(divide_up(lines.groups(), step) * morsels, [&](int64_t task) {
    const int64_t morsel = task % morsels, first = task / morsels * step;
    const auto [index, begin, end] = morsel_at(morsel, lines.length());
    Buffer tile = lines.tile();
    std::vector<ReducePartial> made(morsels > 1 ? 0 : static_cast<size_t>(lines.at_once()));
    for (int64_t group = first; group < std::min(lines.groups(), first + step); ++group) {
      const auto [line, last] = lines.bounds(group);
      if (is_one_block) {
        auto* const results = reinterpret_cast<double*>(out);
        lines.fold(group, tile.mutable_data(), results + line);
        std::transform(results + line, results + last, results + line, with_one_nan);
        continue;
      }
      ReducePartial* const to = morsels > 1 ? partials + index * lines.count() + line : made.data();
      lines.reduce(reducer, group, begin, end, tile.mutable_data(), to);
      for (int64_t i = line; i < last && morsels == 1; ++i) finish(i, to[i - line]);
    }
  });
  if (morsels > 1)
    parallel_for(divide_up(lines.count(), 64), [&](int64_t task) {
      for (int64_t line = task * 64; line < std::min(lines.count(), (task + 1) * 64); ++line) {
        PartialTree tree(reducer);
        for (int64_t morsel = 0; morsel < morsels; ++morsel)
          tree.push(partials[morsel * lines.count() + line]);
        finish(line, tree.total());
      }
    });
  return Tensor(dtype, std::move(shape), std::move(buffer));
}

}  // namespace hr
