// SPDX-License-Identifier: Apache-2.0
// Checks, turns weights and targets into integers, and puts the trees of a forest together.
#include "headrace/learn/forest.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/exec/workers.h"
#include "headrace/exec/working_memory.h"
#include "headrace/learn/forest_kernels.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <cmath>

namespace hr {
namespace {

constexpr int64_t kWord = 8;

void check_vector(std::string_view op, std::string_view what, const Tensor& values, int64_t rows) {
  if (values.num_dimensions() != 1 || values.dtype().id() != TypeId::kFloat64 ||
      !values.is_contiguous())
    throw_error<TypeMismatchError>(op, "expected a contiguous 1-D float64 array",
                                   {{"of", what}, {"dtype", values.dtype().name()}});
  if (values.num_elements() != rows)
    throw_error<InvalidArgumentError>(op, "the number of rows differs",
                                      {{"of", what}, {"rows", values.num_elements()}, {"x", rows}});
  check_on_host(op, values.place());
}

void check_columns(std::string_view op, const Tensor& x, int64_t features) {
  if (x.num_dimensions() != 2 || !x.dtype().is_floating())
    throw_error<TypeMismatchError>(
        op, "expected a 2-D float32 or float64 array",
        {{"dimensions", x.num_dimensions()}, {"dtype", x.dtype().name()}});
  if (x.shape()[1] != features)
    throw_error<InvalidArgumentError>(op, "the number of columns differs from the model's",
                                      {{"columns", x.shape()[1]}, {"model", features}});
}

/// The power of two that makes values of this total integers whose sum is below 2^bits.
double scale_of(double total, int bits) {
  return total > 0 ? std::ldexp(1, std::min(bits - 1 - std::ilogb(total), 1000)) : 1;
}

/// Weights in fixed point, none below zero; with `cumulative` their inclusive sums.
Buffer fixed_weights(const Tensor& weights, bool cumulative, double* scale) {
  const int64_t rows = weights.num_elements();
  const auto* given = weights.as<double>();
  double total = 0;
  for (int64_t i = 0; i < rows; ++i) {
    if (!(given[i] >= 0) || std::isinf(given[i]))
      throw_error<InvalidArgumentError>("forest_fit", "a weight is negative, NaN or infinite",
                                        {{"row", i}, {"weight", given[i]}});
    total += given[i];
  }
  if (!(total > 0))
    throw_error<InvalidArgumentError>("forest_fit", "no row has a weight", {{"rows", rows}});
  *scale = scale_of(total, 51);
  Buffer made = Buffer::allocate(rows * kWord);
  auto* out = made.mutable_as<int64_t>();
  int64_t sum = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t weight = std::llround(given[i] * *scale);
    sum += weight;
    out[i] = cumulative ? sum : weight;
  }
  return made;
}

/// Deviations from `center`, times weights, in fixed point.
Buffer fixed_deviations(const Tensor& y, const Tensor* weights, int64_t most_draws, double* center,
                        double* scale) {
  const int64_t rows = y.num_elements();
  const auto* given = y.as<double>();
  const auto [least, greatest] = std::minmax_element(given, given + rows);
  *center = *least / 2 + *greatest / 2;
  double total = 0, largest = 0;
  const auto deviation = [&](int64_t i) {
    return (given[i] - *center) * (weights == nullptr ? 1 : weights->as<double>()[i]);
  };
  for (int64_t i = 0; i < rows; ++i) {
    if (!std::isfinite(given[i]))
      throw_error<InvalidArgumentError>("forest_fit", "a target is NaN or infinite", {{"row", i}});
    total += std::fabs(deviation(i));
    largest = std::max(largest, std::fabs(deviation(i)));
  }
  // A tree may draw the largest one each time.
  *scale = scale_of(std::max(total, largest * static_cast<double>(most_draws)), 61);
  Buffer made = Buffer::allocate(rows * kWord);
  for (int64_t i = 0; i < rows; ++i)
    made.mutable_as<int64_t>()[i] = std::llround(deviation(i) * *scale);
  return made;
}

void check_options(const ForestBins& bins, const Tensor& y, const ForestOptions& options) {
  const bool targets = options.criterion == ForestCriterion::kSquaredError;
  if (bins.rows < 1 || bins.rows >= int64_t{1} << 30 || options.bootstrap >= int64_t{1} << 31 ||
      bins.features < 1 || bins.features >= int64_t{1} << 31)
    throw_error<InvalidArgumentError>("forest_fit", "expected 1 to 2^30 - 1 rows, and features",
                                      {{"rows", bins.rows}, {"features", bins.features}});
  if (options.num_trees < 1 || options.num_trees >= int64_t{1} << 31 || options.max_features < 1)
    throw_error<InvalidArgumentError>(
        "forest_fit", "expected at least one tree and one feature",
        {{"num_trees", options.num_trees}, {"max_features", options.max_features}});
  if (targets) return;
  for (int64_t i = 0; i < bins.rows; ++i) {
    const double label = y.as<double>()[i];
    if (!(label >= 0 && label < static_cast<double>(options.num_classes)) ||
        label != std::floor(label))
      throw_error<InvalidArgumentError>(
          "forest_fit", "a label is not the number of a class",
          {{"row", i}, {"label", label}, {"classes", options.num_classes}});
  }
}

template <class T>
Tensor join(const std::vector<ForestTree>& trees, BudgetedVector<T> ForestTree::* part,
            Shape shape) {
  Buffer buffer = Buffer::allocate(num_elements(shape) * static_cast<int64_t>(sizeof(T)));
  T* out = buffer.mutable_as<T>();
  for (const ForestTree& tree : trees)
    out = std::copy((tree.*part).begin(), (tree.*part).end(), out);
  return Tensor(dtype_of<T>(), std::move(shape), std::move(buffer));
}

Tensor mean_gains(const std::vector<ForestTree>& trees, int64_t features) {
  Buffer buffer = Buffer::allocate_zeroed(features * kWord);
  auto* out = buffer.mutable_as<double>();
  const auto normalize = [&](const double* from, double by) {
    double sum = 0;
    for (int64_t j = 0; j < features; ++j) sum += from[j];
    if (sum > 0)
      for (int64_t j = 0; j < features; ++j) out[j] = by * out[j] + from[j] / sum;
  };
  for (const ForestTree& tree : trees) normalize(tree.gain.data(), 1);
  normalize(out, 0);
  return Tensor(dtype_of<double>(), {features}, std::move(buffer));
}

ForestRows rows_of(const ForestBins& bins) {
  ForestRows rows;
  if (bins.codes.place().is_host()) rows.codes = bins.codes.as<uint8_t>();
  rows.low = bins.low.as<double>();
  rows.high = bins.high.as<double>();
  rows.rows = bins.rows;
  rows.features = bins.features;
  return rows;
}

Forest put_together(const std::vector<ForestTree>& trees, int64_t features) {
  const auto count = static_cast<int64_t>(trees.size());
  Buffer offsets = Buffer::allocate((count + 1) * kWord);
  int64_t nodes = 0, values = 0;
  for (int64_t k = 0; k <= count; ++k) {
    offsets.mutable_as<int64_t>()[k] = nodes;
    if (k == count) break;
    nodes += static_cast<int64_t>(trees[static_cast<size_t>(k)].link.size());
    values += static_cast<int64_t>(trees[static_cast<size_t>(k)].value.size());
  }
  Forest model;
  model.offsets = Tensor(dtype_of<int64_t>(), {count + 1}, std::move(offsets));
  model.link = join(trees, &ForestTree::link, {nodes});
  model.threshold = join(trees, &ForestTree::threshold, {nodes});
  model.value = join(trees, &ForestTree::value, {nodes, nodes > 0 ? values / nodes : 1});
  model.samples = join(trees, &ForestTree::samples, {nodes});
  model.importances = mean_gains(trees, features);
  return model;
}

/// Integers of all rows; what a tree knows of its rows, without its nodes.
WorkingBytes working_bytes(int64_t rows, bool weighted, const ForestOptions& options) {
  const bool targets = options.criterion == ForestCriterion::kSquaredError;
  const bool wide = options.balance_samples || (weighted && options.bootstrap == 0);
  const int64_t of_row = 3 * 4 + (wide ? 16 : 8) + (targets ? 8 : 4);
  return {(int64_t{weighted} + int64_t{targets}) * rows * kWord, rows * of_row};
}

}  // namespace

std::string forest_why_no_kernel(const ForestOptions& options, int64_t features, bool weighted) {
  if (weighted || options.balance_samples) return "weights have no kernel for CUDA";
  if (options.random_splits) return "random splits have no kernel for CUDA";
  if (options.criterion == ForestCriterion::kEntropy) return "entropy has no kernel for CUDA";
  if (options.num_classes > kMostForestOutputs) return "too many classes for the CUDA kernel";
  return features > 4096 ? "too many features for the CUDA kernel" : "";
}

Forest forest_fit(const ForestBins& bins, const Tensor& y, const Tensor* weights,
                  const ForestOptions& options) {
  check_vector("forest_fit", "y", y, bins.rows);
  if (weights != nullptr) check_vector("forest_fit", "weights", *weights, bins.rows);
  check_options(bins, y, options);
  const ScopedTag tag("forest_fit");
  const WorkingMemory working(working_bytes(bins.rows, weights != nullptr, options));
  ForestRows rows = rows_of(bins);
  rows.y = y.as<double>();
  const bool drawn = options.bootstrap > 0;
  Buffer fixed, deviations;
  double weight_scale = 1, deviation_scale = 1;
  if (weights != nullptr) {
    fixed = fixed_weights(*weights, drawn, &weight_scale);
    (drawn ? rows.cumulative : rows.weights) = fixed.as<int64_t>();
    if (drawn) weight_scale = 1;
  }
  if (options.criterion == ForestCriterion::kSquaredError) {
    deviations = fixed_deviations(y, drawn ? nullptr : weights, options.bootstrap, &rows.center,
                                  &deviation_scale);
    rows.deviation = deviations.as<int64_t>();
    rows.unit = weight_scale / deviation_scale;
  }

  if constexpr (built_with_cuda)
    if (bins.codes.place().is_gpu())
      return put_together(cuda::forest_grow(rows, options, bins.codes), bins.features);
  check_on_host("forest_fit", bins.codes.place());
  std::vector<ForestTree> trees(static_cast<size_t>(options.num_trees));
  parallel_for(options.num_trees, [&](int64_t k) {
    trees[static_cast<size_t>(k)] = cpu::forest_grow(rows, options, k);
  });
  return put_together(trees, bins.features);
}

double isolation_path(double rows) {
  if (rows <= 2) return rows < 2 ? 0 : 1;
  constexpr double kEuler = 0.57721566490153286;
  return 2 * (std::log(rows - 1) + kEuler) - 2 * (rows - 1) / rows;
}

Forest isolation_fit(const Tensor& x, const Tensor& chosen, const ForestOptions& options) {
  check_columns("isolation_fit", x, x.num_dimensions() == 2 ? x.shape()[1] : 0);
  check_on_host("isolation_fit", x.place());
  if (chosen.num_dimensions() != 2 || chosen.dtype().id() != TypeId::kInt64 ||
      !chosen.is_contiguous())
    throw_error<TypeMismatchError>("isolation_fit", "expected int64 [trees, rows] of chosen rows",
                                   {{"dtype", chosen.dtype().name()}});
  const auto* places = chosen.as<int64_t>();
  for (int64_t i = 0; i < chosen.num_elements(); ++i)
    if (places[i] < 0 || places[i] >= x.shape()[0])
      throw_error<InvalidArgumentError>("isolation_fit", "a chosen row is out of range",
                                        {{"row", places[i]}, {"rows", x.shape()[0]}});
  const ScopedTag tag("isolation_fit");
  const int64_t size = chosen.shape()[1], features = x.shape()[1];
  const WorkingMemory working({2 * size * kWord, size * features * (kWord + 1) + size * 28});
  ForestOptions each = options;
  each.criterion = ForestCriterion::kSquaredError;
  each.num_classes = 0;
  each.max_features = 1;
  each.random_splits = true;
  each.bootstrap = 0;
  // All targets differ, so a node parts as long as its rows do; with one feature tried at one
  // place, no split is better than another.
  Buffer numbers = Buffer::allocate(size * kWord), targets = Buffer::allocate(size * kWord);
  for (int64_t i = 0; i < size; ++i) {
    numbers.mutable_as<int64_t>()[i] = i;
    targets.mutable_as<double>()[i] = static_cast<double>(i);
  }
  std::vector<ForestTree> trees(static_cast<size_t>(chosen.shape()[0]));
  parallel_for(chosen.shape()[0], [&](int64_t k) {
    Buffer taken = Buffer::allocate(size * features * kWord);
    cpu::forest_take(x, places + k * size, size, taken.mutable_as<double>());
    const ForestBins bins =
        forest_bins(Tensor(dtype_of<double>(), {size, features}, std::move(taken)));
    ForestRows rows = rows_of(bins);
    rows.y = targets.as<double>();
    rows.deviation = numbers.as<int64_t>();
    ForestTree& tree = trees[static_cast<size_t>(k)] = cpu::forest_grow(rows, each, k);
    cpu::forest_measure_paths(tree);
  });
  return put_together(trees, features);
}

Tensor forest_predict(const Forest& model, int64_t features, const Tensor& x) {
  check_columns("forest_predict", x, features);
  const ScopedTag tag("forest_predict");
  const int64_t rows = x.shape()[0], outputs = model.value.shape()[1];
  if constexpr (built_with_cuda)
    if (x.place().is_gpu()) {
      const auto beside = [&](const Tensor& part) {
        return part.place() == x.place() ? part
                                         : to_place(part, x.place(), current_stream(x.place()));
      };
      const Forest there{beside(model.offsets), beside(model.link), beside(model.threshold),
                         beside(model.value),   model.samples,      model.importances};
      Buffer made =
          allocate_result(checked_multiply("forest_predict", rows, outputs * kWord), x.place());
      if (rows > 0) cuda::forest_predict(there, x, made);
      return Tensor(dtype_of<double>(), {rows, outputs}, std::move(made));
    }
  Buffer out = Buffer::allocate(checked_multiply("forest_predict", rows, outputs * kWord));
  if (rows > 0) cpu::forest_predict(model, x, out.mutable_as<double>());
  return Tensor(dtype_of<double>(), {rows, outputs}, std::move(out));
}

Tensor forest_apply(const Forest& model, int64_t features, const Tensor& x) {
  check_columns("forest_apply", x, features);
  check_on_host("forest_apply", x.place());
  const ScopedTag tag("forest_apply");
  const int64_t rows = x.shape()[0], trees = model.offsets.num_elements() - 1;
  Buffer out = Buffer::allocate(checked_multiply("forest_apply", rows, trees * kWord));
  if (rows > 0) cpu::forest_apply(model, x, out.mutable_as<int64_t>());
  return Tensor(dtype_of<int64_t>(), {rows, trees}, std::move(out));
}

Tensor forest_predict_out_of_bag(const Forest& model, const Tensor& x, const Tensor* weights,
                                 const ForestOptions& options) {
  check_columns("forest_predict_out_of_bag", x, model.importances.num_elements());
  check_on_host("forest_predict_out_of_bag", x.place());
  if (weights != nullptr)
    check_vector("forest_predict_out_of_bag", "weights", *weights, x.shape()[0]);
  const ScopedTag tag("forest_predict_out_of_bag");
  ForestRows drawing;
  drawing.rows = x.shape()[0];
  Buffer fixed;
  double scale = 1;
  if (weights != nullptr) {
    fixed = fixed_weights(*weights, /*cumulative=*/true, &scale);
    drawing.cumulative = fixed.as<int64_t>();
  }
  const int64_t rows = drawing.rows, outputs = model.value.shape()[1];
  Buffer sums = Buffer::allocate_zeroed(rows * outputs * kWord);
  Buffer unseen = Buffer::allocate_zeroed(rows * kWord);
  Buffer counts = Buffer::allocate(rows * static_cast<int64_t>(sizeof(uint32_t)));
  for (int64_t tree = 0; tree < model.offsets.num_elements() - 1; ++tree) {
    cpu::forest_draw(drawing, options, tree, counts.mutable_as<uint32_t>());
    cpu::forest_add_unseen(model, tree, x, counts.as<uint32_t>(), sums.mutable_as<double>(),
                           unseen.mutable_as<int64_t>());
  }
  for (int64_t i = 0; i < rows * outputs; ++i)
    sums.mutable_as<double>()[i] /= static_cast<double>(unseen.as<int64_t>()[i / outputs]);
  return Tensor(dtype_of<double>(), {rows, outputs}, std::move(sums));
}

void check_forest(const Forest& model, int64_t features) {
  const auto require = [](bool good, std::string_view what) {
    if (!good) throw_error<InvalidArgumentError>("forest", what, {}, "fit the model again");
  };
  const auto is_vector = [](const Tensor& part, TypeId id, int64_t count) {
    return part.num_dimensions() == 1 && part.dtype().id() == id && part.is_contiguous() &&
           part.num_elements() == count;
  };
  const int64_t trees = model.offsets.num_elements() - 1, nodes = model.link.num_elements();
  require(trees > 0 && is_vector(model.offsets, TypeId::kInt64, trees + 1) &&
              is_vector(model.link, TypeId::kInt64, nodes) &&
              is_vector(model.threshold, TypeId::kFloat64, nodes) &&
              is_vector(model.samples, TypeId::kInt64, nodes) &&
              is_vector(model.importances, TypeId::kFloat64, features) &&
              model.value.num_dimensions() == 2 && model.value.dtype().id() == TypeId::kFloat64 &&
              model.value.is_contiguous() && model.value.shape()[0] == nodes &&
              model.value.shape()[1] > 0,
          "the arrays of its trees do not fit each other");
  const auto* const offsets = model.offsets.as<int64_t>();
  const auto* const link = model.link.as<int64_t>();
  require(offsets[0] == 0 && offsets[trees] == nodes, "its trees do not cover its nodes");
  for (int64_t tree = 0; tree < trees; ++tree) {
    const int64_t begin = offsets[tree], end = offsets[tree + 1];
    require(begin < end && end <= nodes, "a tree has no nodes");
    const int64_t count = end - begin;
    for (int64_t node = 0; node < count; ++node) {
      const int64_t next = link[begin + node];
      // Children come after their node, so that every walk ends.
      require(next == -1 || (next >= 0 && next >> 32 > node + 1 && next >> 32 < count &&
                             (next & 0xFFFFFFFF) >> 1 < features),
              "a node leads out of its tree");
    }
  }
}

}  // namespace hr
