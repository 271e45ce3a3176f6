// SPDX-License-Identifier: Apache-2.0
// Naive Bayes: all of it evaluates its data.
#include "python/bind/bind.h"

#include "headrace/algo/sparse/sparse_entries.h"
#include "headrace/learn/class_moments.h"
#include "headrace/learn/eager.h"

namespace {

using hr::NodePtr;
using hr::Tensor;
using Tensors = std::vector<Tensor>;

// Weight, sum and squared deviations of each class.
std::vector<NodePtr> class_moments(const NodePtr& x, const NodePtr& codes, const NodePtr& weights,
                                   int64_t classes) {
  return hr::run_eagerly("class_moments", {x, codes, weights}, [&](std::span<const Tensor> in) {
    const hr::ClassMoments found = hr::class_moments(in[0], in[1], in[2], classes);
    return Tensors{found.weight, found.sum, found.squares};
  });
}

// Weight and sum of each class.
std::vector<NodePtr> class_sums(const hr::Sparse& x, const NodePtr& codes, const NodePtr& weights,
                                int64_t classes) {
  hr::check_shared(x);
  return hr::run_eagerly("class_sums", {codes, weights}, [&](std::span<const Tensor> in) {
    const hr::ClassSums found = hr::class_sums(x, in[0], in[1], classes);
    return Tensors{found.weight, found.sum};
  });
}

NodePtr gaussian_scores(const NodePtr& x, const NodePtr& mean, const NodePtr& variance,
                        const NodePtr& prior) {
  return hr::run_eagerly(
      "gaussian_scores", {x, mean, variance, prior}, [](std::span<const Tensor> in) {
        const hr::GaussianTerms terms = hr::gaussian_terms(in[2], in[3]);
        return Tensors{hr::gaussian_scores(in[0], in[1], terms.scale, terms.constant)};
      })[0];
}

}  // namespace

void bind_bayes(nb::module_& m) {
  m.def("class_moments", class_moments, "x"_a, "codes"_a, "weights"_a, "classes"_a, Unlocked());
  m.def("class_sums", class_sums, "x"_a, "codes"_a, "weights"_a, "classes"_a, Unlocked());
  m.def("gaussian_scores", gaussian_scores, "x"_a, "mean"_a, "variance"_a, "prior"_a, Unlocked());
}
