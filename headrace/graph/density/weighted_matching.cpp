// SPDX-License-Identifier: Apache-2.0
// Edmonds' blossoms: in each stage trees grow from the free vertices until a path augments.
#include "headrace/graph/density/weighted_matching.h"

#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/graph/structure/edge_ends.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace hr {

namespace {

constexpr int64_t kNone = -1;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int kBits = 58;  // of weights: sums of duals fit

enum class Label : uint8_t { kFree, kOuter, kInner, kMet };

struct WeighedEdge {
  uint32_t u;
  uint32_t v;
  int64_t weight;
};

// Arc 2k leads to the first end of edge k and 2k + 1 to the second. Nodes are the vertices, then
// blossoms: odd cycles of nodes that are treated as one.
class BlossomMatching {
 public:
  BlossomMatching(int64_t vertices, std::vector<WeighedEdge> edges)
      : vertices_(vertices), edges_(std::move(edges)) {
    const auto nodes = static_cast<size_t>(2 * vertices);
    int64_t most = 0;
    offsets_.assign(static_cast<size_t>(vertices) + 1, 0);
    for (const WeighedEdge& each : edges_) {
      most = std::max(most, each.weight);
      ++offsets_[each.u + 1];
      ++offsets_[each.v + 1];
    }
    std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
    arcs_.resize(2 * edges_.size());
    std::vector<int64_t> next(offsets_.begin(), offsets_.end() - 1);
    for (size_t k = 0; k < edges_.size(); ++k) {
      arcs_[static_cast<size_t>(next[edges_[k].u]++)] = static_cast<int64_t>(2 * k + 1);
      arcs_[static_cast<size_t>(next[edges_[k].v]++)] = static_cast<int64_t>(2 * k);
    }
    mates_.assign(static_cast<size_t>(vertices), kNone);
    top_.resize(static_cast<size_t>(vertices));
    std::iota(top_.begin(), top_.end(), 0);
    labels_.assign(nodes, Label::kFree);
    entries_.assign(nodes, kNone);
    best_.assign(nodes, kNone);
    parents_.assign(nodes, kNone);
    bases_.assign(nodes, kNone);
    std::iota(bases_.begin(), bases_.begin() + vertices, 0);
    duals_.assign(nodes, 0);
    std::fill_n(duals_.begin(), vertices, most);
    children_.resize(nodes);
    links_.resize(nodes);
    candidates_.resize(nodes);
    tight_.resize(edges_.size());
    for (int64_t b = 2 * vertices; b-- > vertices;) unused_.push_back(b);
  }

  // The arc from each vertex to its mate, kNone of those without.
  const std::vector<int64_t>& run(bool max_cardinality) {
    for (int64_t stage = 0; stage < vertices_; ++stage) {
      report_progress(stage, vertices_);
      begin_stage();
      bool augmented = false;
      while (!(augmented = search()) && adjust_duals(max_cardinality)) {
      }
      if (!augmented) break;
      for (int64_t b = vertices_; b < 2 * vertices_; ++b)
        if (is_top_blossom(b) && at(labels_, b) == Label::kOuter && at(duals_, b) == 0)
          expand(b, true);
    }
    return mates_;
  }

 private:
  template <class T>
  static T& at(std::vector<T>& values, int64_t i) {
    return values[static_cast<size_t>(i)];
  }

  int64_t head(int64_t arc) const {
    const WeighedEdge& edge = edges_[static_cast<size_t>(arc / 2)];
    return arc % 2 == 0 ? edge.u : edge.v;
  }

  int64_t slack(int64_t edge) {
    const WeighedEdge& each = edges_[static_cast<size_t>(edge)];
    return at(duals_, each.u) + at(duals_, each.v) - 2 * each.weight;
  }

  bool is_top_blossom(int64_t b) { return at(bases_, b) != kNone && at(parents_, b) == kNone; }

  template <class F>
  void each_vertex(int64_t node, F&& f) {
    if (node < vertices_) {
      f(node);
      return;
    }
    for (const int64_t child : at(children_, node)) each_vertex(child, f);
  }

  void begin_stage() {
    std::ranges::fill(labels_, Label::kFree);
    std::ranges::fill(best_, kNone);
    for (std::vector<int64_t>& each : candidates_) each.clear();
    std::ranges::fill(tight_, 0);
    queue_.clear();
    for (int64_t v = 0; v < vertices_; ++v)
      if (at(mates_, v) == kNone && at(labels_, at(top_, v)) == Label::kFree)
        grow(v, Label::kOuter, kNone);
  }

  // Labels a node by the arc back to where it was met from, and the mate of an inner one as outer.
  void grow(int64_t v, Label label, int64_t arc) {
    for (;;) {
      const int64_t b = at(top_, v);
      at(labels_, v) = at(labels_, b) = label;
      at(entries_, v) = at(entries_, b) = arc;
      at(best_, v) = at(best_, b) = kNone;
      if (label == Label::kOuter) {
        each_vertex(b, [&](int64_t each) { queue_.push_back(each); });
        return;
      }
      const int64_t mate = at(mates_, at(bases_, b));
      v = head(mate);
      label = Label::kOuter;
      arc = mate ^ 1;
    }
  }

  // Looks along edges without slack from outer vertices; whether a path augmented the matching.
  bool search() {
    while (!queue_.empty()) {
      const int64_t v = queue_.back();
      queue_.pop_back();
      for (int64_t i = at(offsets_, v); i < at(offsets_, v + 1); ++i)
        if (look_along(v, at(arcs_, i))) return true;
    }
    return false;
  }

  bool look_along(int64_t v, int64_t arc) {
    const int64_t k = arc / 2, w = head(arc);
    if (at(top_, v) == at(top_, w)) return false;
    const int64_t room = at(tight_, k) ? 0 : slack(k);
    if (room <= 0) at(tight_, k) = 1;
    const Label label = at(labels_, at(top_, w));
    if (at(tight_, k)) {
      if (label == Label::kFree) {
        grow(w, Label::kInner, arc ^ 1);
      } else if (label == Label::kOuter) {
        const int64_t base = meet(v, w);
        if (base == kNone) {
          augment(k);
          return true;
        }
        shrink(base, k);
      } else if (at(labels_, w) == Label::kFree) {  // inside of an inner blossom
        at(labels_, w) = Label::kInner;
        at(entries_, w) = arc ^ 1;
      }
    } else if (label == Label::kOuter) {
      keep_best(at(best_, at(top_, v)), k, room);
    } else if (at(labels_, w) == Label::kFree) {
      keep_best(at(best_, w), k, room);
    }
    return false;
  }

  void keep_best(int64_t& best, int64_t edge, int64_t room) {
    if (best == kNone || room < slack(best)) best = edge;
  }

  // The vertex at which the trees of two outer vertices meet, kNone if they are two trees.
  int64_t meet(int64_t v, int64_t w) {
    std::vector<int64_t> path;
    int64_t base = kNone;
    while (v != kNone || w != kNone) {
      int64_t b = at(top_, v);
      if (at(labels_, b) == Label::kMet) {
        base = at(bases_, b);
        break;
      }
      path.push_back(b);
      at(labels_, b) = Label::kMet;
      v = kNone;
      if (at(entries_, b) != kNone) {  // its mate is inner: two steps
        b = at(top_, head(at(entries_, b)));
        v = head(at(entries_, b));
      }
      if (w != kNone) std::swap(v, w);
    }
    for (const int64_t b : path) at(labels_, b) = Label::kOuter;
    return base;
  }

  // Makes the cycle through `base` that an edge closes one blossom.
  void shrink(int64_t base, int64_t k) {
    int64_t v = head(2 * k), w = head(2 * k + 1);
    const int64_t root = at(top_, base), b = unused_.back();
    unused_.pop_back();
    std::vector<int64_t>&path = at(children_, b), &links = at(links_, b);
    for (int64_t each = at(top_, v); each != root; each = at(top_, v)) {
      path.push_back(each);
      links.push_back(at(entries_, each));
      v = head(at(entries_, each));
    }
    path.push_back(root);
    std::ranges::reverse(path);
    std::ranges::reverse(links);
    links.push_back(2 * k);
    for (int64_t each = at(top_, w); each != root; each = at(top_, w)) {
      path.push_back(each);
      links.push_back(at(entries_, each) ^ 1);
      w = head(at(entries_, each));
    }
    for (const int64_t each : path) at(parents_, each) = b;
    at(bases_, b) = base;
    at(parents_, b) = kNone;
    at(labels_, b) = Label::kOuter;
    at(entries_, b) = at(entries_, root);
    at(duals_, b) = 0;
    each_vertex(b, [&](int64_t each) {
      if (at(labels_, at(top_, each)) == Label::kInner) queue_.push_back(each);
    });
    each_vertex(b, [&](int64_t each) { at(top_, each) = b; });
    gather_best(b);
  }

  // The edge of least slack from a new blossom to each outer node.
  void gather_best(int64_t b) {
    std::vector<std::pair<int64_t, int64_t>> found;  // node, edge
    const auto look = [&](int64_t edge) {
      int64_t other = at(top_, head(2 * edge));
      if (other == b) other = at(top_, head(2 * edge + 1));
      if (other != b && at(labels_, other) == Label::kOuter) found.emplace_back(other, edge);
    };
    for (const int64_t child : at(children_, b)) {
      if (child >= vertices_ && !at(candidates_, child).empty())
        for (const int64_t edge : at(candidates_, child)) look(edge);
      else
        each_vertex(child, [&](int64_t v) {
          for (int64_t i = at(offsets_, v); i < at(offsets_, v + 1); ++i) look(at(arcs_, i) / 2);
        });
      at(candidates_, child).clear();
      at(best_, child) = kNone;
    }
    std::ranges::sort(found, {}, [&](const auto& each) {
      return std::tuple(each.first, slack(each.second), each.second);
    });
    at(best_, b) = kNone;
    for (size_t i = 0; i < found.size(); ++i) {
      if (i > 0 && found[i].first == found[i - 1].first) continue;
      at(candidates_, b).push_back(found[i].second);
      keep_best(at(best_, b), found[i].second, slack(found[i].second));
    }
  }

  // How a path around a blossom goes from one of its children to its base: the even way.
  struct Walk {
    int64_t at;
    int64_t step;
    int64_t flip;  // 1: links lead the other way
  };

  Walk walk_from(int64_t b, int64_t child) {
    const std::vector<int64_t>& children = at(children_, b);
    const int64_t place = std::ranges::find(children, child) - children.begin();
    if (place % 2 == 1) return {place - std::ssize(children), 1, 0};
    return {place, -1, 1};
  }

  int64_t child_at(int64_t b, int64_t i) {
    const auto count = static_cast<int64_t>(at(children_, b).size());
    return at(at(children_, b), i < 0 ? i + count : i);
  }

  int64_t link_at(int64_t b, const Walk& walk) {
    const int64_t i = walk.at - walk.flip;
    const auto count = static_cast<int64_t>(at(links_, b).size());
    return at(at(links_, b), i < 0 ? i + count : i) ^ walk.flip;
  }

  // Takes a blossom apart; in the middle of a stage its children become nodes of the tree.
  void expand(int64_t b, bool at_end) {
    for (const int64_t child : at(children_, b)) {
      at(parents_, child) = kNone;
      if (child >= vertices_ && at_end && at(duals_, child) == 0)
        expand(child, at_end);
      else
        each_vertex(child, [&](int64_t v) { at(top_, v) = child; });
    }
    if (!at_end && at(labels_, b) == Label::kInner) relabel_children(b);
    at(labels_, b) = Label::kFree;
    at(entries_, b) = at(bases_, b) = at(best_, b) = kNone;
    at(children_, b).clear();
    at(links_, b).clear();
    at(candidates_, b).clear();
    unused_.push_back(b);
  }

  void relabel_children(int64_t b) {
    const int64_t first = at(top_, head(at(entries_, b) ^ 1));
    Walk walk = walk_from(b, first);
    int64_t arc = at(entries_, b);
    // Inner and outer children in turn, up to the base.
    while (walk.at != 0) {
      const int64_t link = link_at(b, walk);
      at(labels_, head(arc ^ 1)) = Label::kFree;
      at(labels_, head(link ^ 1)) = Label::kFree;
      grow(head(arc ^ 1), Label::kInner, arc);
      at(tight_, link / 2) = 1;
      walk.at += walk.step;
      arc = link_at(b, walk);
      at(tight_, arc / 2) = 1;
      walk.at += walk.step;
    }
    const int64_t base = child_at(b, 0), v = head(arc ^ 1);
    at(labels_, v) = at(labels_, base) = Label::kInner;
    at(entries_, v) = at(entries_, base) = arc;
    at(best_, base) = kNone;
    // The others are free, but for those that were met from outside.
    for (walk.at += walk.step; child_at(b, walk.at) != first; walk.at += walk.step) {
      const int64_t child = child_at(b, walk.at);
      if (at(labels_, child) == Label::kOuter) continue;
      int64_t met = kNone;
      each_vertex(child, [&](int64_t each) {
        if (met == kNone && at(labels_, each) != Label::kFree) met = each;
      });
      if (met == kNone) continue;
      at(labels_, met) = Label::kFree;
      at(labels_, head(at(mates_, at(bases_, child)))) = Label::kFree;
      grow(met, Label::kInner, at(entries_, met));
    }
  }

  // Matches the inside of a blossom anew, so that vertex v becomes its base.
  void rematch(int64_t b, int64_t v) {
    int64_t child = v;
    while (at(parents_, child) != b) child = at(parents_, child);
    if (child >= vertices_) rematch(child, v);
    const int64_t place = std::ranges::find(at(children_, b), child) - at(children_, b).begin();
    for (Walk walk = walk_from(b, child); walk.at != 0;) {
      walk.at += walk.step;
      const int64_t arc = link_at(b, walk);
      if (const int64_t one = child_at(b, walk.at); one >= vertices_) rematch(one, head(arc));
      walk.at += walk.step;
      if (const int64_t one = child_at(b, walk.at); one >= vertices_) rematch(one, head(arc ^ 1));
      at(mates_, head(arc)) = arc ^ 1;
      at(mates_, head(arc ^ 1)) = arc;
    }
    std::ranges::rotate(at(children_, b), at(children_, b).begin() + place);
    std::ranges::rotate(at(links_, b), at(links_, b).begin() + place);
    at(bases_, b) = v;
  }

  // Turns the edges of the path between two free vertices that an edge closes.
  void augment(int64_t k) {
    for (const int64_t way : {2 * k + 1, 2 * k}) {
      int64_t v = head(way ^ 1), arc = way;
      for (;;) {
        const int64_t outer = at(top_, v);
        if (outer >= vertices_) rematch(outer, v);
        at(mates_, v) = arc;
        if (at(entries_, outer) == kNone) break;
        const int64_t inner = at(top_, head(at(entries_, outer)));
        const int64_t entry = at(entries_, inner), end = head(entry ^ 1);
        if (inner >= vertices_) rematch(inner, end);
        at(mates_, end) = entry;
        v = head(entry);
        arc = entry ^ 1;
      }
    }
  }

  // Makes an edge tight, a blossom empty, or ends it all; whether the search goes on.
  bool adjust_duals(bool max_cardinality) {
    enum class Next { kEnd, kGrow, kShrink, kExpand } next = Next::kEnd;
    int64_t delta = *std::min_element(duals_.begin(), duals_.begin() + vertices_), found = kNone;
    if (max_cardinality) delta = kMost;
    const auto offer = [&](int64_t least, Next what, int64_t which) {
      if (least < delta) std::tie(delta, next, found) = std::tuple(least, what, which);
    };
    for (int64_t v = 0; v < vertices_; ++v)
      if (at(labels_, at(top_, v)) == Label::kFree && at(best_, v) != kNone)
        offer(slack(at(best_, v)), Next::kGrow, at(best_, v));
    for (int64_t b = 0; b < 2 * vertices_; ++b) {
      if (at(parents_, b) != kNone || at(bases_, b) == kNone) continue;
      if (at(labels_, b) == Label::kOuter && at(best_, b) != kNone)
        offer(slack(at(best_, b)) / 2, Next::kShrink, at(best_, b));
      if (b >= vertices_ && at(labels_, b) == Label::kInner) offer(at(duals_, b), Next::kExpand, b);
    }
    if (next == Next::kEnd) return false;  // duals no longer matter
    for (int64_t v = 0; v < vertices_; ++v) {
      const Label label = at(labels_, at(top_, v));
      at(duals_, v) += label == Label::kInner ? delta : label == Label::kOuter ? -delta : 0;
    }
    for (int64_t b = vertices_; b < 2 * vertices_; ++b)
      if (is_top_blossom(b))
        at(duals_, b) += at(labels_, b) == Label::kOuter   ? delta
                         : at(labels_, b) == Label::kInner ? -delta
                                                           : 0;
    if (next == Next::kExpand) {
      expand(found, false);
      return true;
    }
    at(tight_, found) = 1;
    const int64_t u = head(2 * found), v = head(2 * found + 1);
    queue_.push_back(at(labels_, at(top_, u)) == Label::kOuter ? u : v);
    return true;
  }

  int64_t vertices_;
  std::vector<WeighedEdge> edges_;
  std::vector<int64_t> offsets_{};  // of arcs away from each vertex
  std::vector<int64_t> arcs_{};
  std::vector<int64_t> mates_{};  // of vertices: the arc to the mate
  std::vector<int64_t> top_{};    // of vertices: the outermost blossom
  std::vector<Label> labels_{};
  std::vector<int64_t> entries_{};  // the arc to where a label came from
  std::vector<int64_t> best_{};     // the edge of least slack to an outer node
  std::vector<int64_t> parents_{};
  std::vector<int64_t> bases_{};  // the vertex whose mate is outside
  std::vector<int64_t> duals_{};  // doubled
  std::vector<std::vector<int64_t>> children_{};
  std::vector<std::vector<int64_t>> links_{};       // arcs to a child, from the next one
  std::vector<std::vector<int64_t>> candidates_{};  // the best edges of a blossom, one a node
  std::vector<uint8_t> tight_{};                    // edges without slack
  std::vector<int64_t> unused_{};                   // numbers of blossoms
  std::vector<int64_t> queue_{};
};

}  // namespace

Column max_weight_matching(const Graph& graph, const std::optional<Column>& weights,
                           bool max_cardinality) {
  constexpr std::string_view kOp = "max_weight_matching";
  if (graph.is_directed())
    throw_error<InvalidArgumentError>(kOp, "the graph is directed", {},
                                      "use graph.to_undirected()");
  const EdgeEnds ends = edge_ends(kOp, graph);
  const auto weight = [&](size_t k) { return weights ? weights->values<double>()[k] : 1.0; };
  double most = 0;
  for (size_t k = 0; k < ends.size(); ++k) {
    if (!std::isfinite(weight(k)))
      throw_error<InvalidArgumentError>(kOp, "a weight is not finite",
                                        {{"edge", static_cast<int64_t>(k)}});
    most = std::max(most, std::abs(weight(k)));
  }
  const int scale = most > 0 ? kBits - std::ilogb(most) : 0;
  std::vector<WeighedEdge> edges;
  std::vector<size_t> numbers;
  for (size_t k = 0; k < ends.size(); ++k) {
    const auto [u, v] = ends[k];
    if (u == v) continue;
    edges.push_back({u, v, std::llrint(std::ldexp(weight(k), scale))});
    numbers.push_back(k);
  }
  BudgetedVector<uint8_t> is_taken(ends.size());
  BlossomMatching matching(graph.num_vertices(), std::move(edges));
  for (const int64_t arc : matching.run(max_cardinality))
    if (arc != kNone) is_taken[numbers[static_cast<size_t>(arc / 2)]] = 1;
  return wanted_edges(is_taken);
}

}  // namespace hr
