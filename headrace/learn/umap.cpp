// SPDX-License-Identifier: Apache-2.0
// Memberships of neighbours, and epochs that read the last one only.
#include "headrace/learn/umap.h"

#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/exec/workers.h"
#include "headrace/exec/working_memory.h"
#include "headrace/learn/neighbor_graph.h"
#include "headrace/learn/umap_kernels.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/log/tag.h"
#include "headrace/plan/graph/placement.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace hr {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kBlock = 128;
constexpr int64_t kFloat = static_cast<int64_t>(sizeof(float));

template <class F>
void for_blocks(int64_t rows, F&& body) {
  parallel_for((rows + kBlock - 1) / kBlock,
               [&](int64_t block) { body(block * kBlock, std::min(rows, (block + 1) * kBlock)); });
}

/// Distances of one row, ascending, of which those from `first` on are summed up.
struct Membership {
  const double* distances;
  int64_t count;
  int64_t first;
  double nearest = 0;  ///< up to here memberships are 1
  double scale = 0;

  double of(double distance) const {
    return distance <= nearest || scale == 0 ? 1 : std::exp((nearest - distance) / scale);
  }

  /// Chooses `nearest`: the `connectivity`-th distance above 0, between two where it is a fraction.
  void choose_nearest(double connectivity) {
    const double* above = std::upper_bound(distances, distances + count, 0.0);
    const auto there = distances + count - above;
    const auto whole = static_cast<int64_t>(connectivity);
    const double rest = connectivity - static_cast<double>(whole);
    if (there == 0) return;
    if (static_cast<double>(there) < connectivity) {
      nearest = above[there - 1];
    } else if (whole == 0) {
      nearest = rest * above[0];
    } else {
      nearest = above[whole - 1];
      if (rest > 1e-5 && whole < there) nearest += rest * (above[whole] - above[whole - 1]);
    }
  }

  /// Chooses `scale`: memberships sum to `wanted`; not below a thousandth of the mean distance.
  void choose_scale(double wanted, double mean) {
    constexpr int kSteps = 64;
    constexpr double kTolerance = 1e-5, kLeast = 1e-3;
    double low = 0, high = kInfinity;
    scale = 1;
    for (int step = 0; step < kSteps; ++step) {
      double sum = 0;
      for (int64_t i = first; i < count; ++i) sum += of(distances[i]);
      if (std::fabs(sum - wanted) < kTolerance) break;
      (sum > wanted ? high : low) = scale;
      scale = high == kInfinity ? 2 * scale : (low + high) / 2;
    }
    scale = std::max(scale, kLeast * mean);
  }
};

double mean_of(const double* distances, int64_t count, int64_t members) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += distances[i];
  return sum / static_cast<double>(members);
}

void check_distances(std::string_view op, const Tensor& indices, const Tensor& distances) {
  check_neighbor_lists(op, indices, distances);
  const auto* values = distances.as<double>();
  for (int64_t i = 0; i < distances.num_elements(); ++i)
    if (!std::isfinite(values[i]))
      throw_error<InvalidArgumentError>(op, "distances are not finite",
                                        {{"row", i / distances.shape()[1]}}, "scale the columns");
}

void check_positions(std::string_view op, const Tensor& positions, int64_t rows) {
  if (positions.dtype() != dtype_of<float>() || positions.num_dimensions() != 2 ||
      !positions.is_contiguous() || positions.shape()[0] != rows || positions.shape()[1] < 1)
    throw_error<InvalidArgumentError>(op, "expected a contiguous float32 matrix of positions",
                                      {{"dtype", positions.dtype().name()}, {"rows", rows}});
  const auto* values = positions.as<float>();
  for (int64_t i = 0; i < positions.num_elements(); ++i)
    if (!std::isfinite(values[i]))
      throw_error<InvalidArgumentError>(op, "positions are not finite",
                                        {{"row", i / positions.shape()[1]}});
}

cpu::UmapEpoch epoch_with(const UmapOptions& options, int64_t dimensions) {
  cpu::UmapEpoch epoch{};
  epoch.dimensions = dimensions;
  epoch.a = static_cast<float>(options.a);
  epoch.b = static_cast<float>(options.b);
  epoch.repulsion = static_cast<float>(options.repulsion);
  epoch.key.seed = options.seed;
  return epoch;
}

/// Runs all epochs; positions begin in `from`. Returns the buffer that has them in the end.
Buffer run(cpu::UmapEpoch epoch, const UmapOptions& options, int64_t rows, Buffer from, bool fit) {
  Buffer to = Buffer::allocate(rows * epoch.dimensions * kFloat);
  for (int64_t done = 0; done < options.epochs; ++done) {
    report_progress(done, options.epochs);
    epoch.rate = cpu::umap_rate(options.learning_rate, done, options.epochs);
    epoch.key.stream = static_cast<uint32_t>(done);
    epoch.from = from.as<float>();
    epoch.to = to.mutable_as<float>();
    if (fit) epoch.fixed = epoch.from;
    for_blocks(rows, [&](int64_t begin, int64_t end) { cpu::umap_move(epoch, begin, end); });
    std::swap(from, to);
  }
  return from;
}

}  // namespace

Sparse umap_graph(const Tensor& indices, const Tensor& distances, double connectivity, double mix) {
  constexpr std::string_view kOp = "umap_graph";
  const ScopedTag tag(kOp);
  check_distances(kOp, indices, distances);
  const int64_t rows = indices.shape()[0], count = indices.shape()[1];
  const auto* apart = distances.as<double>();
  const double mean = mean_of(apart, rows * count, rows * (count + 1));
  const double wanted = std::log2(static_cast<double>(count + 1));
  Buffer weights = Buffer::allocate(rows * count * kFloat);
  for_blocks(rows, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      Membership member{apart + row * count, count, 0};
      member.choose_nearest(connectivity);
      member.choose_scale(wanted,
                          member.nearest > 0 ? mean_of(member.distances, count, count + 1) : mean);
      for (int64_t i = 0; i < count; ++i)
        weights.mutable_as<float>()[row * count + i] =
            static_cast<float>(member.of(member.distances[i]));
    }
  });
  return joined_graph(
      indices, Tensor(dtype_of<float>(), {rows, count}, std::move(weights)),
      [](float forth, float back, double share) {
        const double p = static_cast<double>(forth), q = static_cast<double>(back);
        return static_cast<float>(share * (p + q - p * q) + (1 - share) * p * q);
      },
      mix);
}

std::string umap_why_no_kernel(int64_t dimensions) {
  return dimensions > cuda::kMostUmapDimensions ? "more than 3 coordinates have no kernel for CUDA"
                                                : "";
}

Tensor umap_fit(const Sparse& graph, const Tensor& given_init, const UmapOptions& options) {
  constexpr std::string_view kOp = "umap_fit";
  const ScopedTag tag(kOp);
  const int64_t rows = graph.rows();
  const Tensor init = std::get<Tensor>(to_place(Value(given_init), host));
  check_positions(kOp, init, rows);
  const int64_t entries = graph.num_entries();
  const WorkingMemory working({(entries + 2 * init.num_elements() + rows) * kFloat + 16 * rows, 0});
  const auto* given = graph.data().as<float>();
  const float most = entries == 0 ? 1 : *std::max_element(given, given + entries);
  BudgetedVector<float> samples(static_cast<size_t>(rows));
  BudgetedVector<int64_t> draws(static_cast<size_t>(rows)), begins(static_cast<size_t>(rows + 1));
  Buffer weights = Buffer::allocate(entries * kFloat);
  int64_t blocks = 0;
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (int64_t e = graph.row_begin(row); e < graph.row_begin(row + 1); ++e)
      sum += static_cast<double>(weights.mutable_as<float>()[e] = given[e] / most);
    const auto r = static_cast<size_t>(row);
    samples[r] = static_cast<float>(options.negative_rate * sum);
    draws[r] = blocks;
    blocks += cpu::umap_blocks(samples[r]);
    begins[r + 1] = graph.row_begin(row + 1);
  }
  cpu::UmapEpoch epoch = epoch_with(options, init.shape()[1]);
  epoch.begins = begins.data();
  epoch.others = graph.indices().as<int32_t>();
  epoch.weights = weights.as<float>();
  epoch.samples = samples.data();
  epoch.draws = draws.data();
  epoch.fixed_rows = rows;
  epoch.attraction = 2;
  if constexpr (built_with_cuda)
    if (given_init.place().is_gpu()) {
      epoch.from = init.as<float>();
      return cuda::umap_fit(epoch, rows, options.epochs, options.learning_rate, given_init.place());
    }
  Buffer from = Buffer::allocate(init.num_elements() * kFloat);
  std::memcpy(from.mutable_as<float>(), init.as<float>(),
              static_cast<size_t>(init.num_elements() * kFloat));
  return Tensor(dtype_of<float>(), init.shape(),
                run(epoch, options, rows, std::move(from), /*fit=*/true));
}

Tensor umap_place(const Tensor& indices, const Tensor& distances, const Tensor& embedding,
                  const UmapOptions& options) {
  constexpr std::string_view kOp = "umap_place";
  const ScopedTag tag(kOp);
  check_distances(kOp, indices, distances);
  check_positions(kOp, embedding, embedding.shape()[0]);
  const int64_t rows = indices.shape()[0], count = indices.shape()[1];
  const int64_t dimensions = embedding.shape()[1], fixed_rows = embedding.shape()[0];
  const auto* near = indices.as<int64_t>();
  for (int64_t i = 0; i < rows * count; ++i)
    if (near[i] < 0 || near[i] >= fixed_rows)
      throw_error<InvalidArgumentError>(kOp, "no such row", {{"index", near[i]}});
  const auto most_samples = static_cast<float>(options.negative_rate * static_cast<double>(count));
  BudgetedVector<float> samples(static_cast<size_t>(rows));
  BudgetedVector<int64_t> draws(static_cast<size_t>(rows)), begins(static_cast<size_t>(rows + 1));
  Buffer others = Buffer::allocate(rows * count * static_cast<int64_t>(sizeof(int32_t)));
  Buffer weights = Buffer::allocate(rows * count * kFloat);
  Buffer from = Buffer::allocate(rows * dimensions * kFloat);
  const auto* places = embedding.as<float>();
  for_blocks(rows, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const auto r = static_cast<size_t>(row);
      const int64_t first = row * count;
      Membership member{distances.as<double>() + first, count, 1};
      begins[r + 1] = first + count;
      draws[r] = near[first] * cpu::umap_blocks(most_samples);  // the same wherever the row stands
      const bool is_fitted = member.distances[0] == 0;
      member.choose_scale(std::log2(static_cast<double>(count)),
                          mean_of(member.distances, count, count));
      double sum = 0;
      for (int64_t i = first; i < first + count; ++i) {
        const double weight = is_fitted ? 0 : member.of(distances.as<double>()[i]);
        others.mutable_as<int32_t>()[i] = static_cast<int32_t>(near[i]);
        weights.mutable_as<float>()[i] = static_cast<float>(weight);
        sum += weight;
      }
      samples[r] = static_cast<float>(options.negative_rate * sum);
      for (int64_t k = 0; k < dimensions; ++k) {
        double place = 0;
        for (int64_t i = first; i < first + count; ++i)
          place += static_cast<double>(weights.as<float>()[i]) *
                   static_cast<double>(places[near[i] * dimensions + k]);
        from.mutable_as<float>()[row * dimensions + k] =
            is_fitted ? places[near[first] * dimensions + k] : static_cast<float>(place / sum);
      }
    }
  });
  cpu::UmapEpoch epoch = epoch_with(options, dimensions);
  epoch.begins = begins.data();
  epoch.others = others.as<int32_t>();
  epoch.weights = weights.as<float>();
  epoch.samples = samples.data();
  epoch.draws = draws.data();
  epoch.fixed = places;
  epoch.fixed_rows = fixed_rows;
  epoch.attraction = 1;
  return Tensor(dtype_of<float>(), {rows, dimensions},
                run(epoch, options, rows, std::move(from), /*fit=*/false));
}

}  // namespace hr
