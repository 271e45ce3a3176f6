// SPDX-License-Identifier: Apache-2.0
// Chooses working sets, keeps rows of kernels, and adds what moved to the sums of all rows.
#include "headrace/learn/svm.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/exec/workers.h"
#include "headrace/exec/working_memory.h"
#include "headrace/learn/kernel_tiles.h"
#include "headrace/learn/svm_kernels.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

namespace hr {
namespace {

constexpr int64_t kWorkingSize = 1024;
constexpr int64_t kTile = kKernelRows * kKernelColumns;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

BudgetedVector<int64_t> all_of(int64_t count) {
  BudgetedVector<int64_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  return numbers;
}

/// The b of a dual: each belongs to a row.
struct Variables {
  BudgetedVector<int64_t> row;
  BudgetedVector<double> linear, low, high, value;

  explicit Variables(size_t count)
      : row(count), linear(count), low(count), high(count), value(count) {}

  size_t count() const { return row.size(); }

  bool may_rise(size_t v) const { return value[v] < high[v]; }

  bool may_fall(size_t v) const { return value[v] > low[v]; }
};

/// Rows of the kernel in float32 that there was room for; those of long ago make way.
class RowCache {
 public:
  RowCache(int64_t rows, int64_t bytes) : length_(rows), slot_of_(static_cast<size_t>(rows), -1) {
    const int64_t row = rows * int64_t{sizeof(float)};
    const int64_t left = (memory_limit() - memory_statistics().used_bytes) / 2;
    const int64_t slots = std::clamp(std::min(bytes, left) / row, int64_t{0}, rows);
    values_ = Buffer::allocate(slots * row);
    row_of_.assign(static_cast<size_t>(slots), -1);
    used_.assign(row_of_.size(), 0);
  }

  float* find(int64_t row) {
    const int64_t slot = slot_of_[static_cast<size_t>(row)];
    if (slot < 0) return nullptr;
    used_[static_cast<size_t>(slot)] = turn_;
    return at(slot);
  }

  /// After `find` for all rows of a turn: room for each of those that are not there, or null.
  std::vector<float*> make_room(const BudgetedVector<int64_t>& rows) {
    BudgetedVector<int64_t> oldest(all_of(static_cast<int64_t>(row_of_.size())));
    std::erase_if(oldest, [&](int64_t s) { return used_[static_cast<size_t>(s)] == turn_; });
    const size_t count = std::min(rows.size(), oldest.size());
    std::partial_sort(oldest.begin(), oldest.begin() + static_cast<int64_t>(count), oldest.end(),
                      [&](int64_t a, int64_t b) {
                        const auto left = used_[static_cast<size_t>(a)];
                        const auto right = used_[static_cast<size_t>(b)];
                        return left != right ? left < right : a < b;
                      });
    std::vector<float*> places(rows.size(), nullptr);
    for (size_t i = 0; i < count; ++i) {
      const auto slot = static_cast<size_t>(oldest[i]);
      if (row_of_[slot] >= 0) slot_of_[static_cast<size_t>(row_of_[slot])] = -1;
      row_of_[slot] = rows[i];
      slot_of_[static_cast<size_t>(rows[i])] = oldest[i];
      used_[slot] = turn_;
      places[i] = at(oldest[i]);
    }
    ++turn_;
    return places;
  }

 private:
  float* at(int64_t slot) { return values_.mutable_as<float>() + slot * length_; }

  int64_t length_;
  int64_t turn_ = 1;
  Buffer values_;
  BudgetedVector<int64_t> slot_of_, row_of_, used_;
};

class Solver {
 public:
  Solver(const Tensor& x, std::span<const int64_t> rows, Variables& variables,
         const SvmOptions& options)
      : x_(x),
        rows_(rows),
        variables_(variables),
        options_(options),
        frame_(options.kernel, x, rows),
        sums_(rows.size()) {}

  SvmSolution solve();

 private:
  double gradient(size_t v) const {
    return sums_[static_cast<size_t>(variables_.row[v])] + variables_.linear[v];
  }

  int64_t left() const {
    const int64_t most = std::numeric_limits<int64_t>::max();
    return (options_.max_steps < 0 ? most : options_.max_steps) - steps_;
  }

  double choose();
  bool work(double gap);
  BudgetedVector<float> kernel_of_set(int64_t size) const;
  void add_moved(const BudgetedVector<int64_t>& moved, const BudgetedVector<double>& by);
  double offset() const;

  const Tensor& x_;
  std::span<const int64_t> rows_;
  Variables& variables_;
  const SvmOptions& options_;
  KernelFrame frame_;
  BudgetedVector<double> sums_;  ///< of kernels by values, of each row
  BudgetedVector<int64_t> set_;  ///< the variables at work, latest first
  std::unique_ptr<KernelSide> all_;
  std::unique_ptr<RowCache> cache_;
  int64_t steps_ = 0;
};

/// The most violating variables replace half of the set. Returns the violation of the worst pair.
double Solver::choose() {
  struct Candidate {
    double gradient;
    int64_t variable;
  };
  const auto count = static_cast<int64_t>(variables_.count());
  double least = kInfinity, most = -kInfinity;
  for (size_t v = 0; v < variables_.count(); ++v) {
    if (variables_.may_rise(v)) least = std::min(least, gradient(v));
    if (variables_.may_fall(v)) most = std::max(most, gradient(v));
  }
  if (!(most - least > options_.tolerance)) return most - least;
  const int64_t size = std::min(kWorkingSize, count);
  const int64_t fresh = set_.empty() || size < kWorkingSize ? size : size / 2;
  BudgetedVector<Candidate> rising, falling;
  for (size_t v = 0; v < variables_.count(); ++v) {
    const double own = gradient(v);
    if (variables_.may_rise(v) && own < most) rising.push_back({own, static_cast<int64_t>(v)});
    if (variables_.may_fall(v) && own > least) falling.push_back({-own, static_cast<int64_t>(v)});
  }
  for (auto* side : {&rising, &falling}) {
    const auto end = side->begin() + std::min<int64_t>(fresh, static_cast<int64_t>(side->size()));
    std::partial_sort(side->begin(), end, side->end(), [](const Candidate& a, const Candidate& b) {
      return a.gradient != b.gradient ? a.gradient < b.gradient : a.variable < b.variable;
    });
    side->erase(end, side->end());
  }
  BudgetedVector<bool> in(variables_.count());
  BudgetedVector<int64_t> next;
  const auto add = [&](int64_t variable, int64_t most_of_them) {
    if (static_cast<int64_t>(next.size()) >= most_of_them || in[static_cast<size_t>(variable)])
      return;
    in[static_cast<size_t>(variable)] = true;
    next.push_back(variable);
  };
  for (size_t i = 0; i < std::max(rising.size(), falling.size()); ++i) {
    if (i < rising.size()) add(rising[i].variable, fresh);
    if (i < falling.size()) add(falling[i].variable, fresh);
  }
  for (const int64_t variable : set_) add(variable, size);
  set_ = std::move(next);
  return most - least;
}

/// The kernel between the rows of the set, in rows of `size`.
BudgetedVector<float> Solver::kernel_of_set(int64_t size) const {
  BudgetedVector<int64_t> rows;
  for (const int64_t v : set_)
    rows.push_back(rows_[static_cast<size_t>(variables_.row[static_cast<size_t>(v)])]);
  const KernelSide left(frame_, x_, rows, KernelSide::kLeft);
  const KernelSide right(frame_, x_, rows, KernelSide::kRight);
  BudgetedVector<float> kernel(static_cast<size_t>(size * size));
  parallel_for(left.groups() * right.groups(), [&](int64_t task) {
    const int64_t group = task / right.groups(), block = task % right.groups();
    BudgetedVector<double> tile(kTile);
    kernel_tile(frame_, x_, left, group, right, block, tile.data());
    for (int64_t r = 0; r < left.in_group(group); ++r)
      cpu::round_values(tile.data() + r * kKernelColumns, right.in_group(block),
                        kernel.data() + (group * kKernelRows + r) * size + block * kKernelColumns);
  });
  return kernel;
}

/// Solves the set, and adds what it moved to the sums; whether anything moved.
bool Solver::work(double gap) {
  const size_t count = set_.size();
  const auto size = (static_cast<int64_t>(count) + cpu::kWorkingLanes - 1) / cpu::kWorkingLanes *
                    cpu::kWorkingLanes;
  const auto room = static_cast<size_t>(size);
  const bool whole = count == variables_.count();
  const BudgetedVector<float> kernel = kernel_of_set(size);
  BudgetedVector<float> diagonal(room);
  BudgetedVector<double> gradients(room), values(room), low(room), high(room);
  BudgetedVector<double> up(room, kInfinity), down(room, -kInfinity);
  for (size_t i = 0; i < count; ++i) {
    const auto v = static_cast<size_t>(set_[i]);
    diagonal[i] = kernel[i * room + i];
    gradients[i] = gradient(v);
    values[i] = variables_.value[v];
    low[i] = variables_.low[v];
    high[i] = variables_.high[v];
    if (variables_.may_rise(v)) up[i] = 0;
    if (variables_.may_fall(v)) down[i] = 0;
  }
  const cpu::WorkingSet set{size,          kernel.data(), diagonal.data(), gradients.data(),
                            values.data(), low.data(),    high.data(),     up.data(),
                            down.data()};
  const double tolerance = whole ? options_.tolerance : std::max(options_.tolerance, 0.1 * gap);
  constexpr int64_t kSteps = 4096;
  for (bool more = true; more;) {
    const int64_t most = std::min(kSteps, left());
    const int64_t made = cpu::minimize(set, tolerance, most);
    steps_ += made;
    more = made == most && left() > 0;
    look_for_interrupt();
  }
  BudgetedVector<int64_t> moved;
  BudgetedVector<double> by;
  for (size_t i = 0; i < count; ++i) {
    const auto v = static_cast<size_t>(set_[i]);
    const double change = values[i] - variables_.value[v];
    if (change == 0) continue;
    moved.push_back(variables_.row[v]);
    by.push_back(change);
    variables_.value[v] = values[i];
  }
  if (whole)  // the sums are what the set has
    for (size_t i = 0; i < count; ++i) {
      const auto v = static_cast<size_t>(set_[i]);
      sums_[static_cast<size_t>(variables_.row[v])] = gradients[i] - variables_.linear[v];
    }
  else
    add_moved(moved, by);
  return !moved.empty();
}

void Solver::add_moved(const BudgetedVector<int64_t>& moved, const BudgetedVector<double>& by) {
  const auto count = static_cast<int64_t>(rows_.size());
  if (all_ == nullptr) {
    all_ = std::make_unique<KernelSide>(frame_, x_, rows_, KernelSide::kRight);
    cache_ = std::make_unique<RowCache>(count, options_.cache_bytes);
  }
  std::vector<float*> places;
  BudgetedVector<int64_t> missing, missing_rows, number(moved.size(), -1);
  for (size_t k = 0; k < moved.size(); ++k) {
    places.push_back(cache_->find(moved[k]));
    if (places.back() != nullptr) continue;
    number[k] = static_cast<int64_t>(missing.size());
    missing.push_back(moved[k]);
    missing_rows.push_back(rows_[static_cast<size_t>(moved[k])]);
  }
  const std::vector<float*> made = cache_->make_room(missing);
  const KernelSide left(frame_, x_, missing_rows, KernelSide::kLeft);
  parallel_for(all_->groups(), [&](int64_t block) {
    const int64_t begin = block * kKernelColumns, columns = all_->in_group(block);
    BudgetedVector<double> tile(missing.empty() ? 0 : kTile);
    BudgetedVector<float> spare(tile.size());
    const float* waiting[kKernelRows];
    int64_t num_waiting = 0, done = -1;
    size_t first = 0;
    const auto add = [&] {
      cpu::add_scaled_rows(waiting, by.data() + first, num_waiting, columns, sums_.data() + begin);
      first += static_cast<size_t>(num_waiting);
      num_waiting = 0;
    };
    for (size_t k = 0; k < moved.size(); ++k) {
      const int64_t group = number[k] / kKernelRows;
      if (number[k] >= 0 && group != done) {
        add();
        done = group;
        kernel_tile(frame_, x_, left, group, *all_, block, tile.data());
        for (int64_t r = 0; r < left.in_group(group); ++r) {
          float* to = made[static_cast<size_t>(group * kKernelRows + r)];
          cpu::round_values(tile.data() + r * kKernelColumns, columns,
                            to == nullptr ? spare.data() + r * kKernelColumns : to + begin);
        }
      }
      const float* row = places[k];
      if (number[k] >= 0) row = made[static_cast<size_t>(number[k])];
      waiting[num_waiting++] =
          row == nullptr ? spare.data() + number[k] % kKernelRows * kKernelColumns : row + begin;
      if (num_waiting == kKernelRows) add();
    }
    add();
  });
}

/// The mean gradient of values between their bounds, or the middle of what the others allow.
double Solver::offset() const {
  double sum = 0, lower = -kInfinity, upper = kInfinity;
  int64_t between = 0;
  for (size_t v = 0; v < variables_.count(); ++v) {
    const double own = gradient(v);
    if (!variables_.may_rise(v))
      lower = std::max(lower, own);
    else if (!variables_.may_fall(v))
      upper = std::min(upper, own);
    else
      sum += own, ++between;
  }
  return between > 0 ? sum / static_cast<double>(between) : (lower + upper) / 2;
}

/// Packed rows and what is known of each, and the kernel of a working set; tiles of it. The cache
/// takes what is left.
WorkingBytes working_bytes(const Tensor& x, size_t rows, size_t variables,
                           const SvmOptions& options) {
  const auto count = static_cast<int64_t>(rows), duals = static_cast<int64_t>(variables);
  const int64_t set = std::min(kWorkingSize, duals);
  const int64_t columns = options.kernel.kind == KernelKind::kPrecomputed ? 0 : x.shape()[1] + 1;
  const int64_t packed = duals <= kWorkingSize ? 2 * set * columns : (count + 2 * set) * columns;
  constexpr int64_t kWord = int64_t{sizeof(double)};
  return {(packed + 5 * duals + 2 * count) * kWord + set * set * int64_t{sizeof(float)},
          kTile * (kWord + int64_t{sizeof(float)})};
}

SvmSolution Solver::solve() {
  SvmSolution found;
  while (true) {
    const double gap = choose();
    if (!(gap > options_.tolerance)) break;
    if (left() <= 0 || !work(gap)) {
      found.converged = false;
      break;
    }
  }
  const auto count = static_cast<int64_t>(rows_.size());
  Buffer made = Buffer::allocate_zeroed(count * int64_t{sizeof(double)});
  auto* coefficients = made.mutable_as<double>();
  for (size_t v = 0; v < variables_.count(); ++v)
    coefficients[variables_.row[v]] += variables_.value[v];
  found.coefficients = Tensor(dtype_of<double>(), {count}, std::move(made));
  found.offset = offset();
  found.steps = steps_;
  return found;
}

void check_matrix(std::string_view op, const Tensor& x) {
  if (x.num_dimensions() != 2 || !x.dtype().is_floating())
    throw_error<TypeMismatchError>(
        op, "expected a 2-D float32 or float64 array",
        {{"dimensions", x.num_dimensions()}, {"dtype", x.dtype().name()}});
}

template <class T>
std::span<const T> vector_of(std::string_view op, std::string_view what, const Tensor& values,
                             int64_t count) {
  if (values.dtype() != dtype_of<T>() || values.num_elements() != count || !values.is_contiguous())
    throw_error<InvalidArgumentError>(op, "expected one value for each row",
                                      {{"of", what},
                                       {"dtype", values.dtype().name()},
                                       {"values", values.num_elements()},
                                       {"rows", count}});
  return {values.as<T>(), static_cast<size_t>(count)};
}

std::span<const int64_t> rows_of(std::string_view op, const Tensor& x, const Tensor& rows,
                                 const Kernel& kernel) {
  check_matrix(op, x);
  const int64_t count = rows.num_elements();
  const auto numbers = vector_of<int64_t>(op, "rows", rows, count);
  const bool square = kernel.kind != KernelKind::kPrecomputed || x.shape()[0] == x.shape()[1];
  if (count == 0 || x.shape()[1] == 0 || !square)
    throw_error<InvalidArgumentError>(
        op, "expected rows with columns, a square for a precomputed kernel",
        {{"rows", count}, {"of", x.shape()[0]}, {"columns", x.shape()[1]}});
  for (const int64_t row : numbers)
    if (row < 0 || row >= x.shape()[0])
      throw_error<InvalidArgumentError>(op, "no such row", {{"row", row}, {"rows", x.shape()[0]}});
  return numbers;
}

}  // namespace

KernelKind kernel_named(std::string_view name) {
  constexpr std::string_view kNames[] = {"linear", "poly", "rbf", "sigmoid", "precomputed"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames))
    throw_error<InvalidArgumentError>("svm", "no such kernel", {{"kernel", name}},
                                      "use linear, poly, rbf, sigmoid or precomputed");
  return static_cast<KernelKind>(found - std::begin(kNames));
}

SvmSolution svm_classes(const Tensor& x, const Tensor& rows, const Tensor& signs,
                        const Tensor& high, const SvmOptions& options) {
  constexpr std::string_view kOp = "svm_classes";
  const auto numbers = rows_of(kOp, x, rows, options.kernel);
  const auto count = static_cast<int64_t>(numbers.size());
  const auto sign = vector_of<double>(kOp, "signs", signs, count);
  const auto most = vector_of<double>(kOp, "high", high, count);
  const ScopedTag tag(kOp);
  const WorkingMemory working(working_bytes(x, numbers.size(), numbers.size(), options));
  Variables variables(numbers.size());
  for (size_t v = 0; v < numbers.size(); ++v) {
    variables.row[v] = static_cast<int64_t>(v);
    variables.linear[v] = -sign[v];
    variables.low[v] = sign[v] > 0 ? 0 : -most[v];
    variables.high[v] = sign[v] > 0 ? most[v] : 0;
  }
  return Solver(x, numbers, variables, options).solve();
}

SvmSolution svm_numbers(const Tensor& x, const Tensor& rows, const Tensor& targets,
                        const Tensor& high, double epsilon, const SvmOptions& options) {
  constexpr std::string_view kOp = "svm_numbers";
  const auto numbers = rows_of(kOp, x, rows, options.kernel);
  const auto count = static_cast<int64_t>(numbers.size());
  const auto target = vector_of<double>(kOp, "targets", targets, count);
  const auto most = vector_of<double>(kOp, "high", high, count);
  const ScopedTag tag(kOp);
  const WorkingMemory working(working_bytes(x, numbers.size(), 2 * numbers.size(), options));
  Variables variables(2 * numbers.size());
  for (size_t v = 0; v < numbers.size(); ++v) {
    const size_t below = numbers.size() + v;
    variables.row[v] = variables.row[below] = static_cast<int64_t>(v);
    variables.linear[v] = epsilon - target[v];
    variables.high[v] = most[v];
    variables.linear[below] = -epsilon - target[v];
    variables.low[below] = -most[v];
  }
  return Solver(x, numbers, variables, options).solve();
}

Tensor kernel_sums(const Tensor& support, const Tensor& weights, const Tensor& x,
                   const Kernel& kernel) {
  constexpr std::string_view kOp = "kernel_sums";
  for (const Tensor* matrix : {&support, &weights, &x}) check_matrix(kOp, *matrix);
  const int64_t terms = support.shape()[0], outputs = weights.shape()[0], rows = x.shape()[0];
  if (support.shape()[1] != x.shape()[1] || weights.shape()[1] != terms ||
      kernel.kind == KernelKind::kPrecomputed)
    throw_error<InvalidArgumentError>(kOp, "the sizes do not fit",
                                      {{"support rows", terms},
                                       {"weights", weights.shape()[1]},
                                       {"columns", x.shape()[1]},
                                       {"columns of support", support.shape()[1]}});
  const ScopedTag tag(kOp);
  const auto scales = vector_of<double>(kOp, "weights", weights, outputs * terms);
  Buffer made = Buffer::allocate_zeroed(
      checked_multiply(kOp, checked_multiply(kOp, rows, outputs), int64_t{sizeof(double)}));
  auto* out = made.mutable_as<double>();
  const BudgetedVector<int64_t> numbers = all_of(terms);
  const KernelFrame frame(kernel, support, numbers);
  const KernelSide left(frame, support, numbers, KernelSide::kLeft);
  parallel_for((rows + kKernelColumns - 1) / kKernelColumns, [&](int64_t task) {
    const int64_t begin = task * kKernelColumns, count = std::min(kKernelColumns, rows - begin);
    BudgetedVector<int64_t> queries = all_of(count);
    for (int64_t& query : queries) query += begin;
    const KernelSide right(frame, x, queries, KernelSide::kRight);
    BudgetedVector<double> tile(kTile), sums(static_cast<size_t>(outputs * kKernelColumns));
    const double* tile_rows[kKernelRows];
    for (int64_t r = 0; r < kKernelRows; ++r) tile_rows[r] = tile.data() + r * kKernelColumns;
    for (int64_t group = 0; group < left.groups(); ++group) {
      kernel_tile(frame, x, left, group, right, 0, tile.data());
      for (int64_t o = 0; o < outputs; ++o)
        cpu::add_scaled_rows(tile_rows, scales.data() + o * terms + group * kKernelRows,
                             left.in_group(group), count, sums.data() + o * kKernelColumns);
    }
    for (int64_t o = 0; o < outputs; ++o)
      for (int64_t i = 0; i < count; ++i)
        out[(begin + i) * outputs + o] = sums[static_cast<size_t>(o * kKernelColumns + i)];
  });
  return Tensor(dtype_of<double>(), {rows, outputs}, std::move(made));
}

}  // namespace hr
