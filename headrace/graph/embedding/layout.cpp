// SPDX-License-Identifier: Apache-2.0
// Levels of communities, forces on each, and what places become columns.
#include "headrace/graph/embedding/layout.h"

#include "headrace/algo/random/philox.h"
#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/graph/community/local_moving.h"
#include "headrace/graph/embedding/layout_kernels.h"
#include "headrace/graph/structure/entry_weights.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace hr {
namespace {

using Floats = BudgetedVector<float>;
using Groups = BudgetedVector<uint32_t>;

constexpr int64_t kBlock = 256;
constexpr int64_t kMostDimensions = 3;

// ---- levels -------------------------------------------------------------------------------------

/// Vertices, or communities of those of the level below.
struct Level {
  BudgetedVector<int64_t> offsets{};
  BudgetedVector<uint32_t> targets{};
  Floats weights{};
  Floats masses{};
  Groups groups{};  // the vertex of the level above

  int64_t rows() const { return static_cast<int64_t>(masses.size()); }
};

/// A directed graph's edges as undirected ones, with their weights.
Graph without_directions(const Graph& graph, std::optional<Column>& weights) {
  const Csr& csr = graph.out();
  const int64_t entries = csr.entries(), vertices = csr.vertices;
  const auto ids = [](int64_t rows, Buffer buffer) {
    return std::vector{Column(TypeId::kUInt32, rows, std::move(buffer))};
  };
  Buffer all = Buffer::allocate(4 * vertices);
  std::iota(all.mutable_as<uint32_t>(), all.mutable_as<uint32_t>() + vertices, 0U);
  if (weights)
    weights = Column(TypeId::kFloat64, entries,
                     entry_weights("layout", csr, *weights, WeightRule::kNotNegative));
  return {"layout",
          ids(entries, sources_of(csr)),
          ids(entries, csr.targets),
          ids(vertices, std::move(all)),
          {.multigraph = true, .keep_edges = weights.has_value()}};
}

Level level_of(const WeightedRows& rows, Floats masses) {
  Level made{rows.offsets, rows.targets, Floats(rows.weights.size()), std::move(masses)};
  const auto scale = 1 / rows.scale;
  std::ranges::transform(rows.weights, made.weights.begin(), [&](int64_t weight) {
    return static_cast<float>(static_cast<double>(weight) * scale);
  });
  return made;
}

/// The graph, and while that makes them fewer, Louvain's communities of the level before.
std::vector<Level> levels_of(const WeightedRows& rows, bool by_degree, bool is_placed,
                             uint64_t seed) {
  Floats masses(static_cast<size_t>(rows.vertices()), 1.0F);
  if (by_degree)
    for (size_t v = 0; v < masses.size(); ++v)
      masses[v] += static_cast<float>(rows.offsets[v + 1] - rows.offsets[v]);
  std::vector<Level> levels;
  levels.push_back(level_of(rows, std::move(masses)));
  if (is_placed || rows.total == 0) return levels;
  const Resolution resolution{1 / static_cast<double>(rows.total)};
  WeightedRows level = rows;
  for (;;) {
    Groups groups(static_cast<size_t>(level.vertices()));
    std::iota(groups.begin(), groups.end(), 0U);
    if (move_vertices(level, resolution, {seed, kLeidenStop}, groups) == 0) break;
    const int64_t count = number_groups(groups, groups.size());
    if (count == level.vertices()) break;
    Floats sums(static_cast<size_t>(count));
    for (size_t v = 0; v < groups.size(); ++v) sums[groups[v]] += levels.back().masses[v];
    level = aggregate(level, groups, count);
    levels.back().groups = std::move(groups);
    levels.push_back(level_of(level, std::move(sums)));
  }
  return levels;
}

// ---- one level ----------------------------------------------------------------------------------

/// Moves the vertices of a level by forces; a vertex moves less the more its force turns.
class Descent {
 public:
  Descent(const Level& level, const LayoutOptions& options, Floats places)
      : level_(level),
        options_(options),
        rows_(level.rows()),
        dimensions_(options.dimensions),
        places_(std::move(places)),
        push_(places_.size()),
        force_(places_.size()),
        swing_(static_cast<size_t>(rows_)),
        tree_(rows_, dimensions_, level.masses.data()),
        sums_(static_cast<size_t>((rows_ + kBlock - 1) / kBlock)) {}

  /// One step; false where places are not finite.
  bool step() {
    if (!tree_.build(places_.data())) return false;
    push();
    pull();
    choose_speed();
    move();
    return true;
  }

  Floats& places() { return places_; }

 private:
  static constexpr int64_t kLeaves = 4;  // of a task
  static constexpr float kAngle = 1.2F;  // extent over distance

  struct Sums {
    double swing = 0;
    double traction = 0;
  };

  template <class F>
  void for_blocks(F&& body) {
    parallel_for(static_cast<int64_t>(sums_.size()), [&](int64_t block) {
      body(block, block * kBlock, std::min(rows_, (block + 1) * kBlock));
    });
  }

  void push() {
    parallel_for((tree_.leaves() + kLeaves - 1) / kLeaves, [&](int64_t task) {
      scratch_.lend([&](NearAndFar& found) {
        const int64_t end = std::min(tree_.leaves(), (task + 1) * kLeaves);
        for (int64_t leaf = task * kLeaves; leaf < end; ++leaf) push_leaf(leaf, found);
      });
    });
  }

  void push_leaf(int64_t leaf, NearAndFar& found) {
    float points[kMostDimensions][PointTree::kLeaf], push[kMostDimensions][PointTree::kLeaf];
    const int64_t begin = leaf * PointTree::kLeaf;
    const int64_t count = std::min(PointTree::kLeaf, rows_ - begin);
    tree_.walk(leaf, kAngle, found);
    for (int64_t k = 0; k < dimensions_; ++k)
      std::copy_n(tree_.sorted(k) + begin, PointTree::kLeaf, points[k]);
    cpu::layout_push(dimensions_, points, found.view(), push);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t k = 0; k < dimensions_; ++k)
        push_[static_cast<size_t>(k * rows_ + tree_.number(begin + i))] = push[k][i];
  }

  void pull() {
    const cpu::LayoutPulls pulls{
        level_.offsets.data(), level_.targets.data(), level_.weights.data(), places_.data(), rows_,
        dimensions_,           options_.pull};
    for_blocks([&](int64_t block, int64_t begin, int64_t end) {
      Sums sums;
      for (int64_t v = begin; v < end; ++v) turn(pulls, v, sums);
      sums_[static_cast<size_t>(block)] = sums;
    });
  }

  /// The force on a vertex, and how it differs from the last one.
  void turn(const cpu::LayoutPulls& pulls, int64_t v, Sums& sums) {
    float pulled[kMostDimensions];
    cpu::layout_pull(pulls, v, pulled);
    const float mass = level_.masses[static_cast<size_t>(v)];
    const auto ratio = static_cast<float>(options_.scaling_ratio) * mass;
    auto down = static_cast<float>(options_.gravity) * mass;
    if (!options_.strong_gravity) {
      float square = 0;
      for (int64_t k = 0; k < dimensions_; ++k) square += places_[at(k, v)] * places_[at(k, v)];
      down /= std::sqrt(std::max(square, cpu::kLeastSquare));
    }
    float turned = 0, kept = 0;
    for (int64_t k = 0; k < dimensions_; ++k) {
      const float force = ratio * push_[at(k, v)] + pulled[k] - down * places_[at(k, v)];
      float& before = force_[at(k, v)];
      turned += (force - before) * (force - before);
      kept += (force + before) * (force + before);
      before = force;
    }
    const float swing = mass * std::sqrt(turned);
    swing_[static_cast<size_t>(v)] = swing;
    sums.swing += static_cast<double>(swing);
    sums.traction += static_cast<double>(mass * std::sqrt(kept)) / 2;
  }

  /// As ForceAtlas2 does: fast while forces stay, slow where they swing.
  void choose_speed() {
    Sums all;
    for (const Sums& each : sums_) {
      all.swing += each.swing;
      all.traction += each.traction;
    }
    const auto count = static_cast<double>(rows_);
    const double good = 0.05 * std::sqrt(count);
    double jitter =
        std::max(std::sqrt(good), std::min(10.0, good * all.traction / (count * count)));
    if (all.swing > 2 * all.traction) {
      if (efficiency_ > 0.05) efficiency_ *= 0.5;
      jitter = std::max(jitter, 1.0);
    }
    const double target = all.swing > 0 ? jitter * efficiency_ * all.traction / all.swing : speed_;
    if (all.swing > jitter * all.traction) {
      if (efficiency_ > 0.05) efficiency_ *= 0.7;
    } else if (speed_ < 1000) {
      efficiency_ *= 1.3;
    }
    speed_ += std::min(target - speed_, 0.5 * speed_);
  }

  void move() {
    const auto speed = static_cast<float>(speed_);
    for_blocks([&](int64_t, int64_t begin, int64_t end) {
      for (int64_t v = begin; v < end; ++v) {
        const float factor = speed / (1 + std::sqrt(speed * swing_[static_cast<size_t>(v)]));
        for (int64_t k = 0; k < dimensions_; ++k) places_[at(k, v)] += factor * force_[at(k, v)];
      }
    });
  }

  size_t at(int64_t k, int64_t v) const { return static_cast<size_t>(k * rows_ + v); }

  const Level& level_;
  const LayoutOptions& options_;
  int64_t rows_;
  int64_t dimensions_;
  Floats places_;
  Floats push_;
  Floats force_;
  Floats swing_;
  PointTree tree_;
  std::vector<Sums> sums_;
  ScratchPool<NearAndFar> scratch_{[] { return NearAndFar(); }};
  double speed_ = 1;
  double efficiency_ = 1;
};

// ---- from level to level ------------------------------------------------------------------------

/// A point of the ball of this radius, drawn by a number.
void draw(const LayoutOptions& options, uint32_t level, int64_t number, float radius, float* out) {
  for (uint32_t attempt = 0;; ++attempt) {
    const PhiloxBlock block =
        philox_block({options.seed, level}, static_cast<uint64_t>(number), attempt);
    float square = 0;
    for (int64_t k = 0; k < options.dimensions; ++k) {
      out[k] = static_cast<float>(static_cast<int32_t>(block.word[k])) * 0x1p-31F;
      square += out[k] * out[k];
    }
    if (square > 1) continue;
    for (int64_t k = 0; k < options.dimensions; ++k) out[k] *= radius;
    return;
  }
}

/// Vertices around their communities, over an area by what these weigh; without, in one ball.
Floats around(const Level& level, const Level* above, const Floats& places, uint32_t number,
              const LayoutOptions& options) {
  const int64_t rows = level.rows(), d = options.dimensions;
  double extent = std::pow(static_cast<double>(rows), 1 / static_cast<double>(d)), total = 0;
  if (above != nullptr) {
    double square = 0;
    const int64_t groups = above->rows();
    for (int64_t g = 0; g < groups; ++g) {
      const auto mass = static_cast<double>(above->masses[static_cast<size_t>(g)]);
      for (int64_t k = 0; k < d; ++k) {
        const auto place = static_cast<double>(places[static_cast<size_t>(k * groups + g)]);
        square += mass * place * place;
      }
      total += mass;
    }
    extent = std::max(extent, std::sqrt(square / total));
  }
  Floats made(static_cast<size_t>(rows * d));
  for (int64_t v = 0; v < rows; ++v) {
    double radius = extent;
    uint32_t group = 0;
    if (above != nullptr) {
      group = level.groups[static_cast<size_t>(v)];
      radius *=
          std::pow(static_cast<double>(above->masses[group]) / total, 1 / static_cast<double>(d));
    }
    float drawn[kMostDimensions];
    draw(options, number, v, static_cast<float>(radius), drawn);
    for (int64_t k = 0; k < d; ++k)
      made[static_cast<size_t>(k * rows + v)] =
          drawn[k] +
          (above != nullptr ? places[static_cast<size_t>(k * above->rows() + group)] : 0.0F);
  }
  return made;
}

/// Columns with their mean at 0 and the largest coordinate `scale`.
std::vector<Column> columns_of(const Floats& places, int64_t rows, const LayoutOptions& options) {
  const int64_t d = options.dimensions;
  std::vector<double> means(static_cast<size_t>(d));
  double most = 0;
  if (options.scale > 0)
    for (int64_t k = 0; k < d; ++k) {
      double& mean = means[static_cast<size_t>(k)];
      const float* const own = places.data() + k * rows;
      for (int64_t v = 0; v < rows; ++v) mean += static_cast<double>(own[v]);
      mean /= static_cast<double>(std::max<int64_t>(rows, 1));
      for (int64_t v = 0; v < rows; ++v)
        most = std::max(most, std::abs(static_cast<double>(own[v]) - mean));
    }
  const double factor = most > 0 ? options.scale / most : 1;
  std::vector<Column> made;
  for (int64_t k = 0; k < d; ++k) {
    Buffer buffer = Buffer::allocate(4 * rows);
    for (int64_t v = 0; v < rows; ++v)
      buffer.mutable_as<float>()[v] =
          static_cast<float>((static_cast<double>(places[static_cast<size_t>(k * rows + v)]) -
                              means[static_cast<size_t>(k)]) *
                             factor);
    made.emplace_back(TypeId::kFloat32, rows, std::move(buffer));
  }
  return made;
}

}  // namespace

std::vector<Column> layout(const Graph& graph, const std::optional<Column>& weights,
                           const std::vector<Column>& start, const LayoutOptions& options) {
  const ScopedTag tag("layout");
  if (graph.num_vertices() == 0) return columns_of({}, 0, options);
  if (graph.num_vertices() > std::numeric_limits<int32_t>::max())
    throw_error<UnsupportedError>("layout", "too many vertices",
                                  {{"vertices", graph.num_vertices()}});
  std::optional<Column> of_edges = weights;
  const Graph plain = graph.is_directed() ? without_directions(graph, of_edges) : graph;
  const std::vector<Level> levels = levels_of(weighted_rows("layout", plain, of_edges),
                                              options.by_degree, !start.empty(), options.seed);
  Floats places;
  for (const Column& each : start) {
    const std::span<const float> given = each.values<float>();
    places.insert(places.end(), given.begin(), given.end());
  }
  const auto count = static_cast<int64_t>(levels.size());
  for (int64_t number = count - 1; number >= 0; --number) {
    const Level& level = levels[static_cast<size_t>(number)];
    if (start.empty())
      places = around(level, number + 1 < count ? &level + 1 : nullptr, places,
                      static_cast<uint32_t>(number), options);
    Descent descent(level, options, std::move(places));
    for (int64_t i = 0; i < options.iterations; ++i) {
      report_progress((count - 1 - number) * options.iterations + i, count * options.iterations);
      if (!descent.step())
        throw_error<InvalidArgumentError>("layout", "places are not finite", {{"iteration", i}},
                                          "use smaller weights, or finite places");
    }
    places = std::move(descent.places());
  }
  return columns_of(places, graph.num_vertices(), options);
}

NodePtr layout_table(const Graph& graph, const NodePtr& weights, const std::vector<NodePtr>& start,
                     const LayoutOptions& options) {
  constexpr const char* kNames[] = {"x", "y", "z"};
  std::vector<VertexColumn> columns;
  for (int64_t k = 0; k < options.dimensions; ++k) columns.push_back({kNames[k], TypeId::kFloat32});
  std::vector<NodePtr> inputs = start;
  if (weights) inputs.push_back(weights);
  const auto run = [graph, options, is_weighted = weights != nullptr](
                       const std::vector<bool>& wanted, std::span<const Value> values) {
    std::vector<Column> given;
    for (const Value& value : values) given.push_back(std::get<Column>(value));
    std::optional<Column> of_edges;
    if (is_weighted) {
      of_edges = given.back();
      given.pop_back();
    }
    std::vector<Column> made;
    std::vector<Column> all = layout(graph, of_edges, given, options);
    for (size_t k = 0; k < all.size(); ++k)
      if (wanted[k]) made.push_back(std::move(all[k]));
    return made;
  };
  return vertex_table(graph, "layout", "iterations=" + std::to_string(options.iterations), columns,
                      std::move(inputs), run);
}

}  // namespace hr
