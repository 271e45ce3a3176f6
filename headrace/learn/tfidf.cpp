// SPDX-License-Identifier: Apache-2.0
// One pass over the rows.
#include "headrace/learn/tfidf.h"

#include "headrace/algo/math/vmath.h"
#include "headrace/algo/sparse/sparse_entries.h"
#include "headrace/base/error.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace hr {
namespace {

template <class Number>
double norm_of(const Number* values, int64_t count, RowNorm norm) {
  double sum = 0.0;
  for (int64_t k = 0; k < count; ++k) {
    const double value = std::abs(static_cast<double>(values[k]));
    if (norm == RowNorm::kMax)
      sum = std::max(sum, value);
    else
      sum += norm == RowNorm::kL1 ? value : value * value;
  }
  return norm == RowNorm::kL2 ? std::sqrt(sum) : sum;
}

template <class Number>
void logarithms(const Number* from, Number* to, int64_t count) {
  if constexpr (std::is_same_v<Number, float>)
    unary_function32(VectorFunction::kLog)(from, to, count);
  else
    unary_function64(VectorFunction::kLog)(from, to, count);
  for (int64_t k = 0; k < count; ++k) to[k] += Number{1};
}

}  // namespace

RowNorm row_norm_from_name(std::string_view name) {
  if (name == "l1") return RowNorm::kL1;
  if (name == "l2") return RowNorm::kL2;
  if (name == "max") return RowNorm::kMax;
  throw_error<InvalidArgumentError>("tfidf", "no such norm", {{"norm", name}},
                                    "use 'l1', 'l2', 'max' or None");
}

Sparse weigh_terms(const Sparse& counts, bool sublinear, const std::optional<Tensor>& weights,
                   RowNorm norm) {
  const ScopedTag tag("tfidf");
  if (weights && (weights->num_elements() != counts.columns() || !weights->is_contiguous()))
    throw_error<InvalidArgumentError>(
        "tfidf", "the number of columns differs from the weights",
        {{"columns", counts.columns()}, {"weights", weights->num_elements()}});
  if (!counts.dtype().is_floating() || (weights && weights->dtype() != counts.dtype()))
    throw_error<TypeMismatchError>("tfidf", "counts and weights must be floats of one dtype",
                                   {{"dtype", counts.dtype().name()}});
  Sparse result;
  visit_entries(counts, [&]<class Index, class Number>(Index, Number) {
    if constexpr (std::is_floating_point_v<Number>) {
      const int64_t all = counts.data().num_elements();
      Buffer made = Buffer::allocate(all * static_cast<int64_t>(sizeof(Number)));
      auto* out = all == 0 ? nullptr : made.template mutable_as<Number>();
      const auto* index = counts.indices().as<Index>();
      const auto* from = counts.data().as<Number>();
      const auto* weight = weights ? weights->as<Number>() : nullptr;
      for_row_ranges(counts, [&](RowRange rows) {
        const int64_t first = counts.row_begin(rows.begin), last = counts.row_begin(rows.end);
        if (sublinear)
          logarithms(from + first, out + first, last - first);
        else
          std::copy(from + first, from + last, out + first);
        for (int64_t k = first; weight && k < last; ++k) out[k] *= weight[index[k]];
        for (int64_t row = rows.begin; norm != RowNorm::kNone && row < rows.end; ++row) {
          Number* values = out + counts.row_begin(row);
          const int64_t count = counts.row_begin(row + 1) - counts.row_begin(row);
          const auto length = static_cast<Number>(norm_of(values, count, norm));
          for (int64_t k = 0; length != 0 && k < count; ++k) values[k] /= length;
        }
      });
      result = counts.with_data(Tensor(counts.dtype(), {all}, std::move(made)));
    }
  });
  return result;
}

}  // namespace hr
