// SPDX-License-Identifier: Apache-2.0
// Parts of the rows are tasks, and are joined in order; rows to be scored are tasks by themselves.
#include "headrace/learn/class_moments.h"

#include "headrace/algo/linalg/gram.h"
#include "headrace/algo/linalg/matrix_stack.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/exec/working_memory.h"
#include "headrace/learn/class_moments_kernels.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>
#include <utility>

namespace hr {
namespace {

constexpr int64_t kBlock = 256;
constexpr int64_t kMostScratch = int64_t{1} << 23;  // numbers in the moments of all parts

void check_doubles(std::string_view op, const Tensor& values, const Shape& shape) {
  if (values.dtype() != dtype_of<double>() || !values.is_contiguous())
    throw_error<TypeMismatchError>(op, "expected contiguous float64",
                                   {{"dtype", values.dtype().name()}});
  if (values.shape() != shape)
    throw_error<InvalidArgumentError>(
        op, "sizes do not fit", {{"elements", values.num_elements()}, {"rows", shape.front()}});
}

void check_codes(std::string_view op, const Tensor& codes, int64_t rows, int64_t classes) {
  if (codes.dtype() != dtype_of<int64_t>() || !codes.is_contiguous())
    throw_error<TypeMismatchError>(op, "expected codes in contiguous int64",
                                   {{"dtype", codes.dtype().name()}});
  if (codes.num_elements() != rows)
    throw_error<InvalidArgumentError>(op, "expected a code for each row",
                                      {{"codes", codes.num_elements()}, {"rows", rows}});
  const auto* const first = codes.as<int64_t>();
  const auto* const wrong =
      std::find_if(first, first + rows, [&](int64_t code) { return code < 0 || code >= classes; });
  if (wrong != first + rows)
    throw_error<InvalidArgumentError>(
        op, "there is no such class",
        {{"row", wrong - first}, {"code", *wrong}, {"classes", classes}});
}

Tensor tensor_of(const double* from, Shape shape) {
  Buffer buffer = doubles(num_elements(shape));
  std::copy_n(from, num_elements(shape), buffer.mutable_as<double>());
  return Tensor(TypeId::kFloat64, std::move(shape), std::move(buffer));
}

}  // namespace

ClassMoments class_moments(const Tensor& x, const Tensor& codes, const Tensor& weights,
                           int64_t classes) {
  const ScopedTag tag("class_moments");
  const RowTiles tiles(x);
  const int64_t rows = tiles.rows(), columns = tiles.columns();
  check_codes("class_moments", codes, rows, classes);
  const bool weighted = weights.num_elements() > 0;
  if (weighted) check_doubles("class_moments", weights, {rows});
  const int64_t size = checked_multiply("class_moments", classes, columns),
                each = classes + 2 * size;
  const int64_t most = std::clamp<int64_t>(kMostScratch / std::max<int64_t>(each, 1), 1, 64);
  const int64_t part_rows = std::max(gram_part_rows(rows), (rows + most - 1) / most);
  const int64_t parts = std::max<int64_t>((rows + part_rows - 1) / part_rows, 1);
  constexpr int64_t kDouble = static_cast<int64_t>(sizeof(double));
  const WorkingMemory working({parts * each * kDouble, kBlock * columns * kDouble});
  Buffer room = doubles(checked_multiply("class_moments", parts, each));
  auto* const all = room.mutable_as<double>();
  std::fill_n(all, parts * each, 0.0);
  const auto sums_of = [&](int64_t part) {
    double* const at = all + part * each;
    return cpu::MomentSums{at, at + classes, at + classes + size};
  };
  parallel_for(parts, [&](int64_t part) {
    cpu::BlockMoments block(classes, columns, kBlock);
    Buffer tile = doubles(kBlock * columns);
    auto* const values = tile.mutable_as<double>();
    const int64_t end = std::min(rows, (part + 1) * part_rows);
    for (int64_t row = part * part_rows; row < end; row += kBlock) {
      const int64_t count = std::min(kBlock, end - row);
      tiles.read(row, count, TileForm::kRows, nullptr, nullptr, values);
      block.add(values, codes.as<int64_t>() + row, weighted ? weights.as<double>() + row : nullptr,
                count, sums_of(part));
    }
  });
  const cpu::MomentSums made = sums_of(0);
  for (int64_t part = 1; part < parts; ++part)
    for (int64_t c = 0; c < classes; ++c)
      cpu::join_moments(columns, sums_of(part).of_class(c, columns), made.of_class(c, columns));
  return {tensor_of(made.weight, {classes}), tensor_of(made.sum, {classes, columns}),
          tensor_of(made.squares, {classes, columns})};
}

ClassSums class_sums(const Sparse& x, const Tensor& codes, const Tensor& weights, int64_t classes) {
  const ScopedTag tag("class_sums");
  const int64_t rows = x.rows(), columns = x.columns();
  check_codes("class_sums", codes, rows, classes);
  const bool weighted = weights.num_elements() > 0;
  if (weighted) check_doubles("class_sums", weights, {rows});
  const WorkingMemory working({(rows + classes * (columns + 1)) * 8, 0});
  // The rows by class, each class in order.
  BudgetedVector<int64_t> ends(static_cast<size_t>(classes) + 1), order(static_cast<size_t>(rows));
  const auto end_of = [&](int64_t c) -> int64_t& { return ends[static_cast<size_t>(c)]; };
  const auto* const code = codes.as<int64_t>();
  for (int64_t i = 0; i < rows; ++i) ++end_of(code[i] + 1);
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  for (int64_t i = 0; i < rows; ++i) order[static_cast<size_t>(end_of(code[i])++)] = i;
  Buffer weight = doubles(classes),
         sums = doubles(checked_multiply("class_sums", classes, columns));
  auto* const out = sums.mutable_as<double>();
  std::fill_n(out, classes * columns, 0.0);
  parallel_for(classes, [&](int64_t c) {
    const int64_t begin = c == 0 ? 0 : end_of(c - 1);
    const std::span<const int64_t> mine(order.data() + begin,
                                        static_cast<size_t>(end_of(c) - begin));
    const auto* const given = weighted ? weights.as<double>() : nullptr;
    cpu::add_sparse_rows(x, mine, given, out + c * columns);
    double total = 0;
    for (const int64_t row : mine) total += weighted ? given[row] : 1.0;
    weight.mutable_as<double>()[c] = total;
  });
  return {Tensor(TypeId::kFloat64, {classes}, std::move(weight)),
          Tensor(TypeId::kFloat64, {classes, columns}, std::move(sums))};
}

GaussianTerms gaussian_terms(const Tensor& variance, const Tensor& prior) {
  check_doubles("gaussian_scores", prior, {prior.num_elements()});
  const int64_t classes = prior.num_elements();
  const int64_t columns = variance.num_dimensions() == 2 ? variance.shape()[1] : 0;
  check_doubles("gaussian_scores", variance, {classes, columns});
  Buffer scale = doubles(classes * columns), constant = doubles(classes);
  auto* const scales = scale.mutable_as<double>();
  const auto* const given = variance.as<double>();
  for (int64_t c = 0; c < classes; ++c) {
    double logs = 0;
    for (int64_t j = c * columns; j < (c + 1) * columns; ++j) {
      scales[j] = 0.5 / given[j];
      logs += std::log(2 * std::numbers::pi * given[j]);
    }
    constant.mutable_as<double>()[c] = std::log(prior.as<double>()[c]) - 0.5 * logs;
  }
  return {Tensor(TypeId::kFloat64, variance.shape(), std::move(scale)),
          Tensor(TypeId::kFloat64, {classes}, std::move(constant))};
}

Tensor gaussian_scores(const Tensor& x, const Tensor& mean, const Tensor& scale,
                       const Tensor& constant) {
  const ScopedTag tag("gaussian_scores");
  const RowTiles tiles(x);
  const int64_t rows = tiles.rows(), columns = tiles.columns(), classes = constant.num_elements();
  check_doubles("gaussian_scores", constant, {classes});
  check_doubles("gaussian_scores", mean, {classes, columns});
  check_doubles("gaussian_scores", scale, {classes, columns});
  Buffer made = doubles(checked_multiply("gaussian_scores", rows, classes));
  auto* const out = made.mutable_as<double>();
  parallel_for((rows + kBlock - 1) / kBlock, [&](int64_t task) {
    const int64_t row = task * kBlock, count = std::min(kBlock, rows - row);
    Buffer room = doubles(count * (columns + 1));
    auto* const scores = room.mutable_as<double>();
    double* const points = scores + count;
    tiles.read(row, count, TileForm::kPoints, nullptr, nullptr, points);
    for (int64_t c = 0; c < classes; ++c) {
      std::fill_n(scores, count, constant.as<double>()[c]);
      cpu::subtract_distances(points, count, columns, mean.as<double>() + c * columns,
                              scale.as<double>() + c * columns, scores);
      for (int64_t i = 0; i < count; ++i) out[(row + i) * classes + c] = scores[i];
    }
  });
  return Tensor(TypeId::kFloat64, {rows, classes}, std::move(made));
}

}  // namespace hr
