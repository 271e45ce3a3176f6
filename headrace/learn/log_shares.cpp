// SPDX-License-Identifier: Apache-2.0
// Blocks of rows, class by class, with the exponentials of the plan.
#include "headrace/learn/log_shares.h"

#include "headrace/algo/math/vmath.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <cmath>

namespace hr {
namespace {

constexpr int64_t kRows = 256;        // of a block
constexpr int64_t kTaskRows = 16384;  // of a task

template <class T>
void apply(VectorFunction function, T* values, int64_t count) {
  if constexpr (std::is_same_v<T, double>)
    unary_function64(function)(values, values, count);
  else
    unary_function32(function)(values, values, count);
}

/// A view of scores in memory.
template <class T>
struct Scores {
  const T* data;
  int64_t classes;
  int64_t row_stride;
  int64_t column_stride;

  T operator()(int64_t i, int64_t k) const { return data[i * row_stride + k * column_stride]; }
};

/// Of two classes: -(max(z, 0) + log1p(exp(-|z|))) of the score z and of -z.
template <class T>
void two_shares(const Scores<T>& scores, int64_t begin, int64_t count, T* out) {
  T rest[kRows];
  for (int64_t i = 0; i < count; ++i) rest[i] = -std::fabs(scores(begin + i, 0));
  apply(VectorFunction::kExp, rest, count);
  apply(VectorFunction::kLog1p, rest, count);
  for (int64_t i = 0; i < count; ++i) {
    const T z = scores(begin + i, 0);
    out[2 * i] = -((z > 0 ? z : T{0}) + rest[i]);
    out[2 * i + 1] = -((z < 0 ? -z : T{0}) + rest[i]);
  }
}

template <class T>
void shares(const Scores<T>& scores, int64_t begin, int64_t count, T* out) {
  T most[kRows], total[kRows], power[kRows];
  const int64_t classes = scores.classes;
  for (int64_t i = 0; i < count; ++i) most[i] = scores(begin + i, 0);
  for (int64_t k = 1; k < classes; ++k)
    for (int64_t i = 0; i < count; ++i) {
      const T score = scores(begin + i, k);
      most[i] = most[i] >= score || std::isnan(most[i]) ? most[i] : score;
    }
  for (int64_t k = 0; k < classes; ++k) {
    for (int64_t i = 0; i < count; ++i) {
      const T less = scores(begin + i, k) - most[i];
      power[i] = less;
      out[i * classes + k] = less;
    }
    apply(VectorFunction::kExp, power, count);
    for (int64_t i = 0; i < count; ++i) total[i] = k == 0 ? power[i] : total[i] + power[i];
  }
  apply(VectorFunction::kLog, total, count);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < classes; ++k) out[i * classes + k] -= total[i];
}

template <class T>
Tensor log_shares_of(const Tensor& x) {
  const bool two = x.num_dimensions() == 1;
  const Scores<T> scores{x.as<T>(), two ? 2 : x.shape()[1], x.strides()[0],
                         two ? 0 : x.strides()[1]};
  const int64_t rows = x.shape()[0], classes = scores.classes;
  Buffer made = Buffer::allocate(checked_multiply("log_shares", rows, classes) *
                                 static_cast<int64_t>(sizeof(T)));
  T* const out = made.mutable_as<T>();
  parallel_for((rows + kTaskRows - 1) / kTaskRows, [&](int64_t task) {
    const int64_t end = std::min(rows, (task + 1) * kTaskRows);
    for (int64_t i = task * kTaskRows; i < end && classes > 0; i += kRows)
      (two ? two_shares<T> : shares<T>)(scores, i, std::min(kRows, end - i), out + i * classes);
  });
  return Tensor(x.dtype(), {rows, classes}, std::move(made));
}

void check_scores(const Dtype& dtype, size_t dimensions) {
  if (!dtype.is_floating() || dimensions < 1 || dimensions > 2)
    throw_error<TypeMismatchError>("log_shares",
                                   "expected float32 or float64 scores [rows] or [rows, classes]",
                                   {{"dimensions", dimensions}, {"dtype", dtype.name()}});
}

struct LogShares final : OperatorOf<LogShares> {
  std::string_view name() const override { return "log_shares"; }

  Value execute(std::span<const Value> inputs) const override {
    return log_shares(std::get<Tensor>(inputs[0]));
  }
};

}  // namespace

Tensor log_shares(const Tensor& scores) {
  check_scores(scores.dtype(), scores.shape().size());
  const ScopedTag tag("log_shares");
  return scores.dtype() == dtype_of<double>() ? log_shares_of<double>(scores)
                                              : log_shares_of<float>(scores);
}

NodePtr log_shares(const NodePtr& scores) {
  const Signature& from = scores->signature();
  check_scores(from.dtype, from.shape.size());
  const int64_t classes = from.shape.size() == 1 ? 2 : from.shape[1];
  return apply_operator(LogShares::make(),
                        array_signature(from.dtype, {from.shape[0], classes}, from.domain),
                        {scores});
}

}  // namespace hr
