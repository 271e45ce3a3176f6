// SPDX-License-Identifier: Apache-2.0
// Clusters and neighbours: all of it evaluates its data.
#include "python/bind/bind.h"

#include "headrace/learn/dbscan.h"
#include "headrace/learn/eager.h"
#include "headrace/learn/hdbscan.h"
#include "headrace/learn/kmeans.h"
#include "headrace/learn/neighbors.h"
#include "headrace/learn/nmf.h"
#include "headrace/learn/pairwise.h"

namespace {

using hr::NodePtr;
using hr::Tensor;
using Tensors = std::vector<Tensor>;

// Centres, labels, inertia, iterations, clusters with rows.
std::tuple<NodePtr, NodePtr, double, int64_t, int64_t> kmeans_fit(const NodePtr& x,
                                                                  const NodePtr& weights,
                                                                  const NodePtr& init, int64_t most,
                                                                  double tolerance) {
  hr::KMeans found;
  const std::vector<NodePtr> made = hr::run_beside(
      "kmeans_fit", {x, weights, init}, 0, hr::no_limits, [&](std::span<const Tensor> in) {
        found = hr::kmeans_fit(in[0], in[1], in[2], most, tolerance);
        return Tensors{found.centers, found.labels};
      });
  return {made[0], made[1], found.inertia, found.iterations, found.used};
}

// Centres, totals, inertia.
std::tuple<NodePtr, NodePtr, double> kmeans_step(const NodePtr& x, const NodePtr& weights,
                                                 const NodePtr& centers, const NodePtr& totals) {
  double inertia = 0;
  const std::vector<NodePtr> made =
      hr::run_beside("kmeans_step", {x, weights, centers, totals}, 0, hr::no_limits,
                     [&](std::span<const Tensor> in) {
                       const hr::KMeansStep step = hr::kmeans_step(in[0], in[1], in[2], in[3]);
                       inertia = step.inertia;
                       return Tensors{step.centers, step.totals};
                     });
  return {made[0], made[1], inertia};
}

NodePtr kmeans_plus_plus(const NodePtr& x, const NodePtr& weights, int64_t clusters, uint64_t seed,
                         uint32_t stream) {
  return hr::run_beside(
      "kmeans_plus_plus", {x, weights}, 0, hr::no_limits, [&](std::span<const Tensor> in) {
        return Tensors{hr::kmeans_plus_plus(in[0], in[1], clusters, {seed, stream})};
      })[0];
}

NodePtr kmeans_predict(const NodePtr& centers, const NodePtr& x) {
  return hr::run_beside(
      "kmeans_predict", {centers, x}, 1, hr::no_limits,
      [](std::span<const Tensor> in) { return Tensors{hr::kmeans_predict(in[0], in[1])}; })[0];
}

NodePtr kmeans_transform(const NodePtr& centers, const NodePtr& x) {
  return hr::run_beside(
      "kmeans_transform", {centers, x}, 1, hr::no_limits,
      [](std::span<const Tensor> in) { return Tensors{hr::kmeans_transform(in[0], in[1])}; })[0];
}

double kmeans_inertia(const NodePtr& centers, const NodePtr& x, const NodePtr& weights,
                      const NodePtr& labels) {
  double inertia = 0;
  hr::run_beside("kmeans_inertia", {centers, x, weights, labels}, 1, hr::no_limits,
                 [&](std::span<const Tensor> in) {
                   inertia = hr::kmeans_inertia(in[0], in[1], in[2], in[3]);
                   return Tensors();
                 });
  return inertia;
}

// Indices and distances.
std::tuple<NodePtr, NodePtr> nearest_neighbors(const NodePtr& rows, const NodePtr& queries,
                                               int64_t count, const std::string& metric,
                                               bool others, const std::string& search) {
  const hr::Metric by = hr::metric_named(metric);
  const auto limits = [&](std::span<const hr::Value>) { return hr::why_no_kernel(by, count); };
  const std::vector<NodePtr> made = hr::run_eagerly(
      "nearest_neighbors", {rows, queries}, limits, [&](std::span<const Tensor> in) {
        hr::Neighbors found = hr::nearest_neighbors(in[0], in[1], count, by, others,
                                                    hr::neighbor_search_named(search));
        return Tensors{found.indices, found.distances};
      });
  return {made[0], made[1]};
}

// Offsets, indices and distances.
std::tuple<NodePtr, NodePtr, NodePtr> neighbors_within(const NodePtr& rows, const NodePtr& queries,
                                                       double radius, const std::string& metric,
                                                       bool others, const std::string& search) {
  const std::vector<NodePtr> made =
      hr::run_eagerly("neighbors_within", {rows, queries}, [&](std::span<const Tensor> in) {
        hr::NeighborRuns found =
            hr::neighbors_within(in[0], in[1], radius, hr::metric_named(metric), others,
                                 hr::neighbor_search_named(search));
        return Tensors{found.offsets, found.indices, found.distances};
      });
  return {made[0], made[1], made[2]};
}

// Labels and core rows.
std::tuple<NodePtr, NodePtr> dbscan(const NodePtr& x, const NodePtr& weights, double epsilon,
                                    double least_weight, const std::string& metric) {
  const hr::Metric by = hr::metric_named(metric);
  const auto limits = [&](std::span<const hr::Value>) { return hr::why_no_kernel(by, 1); };
  const std::vector<NodePtr> made =
      hr::run_beside("dbscan", {x, weights}, 0, limits, [&](std::span<const Tensor> in) {
        hr::DenseClusters found = hr::dbscan(in[0], in[1], epsilon, least_weight, by);
        return Tensors{found.labels, found.core};
      });
  return {made[0], made[1]};
}

// Left and right nodes, heights and sizes of the merges.
std::vector<NodePtr> hdbscan_linkage(const NodePtr& x, int64_t min_samples, double alpha,
                                     bool scale_cores, const std::string& metric) {
  return hr::run_eagerly("hdbscan", {x}, [&](std::span<const Tensor> in) {
    const hr::Linkage made = hr::reachability_linkage(
        in[0], {min_samples, alpha, scale_cores, hr::metric_named(metric)});
    return Tensors{made.left, made.right, made.heights, made.sizes};
  });
}

// Parents, children, lambdas and sizes of the condensed tree.
std::vector<NodePtr> hdbscan_condense(const std::vector<NodePtr>& linkage,
                                      int64_t min_cluster_size) {
  return hr::run_eagerly("hdbscan", linkage, [&](std::span<const Tensor> in) {
    const hr::CondensedTree made = hr::condense({in[0], in[1], in[2], in[3]}, min_cluster_size);
    return Tensors{made.parents, made.children, made.lambdas, made.sizes};
  });
}

// Labels and probabilities.
std::vector<NodePtr> hdbscan_select(const std::vector<NodePtr>& condensed, bool leaves,
                                    bool allow_single, double epsilon, int64_t most_rows) {
  return hr::run_eagerly("hdbscan", condensed, [&](std::span<const Tensor> in) {
    const hr::ClusterLabels made = hr::select_clusters({in[0], in[1], in[2], in[3]},
                                                       {leaves, allow_single, epsilon, most_rows});
    return Tensors{made.labels, made.probabilities};
  });
}

NodePtr hdbscan_cut(const std::vector<NodePtr>& linkage, double height, int64_t min_cluster_size) {
  return hr::run_eagerly("hdbscan", linkage, [&](std::span<const Tensor> in) {
    return Tensors{hr::cut_linkage({in[0], in[1], in[2], in[3]}, height, min_cluster_size)};
  })[0];
}

NodePtr pairwise_distances(const NodePtr& queries, const NodePtr& rows, const std::string& metric,
                           bool same) {
  return hr::run_eagerly("pairwise_distances", {queries, rows}, [&](std::span<const Tensor> in) {
    return Tensors{hr::pairwise_distances(in[0], in[1], hr::metric_named(metric), same)};
  })[0];
}

NodePtr silhouettes(const NodePtr& x, const NodePtr& labels, const std::string& metric) {
  return hr::run_eagerly("silhouettes", {x, labels}, [&](std::span<const Tensor> in) {
    return Tensors{hr::silhouettes(in[0], in[1], hr::metric_named(metric))};
  })[0];
}

NodePtr medoids(const NodePtr& x, const NodePtr& labels, const NodePtr& weights,
                const std::string& metric) {
  return hr::run_eagerly("medoids", {x, labels, weights}, [&](std::span<const Tensor> in) {
    return Tensors{hr::medoids(in[0], in[1], in[2], hr::metric_named(metric))};
  })[0];
}

// Weights of rows and the violation.
std::tuple<NodePtr, double> nmf_sweep(const NodePtr& w, const NodePtr& hessian,
                                      const NodePtr& target) {
  double violation = 0;
  const std::vector<NodePtr> made =
      hr::run_eagerly("nmf_sweep", {w, hessian, target}, [&](std::span<const Tensor> in) {
        hr::NmfSweep found = hr::nmf_sweep(in[0], in[1], in[2]);
        violation = found.violation;
        return Tensors{std::move(found.w)};
      });
  return {made[0], violation};
}

}  // namespace

void bind_clusters(nb::module_& m) {
  m.def("kmeans_fit", kmeans_fit, "x"_a, "weights"_a, "init"_a, "most"_a, "tolerance"_a,
        Unlocked());
  m.def("kmeans_step", kmeans_step, "x"_a, "weights"_a, "centers"_a, "totals"_a, Unlocked());
  m.def("kmeans_plus_plus", kmeans_plus_plus, "x"_a, "weights"_a, "clusters"_a, "seed"_a,
        "stream"_a, Unlocked());
  m.def("kmeans_predict", kmeans_predict, "centers"_a, "x"_a, Unlocked());
  m.def("kmeans_transform", kmeans_transform, "centers"_a, "x"_a, Unlocked());
  m.def("kmeans_inertia", kmeans_inertia, "centers"_a, "x"_a, "weights"_a, "labels"_a, Unlocked());
  m.def("nearest_neighbors", nearest_neighbors, "rows"_a, "queries"_a, "count"_a, "metric"_a,
        "others"_a, "search"_a = "auto", Unlocked());
  m.def("neighbors_within", neighbors_within, "rows"_a, "queries"_a, "radius"_a, "metric"_a,
        "others"_a, "search"_a = "auto", Unlocked());
  m.def("nmf_sweep", nmf_sweep, "w"_a, "hessian"_a, "target"_a, Unlocked());
  m.def("dbscan", dbscan, "x"_a, "weights"_a, "epsilon"_a, "least_weight"_a, "metric"_a,
        Unlocked());
  m.def("hdbscan_linkage", hdbscan_linkage, "x"_a, "min_samples"_a, "alpha"_a, "scale_cores"_a,
        "metric"_a, Unlocked());
  m.def("hdbscan_condense", hdbscan_condense, "linkage"_a, "min_cluster_size"_a, Unlocked());
  m.def("hdbscan_select", hdbscan_select, "condensed"_a, "leaves"_a, "allow_single"_a, "epsilon"_a,
        "most_rows"_a, Unlocked());
  m.def("hdbscan_cut", hdbscan_cut, "linkage"_a, "height"_a, "min_cluster_size"_a, Unlocked());
  m.def("pairwise_distances", pairwise_distances, "queries"_a, "rows"_a, "metric"_a, "same"_a,
        Unlocked());
  m.def("silhouettes", silhouettes, "x"_a, "labels"_a, "metric"_a, Unlocked());
  m.def("medoids", medoids, "x"_a, "labels"_a, "weights"_a, "metric"_a, Unlocked());
}
