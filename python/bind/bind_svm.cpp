// SPDX-License-Identifier: Apache-2.0
// Support vector machines: all of it evaluates its data.
#include "python/bind/bind.h"

#include "headrace/learn/eager.h"
#include "headrace/learn/svm.h"

namespace {

using hr::NodePtr;
using hr::Tensor;
using Tensors = std::vector<Tensor>;
using Solution = std::tuple<NodePtr, double, int64_t, bool>;

// The kernel's name, gamma, coef0 and degree.
using KernelWords = std::tuple<std::string, double, double, int64_t>;

hr::Kernel kernel_of(const KernelWords& words) {
  const auto& [name, gamma, coef0, degree] = words;
  return {hr::kernel_named(name), gamma, coef0, degree};
}

template <class F>
Solution solved(std::string_view op, const std::vector<NodePtr>& nodes, F&& work) {
  hr::SvmSolution found;
  const std::vector<NodePtr> made = hr::run_eagerly(op, nodes, [&](std::span<const Tensor> in) {
    found = work(in);
    return Tensors{found.coefficients};
  });
  return {made[0], found.offset, found.steps, found.converged};
}

// Coefficients, offset, steps and whether it converged.
Solution svm_classes(const NodePtr& x, const NodePtr& rows, const NodePtr& signs,
                     const NodePtr& high, const KernelWords& kernel, double tolerance,
                     int64_t max_steps, int64_t cache_bytes) {
  const hr::SvmOptions options{kernel_of(kernel), tolerance, max_steps, cache_bytes};
  return solved("svm_classes", {x, rows, signs, high}, [&](std::span<const Tensor> in) {
    return hr::svm_classes(in[0], in[1], in[2], in[3], options);
  });
}

Solution svm_numbers(const NodePtr& x, const NodePtr& rows, const NodePtr& targets,
                     const NodePtr& high, double epsilon, const KernelWords& kernel,
                     double tolerance, int64_t max_steps, int64_t cache_bytes) {
  const hr::SvmOptions options{kernel_of(kernel), tolerance, max_steps, cache_bytes};
  return solved("svm_numbers", {x, rows, targets, high}, [&](std::span<const Tensor> in) {
    return hr::svm_numbers(in[0], in[1], in[2], in[3], epsilon, options);
  });
}

NodePtr kernel_sums(const NodePtr& support, const NodePtr& weights, const NodePtr& x,
                    const KernelWords& kernel) {
  return hr::run_eagerly("kernel_sums", {support, weights, x}, [&](std::span<const Tensor> in) {
    return Tensors{hr::kernel_sums(in[0], in[1], in[2], kernel_of(kernel))};
  })[0];
}

}  // namespace

void bind_svm(nb::module_& m) {
  m.def("svm_classes", svm_classes, "x"_a, "rows"_a, "signs"_a, "high"_a, "kernel"_a, "tolerance"_a,
        "max_steps"_a, "cache_bytes"_a, Unlocked());
  m.def("svm_numbers", svm_numbers, "x"_a, "rows"_a, "targets"_a, "high"_a, "epsilon"_a, "kernel"_a,
        "tolerance"_a, "max_steps"_a, "cache_bytes"_a, Unlocked());
  m.def("kernel_sums", kernel_sums, "support"_a, "weights"_a, "x"_a, "kernel"_a, Unlocked());
}
