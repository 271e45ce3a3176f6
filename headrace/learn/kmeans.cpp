// SPDX-License-Identifier: Apache-2.0
// The iteration of k-means and its first centres.
#include "headrace/learn/kmeans.h"

#include "headrace/algo/linalg/matmul_kernels.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/learn/kmeans_kernels.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

namespace hr {
namespace {

constexpr int64_t kDouble = static_cast<int64_t>(sizeof(double));
constexpr int64_t kTileRows = 256;
constexpr int64_t kBlock = 4096;

void check_rows(std::string_view op, const Tensor& x) {
  if (x.num_dimensions() != 2 || !x.dtype().is_floating())
    throw_error<TypeMismatchError>(
        op, "expected a 2-D float32 or float64 array",
        {{"dimensions", x.num_dimensions()}, {"dtype", x.dtype().name()}});
}

void check_centers(std::string_view op, const Tensor& centers, const Tensor& x) {
  check_rows(op, x);
  check_rows(op, centers);
  if (centers.shape()[1] != x.shape()[1] || centers.shape()[0] < 1)
    throw_error<InvalidArgumentError>(op, "the centres do not fit the rows",
                                      {{"centers", centers.shape()[0]},
                                       {"columns of centers", centers.shape()[1]},
                                       {"columns", x.shape()[1]}});
}

const double* weights_of(std::string_view op, const Tensor& weights, int64_t rows) {
  if (weights.num_elements() == 0) return nullptr;
  if (weights.dtype() != dtype_of<double>() || weights.num_elements() != rows ||
      !weights.is_contiguous())
    throw_error<InvalidArgumentError>(op, "expected a float64 weight for each row",
                                      {{"weights", weights.num_elements()}, {"rows", rows}});
  return weights.as<double>();
}

/// All of a matrix as float64.
std::vector<double> doubles_of(const Tensor& x) {
  std::vector<double> values(static_cast<size_t>(x.num_elements()));
  RowTiles(x).read(0, x.shape()[0], TileForm::kRows, nullptr, nullptr, values.data());
  return values;
}

Tensor tensor_of(const std::vector<double>& values, Dtype dtype, Shape shape) {
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(values.size()) * dtype.size_bytes());
  visit_floating(dtype, [&]<class T>(std::type_identity<T>) {
    std::transform(values.begin(), values.end(), buffer.mutable_as<T>(),
                   [](double value) { return static_cast<T>(value); });
  });
  return Tensor(dtype, std::move(shape), std::move(buffer));
}

/// Calls `body(block, begin, end)` for blocks of rows, which depend on their number alone.
template <class F>
void for_blocks(int64_t rows, F body) {
  parallel_for((rows + kBlock - 1) / kBlock,
               [&](int64_t k) { body(k, k * kBlock, std::min(rows, (k + 1) * kBlock)); });
}

/// Sum over blocks of what `of(begin, end)` gives, in their order.
template <class F>
double sum_of_blocks(int64_t rows, F of) {
  std::vector<double> sums(static_cast<size_t>((rows + kBlock - 1) / kBlock));
  for_blocks(rows, [&](int64_t block, int64_t begin, int64_t end) {
    sums[static_cast<size_t>(block)] = of(begin, end);
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

/// Squared distances of rows [begin, end) to the centres of their labels, handed to `take(i, d)`.
template <class F>
void for_own_distances(const Tensor& x, const double* centers, const int32_t* labels, int64_t begin,
                       int64_t end, F take) {
  double apart[kTileRows];
  for (int64_t first = begin; first < end; first += kTileRows) {
    const int64_t last = std::min(end, first + kTileRows);
    cpu::own_distances(x, centers, labels, first, last, apart);
    for (int64_t i = first; i < last; ++i) take(i, apart[i - first]);
  }
}

double inertia_of(const Tensor& x, const double* weights, const double* centers,
                  const int32_t* labels) {
  return sum_of_blocks(x.shape()[0], [&](int64_t begin, int64_t end) {
    double sum = 0;
    for_own_distances(x, centers, labels, begin, end, [&](int64_t i, double apart) {
      sum += weights == nullptr ? apart : weights[i] * apart;
    });
    return sum;
  });
}

/// The state of an iteration.
struct Lloyd {
  const Tensor& x;
  const double* weights;
  int64_t clusters;
  std::vector<double> centers;
  RowTiles tiles = RowTiles(x);
  int64_t rows = x.shape()[0];
  int64_t columns = x.shape()[1];
  int64_t parts = 1;
  Buffer sums = {};  ///< of each part: [clusters, columns], then the weights of the clusters

  int64_t part_size() const { return clusters * (columns + 1); }

  /// At most 64 parts, of whole blocks, and fewer where their sums would take over 256 MiB.
  void plan() {
    const int64_t size = checked_multiply("kmeans_fit", clusters, columns + 1);
    const int64_t fit = std::max<int64_t>(1, (int64_t{1} << 25) / size);
    parts = std::min({(rows + kBlock - 1) / kBlock, int64_t{64}, fit});
    sums = Buffer::allocate(checked_multiply("kmeans_fit", parts * kDouble, size));
  }

  std::pair<int64_t, int64_t> part(int64_t k) const {
    const int64_t blocks = (rows + kBlock - 1) / kBlock;
    return {k * blocks / parts * kBlock, std::min(rows, (k + 1) * blocks / parts * kBlock)};
  }

  /// New labels, and with `update` the sums of the clusters in part 0.
  void pass(int32_t* labels, bool update) {
    const cpu::CenterPanels panels(centers.data(), clusters, columns,
                                   x.dtype() == dtype_of<float>());
    auto* all = sums.mutable_as<double>();
    const auto add = [&](int64_t k, int64_t begin, int64_t end) {
      double* own = all + k * part_size();
      cpu::add_rows(x, weights, labels, begin, end, own, own + clusters * columns);
    };
    if (update) std::fill_n(all, parts * part_size(), 0.0);
    // Few parts are too few tasks for the work of the labels.
    const bool together = update && parts >= std::min<int64_t>(16, (rows + kBlock - 1) / kBlock);
    if (!together)
      for_blocks(rows, [&](int64_t, int64_t begin, int64_t end) {
        cpu::assign_rows(tiles, panels, begin, end, labels);
      });
    if (!update) return;
    parallel_for(parts, [&](int64_t k) {
      const auto [first, last] = part(k);
      for (int64_t begin = first; begin < last; begin += kBlock / 2) {
        const int64_t end = std::min(last, begin + kBlock / 2);
        if (together) cpu::assign_rows(tiles, panels, begin, end, labels);
        add(k, begin, end);
      }
    });
    for (int64_t k = 1; k < parts; ++k)
      for (int64_t i = 0; i < part_size(); ++i) all[i] += all[k * part_size() + i];
  }

  /// Clusters without weight take the rows that are farthest from their centres.
  void fill_empty(int32_t* labels) {
    auto* own = sums.mutable_as<double>();
    double* totals = own + clusters * columns;
    std::vector<int64_t> empty;
    for (int64_t c = 0; c < clusters; ++c)
      if (totals[c] == 0) empty.push_back(c);
    if (empty.empty()) return;
    Buffer apart = Buffer::allocate(rows * kDouble);
    auto* distances = apart.mutable_as<double>();
    for_blocks(rows, [&](int64_t, int64_t begin, int64_t end) {
      for_own_distances(x, centers.data(), labels, begin, end,
                        [&](int64_t i, double distance) { distances[i] = distance; });
    });
    if (*std::max_element(distances, distances + rows) == 0) return;  // fewer rows than clusters
    BudgetedVector<int64_t> far(static_cast<size_t>(rows));
    std::iota(far.begin(), far.end(), int64_t{0});
    std::partial_sort(far.begin(), far.begin() + static_cast<int64_t>(empty.size()), far.end(),
                      [&](int64_t a, int64_t b) {
                        return distances[a] != distances[b] ? distances[a] > distances[b] : a < b;
                      });
    std::vector<double> row(static_cast<size_t>(columns));
    for (size_t e = 0; e < empty.size(); ++e) {
      const int64_t i = far[e], to = empty[e], from = labels[i];
      const double weight = weights == nullptr ? 1 : weights[i];
      tiles.read(i, 1, TileForm::kRows, nullptr, nullptr, row.data());
      for (int64_t j = 0; j < columns; ++j) {
        const double value = row[static_cast<size_t>(j)] * weight;
        own[from * columns + j] -= value;
        own[to * columns + j] = value;
      }
      totals[from] -= weight;
      totals[to] = weight;
    }
  }

  /// Means of the sums, in the precision of the rows; the squared shift from the last ones.
  double move() {
    const auto* own = sums.as<double>();
    const double* totals = own + clusters * columns;
    const auto mean = [&](int64_t c, int64_t j) {
      const double value = own[c * columns + j] / totals[c];
      return x.dtype() == dtype_of<float>() ? static_cast<double>(static_cast<float>(value))
                                            : value;
    };
    const int64_t biggest = std::max_element(totals, totals + clusters) - totals;
    double shift = 0;
    for (int64_t c = 0; c < clusters; ++c)
      for (int64_t j = 0; j < columns; ++j) {
        double& center = centers[static_cast<size_t>(c * columns + j)];
        const double next = mean(totals[c] > 0 ? c : biggest, j);
        shift += (next - center) * (next - center);
        center = next;
      }
    return shift;
  }
};

/// Squared distances of rows [begin, end) to each of `points`, handed to `take(begin, count, p,
/// distances)` in tiles.
template <class F>
void for_distances(const RowTiles& x, int64_t begin, int64_t end, const std::vector<double>& points,
                   F take) {
  const int64_t d = x.columns();
  std::vector<double> rows(static_cast<size_t>(kTileRows * d)), columns(rows.size());
  double apart[kTileRows];
  for (int64_t first = begin; first < end; first += kTileRows) {
    const int64_t count = std::min(kTileRows, end - first);
    x.read(first, count, TileForm::kRows, nullptr, nullptr, rows.data());
    cpu::pack(AnyMatrix(MatrixView<const double>{rows.data(), count, d, d}), kTileRows,
              columns.data());
    for (int64_t p = 0; p * d < static_cast<int64_t>(points.size()); ++p) {
      cpu::squared_distances(points.data() + p * d, columns.data(), d, kTileRows, apart);
      take(first, count, p, apart);
    }
  }
}

double uniform(RandomKey key, uint64_t index) {
  return static_cast<double>(philox_word(philox_block(key, index), 0) >> 11) * 0x1p-53;
}

}  // namespace

KMeans kmeans_fit(const Tensor& x, const Tensor& weights, const Tensor& init, int64_t most,
                  double tolerance) {
  check_centers("kmeans_fit", init, x);
  const int64_t rows = x.shape()[0], clusters = init.shape()[0];
  if (rows < clusters)
    throw_error<InvalidArgumentError>("kmeans_fit", "fewer rows than clusters",
                                      {{"rows", rows}, {"clusters", clusters}});
  const ScopedTag tag("kmeans_fit");
  Lloyd lloyd{x, weights_of("kmeans_fit", weights, rows), clusters, doubles_of(init)};
  lloyd.plan();
  constexpr int64_t kLabel = static_cast<int64_t>(sizeof(int32_t));
  Buffer labels = Buffer::allocate(rows * kLabel), before = Buffer::allocate(rows * kLabel);
  std::fill_n(before.mutable_as<int32_t>(), rows, -1);
  bool settled = false;
  KMeans found;
  while (found.iterations < most && !settled) {
    lloyd.pass(labels.mutable_as<int32_t>(), true);
    lloyd.fill_empty(labels.mutable_as<int32_t>());
    const double shift = lloyd.move();
    ++found.iterations;
    settled = std::memcmp(labels.data(), before.data(), static_cast<size_t>(rows * kLabel)) == 0;
    if (settled || shift <= tolerance) break;
    std::swap(labels, before);
  }
  if (!settled) lloyd.pass(labels.mutable_as<int32_t>(), false);
  found.inertia = inertia_of(x, lloyd.weights, lloyd.centers.data(), labels.as<int32_t>());
  found.labels = Tensor(dtype_of<int32_t>(), {rows}, std::move(labels));
  found.centers = tensor_of(lloyd.centers, x.dtype(), {clusters, x.shape()[1]});
  return found;
}

KMeansStep kmeans_step(const Tensor& x, const Tensor& weights, const Tensor& centers,
                       const Tensor& totals) {
  check_centers("kmeans_step", centers, x);
  const int64_t rows = x.shape()[0], clusters = centers.shape()[0], d = x.shape()[1];
  if (totals.dtype() != dtype_of<double>() || totals.num_elements() != clusters ||
      !totals.is_contiguous())
    throw_error<InvalidArgumentError>("kmeans_step", "expected a float64 weight for each centre",
                                      {{"totals", totals.num_elements()}, {"centers", clusters}});
  const ScopedTag tag("kmeans_step");
  Lloyd lloyd{x, weights_of("kmeans_step", weights, rows), clusters, doubles_of(centers)};
  lloyd.plan();
  std::vector<int32_t> labels(static_cast<size_t>(rows));
  lloyd.pass(labels.data(), true);
  KMeansStep made;
  made.inertia = inertia_of(x, lloyd.weights, lloyd.centers.data(), labels.data());
  const auto* sums = lloyd.sums.as<double>();
  std::vector<double> after(totals.as<double>(), totals.as<double>() + clusters);
  for (int64_t c = 0; c < clusters; ++c) {
    const double added = sums[clusters * d + c], before = after[static_cast<size_t>(c)];
    if (!(added > 0)) continue;
    after[static_cast<size_t>(c)] += added;
    for (int64_t j = 0; j < d; ++j) {
      double& center = lloyd.centers[static_cast<size_t>(c * d + j)];
      center = (center * before + sums[c * d + j]) / (before + added);
    }
  }
  made.centers = tensor_of(lloyd.centers, x.dtype(), {clusters, d});
  made.totals = tensor_of(after, dtype_of<double>(), {clusters});
  return made;
}

Tensor kmeans_plus_plus(const Tensor& points, const Tensor& given, int64_t clusters,
                        RandomKey key) {
  check_rows("kmeans_plus_plus", points);
  const RowTiles x(points);
  const int64_t rows = x.rows(), d = x.columns();
  if (rows < clusters || clusters < 1)
    throw_error<InvalidArgumentError>("kmeans_plus_plus", "fewer rows than clusters",
                                      {{"rows", rows}, {"clusters", clusters}});
  const ScopedTag tag("kmeans_plus_plus");
  const double* weights = weights_of("kmeans_plus_plus", given, rows);
  const auto weight = [&](int64_t i) { return weights == nullptr ? 1.0 : weights[i]; };
  Buffer buffer = Buffer::allocate(rows * kDouble);
  auto* nearest = buffer.mutable_as<double>();
  std::fill_n(nearest, rows, 1.0);  // the first draw is by weight alone
  std::vector<double> potentials(static_cast<size_t>((rows + kBlock - 1) / kBlock));
  for_blocks(rows, [&](int64_t block, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) potentials[static_cast<size_t>(block)] += weight(i);
  });

  /// The row at which the running sum of weight times distance exceeds `share` of the whole.
  const auto draw = [&](double share) {
    double left = share * std::accumulate(potentials.begin(), potentials.end(), 0.0);
    size_t block = 0;
    while (block + 1 < potentials.size() && left >= potentials[block]) left -= potentials[block++];
    const int64_t begin = static_cast<int64_t>(block) * kBlock;
    int64_t last = begin;
    for (int64_t i = begin; i < std::min(rows, begin + kBlock); ++i) {
      const double part = weight(i) * nearest[i];
      if (part > 0) last = i;
      if (left < part) break;
      left -= part;
    }
    return last;
  };

  std::vector<double> centers(static_cast<size_t>(clusters * d));
  uint64_t drawn = 0;
  const auto trials = 2 + static_cast<int64_t>(std::log(static_cast<double>(clusters)));
  for (int64_t c = 0; c < clusters; ++c) {
    const int64_t count = c == 0 ? 1 : trials;
    std::vector<double> candidates(static_cast<size_t>(count * d));
    for (int64_t t = 0; t < count; ++t)
      x.read(draw(uniform(key, drawn++)), 1, TileForm::kRows, nullptr, nullptr,
             candidates.data() + t * d);
    int64_t best = 0;
    if (count > 1) {
      std::vector<double> sums(potentials.size() * static_cast<size_t>(count));
      for_blocks(rows, [&](int64_t block, int64_t begin, int64_t end) {
        for_distances(x, begin, end, candidates,
                      [&](int64_t first, int64_t tile, int64_t t, const double* apart) {
                        double& sum = sums[static_cast<size_t>(block * count + t)];
                        for (int64_t i = 0; i < tile; ++i)
                          sum += weight(first + i) * std::min(nearest[first + i], apart[i]);
                      });
      });
      std::vector<double> totals(static_cast<size_t>(count));
      for (size_t k = 0; k < sums.size(); ++k) totals[k % totals.size()] += sums[k];
      best = std::min_element(totals.begin(), totals.end()) - totals.begin();
    }
    const std::vector<double> chosen(candidates.begin() + best * d,
                                     candidates.begin() + (best + 1) * d);
    std::copy(chosen.begin(), chosen.end(), centers.begin() + c * d);
    for_blocks(rows, [&](int64_t block, int64_t begin, int64_t end) {
      double& sum = potentials[static_cast<size_t>(block)];
      sum = 0;
      for_distances(x, begin, end, chosen,
                    [&](int64_t first, int64_t tile, int64_t, const double* apart) {
                      for (int64_t i = 0; i < tile; ++i) {
                        double& least = nearest[first + i];
                        least = c == 0 ? apart[i] : std::min(least, apart[i]);
                        sum += weight(first + i) * least;
                      }
                    });
    });
  }
  return tensor_of(centers, dtype_of<double>(), {clusters, d});
}

Tensor kmeans_predict(const Tensor& centers, const Tensor& x) {
  check_centers("kmeans_predict", centers, x);
  const ScopedTag tag("kmeans_predict");
  const std::vector<double> values = doubles_of(centers);
  const cpu::CenterPanels panels(values.data(), centers.shape()[0], centers.shape()[1],
                                 x.dtype() == dtype_of<float>());
  Buffer labels = Buffer::allocate(x.shape()[0] * static_cast<int64_t>(sizeof(int32_t)));
  const RowTiles tiles(x);
  for_blocks(x.shape()[0], [&](int64_t, int64_t begin, int64_t end) {
    cpu::assign_rows(tiles, panels, begin, end, labels.mutable_as<int32_t>());
  });
  return Tensor(dtype_of<int32_t>(), {x.shape()[0]}, std::move(labels));
}

double kmeans_inertia(const Tensor& centers, const Tensor& x, const Tensor& weights,
                      const Tensor& labels) {
  check_centers("kmeans_inertia", centers, x);
  if (labels.dtype() != dtype_of<int32_t>() || labels.num_elements() != x.shape()[0])
    throw_error<InvalidArgumentError>("kmeans_inertia", "expected an int32 label for each row");
  return inertia_of(x, weights_of("kmeans_inertia", weights, x.shape()[0]),
                    doubles_of(centers).data(), labels.as<int32_t>());
}

Tensor kmeans_transform(const Tensor& centers, const Tensor& x) {
  check_centers("kmeans_transform", centers, x);
  const ScopedTag tag("kmeans_transform");
  const int64_t count = centers.shape()[0], d = x.shape()[1];
  const std::vector<double> values = doubles_of(centers);
  std::vector<double> columns(values.size());
  for (int64_t c = 0; c < count; ++c)
    for (int64_t j = 0; j < d; ++j)
      columns[static_cast<size_t>(j * count + c)] = values[static_cast<size_t>(c * d + j)];
  const int64_t bytes = checked_multiply("kmeans_transform", x.shape()[0],
                                         checked_multiply("kmeans_transform", count, kDouble));
  Buffer made = Buffer::allocate(bytes / kDouble * x.dtype().size_bytes());
  const RowTiles tiles(x);
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    for_blocks(x.shape()[0], [&](int64_t, int64_t begin, int64_t end) {
      std::vector<double> row(static_cast<size_t>(d)), apart(static_cast<size_t>(count));
      for (int64_t i = begin; i < end; ++i) {
        tiles.read(i, 1, TileForm::kRows, nullptr, nullptr, row.data());
        cpu::squared_distances(row.data(), columns.data(), d, count, apart.data());
        for (int64_t c = 0; c < count; ++c)
          made.mutable_as<T>()[i * count + c] =
              static_cast<T>(std::sqrt(apart[static_cast<size_t>(c)]));
      }
    });
  });
  return Tensor(x.dtype(), {x.shape()[0], count}, std::move(made));
}

}  // namespace hr
