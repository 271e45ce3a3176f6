// SPDX-License-Identifier: Apache-2.0
// A club that split in two: ranks, distances, circles and communities of its members.
//   graph [EDGES.csv SOURCE TARGET WEIGHT]     (without words: Zachary's karate club)
#include <cstdio>
#include <exception>
#include <headrace/headrace.h>
#include <string>

namespace {

void run(const std::string& path, const std::string& source, const std::string& target,
         const std::string& weight) {
  // docs: graph
  const hr::Frame edges = hr::read_csv(path);
  const hr::Graph graph = hr::graph_from_edges(edges, source, target, {.keep_edges = true});
  const hr::Column weights = hr::edge_weights(graph, edges[weight]);

  // What algorithms find is a value for each vertex; next to their ids these are a frame.
  const hr::Column communities = hr::louvain(graph, weights);
  const hr::Frame members =
      hr::vertex_frame(graph, {{"pagerank", hr::pagerank(graph, {}, {}, weights)},
                               {"community", communities},
                               {"triangles", hr::triangle_count(graph)},
                               {"core", hr::core_number(graph)}});
  const hr::Frame best = members.sort_values("pagerank", {.ascending = {false}});
  std::puts(best.head(5).to_string().c_str());
  const hr::Frame sizes =
      members.group_by("community")
          .agg({{"members", "vertex", "size"}, {"pagerank", "pagerank", "sum"}});
  std::puts(sizes.to_string().c_str());
  // docs: end
  const hr::Frame steps = hr::vertex_frame(graph, hr::bfs_table(graph, 0));
  std::printf("vertices %lld, edges %lld\n", static_cast<long long>(graph.num_vertices()),
              static_cast<long long>(graph.num_edges()));
  std::printf("modularity %.17g\n", hr::modularity(graph, communities, weights));
  std::printf("components %lld\n",
              static_cast<long long>(
                  hr::Series(hr::connected_components(graph)).max().item<int64_t>() + 1));
  std::printf("mean distance from the first member %.17g\n",
              steps["distance"].mean().item<double>());
  double sum = 0;
  for (const hr::Column& axis : hr::layout(graph, weights))
    for (const float place : axis.values<float>()) sum += static_cast<double>(place) * place;
  std::printf("sum of squares of places %.17g\n", sum);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 1 && argc != 5) {
    std::fprintf(stderr, "usage: %s [EDGES.csv SOURCE TARGET WEIGHT]\n", argv[0]);
    return 2;
  }
  try {
    if (argc == 5)
      run(argv[1], argv[2], argv[3], argv[4]);
    else
      run("testdata/graph/club.csv", "source", "target", "weight");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
