// SPDX-License-Identifier: Apache-2.0
// Linear models: their fits evaluate their data.
#include "python/bind/bind.h"

#include "headrace/algo/linalg/column_statistics.h"
#include "headrace/algo/linalg/gram.h"
#include "headrace/algo/sparse/sparse_entries.h"
#include "headrace/learn/dual_margin.h"
#include "headrace/learn/eager.h"
#include "headrace/learn/elastic_net.h"
#include "headrace/learn/linear_loss.h"
#include "headrace/learn/nodes.h"

#include <utility>

namespace {

using hr::NodePtr;
using hr::Sparse;
using hr::Tensor;
using Tensors = std::vector<Tensor>;

hr::LinearLoss loss_of(const std::string& word) {
  return word == "logistic"        ? hr::LinearLoss::kLogistic
         : word == "multinomial"   ? hr::LinearLoss::kMultinomial
         : word == "squared_hinge" ? hr::LinearLoss::kSquaredHinge
                                   : hr::LinearLoss::kSquaredDistance;
}

hr::LinearProblem linear_problem(const std::string& loss, int64_t outputs, double l1, double l2,
                                 double epsilon, bool intercept, double intercept_scaling,
                                 double tolerance, int64_t most) {
  hr::LinearProblem made;
  made.loss = loss_of(loss);
  made.outputs = outputs;
  made.l1 = l1;
  made.l2 = l2;
  made.epsilon = epsilon;
  made.intercept = intercept;
  made.intercept_scaling = intercept_scaling;
  made.tolerance = tolerance;
  made.most = most;
  return made;
}

// Coefficients, scales of the columns, iterations, the largest gradient and whether it converged.
using Fitted = std::tuple<NodePtr, NodePtr, int64_t, double, bool>;

Fitted fitted(const std::vector<NodePtr>& made, const hr::LinearFit& found) {
  return {made[0], made[1], found.iterations, found.gradient, found.converged};
}

Fitted fit_linear(const NodePtr& x, const NodePtr& targets, const NodePtr& weights,
                  const NodePtr& start, const hr::LinearProblem& problem) {
  hr::LinearFit found;
  const auto limits = [&](std::span<const hr::Value> in) {
    const auto part = [&](size_t place) { return std::get<Tensor>(in[place]); };
    return hr::why_no_linear_kernel(part(0), part(1), part(2), problem.outputs);
  };
  const Tensor from = std::get<Tensor>(hr::to_place(hr::force(start), hr::host));
  return fitted(hr::run_beside("fit_linear", {x, targets, weights}, 0, limits,
                               [&](std::span<const Tensor> in) {
                                 found = hr::fit_linear(in[0], in[1], in[2], from, problem);
                                 return Tensors{found.coefficients, found.scales};
                               }),
                found);
}

Fitted fit_linear_sparse(const Sparse& x, const NodePtr& targets, const NodePtr& weights,
                         const NodePtr& start, const hr::LinearProblem& problem) {
  hr::check_shared(x);
  hr::LinearFit found;
  return fitted(hr::run_eagerly("fit_linear", {targets, weights, start},
                                [&](std::span<const Tensor> in) {
                                  found = hr::fit_linear(x, in[0], in[1], in[2], problem);
                                  return Tensors{found.coefficients, found.scales};
                                }),
                found);
}

// Coefficients, rounds, the largest violation and whether it converged.
using Dual = std::tuple<NodePtr, int64_t, double, bool>;

template <class F>
Dual fit_by_dual(const std::vector<NodePtr>& nodes, F of) {
  hr::DualFit found;
  const std::vector<NodePtr> made =
      hr::run_eagerly("fit_dual", nodes, [&](std::span<const Tensor> in) {
        found = of(in);
        return Tensors{found.coefficients};
      });
  return {made[0], found.iterations, found.violation, found.converged};
}

Dual fit_dual(const NodePtr& x, const NodePtr& targets, const NodePtr& costs,
              const hr::DualProblem& problem) {
  return fit_by_dual({x, targets, costs}, [&](std::span<const Tensor> in) {
    return hr::fit_dual(in[0], in[1], in[2], problem);
  });
}

Dual fit_dual_sparse(const Sparse& x, const NodePtr& targets, const NodePtr& costs,
                     const hr::DualProblem& problem) {
  hr::check_shared(x);
  return fit_by_dual({targets, costs}, [&](std::span<const Tensor> in) {
    return hr::fit_dual(x, in[0], in[1], problem);
  });
}

// The gradient and the loss.
using Gradient = std::tuple<NodePtr, double>;

template <class F>
Gradient gradient(std::vector<NodePtr> nodes, F of) {
  double loss = 0;
  const std::vector<NodePtr> made =
      hr::run_eagerly("fit_linear", nodes, [&](std::span<const Tensor> in) {
        hr::LinearGradient found = of(in);
        loss = found.loss;
        return Tensors{std::move(found.gradient)};
      });
  return {made[0], loss};
}

Gradient linear_gradient(const NodePtr& x, const NodePtr& targets, const NodePtr& weights,
                         const NodePtr& coefficients, const std::string& loss) {
  return gradient({x, targets, weights, coefficients}, [&](std::span<const Tensor> in) {
    return hr::linear_gradient(in[0], in[1], in[2], in[3], loss_of(loss));
  });
}

Gradient linear_gradient_sparse(const Sparse& x, const NodePtr& targets, const NodePtr& weights,
                                const NodePtr& coefficients, const std::string& loss) {
  hr::check_shared(x);
  return gradient({targets, weights, coefficients}, [&](std::span<const Tensor> in) {
    return hr::linear_gradient(x, in[0], in[1], in[2], loss_of(loss));
  });
}

// ---- least squares by coordinates
// ------------------------------------------------------------------
const double* numbers_of(const Tensor& values) {
  return values.num_elements() == 0 ? nullptr : values.as<double>();
}

/// Runs `of(rows, arrays)`, one array, over dense or sparse rows.
template <class F>
NodePtr over_rows(const NodePtr& x, std::vector<NodePtr> nodes, F of) {
  nodes.push_back(x);
  const auto no_kernel = [](std::span<const hr::Value>) { return hr::kNoKernel; };
  return hr::run_beside(
      "fit_elastic_net", nodes, nodes.size() - 1, no_kernel,
      [&](std::span<const Tensor> in) { return Tensors{of(hr::RowTiles(in.back()), in)}; })[0];
}

template <class F>
NodePtr over_rows(const Sparse& x, const std::vector<NodePtr>& nodes, F of) {
  hr::check_shared(x);
  return hr::run_eagerly("fit_elastic_net", nodes, [&](std::span<const Tensor> in) {
    return Tensors{of(hr::row_tiles(x), in)};
  })[0];
}

/// The shift of the columns and one number for each row, or nothing.
template <class Rows>
NodePtr centered_gram(const Rows& x, const NodePtr& shift, const NodePtr& weights) {
  return over_rows(x, {shift, weights}, [](const hr::RowTiles& rows, std::span<const Tensor> in) {
    return hr::gram(rows, {.shift = numbers_of(in[0]),
                           .weights = in[1].num_elements() == 0 ? nullptr : &in[1]});
  });
}

// Means of the columns and of targets next to them, their products and the weight of all rows.
// Nothing stands for no targets, and for weights that are ones.
std::tuple<NodePtr, NodePtr, double> second_moments(const NodePtr& x, const NodePtr& targets,
                                                    const NodePtr& weights, bool center) {
  double total = 0;
  const auto limits = [](std::span<const hr::Value> inputs) -> std::string {
    return std::get<Tensor>(inputs[2]).is_contiguous() ? "" : "strided weights have no kernel";
  };
  const std::vector<NodePtr> made = hr::run_beside(
      "second_moments", {x, targets, weights}, 0, limits, [&](std::span<const Tensor> in) {
        std::vector<Tensor> parts{in[0]};
        if (in[1].num_elements() > 0) parts.push_back(in[1]);
        const Tensor weight = hr::contiguous(in[2], "second_moments");
        const hr::SecondMoments found = hr::second_moments(
            hr::RowTiles(parts), weight.num_elements() == 0 ? nullptr : &weight, center);
        total = found.total;
        return Tensors{found.means, found.products};
      });
  return {made[0], made[1], total};
}

NodePtr column_statistics(const NodePtr& x, bool squares) {
  return hr::run_beside("column_statistics", {x}, 0, hr::no_limits,
                        [&](std::span<const Tensor> in) {
                          return Tensors{hr::column_statistics(in[0], squares)};
                        })[0];
}

template <class Rows>
NodePtr column_products(const Rows& x, const NodePtr& shift, const NodePtr& targets) {
  return over_rows(x, {shift, targets}, [](const hr::RowTiles& rows, std::span<const Tensor> in) {
    return hr::column_products(rows, numbers_of(in[0]), in[1]);
  });
}

template <class Rows>
NodePtr centered_columns(const Rows& x, const NodePtr& shift, const NodePtr& scales) {
  return over_rows(x, {shift, scales}, [](const hr::RowTiles& rows, std::span<const Tensor> in) {
    return hr::centered_columns(rows, numbers_of(in[0]), numbers_of(in[1]));
  });
}

// Coefficients, gap, sweeps and whether it converged. No `products`: `x` holds columns.
std::tuple<NodePtr, double, int64_t, bool> fit_elastic_net(const NodePtr& x, const NodePtr& targets,
                                                           double square, bool products,
                                                           const NodePtr& start, double l1,
                                                           double l2, bool positive,
                                                           double tolerance, int64_t most) {
  const hr::ElasticNet problem{l1, l2, positive, tolerance, most};
  hr::ElasticNetFit found;
  const std::vector<NodePtr> made =
      hr::run_eagerly("fit_elastic_net", {x, targets, start}, [&](std::span<const Tensor> in) {
        found = products ? hr::fit_elastic_net(in[0], in[1], square, in[2], problem)
                         : hr::fit_elastic_net(in[0], in[1], in[2], problem);
        return Tensors{found.coefficients};
      });
  return {made[0], found.gap, found.iterations, found.converged};
}

template <class Rows>
void bind_rows(nb::module_& m) {
  m.def("centered_gram", centered_gram<Rows>, "x"_a, "shift"_a, "weights"_a, Unlocked());
  m.def("column_products", column_products<Rows>, "x"_a, "shift"_a, "targets"_a, Unlocked());
  m.def("centered_columns", centered_columns<Rows>, "x"_a, "shift"_a, "scales"_a, Unlocked());
}

}  // namespace

void bind_linear(nb::module_& m) {
  nb::class_<hr::LinearProblem>(m, "LinearProblem");
  m.def("linear_problem", linear_problem, "loss"_a, "outputs"_a, "l1"_a, "l2"_a, "epsilon"_a,
        "intercept"_a, "intercept_scaling"_a, "tolerance"_a, "most"_a);
  m.def("fit_linear", fit_linear, "x"_a, "targets"_a, "weights"_a, "start"_a, "problem"_a,
        Unlocked());
  m.def("fit_linear", fit_linear_sparse, "x"_a, "targets"_a, "weights"_a, "start"_a, "problem"_a,
        Unlocked());
  nb::class_<hr::DualProblem>(m, "DualProblem")
      .def(
          "__init__",
          [](hr::DualProblem* self, bool margin, double epsilon, double intercept_scaling,
             double tolerance, int64_t most, uint64_t seed) {
            new (self) hr::DualProblem{margin, epsilon, intercept_scaling, tolerance, most, seed};
          },
          "margin"_a, "epsilon"_a, "intercept_scaling"_a, "tolerance"_a, "most"_a, "seed"_a);
  m.def("fit_dual", fit_dual, "x"_a, "targets"_a, "costs"_a, "problem"_a, Unlocked());
  m.def("fit_dual", fit_dual_sparse, "x"_a, "targets"_a, "costs"_a, "problem"_a, Unlocked());
  m.def("log_shares", lazy(&hr::log_shares), "scores"_a, Unlocked());
  m.def("linear_gradient", linear_gradient, "x"_a, "targets"_a, "weights"_a, "coefficients"_a,
        "loss"_a, Unlocked());
  m.def("linear_gradient", linear_gradient_sparse, "x"_a, "targets"_a, "weights"_a,
        "coefficients"_a, "loss"_a, Unlocked());
  m.def("column_statistics", column_statistics, "x"_a, "squares"_a, Unlocked());
  m.def("second_moments", second_moments, "x"_a, "targets"_a, "weights"_a, "center"_a, Unlocked());
  bind_rows<NodePtr>(m);
  bind_rows<Sparse>(m);
  m.def("fit_elastic_net", fit_elastic_net, "x"_a, "targets"_a, "square"_a, "products"_a, "start"_a,
        "l1"_a, "l2"_a, "positive"_a, "tolerance"_a, "most"_a, Unlocked());
}
