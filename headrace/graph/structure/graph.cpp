// SPDX-License-Identifier: Apache-2.0
// Building a graph: numbers for the vertices, then the edges by target and by source.
#include "headrace/graph/structure/graph.h"

#include "headrace/algo/keys/rank_map.h"
#include "headrace/algo/select/compact_offsets.h"
#include "headrace/algo/sort/rows_by_key.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/graph/structure/csr_kernels.h"
#include "headrace/graph/structure/graph_changes.h"
#include "headrace/graph/structure/graph_kernels.h"
#include "headrace/graph/structure/graph_places.h"
#include "headrace/graph/structure/number_vertices.h"
#include "headrace/memory/spill/spill.h"
#include "headrace/plan/graph/placement.h"

#include <atomic>
#include <mutex>
#include <utility>

namespace hr {

namespace {

/// Ends of edges, and the row of each; `rows` may be empty: it is the place.
struct Ends {
  int64_t count = 0;
  Buffer from{};
  Buffer to{};
  Buffer rows{};
};

// Both directions of each edge, side by side, so that entries between two vertices are in the order
// of their edges whichever way these were written; a self loop once.
Ends both_ways(const Buffer& source, const Buffer& target, int64_t edges, bool keep_edges) {
  const auto* const s = source.as<uint32_t>();
  const auto* const t = target.as<uint32_t>();
  const std::vector<BufferAccess> reads{{&source, 0, 32, 32, edges}, {&target, 0, 32, 32, edges}};
  const std::vector<int64_t> places = compact_offsets(edges, reads, [&](Morsel morsel) {
    int64_t count = 0;
    for (int64_t i = morsel.begin; i < morsel.end; ++i) count += 1 + (s[i] != t[i]);
    return count;
  });
  Ends made{places.back(), Buffer::allocate_temporary(4 * places.back()),
            Buffer::allocate_temporary(4 * places.back()),
            keep_edges ? Buffer::allocate_temporary(4 * places.back()) : Buffer()};
  if (made.count == 0) return made;
  auto* const from = made.from.mutable_as<uint32_t>();
  auto* const to = made.to.mutable_as<uint32_t>();
  auto* const rows = keep_edges ? made.rows.mutable_as<uint32_t>() : nullptr;
  parallel_morsels(edges, [&](Morsel morsel) {
    const auto index = static_cast<size_t>(morsel.index);
    std::vector<PinnedRange> held = ranges_of(reads, morsel.begin, morsel.end);
    const int64_t begin = 4 * places[index], end = 4 * places[index + 1];
    held.push_back({&made.from, begin, end, true});
    held.push_back({&made.to, begin, end, true});
    if (rows) held.push_back({&made.rows, begin, end, true});
    const Pin pin(held);
    int64_t at = places[index];
    const auto put = [&](uint32_t a, uint32_t b, int64_t row) {
      from[at] = a;
      to[at] = b;
      if (rows) rows[at] = static_cast<uint32_t>(row);
      ++at;
    };
    for (int64_t i = morsel.begin; i < morsel.end; ++i) {
      put(s[i], t[i], i);
      if (s[i] != t[i]) put(t[i], s[i], i);
    }
  });
  for (const Buffer* each : {&made.from, &made.to, &made.rows})
    if (*each) each->seal();
  return made;
}

// Rows by source, sorted: by target first, then the other way round.
Csr sorted_rows(Ends ends, int64_t vertices, bool keep_edges) {
  std::vector<KeyedColumn> columns{{&ends.from, 4, 0, vertices}};
  if (keep_edges) columns.push_back({ends.rows ? &ends.rows : nullptr, 4, 0, int64_t{1} << 32});
  RowsByKey by_target = rows_by_key({&ends.to}, ends.count, vertices, columns, [&] { ends = {}; });
  ends = {};
  return transposed({vertices, std::move(by_target.offsets), std::move(by_target.columns[0]),
                     keep_edges ? std::move(by_target.columns[1]) : Buffer()});
}

struct Counts {
  int64_t loops = 0;
  int64_t repeated = 0;        // entries that are the same as the one before
  int64_t repeated_loops = 0;  // of these
};

Counts count_repeated(const Csr& csr) {
  const CsrRows rows(csr);
  std::vector<Counts> pieces(static_cast<size_t>(num_pieces(csr)));
  parallel_rows(csr, [&](Morsel piece) {
    Counts own;
    for (int64_t v = piece.begin; v < piece.end; ++v) {
      const std::span<const uint32_t> row = rows[v];
      const auto self = static_cast<uint32_t>(v);
      if (!row.empty()) own.loops += row[0] == self;
      for (size_t i = 1; i < row.size(); ++i) {
        const bool is_same = row[i] == row[i - 1];
        own.loops += row[i] == self;
        own.repeated += is_same;
        own.repeated_loops += is_same && row[i] == self;
      }
    }
    pieces[static_cast<size_t>(piece.index)] = own;
  });
  Counts all;
  for (const Counts& each : pieces) {
    all.loops += each.loops;
    all.repeated += each.repeated;
    all.repeated_loops += each.repeated_loops;
  }
  return all;
}

// Of entries that are the same the first or the last.
Csr deduplicated(const Csr& csr, int64_t entries, bool keep_first) {
  Csr made{csr.vertices, Buffer::allocate_spillable(8 * (csr.vertices + 1)),
           Buffer::allocate_spillable(4 * entries),
           csr.edges ? Buffer::allocate_spillable(4 * entries) : Buffer()};
  const CsrRows rows(csr);
  const auto* const edges_of = csr.edges ? csr.edges.as<uint32_t>() : nullptr;
  auto* const offsets = made.offsets.mutable_as<int64_t>();
  const auto is_kept = [&](std::span<const uint32_t> row, size_t i) {
    return keep_first ? i == 0 || row[i] != row[i - 1]
                      : i + 1 == row.size() || row[i] != row[i + 1];
  };
  std::vector<int64_t> begins(static_cast<size_t>(num_pieces(csr)) + 1);
  parallel_rows(csr, [&](Morsel piece) {
    int64_t count = 0;
    for (int64_t v = piece.begin; v < piece.end; ++v) {
      const std::span<const uint32_t> row = rows[v];
      for (size_t i = 0; i < row.size(); ++i) count += i == 0 || row[i] != row[i - 1];
    }
    begins[static_cast<size_t>(piece.index) + 1] = count;
  });
  for (size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  auto* const targets = made.targets.mutable_as<uint32_t>();
  auto* const edges = csr.edges ? made.edges.mutable_as<uint32_t>() : nullptr;
  parallel_rows(csr, [&](Morsel piece) {
    const auto index = static_cast<size_t>(piece.index);
    const int64_t begin = begins[index], end = begins[index + 1];
    std::vector<PinnedRange> held{{&made.offsets, 8 * piece.begin, 8 * piece.end, true},
                                  {&made.targets, 4 * begin, 4 * end, true}};
    if (edges) held.push_back({&made.edges, 4 * begin, 4 * end, true});
    const Pin pin(held);
    int64_t at = begin;
    for (int64_t v = piece.begin; v < piece.end; ++v) {
      offsets[v] = at;
      const std::span<const uint32_t> row = rows[v];
      for (size_t i = 0; i < row.size(); ++i) {
        if (!is_kept(row, i)) continue;
        targets[at] = row[i];
        if (edges) edges[at] = edges_of[rows.offsets[v] + static_cast<int64_t>(i)];
        ++at;
      }
    }
  });
  {
    const Pin pin({{&made.offsets, 8 * csr.vertices, 8 * csr.vertices + 8, true}});
    offsets[csr.vertices] = entries;
  }
  for (const Buffer* each : {&made.offsets, &made.targets, &made.edges})
    if (*each) each->seal();
  return made;
}

// The edges that entries have, in their order; entries then count these.
Column number_edges(Csr& csr, int64_t edges) {
  const int64_t entries = csr.entries();
  const auto* const rows = csr.edges.as<uint32_t>();
  const BufferAccess reads{&csr.edges, 0, 32, 32, entries};
  const RankMap map(
      entries, static_cast<uint64_t>(std::max<int64_t>(edges, 1) - 1),
      [&](int64_t row, int64_t count, uint64_t* out) { std::copy_n(rows + row, count, out); },
      {reads});
  if (entries > 0) {
    Buffer numbered = Buffer::allocate_spillable(4 * entries);
    auto* const out = numbered.mutable_as<uint32_t>();
    parallel_morsels(entries, {reads, {&numbered, 0, 32, 32, entries, 0, 0, true}},
                     [&](Morsel morsel) {
                       for (int64_t i = morsel.begin; i < morsel.end; ++i)
                         out[i] = static_cast<uint32_t>(map.rank(rows[i]));
                     });
    numbered.seal();
    csr.edges = std::move(numbered);
  }
  return Column(TypeId::kInt64, map.size(), map.keys());
}

// Built from copies on the host, as `fallbacks` tells, and brought to where its columns are.
Graph built_on_host(std::string_view op, Place place, const std::vector<std::vector<Column>>& parts,
                    GraphOptions options) {
  std::vector<Value> columns;
  for (const std::vector<Column>& part : parts)
    columns.insert(columns.end(), part.begin(), part.end());
  std::optional<Graph> made;
  run_on_host(op, kNoKernel, place, columns, [&](std::span<const Value> here) {
    std::vector<std::vector<Column>> moved;
    size_t next = 0;
    for (const std::vector<Column>& part : parts) {
      std::vector<Column>& own = moved.emplace_back();
      while (own.size() < part.size()) own.push_back(std::get<Column>(here[next++]));
    }
    made.emplace(op, moved[0], moved[1], moved[2], options);
    return std::vector<Value>();
  });
  return place.is_gpu() ? made->to(place) : *made;
}

struct GraphTable final : TableOperator {
  std::string word;
  std::string details;
  VertexWork work;
  Place place = host;  // of the graph
  Kernels kernels = Kernels::kHost;

  std::string_view name() const override { return word; }

  std::string arguments() const override { return details; }

  Table execute(const std::vector<bool>& wanted, std::span<const Value> inputs,
                TableState*) const override {
    std::vector<std::string> made;
    for (size_t i = 0; i < names.size(); ++i)
      if (wanted[i]) made.push_back(names[i]);
    return Table(std::move(made), columns(wanted, inputs));
  }

  // Where it runs is decided in `columns`.
  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    return place.is_host() && !inputs.empty() ? "the graph is on the host" : "";
  }

 private:
  std::vector<Column> columns(const std::vector<bool>& wanted,
                              std::span<const Value> inputs) const {
    if (place.is_host()) return work(wanted, inputs);
    if (kernels == Kernels::kHostAndCuda) return work(wanted, inputs);
    std::vector<Column> made;
    for (const Value& each : run_on_host(word, kNoKernel, place, {inputs.begin(), inputs.end()},
                                         [&](std::span<const Value> here) {
                                           std::vector<Column> found = work(wanted, here);
                                           return std::vector<Value>(found.begin(), found.end());
                                         }))
      made.push_back(std::get<Column>(each));
    return made;
  }
};

}  // namespace

/// Other forms of the same edges; the pressure callback drops them.
struct Graph::State::Forms {
  struct Weights {
    Column of{};
    WeightRule rule{};
    Buffer entries{};
  };

  std::mutex mutex{};
  std::optional<Csr> in{};
  std::optional<HubOrder> hubs{};
  std::optional<Weights> weights{};
  int64_t callback = 0;
  // Of a graph on a device.
  std::optional<Csr> on_host{};
  std::optional<Csr> in_there{};
  std::optional<std::shared_ptr<const cuda::OrderedRows>> ordered{};
  std::optional<std::vector<Column>> host_ids{};

  Forms() {
    callback = add_pressure_callback([this](int64_t) -> int64_t {
      const std::unique_lock lock(mutex, std::try_to_lock);
      if (!lock.owns_lock()) return 0;
      int64_t bytes = 0;
      if (in) bytes += in->offsets.size_bytes() + in->targets.size_bytes();
      if (hubs) bytes += hubs->size_bytes();
      if (weights) bytes += weights->entries.size_bytes();
      in.reset();
      hubs.reset();
      weights.reset();
      return bytes;
    });
  }

  ~Forms() { remove_pressure_callback(callback); }

  /// The form in `slot`, made if it is not there: outside the lock, which a pressure callback
  /// takes.
  template <class Form, class Make>
  Form get(std::optional<Form>& slot, Make&& make) {
    {
      const std::lock_guard lock(mutex);
      if (slot) return *slot;
    }
    Form made = make();
    const std::lock_guard lock(mutex);
    if (!slot) slot = std::move(made);
    return *slot;
  }

  Forms(const Forms&) = delete;
  Forms& operator=(const Forms&) = delete;
};

Graph::Graph(std::string_view op, const std::vector<Column>& source,
             const std::vector<Column>& target, const std::vector<Column>& nodes,
             GraphOptions options) {
  auto made = std::make_shared<State>();
  made->options = options;
  made->forms = std::make_shared<State::Forms>();
  made->domain = new_domain();
  if (const Place place = source[0].place(); !place.is_host()) {
    if constexpr (built_with_cuda)
      if (place.is_gpu() && cuda::has_numbering(source) && cuda::has_numbering(target)) {
        const Column none = source[0].with_rows(0, Buffer(), Buffer(), 0);
        cuda::BuiltGraph built = cuda::build_graph(
            op, source[0], target[0],
            nodes.empty() ? none : std::get<Column>(to_place(Value(nodes[0]), place)), options);
        made->place = place;
        made->ids = {built.ids};
        made->out = std::move(built.out);
        made->num_edges = built.num_edges;
        made->edges_given = source[0].num_rows();
        made->num_self_loops = built.num_self_loops;
        made->is_deduplicated = built.is_deduplicated;
        made->edge_rows = built.edge_rows;
        state_ = std::move(made);
        return;
      }
    *this = built_on_host(op, place, {source, target, nodes}, options);
    return;
  }
  std::vector<std::vector<Column>> parts{source, target};
  if (!nodes.empty()) parts.push_back(nodes);
  NumberedVertices numbered = number_vertices(op, parts);
  made->ids = std::move(numbered.ids);
  const int64_t edges = source[0].num_rows();
  Ends ends{edges, numbered.numbers[0], numbered.numbers[1], {}};
  numbered.numbers.clear();
  if (!options.directed) ends = both_ways(ends.from, ends.to, edges, options.keep_edges);
  made->out = sorted_rows(std::move(ends), numbered.count, options.keep_edges);
  Counts counts = count_repeated(made->out);
  made->is_deduplicated = !options.multigraph && counts.repeated > 0;
  if (made->is_deduplicated) {
    made->out = deduplicated(made->out, made->out.entries() - counts.repeated, options.keep_first);
    counts.loops -= counts.repeated_loops;
  }
  const int64_t entries = made->out.entries();
  made->num_self_loops = counts.loops;
  made->num_edges = options.directed ? entries : (entries + counts.loops) / 2;
  made->edges_given = edges;
  if (options.keep_edges && made->is_deduplicated) made->edge_rows = number_edges(made->out, edges);
  state_ = std::move(made);
}

Graph Graph::changed(std::string_view op, const Column& kinds, const std::vector<Column>& first,
                     const std::vector<Column>& second) const {
  const State& base = *state_;
  auto made = std::make_shared<State>(base);
  GraphChanges changes =
      graph_changes(op, base.ids, base.options.directed, base.edges_given, kinds, first, second);
  const bool has_rows = base.options.keep_edges && base.is_deduplicated;
  const Buffer none, &rows = has_rows ? base.edge_rows.values_buffer() : none;
  std::vector<PinnedRange> held;
  if (has_rows && rows.size_bytes() > 0) held.push_back({&rows, 0, rows.size_bytes()});
  {
    const Pin pin(held);
    const Repeated repeated = base.options.multigraph   ? Repeated::kAll
                              : base.options.keep_first ? Repeated::kFirst
                                                        : Repeated::kLast;
    ChangedRows changed =
        changed_rows(base.out, base.num_self_loops, has_rows ? rows.as<int64_t>() : nullptr,
                     changes.vertices, changes.removed, changes.added, repeated);
    made->out = std::move(changed.csr);
    made->num_self_loops = changed.self_loops;
  }
  made->forms = std::make_shared<State::Forms>();
  made->domain = new_domain();
  made->ids = std::move(changes.ids);
  made->edges_given += changes.further_edges;
  const int64_t entries = made->out.entries();
  made->num_edges = base.options.directed ? entries : (entries + made->num_self_loops) / 2;
  made->is_deduplicated = made->num_edges < made->edges_given;
  made->edge_rows = {};
  if (base.options.keep_edges && made->is_deduplicated)
    made->edge_rows = number_edges(made->out, made->edges_given);
  return Graph(std::shared_ptr<const State>(std::move(made)));
}

Column Graph::edge_rows() const {
  const State& state = *state_;
  return state.options.keep_edges && !state.is_deduplicated ? counted_ids(state.num_edges)
                                                            : state.edge_rows;
}

Graph Graph::to(Place place) const {
  // With a simulated device graphs are on the host, as those of its frames.
  if (place == state_->place || place.is_simulated()) return *this;
  const auto moved = [&](TypeId dtype, int64_t rows, const Buffer& buffer) {
    return buffer ? std::get<Tensor>(to_place(Value(Tensor(dtype, {rows}, buffer)), place)).buffer()
                  : Buffer();
  };
  auto made = std::make_shared<State>(*state_);
  made->place = place;
  made->forms = std::make_shared<State::Forms>();
  for (Column& each : made->ids) each = std::get<Column>(to_place(Value(each), place));
  const Csr& from = state_->out;
  const int64_t entries = from.targets.size_bytes() / 4;
  made->out = {from.vertices, moved(TypeId::kInt64, from.vertices + 1, from.offsets),
               moved(TypeId::kUInt32, entries, from.targets),
               moved(TypeId::kUInt32, entries, from.edges)};
  return Graph(std::shared_ptr<const State>(std::move(made)));
}

const std::vector<Column>& Graph::host_ids() const {
  if (place().is_host()) return ids();
  State::Forms& forms = *state_->forms;
  forms.get(forms.host_ids, [&] {
    std::vector<Column> made;
    for (const Column& each : ids()) made.push_back(std::get<Column>(to_place(Value(each), host)));
    return made;
  });
  return *forms.host_ids;
}

const Csr& Graph::out() const {
  if (place().is_host()) return state_->out;
  State::Forms& forms = *state_->forms;
  forms.get(forms.on_host, [&] {
    Csr made;
    run_on_host("graph", kNoKernel, place(), {}, [&](std::span<const Value>) {
      made = to(host).state_->out;
      return std::vector<Value>();
    });
    return made;
  });
  return *forms.on_host;
}

Buffer Graph::out_weights(std::string_view op, const Column& weights, WeightRule rule) const {
  State::Forms& forms = *state_->forms;
  const auto is_of = [&](const State::Forms::Weights& kept) {
    return kept.of.values_buffer() == weights.values_buffer() &&
           kept.of.offset() == weights.offset() && kept.rule == rule;
  };
  {
    const std::lock_guard lock(forms.mutex);
    if (forms.weights && is_of(*forms.weights)) return forms.weights->entries;
  }
  Buffer made = entry_weights(op, out(), weights, rule);
  // Others may write memory that is theirs.
  if (weights.values_buffer().is_foreign()) return made;
  const std::lock_guard lock(forms.mutex);
  forms.weights = {weights, rule, made};
  return made;
}

Csr Graph::in_there() const {
  if (!is_directed()) return out_there();
  State::Forms& forms = *state_->forms;
  return forms.get(forms.in_there, [&]() -> Csr {
    if constexpr (built_with_cuda) return cuda::transposed(out_there());
    return {};
  });
}

std::shared_ptr<const cuda::OrderedRows> Graph::ordered_there() const {
  State::Forms& forms = *state_->forms;
  return forms.get(forms.ordered, [&]() -> std::shared_ptr<const cuda::OrderedRows> {
    if constexpr (built_with_cuda)
      return std::make_shared<const cuda::OrderedRows>(
          is_directed() ? cuda::order_by_degree(in_there(), out_there())
                        : cuda::order_by_degree(out_there()));
    return {};
  });
}

Csr Graph::in() const {
  if (!is_directed()) return out();
  State::Forms& forms = *state_->forms;
  return forms.get(forms.in, [&] { return transposed(out()); });
}

HubOrder Graph::hubs() const {
  State::Forms& forms = *state_->forms;
  return forms.get(forms.hubs, [&] { return hub_order(in(), out()); });
}

namespace {

NodePtr table_of(std::shared_ptr<GraphTable> table, std::string_view op, std::string arguments,
                 const std::vector<VertexColumn>& columns, std::vector<NodePtr> inputs,
                 int64_t rows, uint64_t domain, VertexWork work) {
  if (table->place.is_gpu() && table->kernels == Kernels::kHostAndCuda)
    for (NodePtr& input : inputs) input = to_place(input, table->place);
  table->word = op;
  table->details = std::move(arguments);
  table->work = std::move(work);
  for (const VertexColumn& column : columns) {
    table->names.push_back(column.name);
    table->dtypes.push_back(column.dtype);
  }
  return apply_table_operator(std::move(table), std::move(inputs), rows, domain);
}

}  // namespace

NodePtr graph_table(std::string_view op, std::string arguments,
                    const std::vector<VertexColumn>& columns, std::vector<NodePtr> inputs,
                    int64_t rows, uint64_t domain, VertexWork work) {
  return table_of(std::make_shared<GraphTable>(), op, std::move(arguments), columns,
                  std::move(inputs), rows, domain, std::move(work));
}

NodePtr placed_table(const Graph& graph, std::string_view op, std::string arguments,
                     const std::vector<VertexColumn>& columns, std::vector<NodePtr> inputs,
                     int64_t rows, VertexWork work) {
  auto table = std::make_shared<GraphTable>();
  table->place = graph.place();
  table->kernels = Kernels::kHostAndCuda;
  return table_of(std::move(table), op, std::move(arguments), columns, std::move(inputs), rows,
                  new_domain(), std::move(work));
}

Column find_vertices(const Graph& graph, const std::vector<Column>& asked) {
  if constexpr (built_with_cuda)
    if (graph.place().is_gpu() && asked[0].place() == graph.place() && cuda::has_numbering(asked))
      return cuda::find_vertices(graph.ids()[0], asked[0]);
  std::vector<Column> here;
  for (const Column& each : asked)
    here.push_back(std::get<Column>(to_place(Value(each), hr::host)));
  return find_vertices(graph.host_ids(), here);
}

NodePtr vertex_table(const Graph& graph, std::string_view op, std::string arguments,
                     const std::vector<VertexColumn>& columns, std::vector<NodePtr> inputs,
                     VertexWork work, Kernels kernels) {
  auto table = std::make_shared<GraphTable>();
  table->place = graph.place();
  table->kernels = kernels;
  return table_of(std::move(table), op, std::move(arguments), columns, std::move(inputs),
                  graph.num_vertices(), graph.domain(), std::move(work));
}

}  // namespace hr
