// SPDX-License-Identifier: Apache-2.0
// Graph: vertices that the user's keys name, and their edges in compressed rows.
#pragma once
#include "headrace/data/column.h"
#include "headrace/graph/structure/csr.h"
#include "headrace/graph/structure/entry_weights.h"
#include "headrace/graph/structure/hub_order.h"
#include "headrace/plan/graph/node.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

namespace cuda {
struct OrderedRows;
}

struct GraphOptions {
  bool directed = false;
  /// Several edges between two vertices stay apart; else one of them is kept.
  bool multigraph = false;
  bool keep_first = false;  ///< of those: else the last one
  /// Entries know the row of their edge: for weights and attributes.
  bool keep_edges = false;
};

/// What a change of a graph does; rows of two columns of ids, of a vertex both of its id.
enum class GraphChange : uint8_t { kAddEdge, kAddVertex, kRemoveEdges, kRemoveVertex };

/// An immutable graph; copying it shares everything. Vertices are numbered 0, 1, ... in the order
/// of their ids. An undirected edge is an entry in the rows of both ends, a self loop one entry.
/// The transpose, the order of hubs and weights of entries are made when they are first needed, and
/// dropped when memory is short. A graph of columns on a device is made there, and algorithms with
/// kernels run there.
class HR_API Graph {
 public:
  /// Of the edges source[i] to target[i], each one column a key, all of the same dtypes; `nodes`
  /// are further vertices (empty: none), which may be those of edges. 18 ns an edge and core on top
  /// of numbering the vertices (number_vertices.h); 16 bytes of temporary memory an entry. Throws
  /// InvalidArgumentError for missing values and UnsupportedError for 2^32 ends and more.
  Graph(std::string_view op, const std::vector<Column>& source, const std::vector<Column>& target,
        const std::vector<Column>& nodes, GraphOptions options);

  /// Where its ids and entries are.
  Place place() const { return state_->place; }

  /// The same graph at `place`, which the ledger shows; itself when it is there.
  Graph to(Place place) const;

  /// The graph after changes, one after the other: `kinds`, uint8, are GraphChange, with the ids
  /// that each is about, of the dtypes of `ids`. What is removed need not be there; edges are added
  /// with the vertices that they name. It is what the constructor makes of the edges that are left,
  /// with `edge_rows` of the further ones behind those of the graph; rows without changes are
  /// copied (changed_rows.h). Changes cost a few hundred ns each. A graph on the host.
  Graph changed(std::string_view op, const Column& kinds, const std::vector<Column>& first,
                const std::vector<Column>& second) const;

  bool is_directed() const { return state_->options.directed; }

  bool is_multigraph() const { return state_->options.multigraph; }

  int64_t num_vertices() const { return state_->out.vertices; }

  int64_t num_edges() const { return state_->num_edges; }

  int64_t num_self_loops() const { return state_->num_self_loops; }

  /// Whether some of the edges that it was made of are left out, as there are others between the
  /// same vertices or they were removed.
  bool is_deduplicated() const { return state_->is_deduplicated; }

  /// Of the vertices in their order: one column a key.
  const std::vector<Column>& ids() const { return state_->ids; }

  /// The same on the host.
  const std::vector<Column>& host_ids() const;

  /// The row domain of values of the vertices.
  uint64_t domain() const { return state_->domain; }

  /// By source; of an undirected graph by either end. Of a graph on a device a copy on the host,
  /// made at first need.
  const Csr& out() const;

  /// By target; of an undirected graph the same.
  Csr in() const;

  /// For gathering along the entries of `in`.
  HubOrder hubs() const;

  /// Those that `entry_weights` (entry_weights.h) gives the entries of `out`: kept for the next
  /// call with the same column, and dropped when memory is short.
  Buffer out_weights(std::string_view op, const Column& weights, WeightRule rule) const;

  /// Both of a graph on a CUDA device, there; and `in_there` by falling degree.
  const Csr& out_there() const { return state_->out; }

  Csr in_there() const;
  std::shared_ptr<const cuda::OrderedRows> ordered_there() const;

  /// Where edges are kept: the rows of those that are in the graph, int64, ascending. Entries'
  /// `edges` count these.
  Column edge_rows() const;

 private:
  struct State {
    GraphOptions options{};
    Place place = host;
    std::vector<Column> ids{};
    uint64_t domain = 0;
    Csr out{};
    int64_t num_edges = 0;
    int64_t num_self_loops = 0;
    int64_t edges_given = 0;
    bool is_deduplicated = false;
    Column edge_rows{};  // if it is
    struct Forms;
    std::shared_ptr<Forms> forms{};
  };

  explicit Graph(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;
};

/// One result of an algorithm.
struct VertexColumn {
  std::string name;
  Dtype dtype;
};

/// Makes the columns with true in `wanted`, in order, of the values of a node's inputs.
using VertexWork =
    std::function<std::vector<Column>(const std::vector<bool>& wanted, std::span<const Value>)>;

/// Where an algorithm can run.
enum class Kernels { kHost, kHostAndCuda };

/// A lazy table in the rows of the graph's vertices: results of all algorithms on it are in one row
/// set. `work` runs when a column is needed, and holds what it needs of the graph; its columns are
/// where the graph is. Of a graph on a device it runs on the host, which `fallbacks` tells, unless
/// it has kernels. `rows` and `domain`: of a table with other rows.
HR_API NodePtr vertex_table(const Graph& graph, std::string_view op, std::string arguments,
                            const std::vector<VertexColumn>& columns, std::vector<NodePtr> inputs,
                            VertexWork work, Kernels kernels = Kernels::kHost);
HR_API NodePtr graph_table(std::string_view op, std::string arguments,
                           const std::vector<VertexColumn>& columns, std::vector<NodePtr> inputs,
                           int64_t rows, uint64_t domain, VertexWork work);

}  // namespace hr
