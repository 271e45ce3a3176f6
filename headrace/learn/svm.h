// SPDX-License-Identifier: Apache-2.0
// Support vector machines: the dual of classes and of numbers, and sums of kernels.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <string_view>

namespace hr {

enum class KernelKind : uint8_t { kLinear, kPolynomial, kRbf, kSigmoid, kPrecomputed };

/// "linear", "poly", "rbf", "sigmoid" or "precomputed"; InvalidArgumentError for others.
HR_API KernelKind kernel_named(std::string_view name);

/// What two rows x and y have in common: x y, (gamma x y + coef0)^degree, exp(-gamma |x - y|^2),
/// tanh(gamma x y + coef0), or the number that stands at their place.
struct Kernel {
  KernelKind kind = KernelKind::kRbf;
  double gamma = 1;
  double coef0 = 0;
  int64_t degree = 3;
};

struct SvmOptions {
  Kernel kernel;
  double tolerance = 1e-3;
  int64_t max_steps = -1;  ///< -1: no limit
  int64_t cache_bytes = 0;
};

/// The minimum of b K b / 2 + c b over b of sum 0.
struct SvmSolution {
  Tensor coefficients;  ///< float64, of each row: b, for numbers the sum of its two
  double offset = 0;    ///< what a sum of kernels is less by: minus the intercept
  int64_t steps = 0;
  bool converged = true;
};

// Working sets of 1,024 by violation, then row (Z. Wen et al., "ThunderSVM: a fast SVM library on
// GPUs and CPUs", JMLR 2018), in them pairs of second order (R.-E. Fan, P.-H. Chen, C.-J. Lin,
// "Working set selection using second order information", JMLR 2005). Values of kernels are
// computed in float64 and kept in float32, as in LIBSVM; sums are float64, each in the order of its
// working set: the same bits for any number of threads and bytes of the cache. Takes a packed
// float64 copy of the rows, 4 MiB for the kernel of a working set, and at most `cache_bytes` and
// half of what the budget leaves for rows of kernels.
//
// `x` is float32 or float64, [samples, features], for kPrecomputed [samples, samples]; `rows`
// (int64) says which of its rows take part, `high` (float64) for each of them the largest |b|. All
// throw TypeMismatchError for other dtypes and InvalidArgumentError for sizes or rows that do not
// fit.

/// Two classes: b has the sign of `signs` (float64, 1 or -1), and c is its opposite.
HR_API SvmSolution svm_classes(const Tensor& x, const Tensor& rows, const Tensor& signs,
                               const Tensor& high, const SvmOptions& options);

/// Numbers: `targets` (float64) are met within `epsilon` for free.
HR_API SvmSolution svm_numbers(const Tensor& x, const Tensor& rows, const Tensor& targets,
                               const Tensor& high, double epsilon, const SvmOptions& options);

/// For each row of `x` the sums over `support` of the kernel by each row of `weights`
/// ([outputs, support rows], float64): float64 [rows, outputs], in the order of the support rows.
/// Not for kPrecomputed, whose sums are a matmul.
HR_API Tensor kernel_sums(const Tensor& support, const Tensor& weights, const Tensor& x,
                          const Kernel& kernel);

}  // namespace hr
