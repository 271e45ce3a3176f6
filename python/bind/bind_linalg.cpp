// SPDX-License-Identifier: Apache-2.0
// Linear algebra: products are lazy, the rest runs at the call.
#include "python/bind/bind.h"

#include "headrace/algo/linalg/cholesky.h"
#include "headrace/algo/linalg/eigh.h"
#include "headrace/algo/linalg/lu.h"
#include "headrace/algo/linalg/qr.h"
#include "headrace/algo/linalg/svd.h"
#include "headrace/tensor/linalg_nodes.h"

#include <span>

namespace {

using hr::NodePtr;
using hr::Tensor;
using Tensors = std::vector<Tensor>;

using WhyNoKernel = std::function<std::string(std::span<const Tensor>)>;

/// One tensor of one.
NodePtr made_of(std::string_view op, const NodePtr& a, Tensor (*function)(const Tensor&),
                const WhyNoKernel& why_no_kernel = {}) {
  return hr::run_linalg(
             op, {a}, [&](std::span<const Tensor> x) { return Tensors{function(x[0])}; },
             why_no_kernel)
      .front();
}

std::string why_no_lu(std::span<const Tensor> x) {
  return hr::why_no_lu_kernel(x[0]);
}

std::vector<NodePtr> qr(const NodePtr& a, std::string_view mode) {
  return hr::run_linalg("qr", {a}, [&](std::span<const Tensor> x) {
    if (mode == "r") return Tensors{hr::qr(x[0], hr::QrMode::kR).r};
    const hr::Qr made =
        hr::qr(x[0], mode == "complete" ? hr::QrMode::kComplete : hr::QrMode::kReduced);
    return Tensors{made.q, made.r};
  });
}

std::vector<NodePtr> svd(const NodePtr& a, bool full_matrices, bool compute_uv) {
  return hr::run_linalg("svd", {a}, [&](std::span<const Tensor> x) {
    if (!compute_uv) return Tensors{hr::svd(x[0], hr::SvdVectors::kNone).s};
    const hr::Svd made =
        hr::svd(x[0], full_matrices ? hr::SvdVectors::kFull : hr::SvdVectors::kReduced);
    return Tensors{made.u, made.s, made.vh};
  });
}

std::tuple<std::vector<NodePtr>, int64_t> lstsq(const NodePtr& a, const NodePtr& b, double cutoff) {
  int64_t rank = 0;
  std::vector<NodePtr> made = hr::run_linalg("lstsq", {a, b}, [&](std::span<const Tensor> x) {
    const hr::Lstsq found = hr::lstsq(x[0], x[1], cutoff);
    rank = found.rank;
    return Tensors{found.x, found.residuals, found.s};
  });
  return {std::move(made), rank};
}

}  // namespace

void bind_linalg(nb::module_& m) {
  m.def(
      "matmul",
      [](const NodePtr& a, const NodePtr& b, std::string_view dtype) {
        return hr::matmul(a, b, hr::dtype_from_name(dtype));
      },
      "a"_a, "b"_a, "dtype"_a, Unlocked());
  m.def(
      "cholesky", [](const NodePtr& a) { return made_of("cholesky", a, hr::cholesky); }, "a"_a,
      Unlocked());
  m.def(
      "inv", [](const NodePtr& a) { return made_of("inv", a, hr::inv, why_no_lu); }, "a"_a,
      Unlocked());
  m.def(
      "det", [](const NodePtr& a) { return made_of("det", a, hr::det, why_no_lu); }, "a"_a,
      Unlocked());
  m.def(
      "slogdet",
      [](const NodePtr& a) {
        return hr::run_linalg(
            "slogdet", {a},
            [](std::span<const Tensor> x) {
              const hr::Slogdet made = hr::slogdet(x[0]);
              return Tensors{made.sign, made.logabsdet};
            },
            why_no_lu);
      },
      "a"_a, Unlocked());
  m.def(
      "solve",
      [](const NodePtr& a, const NodePtr& b) {
        return hr::run_linalg(
                   "solve", {a, b},
                   [](std::span<const Tensor> x) { return Tensors{hr::solve(x[0], x[1])}; },
                   [](std::span<const Tensor> x) { return hr::why_no_solve_kernel(x[0], x[1]); })
            .front();
      },
      "a"_a, "b"_a, Unlocked());
  m.def(
      "eigh",
      [](const NodePtr& a, bool with_vectors) {
        return hr::run_linalg("eigh", {a}, [&](std::span<const Tensor> x) {
          const hr::Eigh made = hr::eigh(x[0], with_vectors);
          return with_vectors ? Tensors{made.values, made.vectors} : Tensors{made.values};
        });
      },
      "a"_a, "with_vectors"_a, Unlocked());
  m.def("qr", qr, "a"_a, "mode"_a, Unlocked());
  m.def("svd", svd, "a"_a, "full_matrices"_a, "compute_uv"_a, Unlocked());
  m.def("lstsq", lstsq, "a"_a, "b"_a, "cutoff"_a, Unlocked());
}
