// SPDX-License-Identifier: Apache-2.0
// Entropies of neighbours, the tree of points, and the descent.
#include "headrace/learn/tsne.h"

#include "headrace/algo/math/vmath.h"
#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/exec/workers.h"
#include "headrace/exec/working_memory.h"
#include "headrace/learn/neighbor_graph.h"
#include "headrace/learn/tsne_kernels.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/log/tag.h"
#include "headrace/plan/graph/placement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace hr {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kBlock = 256;

template <class F>
void for_blocks(int64_t rows, F&& body) {
  parallel_for((rows + kBlock - 1) / kBlock, [&](int64_t block) {
    body(block, block * kBlock, std::min(rows, (block + 1) * kBlock));
  });
}

// ---- affinities ---------------------------------------------------------------------------------

/// Makes squared distances, of which the least is 0, weights of the wanted entropy.
void weigh(std::vector<double>& apart, std::vector<double>& weights, double entropy) {
  constexpr double kTolerance = 1e-5;
  constexpr int kSteps = 100;
  const auto count = static_cast<int64_t>(apart.size());
  double beta = 1, low = 0, high = kInfinity, sum = 0;
  for (int step = 0; step < kSteps; ++step) {
    for (size_t i = 0; i < apart.size(); ++i) weights[i] = -beta * apart[i];
    unary_function64(VectorFunction::kExp)(weights.data(), weights.data(), count);
    sum = 0;
    double mean = 0;
    for (size_t i = 0; i < apart.size(); ++i) {
      sum += weights[i];
      mean += weights[i] * apart[i];
    }
    const double above = std::log(sum) + beta * mean / sum - entropy;
    if (std::fabs(above) <= kTolerance) break;
    (above > 0 ? low : high) = beta;
    beta = high == kInfinity ? 2 * beta : (low + high) / 2;
  }
  for (double& weight : weights) weight /= sum;
}

// ---- the descent --------------------------------------------------------------------------------

class Descent {
 public:
  /// On the device that `place` is, if it is one; `init` is on the host.
  Descent(const Sparse& affinities, const Tensor& init, const TsneOptions& options, Place place)
      : options_(options),
        rows_(init.shape()[0]),
        dimensions_(init.shape()[1]),
        size_(rows_ * dimensions_),
        floats_(Buffer::allocate(5 * size_ * static_cast<int64_t>(sizeof(float)))),
        tree_(rows_, dimensions_),
        similar_(static_cast<size_t>((tree_.leaves() + kLeaves - 1) / kLeaves)),
        squares_(static_cast<size_t>((rows_ + kBlock - 1) / kBlock)) {
    auto* floats = floats_.mutable_as<float>();
    push_ = floats + 4 * size_;
    step_ = {.affinities = &affinities,
             .rows = rows_,
             .dimensions = dimensions_,
             .from = floats,
             .to = floats + size_,
             .speed = floats + 2 * size_,
             .gain = floats + 3 * size_,
             .push = push_,
             .learning_rate = static_cast<float>(options.learning_rate)};
    for (int64_t i = 0; i < rows_; ++i)
      for (int64_t k = 0; k < dimensions_; ++k)
        floats[k * rows_ + i] = init.as<float>()[i * dimensions_ + k];
    if constexpr (built_with_cuda)
      if (place.is_gpu())
        there_ = std::make_shared<cuda::TsneDescent>(affinities, place, floats, rows_, dimensions_,
                                                     options.angle);
  }

  Tsne run() {
    constexpr int64_t kExploration = 250;
    Tsne made;
    int64_t next =
        phase(0, std::min(kExploration, options_.most), kExploration, 0.5, options_.exaggeration);
    next = phase(next, options_.most, options_.most_without_progress, 0.8, 1);
    made.last = next - 1;
    made.divergence = divergence(repel(1, /*waits=*/true));
    if constexpr (built_with_cuda)
      if (there_ != nullptr) {
        made.embedding = there_->embedding();
        return made;
      }
    Buffer embedding = Buffer::allocate(size_ * static_cast<int64_t>(sizeof(float)));
    for (int64_t i = 0; i < rows_; ++i)
      for (int64_t k = 0; k < dimensions_; ++k)
        embedding.mutable_as<float>()[i * dimensions_ + k] = step_.from[k * rows_ + i];
    made.embedding = Tensor(dtype_of<float>(), {rows_, dimensions_}, std::move(embedding));
    return made;
  }

 private:
  static constexpr int64_t kLeaves = 4;  // of a task

  /// Iterations [next, end), or fewer when they stop to help; returns the one to go on with.
  int64_t phase(int64_t next, int64_t end, int64_t patience, double momentum, double exaggeration) {
    constexpr int64_t kCheck = 50;
    const double freedom = dimensions_ == 3 ? 2 : 1, factor = 2 * (freedom + 1) / freedom;
    rest();
    step_.momentum = static_cast<float>(momentum);
    step_.attraction = static_cast<float>(factor * exaggeration);
    double best = kInfinity;
    int64_t best_at = next;
    while (next < end) {
      report_progress(next, options_.most);
      const bool checks = (next + 1) % kCheck == 0;
      const double similar = repel(factor, checks);
      const double reached = checks ? divergence(similar) : 0;
      move(checks);
      const int64_t done = next++;
      if (!checks) continue;
      if (reached < best) {
        best = reached;
        best_at = done;
      } else if (done - best_at > patience) {
        break;
      }
      const double slope = std::sqrt(std::accumulate(squares_.begin(), squares_.end(), 0.0));
      if (slope <= options_.least_gradient) break;
    }
    return next;
  }

  void rest() {
    if constexpr (built_with_cuda)
      if (there_ != nullptr) {
        there_->begin();
        return;
      }
    std::fill_n(step_.speed, size_, 0.0F);
    std::fill_n(step_.gain, size_, 1.0F);
  }

  [[noreturn]] void throw_not_finite() const {
    throw_error<InvalidArgumentError>("tsne_fit", "positions are not finite",
                                      {{"learning_rate", options_.learning_rate}},
                                      "pass a smaller learning_rate, or an init of finite values");
  }

  /// Moves all points; with `checks` the squares of their gradient are known then.
  void move(bool checks) {
    if constexpr (built_with_cuda)
      if (there_ != nullptr) {
        there_->move(step_.attraction, step_.momentum, step_.learning_rate);
        if (checks) fetch_squares();
        return;
      }
    for_blocks(rows_, [&](int64_t block, int64_t first, int64_t last) {
      squares_[static_cast<size_t>(block)] = cpu::tsne_move(step_, first, last);
    });
    float* before = const_cast<float*>(step_.from);
    step_.from = std::exchange(step_.to, before);
  }

  void fetch_squares() {
    there_->slopes(push_);
    for_blocks(rows_, [&](int64_t block, int64_t first, int64_t last) {
      double square = 0;
      for (int64_t i = first; i < last; ++i)
        for (int64_t k = 0; k < dimensions_; ++k) {
          const auto slope = static_cast<double>(push_[k * rows_ + i]);
          square += slope * slope;
        }
      squares_[static_cast<size_t>(block)] = square;
    });
  }

  /// Fills `push`, which is to weigh `factor` over the sum of all similarities; returns that, from
  /// a device, with the positions, only if it `waits`.
  double repel(double factor, bool waits) {
    if constexpr (built_with_cuda)
      if (there_ != nullptr) {
        there_->repel(factor);
        if (!waits) return 0;
        const double similar = there_->similar(const_cast<float*>(step_.from));
        if (std::isnan(similar)) throw_not_finite();
        return similar;
      }
    if (!tree_.build(step_.from)) throw_not_finite();
    const auto angle = static_cast<float>(options_.angle);
    parallel_for(static_cast<int64_t>(similar_.size()), [&](int64_t task) {
      NearAndFar found;
      double sum = 0;
      const int64_t end = std::min(tree_.leaves(), (task + 1) * kLeaves);
      for (int64_t leaf = task * kLeaves; leaf < end; ++leaf) {
        if (angle > 0) tree_.walk(leaf, angle, found);
        sum += repel_leaf(leaf, angle > 0 ? found.view() : tree_.all());
      }
      similar_[static_cast<size_t>(task)] = sum;
    });
    const double similar = std::max(std::accumulate(similar_.begin(), similar_.end(), 0.0),
                                    std::numeric_limits<double>::epsilon());
    step_.repulsion = static_cast<float>(factor / similar);
    return similar;
  }

  double repel_leaf(int64_t leaf, const PointMasses& masses) {
    float points[3][PointTree::kLeaf], push[3][PointTree::kLeaf], similar[PointTree::kLeaf];
    const int64_t begin = leaf * PointTree::kLeaf,
                  count = std::min(PointTree::kLeaf, rows_ - begin);
    for (int64_t k = 0; k < dimensions_; ++k)
      std::copy_n(tree_.sorted(k) + begin, PointTree::kLeaf, points[k]);
    cpu::tsne_repulsion(dimensions_, points, masses, push, similar);
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t number = tree_.number(begin + i);
      for (int64_t k = 0; k < dimensions_; ++k) push_[k * rows_ + number] = push[k][i];
      sum += static_cast<double>(similar[i]) - 1;  // a point is not its own neighbour
    }
    return sum;
  }

  double divergence(double similar) {
    BudgetedVector<double> sums(squares_.size());
    for_blocks(rows_, [&](int64_t block, int64_t begin, int64_t end) {
      sums[static_cast<size_t>(block)] = cpu::tsne_divergence(step_, begin, end);
    });
    return std::accumulate(sums.begin(), sums.end(), std::log(similar));
  }

  const TsneOptions& options_;
  int64_t rows_;
  int64_t dimensions_;
  int64_t size_;
  Buffer floats_;  // positions, those to come, speeds, gains, repulsion
  float* push_ = nullptr;
  PointTree tree_;
  cpu::TsneStep step_{};
  BudgetedVector<double> similar_, squares_;       // sums of tasks
  std::shared_ptr<cuda::TsneDescent> there_ = {};  // not unique: it may have no destructor built
};

}  // namespace

Sparse tsne_affinities(const Tensor& indices, const Tensor& distances, double perplexity) {
  constexpr std::string_view kOp = "tsne_affinities";
  const ScopedTag tag(kOp);
  check_neighbor_lists(kOp, indices, distances);
  const int64_t rows = indices.shape()[0], count = indices.shape()[1];
  Buffer weights = Buffer::allocate(rows * count * static_cast<int64_t>(sizeof(float)));
  for_blocks(rows, [&](int64_t, int64_t begin, int64_t end) {
    std::vector<double> apart(static_cast<size_t>(count)), found(apart);
    for (int64_t row = begin; row < end; ++row) {
      const auto* distance = distances.as<double>() + row * count;
      double least = kInfinity, most = 0;
      for (int64_t i = 0; i < count; ++i) {
        const double square = distance[i] * distance[i];
        apart[static_cast<size_t>(i)] = square;
        least = std::min(least, square);
        most = std::max(most, square);
      }
      if (!std::isfinite(most))
        throw_error<InvalidArgumentError>(kOp, "squares of distances are not finite",
                                          {{"row", row}}, "scale the columns");
      for (double& each : apart) each -= least;
      weigh(apart, found, std::log(perplexity));
      for (int64_t i = 0; i < count; ++i)
        weights.mutable_as<float>()[row * count + i] =
            static_cast<float>(found[static_cast<size_t>(i)] / (2 * static_cast<double>(rows)));
    }
  });
  return joined_graph(indices, Tensor(dtype_of<float>(), {rows, count}, std::move(weights)),
                      [](float forth, float back, double) { return forth + back; });
}

Tsne tsne_fit(const Sparse& affinities, const Tensor& given, const TsneOptions& options) {
  const ScopedTag tag("tsne_fit");
  const Tensor init = std::get<Tensor>(to_place(Value(given), host));
  if (init.dtype() != dtype_of<float>() || init.num_dimensions() != 2 || !init.is_contiguous() ||
      init.shape()[0] != affinities.rows() || init.shape()[1] < 1 ||
      init.shape()[1] > kMostTsneDimensions)
    throw_error<InvalidArgumentError>(
        "tsne_fit", "expected a contiguous float32 array of 1 to 3 columns",
        {{"dtype", init.dtype().name()}, {"rows", affinities.rows()}});
  // Positions, speeds, gains, repulsion, and the tree's words and coordinates.
  const int64_t rows = init.shape()[0];
  const WorkingMemory working({5 * init.num_elements() * static_cast<int64_t>(sizeof(float)) +
                                   rows * (2 * static_cast<int64_t>(sizeof(uint64_t)) +
                                           4 * static_cast<int64_t>(sizeof(float))),
                               0});
  return Descent(affinities, init, options, given.place()).run();
}

}  // namespace hr
