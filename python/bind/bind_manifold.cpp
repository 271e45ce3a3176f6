// SPDX-License-Identifier: Apache-2.0
// Embeddings of neighbours: all of it evaluates its data.
#include "python/bind/bind.h"

#include "headrace/learn/eager.h"
#include "headrace/learn/tsne.h"

namespace {

using hr::NodePtr;
using hr::Sparse;
using hr::Tensor;
using Tensors = std::vector<Tensor>;

Sparse tsne_affinities(const NodePtr& indices, const NodePtr& distances, double perplexity) {
  Sparse made;
  hr::run_eagerly("tsne_affinities", {indices, distances}, [&](std::span<const Tensor> in) {
    made = hr::tsne_affinities(in[0], in[1], perplexity);
    return Tensors();
  });
  return made;
}

// The embedding, its divergence and the last iteration.
std::tuple<NodePtr, double, int64_t> tsne_fit(const Sparse& affinities, const NodePtr& init,
                                              double exaggeration, double learning_rate,
                                              int64_t most, int64_t most_without_progress,
                                              double least_gradient, double angle) {
  hr::Tsne found;
  const std::vector<NodePtr> made =
      hr::run_eagerly("tsne_fit", {init}, [&](std::span<const Tensor> in) {
        found = hr::tsne_fit(
            affinities, in[0],
            {exaggeration, learning_rate, most, most_without_progress, least_gradient, angle});
        return Tensors{found.embedding};
      });
  return {made[0], found.divergence, found.last};
}

}  // namespace

void bind_manifold(nb::module_& m) {
  m.def("tsne_affinities", tsne_affinities, "indices"_a, "distances"_a, "perplexity"_a, Unlocked());
  m.def("tsne_fit", tsne_fit, "affinities"_a, "init"_a, "exaggeration"_a, "learning_rate"_a,
        "most"_a, "most_without_progress"_a, "least_gradient"_a, "angle"_a, Unlocked());
}
