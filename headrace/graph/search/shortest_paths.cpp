// SPDX-License-Identifier: Apache-2.0
// Shortest paths: vertices in buckets by distance, which are worked off in turn.
#include "headrace/graph/search/shortest_paths.h"

#include "headrace/algo/select/bitmap_builder.h"
#include "headrace/algo/select/gather.h"
#include "headrace/exec/interrupt.h"
#include "headrace/exec/scratch_pool.h"
#include "headrace/graph/search/shortest_paths_kernels.h"
#include "headrace/graph/structure/vertex_columns.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace hr {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kStep = 64;  // vertices of a bucket that one task expands
// Buckets that are apart; lengths beyond them wait in one pile.
constexpr int64_t kBuckets = 512;
// A task goes on with what it finds for the same bucket while that is little, and no longer than
// for kMostOfTask vertices.
constexpr size_t kLittle = 1000;
constexpr int64_t kMostOfTask = 1 << 16;

// Entries of a row whose distances are on their way: a fifth less time at 2^20 vertices.
constexpr int64_t kAhead = 16;

using Pile = BudgetedVector<uint32_t>;

// Doubles that are not negative are ordered as their bits.
uint64_t bits_of_double(double value) {
  return std::bit_cast<uint64_t>(value);
}

// The sign of a distance: no edges have been followed from it. A vertex that is improved often in
// one bucket is expanded once so, which hubs need.
constexpr uint64_t kPending = uint64_t{1} << 63;

// Delta-stepping. A vertex is in the bucket of its distance; stale entries remain in later buckets
// and are skipped.
class Paths {
 public:
  Paths(const Graph& graph, const Buffer& weights, double cutoff, double width, double* distances)
      : csr_(graph.out()),
        weights_(weights ? weights.as<double>() : nullptr),
        cutoff_(cutoff),
        scale_(1 / width),
        distances_(reinterpret_cast<uint64_t*>(distances)) {}

  void run(int64_t source) {
    distances_[source] = kPending;
    bucket_.assign(1, static_cast<uint32_t>(source));
    do expand();
    while (take_bucket());
  }

 private:
  // What the tasks of a worker found.
  struct Found {
    std::vector<Pile> buckets{kBuckets};
    Pile far{};
    Pile same{};  // of the bucket that is expanded
  };

  double distance(uint32_t v) const {
    const std::atomic_ref at(distances_[v]);
    return std::bit_cast<double>(at.load(std::memory_order_relaxed) & ~kPending);
  }

  // Lengths in buckets: never less for a greater one, and no infinity, whose differences are NaN.
  double scaled(double length) const { return std::min(length * scale_, 1e300); }

  // How many buckets after the first one.
  double place(double length) const { return scaled(length) - base_; }

  void put(uint32_t v, double length, Found& own) const {
    const double at = place(length);
    (at < double{kBuckets} ? own.buckets[static_cast<size_t>(at)] : own.far).push_back(v);
  }

  // Whether the way is shorter than what was known.
  bool improve(uint32_t v, double length) {
    const std::atomic_ref at(distances_[v]);
    const uint64_t bits = bits_of_double(length);
    uint64_t known = at.load(std::memory_order_relaxed);
    while (bits < (known & ~kPending))
      if (at.compare_exchange_weak(known, bits | kPending, std::memory_order_relaxed)) return true;
    return false;
  }

  // Prefetches a few vertices ahead.
  void expand(std::span<const uint32_t> vertices, Found& own) {
    constexpr size_t kRows = 4, kPointers = 8;
    const auto* const offsets = csr_.offsets.as<int64_t>();
    const auto* const targets = csr_.targets.as<uint32_t>();
    for (size_t k = 0; k < vertices.size(); ++k) {
      if (k + kPointers < vertices.size()) {
        __builtin_prefetch(&offsets[vertices[k + kPointers]]);
        __builtin_prefetch(&distances_[vertices[k + kPointers]]);
        const int64_t soon = offsets[vertices[k + kRows]];
        __builtin_prefetch(&targets[soon]);
        __builtin_prefetch(&weights_[soon]);
      }
      const uint32_t v = vertices[k];
      const std::atomic_ref at(distances_[v]);
      if ((at.load(std::memory_order_relaxed) & kPending) == 0) continue;
      const uint64_t known = at.fetch_and(~kPending, std::memory_order_relaxed);
      if ((known & kPending) == 0) continue;
      const auto here = std::bit_cast<double>(known & ~kPending);
      const int64_t end = offsets[v + 1];
      for (int64_t i = offsets[v]; i < end; ++i) {
        if (i + kAhead < end) __builtin_prefetch(&distances_[targets[i + kAhead]]);
        const double length = here + weights_[i];
        if (length <= cutoff_ && improve(targets[i], length)) put(targets[i], length, own);
      }
    }
  }

  void expand() {
    look_for_interrupt();
    const auto rows = static_cast<int64_t>(bucket_.size());
    parallel_for((rows + kStep - 1) / kStep, [&](int64_t task) {
      found_.lend([&](Found& own) {
        const Morsel morsel = morsel_at(task, rows, kStep);
        expand(std::span(bucket_).subspan(static_cast<size_t>(morsel.begin),
                                          static_cast<size_t>(morsel.end - morsel.begin)),
               own);
        Pile& found = own.buckets[static_cast<size_t>(current_)];
        for (int64_t done = 0; !found.empty() && found.size() < kLittle && done < kMostOfTask;) {
          std::swap(found, own.same);
          expand(own.same, own);
          done += static_cast<int64_t>(own.same.size());
          own.same.clear();
        }
      });
    });
  }

  // The vertices of the first bucket that has some; false when none is left.
  bool take_bucket() {
    bucket_.clear();
    do {
      for (; current_ < kBuckets; ++current_) {
        found_.each([&](Found& own) {
          Pile& found = own.buckets[static_cast<size_t>(current_)];
          if (bucket_.empty()) return std::swap(bucket_, found);
          bucket_.insert(bucket_.end(), found.begin(), found.end());
          found.clear();
        });
        if (!bucket_.empty()) return true;
      }
    } while (move_on());
    return false;
  }

  // Makes the bucket of the least length of the far piles the first; false where they are empty.
  // Buckets become wider while few of those that wait come into them.
  bool move_on() {
    double least = kInfinity;
    size_t waiting = 0, left = 0;
    found_.each([&](Found& own) {
      std::erase_if(own.far, [&](uint32_t v) { return place(distance(v)) < double{kBuckets}; });
      for (const uint32_t v : own.far) least = std::min(least, distance(v));
      waiting += own.far.size();
    });
    if (least == kInfinity) return false;
    if (is_narrow_) scale_ /= 2;
    base_ = std::floor(scaled(least));
    current_ = 0;
    found_.each([&](Found& own) {
      const Pile far = std::exchange(own.far, {});
      for (const uint32_t v : far) put(v, distance(v), own);
      left += own.far.size();
    });
    is_narrow_ = left > waiting - waiting / 8;
    return true;
  }

  const Csr& csr_;
  const double* weights_;
  double cutoff_;
  double scale_;  // buckets of a length of 1
  uint64_t* distances_;
  bool is_narrow_ = false;
  double base_ = 0;      // the number of the first bucket
  int64_t current_ = 0;  // that which is expanded, from the first one on
  Pile bucket_{};        // its vertices
  ScratchPool<Found> found_{};
};

// The mean of weights that a few much greater ones do not move: of the lower three quarters of a
// sample, in proportion to even ones.
double usual_weight(std::span<const double> weights) {
  constexpr size_t kSample = 1024;
  const size_t step = (weights.size() + kSample - 1) / kSample;
  std::vector<double> sample;
  for (size_t i = 0; i < weights.size(); i += step) sample.push_back(weights[i]);
  std::ranges::sort(sample);
  const size_t usual = (3 * sample.size() + 3) / 4;
  double sum = 0;
  for (size_t i = 0; i < usual; ++i) sum += sample[i];
  return sum > 0 ? sum / static_cast<double>(usual) * 4 / 3 : sample.back();
}

// The width of a bucket. Where vertices have many edges it holds enough of them for all workers
// while it is narrow, and no vertex is expanded twice; others need wide ones. At 2^20 vertices and
// weights up to 255, 1 is best for R-MAT x 16 (2: +10 %), 30 to 300 for a grid, 4 to 64 for random
// edges. Only the time depends on it.
double bucket_width(const Csr& csr, const Column& weights) {
  const double edges = static_cast<double>(csr.entries()) / static_cast<double>(csr.vertices);
  const double width = usual_weight(weights.values<double>()) *
                       std::max(8 / std::max(edges * edges, 1.0), 1.0 / 128);
  return std::isnormal(width) && std::isfinite(1 / width) ? width : 1;
}

// Takes the least of those that lead to a vertex.
void take_least(int64_t& place, int64_t v) {
  const std::atomic_ref least(place);
  int64_t known = least.load(std::memory_order_relaxed);
  while ((known < 0 || known > v) &&
         !least.compare_exchange_weak(known, v, std::memory_order_relaxed)) {
  }
}

// Calls `edge(v, target)` for the edges that are the end of a shortest path.
template <class Edge>
void on_shortest(const Csr& csr, const double* weights, const double* distances, Edge&& edge) {
  parallel_rows(csr, [&](Morsel piece) {
    const auto* const targets = csr.targets.as<uint32_t>();
    for (int64_t v = piece.begin; v < piece.end; ++v) {
      if (distances[v] == kInfinity) continue;
      for (int64_t i = csr.begin(v); i < csr.begin(v + 1); ++i)
        if (distances[v] + weights[i] == distances[targets[i]]) edge(v, targets[i]);
    }
  });
}

Buffer predecessors(const Csr& csr, const Buffer& weights, const Buffer& distances,
                    int64_t source) {
  const int64_t vertices = csr.vertices;
  Buffer made = Buffer::allocate(8 * vertices);
  auto* const out = made.mutable_as<int64_t>();
  std::fill(out, out + vertices, int64_t{-1});
  const auto* const distance = distances.as<double>();
  const double* const weight = csr.entries() > 0 ? weights.as<double>() : nullptr;
  on_shortest(csr, weight, distance, [&](int64_t v, uint32_t target) {
    if (distance[v] < distance[target]) take_least(out[target], v);
  });
  // Those that only edges of weight 0 lead to, round by round.
  const auto is_open = [&](int64_t v) {
    return out[v] < 0 && v != source && distance[v] != kInfinity;
  };
  for (;;) {
    look_for_interrupt();
    std::vector<int64_t> open(static_cast<size_t>(num_morsels(vertices)));
    parallel_morsels(vertices, [&](Morsel morsel) {
      for (int64_t v = morsel.begin; v < morsel.end; ++v)
        open[static_cast<size_t>(morsel.index)] += is_open(v);
    });
    if (std::all_of(open.begin(), open.end(), [](int64_t count) { return count == 0; }))
      return made;
    BudgetedVector<int64_t> next(out, out + vertices);
    on_shortest(csr, weight, distance, [&](int64_t v, uint32_t target) {
      if (!is_open(v) && is_open(target)) take_least(next[target], v);
    });
    std::copy(next.begin(), next.end(), out);
  }
}

Buffer lengths(const Graph& graph, const Column& weights, const Buffer& of_entries, int64_t source,
               double cutoff) {
  const int64_t vertices = graph.num_vertices();
  Buffer made = Buffer::allocate(8 * vertices);
  auto* const out = made.mutable_as<double>();
  parallel_morsels(
      vertices, [&](Morsel morsel) { std::fill(out + morsel.begin, out + morsel.end, kInfinity); });
  if (graph.out().entries() == 0)
    out[source] = 0;
  else
    Paths(graph, of_entries, cutoff, bucket_width(graph.out(), weights), out).run(source);
  return made;
}

}  // namespace

Buffer shortest_path_lengths(const Graph& graph, const Column& weights, int64_t source,
                             double cutoff) {
  if constexpr (built_with_cuda)
    if (graph.place().is_gpu())
      return cuda::shortest_path_lengths(graph, weights, source, cutoff).lengths;
  const Buffer of_entries =
      graph.out_weights("shortest_path_length", weights, WeightRule::kNotNegative);
  return lengths(graph, weights, of_entries, source, cutoff);
}

NodePtr shortest_path_table(const Graph& graph, const NodePtr& weights, int64_t source,
                            double cutoff) {
  std::vector<VertexColumn> columns{{"distance", TypeId::kFloat64}};
  add_keys(graph, "predecessor", columns);
  const auto run = [graph, source, cutoff](const std::vector<bool>& wanted,
                                           std::span<const Value> values) {
    const auto& given = std::get<Column>(values[0]);
    const int64_t vertices = graph.num_vertices();
    std::vector<Column> made;
    WantedColumns out(wanted, made);
    if constexpr (built_with_cuda)
      if (graph.place().is_gpu()) {
        const cuda::PathLengths found = cuda::shortest_path_lengths(graph, given, source, cutoff);
        out.column([&] { return cuda::length_column(found.lengths, vertices); });
        out.ids(graph, [&] {
          return Tensor(TypeId::kInt64, {vertices},
                        cuda::path_predecessors(graph, found, source, given));
        });
        return made;
      }
    const Buffer of_entries =
        graph.out_weights("shortest_path_length", given, WeightRule::kNotNegative);
    const Buffer found = lengths(graph, given, of_entries, source, cutoff);
    out.column([&] {
      const auto* const distance = found.as<double>();
      Buffer valid = bits_of(vertices, {}, [&](int64_t v) { return distance[v] != kInfinity; });
      return Column(TypeId::kFloat64, vertices, found, std::move(valid), -1);
    });
    out.ids(graph, [&] {
      return Tensor(TypeId::kInt64, {vertices},
                    predecessors(graph.out(), of_entries, found, source));
    });
    return made;
  };
  return vertex_table(graph, "shortest_path_length", {}, columns, {weights}, run,
                      Kernels::kHostAndCuda);
}

}  // namespace hr
