// SPDX-License-Identifier: Apache-2.0
// Embeddings of neighbours: all of it evaluates its data.
#include "python/bind/bind.h"

#include "headrace/learn/eager.h"
#include "headrace/learn/spectral.h"
#include "headrace/learn/tsne.h"
#include "headrace/learn/umap.h"

namespace {

using hr::NodePtr;
using hr::Sparse;
using hr::Tensor;
using Tensors = std::vector<Tensor>;

// The embedding, its divergence and the last iteration.
std::tuple<NodePtr, double, int64_t> tsne_fit(const NodePtr& indices, const NodePtr& distances,
                                              double perplexity, const NodePtr& init,
                                              double exaggeration, double learning_rate,
                                              int64_t most, int64_t most_without_progress,
                                              double least_gradient, double angle) {
  hr::Tsne found;
  const auto limits = [](std::span<const hr::Value> in) {
    const hr::Shape& shape = std::get<Tensor>(in[0]).shape();
    return hr::tsne_why_no_kernel(shape[0], shape[1]);
  };
  const std::vector<NodePtr> made = hr::run_beside(
      "tsne_fit", {indices, distances, init}, 2, limits, [&](std::span<const Tensor> in) {
        found = hr::tsne_fit(
            in[0], in[1], perplexity, in[2],
            {exaggeration, learning_rate, most, most_without_progress, least_gradient, angle});
        return Tensors{found.embedding};
      });
  return {made[0], found.divergence, found.last};
}

Sparse umap_graph(const NodePtr& indices, const NodePtr& distances, double connectivity,
                  double mix) {
  Sparse made;
  hr::run_eagerly("umap_graph", {indices, distances}, [&](std::span<const Tensor> in) {
    made = hr::umap_graph(in[0], in[1], connectivity, mix);
    return Tensors();
  });
  return made;
}

/// a, b, epochs, learning rate, repulsion, negative rate, seed.
using UmapOptions = std::tuple<double, double, int64_t, double, double, double, uint64_t>;

hr::UmapOptions options_from(const UmapOptions& from) {
  return std::apply([](auto... each) { return hr::UmapOptions{each...}; }, from);
}

NodePtr umap_fit(const Sparse& graph, const NodePtr& init, const UmapOptions& options) {
  const auto limits = [](std::span<const hr::Value> in) {
    return hr::umap_why_no_kernel(std::get<Tensor>(in[0]).shape().back());
  };
  return hr::run_eagerly("umap_fit", {init}, limits, [&](std::span<const Tensor> in) {
    return Tensors{hr::umap_fit(graph, in[0], options_from(options))};
  })[0];
}

NodePtr umap_place(const NodePtr& indices, const NodePtr& distances, const NodePtr& embedding,
                   const UmapOptions& options) {
  return hr::run_eagerly(
      "umap_place", {indices, distances, embedding}, [&](std::span<const Tensor> in) {
        return Tensors{hr::umap_place(in[0], in[1], in[2], options_from(options))};
      })[0];
}

}  // namespace

void bind_manifold(nb::module_& m) {
  m.def("tsne_fit", tsne_fit, "indices"_a, "distances"_a, "perplexity"_a, "init"_a,
        "exaggeration"_a, "learning_rate"_a, "most"_a, "most_without_progress"_a,
        "least_gradient"_a, "angle"_a, Unlocked());
  m.def("umap_graph", umap_graph, "indices"_a, "distances"_a, "connectivity"_a, "mix"_a,
        Unlocked());
  m.def(
      "spectral_coordinates",
      [](const Sparse& weights, int64_t count) {
        return hr::lazy_value(hr::spectral_coordinates(weights, count));
      },
      "weights"_a, "count"_a, Unlocked());
  m.def("umap_fit", umap_fit, "graph"_a, "init"_a, "options"_a, Unlocked());
  m.def("umap_place", umap_place, "indices"_a, "distances"_a, "embedding"_a, "options"_a,
        Unlocked());
}
