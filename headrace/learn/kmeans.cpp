// SPDX-License-Identifier: Apache-2.0
// The iteration of k-means and its first centres.
#include "headrace/learn/kmeans.h"

#include "headrace/algo/linalg/matmul_kernels.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/exec/workers.h"
#include "headrace/exec/working_memory.h"
#include "headrace/learn/kmeans_kernels.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/log/tag.h"
#include "headrace/plan/graph/placement.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

namespace hr {
namespace {

constexpr int64_t kDouble = static_cast<int64_t>(sizeof(double));
constexpr int64_t kLabel = static_cast<int64_t>(sizeof(int32_t));
constexpr int64_t kTileRows = 256;
constexpr int64_t kBlock = kKMeansBlock;
/// Rows that get labels and are added while they are in the cache.
constexpr int64_t kNearRows = 512;

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

/// All of a matrix as float64, from a device too.
std::vector<double> doubles_of(const Tensor& given) {
  const Tensor x = std::get<Tensor>(to_place(Value(given), host));
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

/// Rows on a CUDA device, else null.
std::unique_ptr<cuda::KMeansRows> rows_there(std::string_view op, const Tensor& x,
                                             const Tensor& weights) {
  if constexpr (built_with_cuda)
    if (x.place().is_gpu()) return std::make_unique<cuda::KMeansRows>(op, x, weights);
  check_on_host(op, x.place());
  return nullptr;
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
  std::unique_ptr<cuda::KMeansRows> there = {};
  Buffer labels = {}, before = {};  ///< int32 [rows], of rows on the host

  int64_t part_size() const { return clusters * (columns + 1); }

  /// Sums, the centres twice for the labels and once for the user, the labels; tiles of floats.
  WorkingBytes working_bytes() const {
    if (there != nullptr) return {part_size() * kDouble, 0};
    return {(parts + 3) * part_size() * kDouble + 2 * rows * kLabel,
            2 * kTileRows * columns * static_cast<int64_t>(sizeof(float))};
  }

  /// At most 64 parts, of whole blocks, and fewer where their sums would take over 256 MiB.
  void plan() {
    const int64_t size = checked_multiply("kmeans_fit", clusters, columns + 1);
    const int64_t fit = std::max<int64_t>(1, (int64_t{1} << 25) / size);
    parts = std::min({(rows + kBlock - 1) / kBlock, int64_t{64}, fit});
  }

  void start() {
    sums = Buffer::allocate(
        checked_multiply("kmeans_fit", (there == nullptr ? parts : 1) * kDouble, part_size()));
    if (there == nullptr)
      for (Buffer* each : {&labels, &before}) {
        *each = Buffer::allocate(rows * kLabel);
        std::fill_n(each->mutable_as<int32_t>(), rows, -1);
      }
  }

  std::pair<int64_t, int64_t> part(int64_t k) const {
    const int64_t blocks = (rows + kBlock - 1) / kBlock;
    return {k * blocks / parts * kBlock, std::min(rows, (k + 1) * blocks / parts * kBlock)};
  }

  /// New labels, and with `update` the sums of the clusters in part 0.
  void pass(bool update) {
    if constexpr (built_with_cuda)
      if (there != nullptr) {
        there->assign(centers.data(), clusters);
        if (update) there->add_rows(clusters, parts, sums.mutable_as<double>());
        return;
      }
    std::swap(labels, before);
    pass(labels.mutable_as<int32_t>(), update);
  }

  void pass(int32_t* labels_now, bool update) {
    const cpu::CenterPanels panels(centers.data(), clusters, columns,
                                   x.dtype() == dtype_of<float>());
    auto* all = sums.mutable_as<double>();
    const auto add = [&](int64_t k, int64_t begin, int64_t end) {
      double* own = all + k * part_size();
      cpu::add_rows(x, weights, labels_now, begin, end, own, own + clusters * columns);
    };
    if (update) std::fill_n(all, parts * part_size(), 0.0);
    // Few parts are too few tasks for the work of the labels.
    const bool together = update && parts >= std::min<int64_t>(16, (rows + kBlock - 1) / kBlock);
    if (!together)
      for_blocks(rows, [&](int64_t, int64_t begin, int64_t end) {
        cpu::assign_rows(x, panels, begin, end, labels_now);
      });
    if (!update) return;
    parallel_for(parts, [&](int64_t k) {
      const auto [first, last] = part(k);
      for (int64_t begin = first; begin < last; begin += kNearRows) {
        const int64_t end = std::min(last, begin + kNearRows);
        if (together) cpu::assign_rows(x, panels, begin, end, labels_now);
        add(k, begin, end);
      }
    });
    for (int64_t k = 1; k < parts; ++k)
      for (int64_t i = 0; i < part_size(); ++i) all[i] += all[k * part_size() + i];
  }

  /// Whether the labels are those of the last pass.
  bool settled() {
    if constexpr (built_with_cuda)
      if (there != nullptr) return there->settled();
    return std::memcmp(labels.data(), before.data(), static_cast<size_t>(rows) * sizeof(int32_t)) ==
           0;
  }

  double inertia() {
    if constexpr (built_with_cuda)
      if (there != nullptr) {
        const std::vector<double> made = there->inertia_sums(centers.data(), clusters);
        return std::accumulate(made.begin(), made.end(), 0.0);
      }
    return inertia_of(x, weights, centers.data(), labels.as<int32_t>());
  }

  /// Squared distances of the rows to the centres of their labels, and these.
  std::pair<BudgetedVector<double>, BudgetedVector<int32_t>> own_distances() {
    BudgetedVector<double> distances(static_cast<size_t>(rows));
    BudgetedVector<int32_t> nearest(distances.size());
    if constexpr (built_with_cuda)
      if (there != nullptr) {
        there->own_distances(centers.data(), clusters, distances.data());
        there->fetch_labels(nearest.data());
        return {std::move(distances), std::move(nearest)};
      }
    std::copy_n(labels.as<int32_t>(), rows, nearest.data());
    for_blocks(rows, [&](int64_t, int64_t begin, int64_t end) {
      for_own_distances(
          x, centers.data(), nearest.data(), begin, end,
          [&](int64_t i, double apart) { distances[static_cast<size_t>(i)] = apart; });
    });
    return {std::move(distances), std::move(nearest)};
  }

  /// Clusters that have rows.
  int64_t used() {
    std::vector<uint8_t> has(static_cast<size_t>(clusters));
    if constexpr (built_with_cuda)
      if (there != nullptr) {
        there->mark_used(clusters, has.data());
        return std::accumulate(has.begin(), has.end(), int64_t{0});
      }
    for (int64_t i = 0; i < rows; ++i) has[static_cast<size_t>(labels.as<int32_t>()[i])] = 1;
    return std::accumulate(has.begin(), has.end(), int64_t{0});
  }

  Tensor found_labels() {
    if constexpr (built_with_cuda)
      if (there != nullptr) return there->labels();
    return Tensor(dtype_of<int32_t>(), {rows}, std::move(labels));
  }

  /// What a row adds to its cluster.
  double weighted_row(int64_t i, double* values) {
    double weight = weights == nullptr ? 1 : 0;
    if constexpr (built_with_cuda)
      if (there != nullptr) {
        there->read_row(i, values);
        return weights == nullptr ? weight : there->fetch_weights()[static_cast<size_t>(i)];
      }
    tiles.read(i, 1, TileForm::kRows, nullptr, nullptr, values);
    return weights == nullptr ? weight : weights[i];
  }

  /// Clusters without weight take the rows that are farthest from their centres.
  void fill_empty() {
    auto* own = sums.mutable_as<double>();
    double* totals = own + clusters * columns;
    std::vector<int64_t> empty;
    for (int64_t c = 0; c < clusters; ++c)
      if (totals[c] == 0) empty.push_back(c);
    if (empty.empty()) return;
    const auto [distances, nearest] = own_distances();
    if (*std::max_element(distances.begin(), distances.end()) == 0)
      return;  // fewer rows than clusters
    BudgetedVector<int64_t> far(static_cast<size_t>(rows));
    std::iota(far.begin(), far.end(), int64_t{0});
    std::partial_sort(far.begin(), far.begin() + static_cast<int64_t>(empty.size()), far.end(),
                      [&, apart = distances.data()](int64_t a, int64_t b) {
                        return apart[a] != apart[b] ? apart[a] > apart[b] : a < b;
                      });
    std::vector<double> row(static_cast<size_t>(columns));
    for (size_t e = 0; e < empty.size(); ++e) {
      const int64_t i = far[e], to = empty[e], from = nearest[static_cast<size_t>(i)];
      const double weight = weighted_row(i, row.data());
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

/// Rows and how far each is from the nearest centre so far, first 1: the first draw is by weight
/// alone.
struct Seeding {
  RowTiles x;
  const double* weights;
  std::unique_ptr<cuda::KMeansRows> there;
  BudgetedVector<double> nearest = {};

  Seeding(const Tensor& rows, const Tensor& given)
      : x(rows),
        weights(weights_of("kmeans_plus_plus", given, rows.shape()[0])),
        there(rows_there("kmeans_plus_plus", rows, given)) {
    if constexpr (built_with_cuda)
      if (there != nullptr) {
        there->begin_seeding();
        return;
      }
    nearest.assign(static_cast<size_t>(x.rows()), 1.0);
  }

  double part(int64_t i) const {
    const double distance = nearest[static_cast<size_t>(i)];
    return weights == nullptr ? distance : weights[i] * distance;
  }

  /// Weight times distance of rows.
  std::vector<double> parts(int64_t first, int64_t count) {
    if constexpr (built_with_cuda)
      if (there != nullptr) return there->seed_parts(first, count);
    std::vector<double> made;
    for (int64_t i = first; i < first + count; ++i) made.push_back(part(i));
    return made;
  }

  void read_row(int64_t i, double* out) {
    if constexpr (built_with_cuda)
      if (there != nullptr) return there->read_row(i, out);
    x.read(i, 1, TileForm::kRows, nullptr, nullptr, out);
  }

  /// As `cuda::KMeansRows::seed_sums`.
  std::vector<double> sums(const std::vector<double>& candidates, int64_t count, bool keep,
                           bool first) {
    if constexpr (built_with_cuda)
      if (there != nullptr) return there->seed_sums(candidates.data(), count, keep, first);
    const int64_t columns = std::max<int64_t>(count, 1);
    std::vector<double> made(static_cast<size_t>((x.rows() + kBlock - 1) / kBlock * columns));
    for_blocks(x.rows(), [&](int64_t block, int64_t begin, int64_t end) {
      double* own = made.data() + block * columns;
      if (count == 0)
        for (int64_t i = begin; i < end; ++i) *own += part(i);
      else
        for_distances(x, begin, end, candidates,
                      [&](int64_t from, int64_t tile, int64_t t, const double* apart) {
                        for (int64_t i = 0; i < tile; ++i) {
                          double& known = nearest[static_cast<size_t>(from + i)];
                          const double least = first ? apart[i] : std::min(known, apart[i]);
                          own[t] += weights == nullptr ? least : weights[from + i] * least;
                          if (keep) known = least;
                        }
                      });
    });
    return made;
  }
};

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
  lloyd.there = rows_there("kmeans_fit", x, weights);
  lloyd.plan();
  const WorkingMemory working(lloyd.working_bytes());
  lloyd.start();
  bool settled = false;
  KMeans found;
  while (found.iterations < most && !settled) {
    look_for_interrupt();
    lloyd.pass(true);
    lloyd.fill_empty();
    const double shift = lloyd.move();
    ++found.iterations;
    settled = lloyd.settled();
    if (shift <= tolerance) break;
  }
  if (!settled) lloyd.pass(false);
  found.inertia = lloyd.inertia();
  found.used = lloyd.used();
  found.labels = lloyd.found_labels();
  found.centers = output_at(
      "kmeans_fit", tensor_of(lloyd.centers, x.dtype(), {clusters, x.shape()[1]}), x.place());
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
  lloyd.there = rows_there("kmeans_step", x, weights);
  lloyd.plan();
  const WorkingMemory working(lloyd.working_bytes());
  lloyd.start();
  lloyd.pass(true);
  KMeansStep made;
  made.inertia = lloyd.inertia();
  const auto* sums = lloyd.sums.as<double>();
  const Tensor before = std::get<Tensor>(to_place(Value(totals), host));
  std::vector<double> after(before.as<double>(), before.as<double>() + clusters);
  for (int64_t c = 0; c < clusters; ++c) {
    const double added = sums[clusters * d + c], had = after[static_cast<size_t>(c)];
    if (!(added > 0)) continue;
    after[static_cast<size_t>(c)] += added;
    for (int64_t j = 0; j < d; ++j) {
      double& center = lloyd.centers[static_cast<size_t>(c * d + j)];
      center = (center * had + sums[c * d + j]) / (had + added);
    }
  }
  const auto keep = [&](const Tensor& part) { return output_at("kmeans_step", part, x.place()); };
  made.centers = keep(tensor_of(lloyd.centers, x.dtype(), {clusters, d}));
  made.totals = keep(tensor_of(after, dtype_of<double>(), {clusters}));
  return made;
}

Tensor kmeans_plus_plus(const Tensor& points, const Tensor& given, int64_t clusters,
                        RandomKey key) {
  check_rows("kmeans_plus_plus", points);
  const int64_t rows = points.shape()[0], d = points.shape()[1];
  if (rows < clusters || clusters < 1)
    throw_error<InvalidArgumentError>("kmeans_plus_plus", "fewer rows than clusters",
                                      {{"rows", rows}, {"clusters", clusters}});
  const ScopedTag tag("kmeans_plus_plus");
  WorkingBytes taken;
  if (points.place().is_host())
    taken = {(rows + clusters * d) * kDouble, 2 * kTileRows * d * kDouble};
  const WorkingMemory working(taken);
  Seeding rows_so_far(points, given);

  /// The row at which the running sum of weight times distance exceeds `share` of the whole.
  const auto draw = [&](const std::vector<double>& potentials, double share) {
    double left = share * std::accumulate(potentials.begin(), potentials.end(), 0.0);
    size_t block = 0;
    while (block + 1 < potentials.size() && left >= potentials[block]) left -= potentials[block++];
    const int64_t begin = static_cast<int64_t>(block) * kBlock;
    const std::vector<double> parts = rows_so_far.parts(begin, std::min(kBlock, rows - begin));
    size_t last = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i] > 0) last = i;
      if (left < parts[i]) break;
      left -= parts[i];
    }
    return begin + static_cast<int64_t>(last);
  };

  std::vector<double> centers(static_cast<size_t>(clusters * d));
  std::vector<double> potentials = rows_so_far.sums({}, 0, false, false);
  uint64_t drawn = 0;
  const auto trials = 2 + static_cast<int64_t>(std::log(static_cast<double>(clusters)));
  for (int64_t c = 0; c < clusters; ++c) {
    look_for_interrupt();
    const int64_t count = c == 0 ? 1 : trials;
    std::vector<double> candidates(static_cast<size_t>(count * d));
    for (int64_t t = 0; t < count; ++t)
      rows_so_far.read_row(draw(potentials, uniform(key, drawn++)), candidates.data() + t * d);
    int64_t best = 0;
    if (count > 1) {
      const std::vector<double> sums = rows_so_far.sums(candidates, count, false, false);
      std::vector<double> totals(static_cast<size_t>(count));
      for (size_t k = 0; k < sums.size(); ++k) totals[k % totals.size()] += sums[k];
      best = std::min_element(totals.begin(), totals.end()) - totals.begin();
    }
    const std::vector<double> chosen(candidates.begin() + best * d,
                                     candidates.begin() + (best + 1) * d);
    std::copy(chosen.begin(), chosen.end(), centers.begin() + c * d);
    potentials = rows_so_far.sums(chosen, 1, true, c == 0);
  }
  return output_at("kmeans_plus_plus", tensor_of(centers, dtype_of<double>(), {clusters, d}),
                   points.place());
}

Tensor kmeans_predict(const Tensor& centers, const Tensor& x) {
  check_centers("kmeans_predict", centers, x);
  const ScopedTag tag("kmeans_predict");
  const std::vector<double> values = doubles_of(centers);
  if constexpr (built_with_cuda)
    if (const auto there = rows_there("kmeans_predict", x, Tensor())) {
      there->assign(values.data(), centers.shape()[0]);
      return there->labels();
    }
  const cpu::CenterPanels panels(values.data(), centers.shape()[0], centers.shape()[1],
                                 x.dtype() == dtype_of<float>());
  Buffer labels = Buffer::allocate(x.shape()[0] * static_cast<int64_t>(sizeof(int32_t)));
  for_blocks(x.shape()[0], [&](int64_t, int64_t begin, int64_t end) {
    cpu::assign_rows(x, panels, begin, end, labels.mutable_as<int32_t>());
  });
  return Tensor(dtype_of<int32_t>(), {x.shape()[0]}, std::move(labels));
}

double kmeans_inertia(const Tensor& centers, const Tensor& x, const Tensor& weights,
                      const Tensor& labels) {
  check_centers("kmeans_inertia", centers, x);
  if (labels.dtype() != dtype_of<int32_t>() || labels.num_elements() != x.shape()[0])
    throw_error<InvalidArgumentError>("kmeans_inertia", "expected an int32 label for each row");
  if constexpr (built_with_cuda)
    if (const auto there = rows_there("kmeans_inertia", x, weights)) {
      weights_of("kmeans_inertia", weights, x.shape()[0]);
      there->set_labels(labels);
      const std::vector<double> sums =
          there->inertia_sums(doubles_of(centers).data(), centers.shape()[0]);
      return std::accumulate(sums.begin(), sums.end(), 0.0);
    }
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
  if constexpr (built_with_cuda)
    if (x.place().is_gpu()) {
      Buffer there = allocate_result(bytes / kDouble * x.dtype().size_bytes(), x.place());
      if (x.shape()[0] > 0) cuda::kmeans_transform(x, values.data(), count, there);
      return Tensor(x.dtype(), {x.shape()[0], count}, std::move(there));
    }
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
