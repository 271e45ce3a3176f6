// SPDX-License-Identifier: Apache-2.0
// Maximum flow by levels from the sink.
#include "headrace/graph/search/maximum_flow.h"

#include "headrace/algo/select/bitmap_builder.h"
#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hr {

namespace {

constexpr std::string_view kOp = "maximum_flow";
constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

// Edge e is the arcs 2e, from its source, and 2e + 1, back.
class Network {
 public:
  Network(const FlowNetwork& given, int64_t source, int64_t sink)
      : source_(source),
        sink_(sink),
        from_(given.source.values<int64_t>()),
        to_(given.target.values<int64_t>()),
        left_(2 * from_.size()),
        begins_(static_cast<size_t>(given.vertices) + 1),
        arcs_(left_.size()),
        levels_(static_cast<size_t>(given.vertices)),
        next_(levels_.size()) {
    for (size_t e = 0; e < from_.size(); ++e) {
      ++begins_[static_cast<size_t>(from_[e]) + 1];
      ++begins_[static_cast<size_t>(to_[e]) + 1];
    }
    for (size_t v = 1; v < begins_.size(); ++v) begins_[v] += begins_[v - 1];
    std::copy_n(begins_.begin(), next_.size(), next_.begin());
    for (size_t arc = 0; arc < arcs_.size(); ++arc)
      arcs_[static_cast<size_t>(next_[static_cast<size_t>(tail(arc))]++)] = arc;
    fill_capacities(given);
  }

  void run() {
    while (find_levels()) {
      std::copy_n(begins_.begin(), next_.size(), next_.begin());
      push_paths();
    }
  }

  Flow flow(const FlowNetwork& given) const {
    Flow made;
    const auto edges = static_cast<int64_t>(from_.size());
    Buffer along = Buffer::allocate(8 * edges);
    for (size_t e = 0; e < from_.size(); ++e) {
      // What came to the way back; of an undirected edge both ways began alike.
      const double back = left_[2 * e + 1], limit = given.capacity.values<double>()[e];
      const double went =
          std::clamp(given.directed ? back : (back - left_[2 * e]) / 2, -limit, limit);
      along.mutable_as<double>()[e] = went;
      if (from_[e] == to_[e]) continue;
      if (to_[e] == sink_) made.value += went;
      if (from_[e] == sink_) made.value -= went;
    }
    made.along = Column(TypeId::kFloat64, edges, std::move(along));
    made.behind = Column(TypeId::kBool, given.vertices, bits_of(given.vertices, {}, [&](int64_t v) {
                           return levels_[static_cast<size_t>(v)] != kNone;
                         }));
    return made;
  }

 private:
  int64_t tail(size_t arc) const { return arc % 2 == 0 ? from_[arc / 2] : to_[arc / 2]; }

  int64_t head(size_t arc) const { return arc % 2 == 0 ? to_[arc / 2] : from_[arc / 2]; }

  void fill_capacities(const FlowNetwork& given) {
    const std::span<const double> capacities = given.capacity.values<double>();
    double sum = 0;
    for (size_t e = 0; e < capacities.size(); ++e) {
      if (!(capacities[e] >= 0))
        throw_error<InvalidArgumentError>(
            kOp, "a capacity is negative or NaN",
            {{"edge", static_cast<int64_t>(e)}, {"capacity", capacities[e]}});
      if (std::isfinite(capacities[e])) sum += capacities[e];
    }
    const auto fill = [&](auto&& capacity) {
      for (size_t e = 0; e < capacities.size(); ++e) {
        left_[2 * e] = capacity(capacities[e]);
        left_[2 * e + 1] = given.directed ? 0 : left_[2 * e];
      }
    };
    fill([](double capacity) { return std::isinf(capacity) ? 1.0 : 0.0; });
    if (find_levels())
      throw_error<InvalidArgumentError>(kOp, "edges without a limit lead to the sink",
                                        {{"source", source_}, {"sink", sink_}});
    // More than can flow is no limit.
    fill([&](double capacity) { return std::isinf(capacity) ? 2 * sum + 1 : capacity; });
  }

  // How many arcs with room lead from each vertex to the sink; whether the source has such a way.
  bool find_levels() {
    look_for_interrupt();
    std::fill(levels_.begin(), levels_.end(), kNone);
    BudgetedVector<int64_t> queue{sink_};
    levels_[static_cast<size_t>(sink_)] = 0;
    for (size_t i = 0; i < queue.size(); ++i) {
      const auto v = static_cast<size_t>(queue[i]);
      for (int64_t a = begins_[v]; a < begins_[v + 1]; ++a) {
        const size_t arc = arcs_[static_cast<size_t>(a)];
        const auto w = static_cast<size_t>(head(arc));
        if (levels_[w] != kNone || !(left_[arc ^ 1] > 0)) continue;
        levels_[w] = levels_[v] + 1;
        queue.push_back(head(arc));
      }
    }
    return levels_[static_cast<size_t>(source_)] != kNone;
  }

  // Paths that come nearer to the sink with each arc, until none has room; `next_` is the first arc
  // of each vertex that may.
  void push_paths() {
    BudgetedVector<size_t> path;
    int64_t v = source_;
    for (;;) {
      if (v == sink_) {
        v = push(path);
        continue;
      }
      const auto at = static_cast<size_t>(v);
      const auto leads = [&](size_t arc) {
        return left_[arc] > 0 && levels_[static_cast<size_t>(head(arc))] + 1 == levels_[at];
      };
      while (next_[at] < begins_[at + 1] && !leads(arcs_[static_cast<size_t>(next_[at])]))
        ++next_[at];
      if (next_[at] < begins_[at + 1]) {
        path.push_back(arcs_[static_cast<size_t>(next_[at])]);
        v = head(path.back());
      } else if (path.empty()) {
        return;
      } else {
        v = tail(path.back());
        ++next_[static_cast<size_t>(v)];
        path.pop_back();
      }
    }
  }

  // As much as the path carries; the vertex before its first arc that is full now.
  int64_t push(BudgetedVector<size_t>& path) {
    double most = std::numeric_limits<double>::infinity();
    for (const size_t arc : path) most = std::min(most, left_[arc]);
    size_t full = path.size();
    for (size_t i = path.size(); i-- > 0;) {
      left_[path[i]] -= most;
      left_[path[i] ^ 1] += most;
      if (left_[path[i]] == 0) full = i;
    }
    const int64_t v = tail(path[full]);
    path.resize(full);
    return v;
  }

  int64_t source_;
  int64_t sink_;
  std::span<const int64_t> from_;
  std::span<const int64_t> to_;
  BudgetedVector<double> left_;     // what each arc can still carry
  BudgetedVector<int64_t> begins_;  // of each vertex's arcs in `arcs_`
  BudgetedVector<size_t> arcs_;
  BudgetedVector<uint32_t> levels_;
  BudgetedVector<int64_t> next_;
};

}  // namespace

Flow maximum_flow(const FlowNetwork& network, int64_t source, int64_t sink) {
  Network made(network, source, sink);
  made.run();
  return made.flow(network);
}

}  // namespace hr
