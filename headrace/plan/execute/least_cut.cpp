// SPDX-License-Identifier: Apache-2.0
// Two places for the steps of a plan: a least cut, by Dinic's algorithm.
#include "headrace/plan/execute/least_cut.h"

#include <algorithm>

namespace hr {

void LeastCut::add_cost(size_t step, int64_t here, int64_t there) {
  if (there > 0) add_edge(this->here(), step, there);  // cut if the step is there
  if (here > 0) add_edge(step, this->there(), here);
}

void LeastCut::add_value(size_t step, std::span<const size_t> readers, bool wanted_here,
                         int64_t cost) {
  const size_t copy_there = new_vertex(), copy_here = new_vertex();
  add_edge(step, copy_there, cost);
  add_edge(copy_here, step, cost);
  for (const size_t reader : readers) {
    add_edge(copy_there, reader, kNever);
    add_edge(reader, copy_here, kNever);
  }
  if (wanted_here) add_edge(here(), copy_here, kNever);
}

std::vector<bool> LeastCut::solve() {
  while (find_levels()) {
    next_.assign(edges_of_.size(), 0);
    while (push(here(), kNever) > 0) {
    }
  }
  // What the rest of the network still reaches from the far end is there; all else is here.
  std::vector<bool> is_there(edges_of_.size());
  std::vector<size_t> stack{there()};
  is_there[there()] = true;
  while (!stack.empty()) {
    const size_t vertex = stack.back();
    stack.pop_back();
    for (const size_t e : edges_of_[vertex])
      if (const size_t from = edges_[e].to; edges_[e ^ 1].capacity > 0 && !is_there[from]) {
        is_there[from] = true;
        stack.push_back(from);
      }
  }
  is_there.resize(steps_);
  return is_there;
}

size_t LeastCut::new_vertex() {
  edges_of_.emplace_back();
  return edges_of_.size() - 1;
}

void LeastCut::add_edge(size_t from, size_t to, int64_t capacity) {
  edges_of_[from].push_back(edges_.size());
  edges_.push_back({to, capacity});
  edges_of_[to].push_back(edges_.size());
  edges_.push_back({from, 0});
}

bool LeastCut::find_levels() {
  level_.assign(edges_of_.size(), -1);
  level_[here()] = 0;
  std::vector<size_t> queue{here()};
  for (size_t i = 0; i < queue.size(); ++i)
    for (const size_t e : edges_of_[queue[i]])
      if (const size_t to = edges_[e].to; edges_[e].capacity > 0 && level_[to] < 0) {
        level_[to] = level_[queue[i]] + 1;
        queue.push_back(to);
      }
  return level_[there()] >= 0;
}

// A path is no longer than there are levels, of a plan some dozens.
int64_t LeastCut::push(size_t vertex, int64_t flow) {
  if (vertex == there()) return flow;
  for (size_t& i = next_[vertex]; i < edges_of_[vertex].size(); ++i) {
    const size_t e = edges_of_[vertex][i];
    const size_t to = edges_[e].to;
    if (edges_[e].capacity == 0 || level_[to] != level_[vertex] + 1) continue;
    const int64_t pushed = push(to, std::min(flow, edges_[e].capacity));
    if (pushed == 0) continue;
    edges_[e].capacity -= pushed;
    edges_[e ^ 1].capacity += pushed;
    return pushed;
  }
  return 0;
}

}  // namespace hr
