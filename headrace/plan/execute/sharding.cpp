// SPDX-License-Identifier: Apache-2.0
// Plans over values in shards.
#include "headrace/plan/execute/sharding.h"

#include "headrace/plan/eval/evaluate.h"
#include "headrace/plan/execute/fused_pass.h"
#include "headrace/plan/graph/fingerprint.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/shards.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace hr {

namespace {

/// The end of a reduction of which each shard has made a part.
struct ReduceShards final : OperatorOf<ReduceShards> {
  Aggregate reduction = Aggregate::kSum;
  ReduceOptions options{};
  Dtype dtype{};  // of the rows

  std::string_view name() const override {
    return aggregate_name(reduction, AggregateForm::kColumn);
  }

  std::string arguments() const override { return "of shards"; }

  int passes() const override { return 0; }

  Value execute(std::span<const Value> inputs) const override {
    std::vector<PartialRows> pieces;
    for (const Value& input : inputs)
      pieces.push_back(PartialRows::of(std::get<Tensor>(to_place(input, host))));
    std::vector<Value> made{reduce_partials(pieces, reduction, dtype, options)};
    make_tensors(made);
    return std::move(made[0]);
  }

  static auto parameters(auto& self) { return std::tie(self.reduction, self.options, self.dtype); }
};

bool is_source(const NodePtr& node) {
  const Signature& signature = node->signature();
  return !node->is_ready() && node->fields().inputs.empty() && !signature.shape.empty();
}

// A copy that a node's device asked for, of what lies on the host: each shard takes its rows there.
NodePtr before_copy(const NodePtr& node) {
  const Node::Fields& fields = node->fields();
  const bool is_copy = !node->is_ready() && fields.kind() == NodeKind::kOperator &&
                       fields.op->name() == "to" && fields.inputs.size() == 1;
  return is_copy && place_of(fields.inputs[0]).is_host() ? fields.inputs[0] : node;
}

class ShardPlan {
 public:
  ShardPlan(LogicalPlan& plan, KeptShards* kept) : plan_(plan), kept_(kept) {}

  void run() {
    find_places();
    if (places_.size() < 2) return;
    const std::vector<NodePtr> order = plan_.nodes().order();
    for (const NodePtr& node : order) visit(node);
    for (const NodePtr& node : order)
      if (plan_.nodes().is_root(node.get())) keep(node);
    plan_.refresh();
  }

 private:
  class Inputs;

  void find_places() {
    const std::vector<Place> wanted = default_shards();
    for (const NodePtr& node : plan_.nodes().order()) {
      for (const NodePtr& each : node->fields().inputs)
        if (const auto& shards = each->fields().shards) places_ = shards->places;
      if (const auto& shards = node->fields().shards) places_ = shards->places;
      if (is_source(node)) places_ = wanted;
      if (places_.size() > 1) return;
    }
  }

  // ---- what is in shards ------------------------------------------------------------------------

  const Shards* cut_of(const NodePtr& node) {
    if (const auto found = cut_.find(node.get()); found != cut_.end()) return &found->second;
    const auto& own = node->fields().shards;
    if (!own) return nullptr;
    Shards cut = *own;
    if (cut.places != places_) cut = evenly(cut.parts, node->signature());
    return &put(node, std::move(cut));
  }

  const Shards& put(const NodePtr& node, Shards cut) {
    for (size_t k = 0; k < places_.size(); ++k)
      domains_.try_emplace({node->signature().domain, cut.borders, k},
                           cut.parts[k]->signature().domain);
    held_.push_back(node);
    return cut_[node.get()] = std::move(cut);
  }

  Shards evenly(const std::vector<NodePtr>& pieces, const Signature& like) {
    return {cut_evenly(pieces, places_, like), places_, 0};
  }

  uint64_t domain_of(const Signature& whole, uint64_t borders, size_t k) {
    if (borders == 0) return shard_domain(whole.domain, k, places_.size());
    uint64_t& domain = domains_[{whole.domain, borders, k}];
    if (domain == 0) domain = new_domain();
    return domain;
  }

  Signature signature_of_part(const Signature& whole, uint64_t borders, size_t k) {
    Signature signature = whole;
    if (whole.shape.empty()) return signature;
    signature.domain = domain_of(whole, borders, k);
    const auto parts = static_cast<int64_t>(places_.size()), at = static_cast<int64_t>(k);
    const bool is_known = borders == 0 && whole.rows() != kUnknown;
    signature.shape[0] = is_known ? shard_begin(whole.rows(), at + 1, parts, places_[k]) -
                                        shard_begin(whole.rows(), at, parts, places_[k])
                                  : kUnknown;
    return signature;
  }

  // Pieces at these borders; 0 is what all values can have.
  std::vector<NodePtr> pieces_of(const NodePtr& node, uint64_t borders) {
    const Shards* const cut = cut_of(node);
    if (cut && cut->borders == borders) return cut->parts;
    const auto [found, is_new] = even_.try_emplace(node.get());
    if (is_new) {
      held_.push_back(node);
      found->second =
          evenly(cut ? cut->parts : std::vector{before_copy(node)}, node->signature()).parts;
    }
    return found->second;
  }

  // All rows at one place; numbers are where they are.
  NodePtr whole_of(const NodePtr& node, Place place) {
    if (node->signature().is_scalar() || node->kind() == NodeKind::kTable) return node;
    const Shards* const cut = cut_of(node);
    NodePtr& known = whole_[{node.get(), place.index}];
    if (!known) {
      held_.push_back(node);
      known = gather_shards(cut ? cut->parts : std::vector{before_copy(node)}, place,
                            node->signature());
    }
    return known;
  }

  // The borders that values with the same rows can all be read at.
  uint64_t borders_of(const std::vector<NodePtr>& nodes) {
    std::optional<uint64_t> borders;
    for (const NodePtr& node : nodes) {
      const Shards* const cut = cut_of(node);
      if (!cut || (borders && *borders != cut->borders)) return 0;
      borders = cut->borders;
    }
    return borders.value_or(0);
  }

  // ---- nodes ------------------------------------------------------------------------------------

  void visit(const NodePtr& node) {
    if (cut_of(node)) return;
    const Node::Fields& fields = node->fields();
    if (is_source(node) && !default_shards().empty() && fields.kind() != NodeKind::kTable)
      return cut_source(node);
    if (fields.kind() == NodeKind::kPart) return visit_part(node);
    if (std::ranges::none_of(fields.inputs, [&](const NodePtr& each) { return cut_of(each); }))
      return;
    if (fields.kind() == NodeKind::kTable) return visit_table(node);
    if (fields.kind() == NodeKind::kReduction) return visit_reduction(node);
    if (fields.kind() == NodeKind::kElementwise) return visit_rows(node, rows_of_chain(fields));
    switch (fields.lineage()) {
      case RowLineage::kRowwise:
        return visit_rows(node, first_inputs(fields, fields.op->rowwise_inputs()));
      case RowLineage::kSame:
        return visit_rows(node, first_inputs(fields, 1));
      case RowLineage::kFiltered:
        return visit_rows(node, first_inputs(fields, 2));
      case RowLineage::kConcatenated:
        return visit_concat(node);
      case RowLineage::kFirst:
        return visit_first(node);
      default:
        return gather(node);
    }
  }

  // What comes from no input is made on the host.
  void cut_source(const NodePtr& node) {
    const Node::Fields& fields = node->fields();
    put(node, evenly({copy(node, fields.inputs, host, fields.signature)}, fields.signature));
  }

  // Inputs with the rows of the node, by place; others are read whole.
  static std::vector<bool> rows_of_chain(const Node::Fields& fields) {
    std::vector<bool> result;
    for (const NodePtr& input : fields.inputs) {
      const Signature& own = input->signature();
      result.push_back(own.shape.size() == fields.signature.shape.size() &&
                       (own.rows() != 1 || fields.signature.rows() == 1));
    }
    return result;
  }

  static std::vector<bool> first_inputs(const Node::Fields& fields, int64_t count) {
    std::vector<bool> result(fields.inputs.size());
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = static_cast<int64_t>(i) < count && !fields.inputs[i]->signature().is_scalar();
    if (is_masked(fields)) result.back() = true;
    return result;
  }

  void visit_rows(const NodePtr& node, const std::vector<bool>& has_rows) {
    const Node::Fields& fields = node->fields();
    std::vector<NodePtr> rows;
    for (size_t i = 0; i < has_rows.size(); ++i)
      if (has_rows[i]) rows.push_back(fields.inputs[i]);
    if (std::ranges::none_of(rows, [&](const NodePtr& each) { return cut_of(each); }))
      return gather(node);
    const uint64_t borders = borders_of(rows);
    uint64_t own = borders;
    if (fields.lineage() == RowLineage::kFiltered) {
      uint64_t& known = filtered_[{fields.inputs[1].get(), borders}];
      if (known == 0) known = new_domain();
      own = known;
    }
    std::vector<std::vector<NodePtr>> inputs(places_.size());
    for (size_t i = 0; i < has_rows.size(); ++i) {
      std::vector<NodePtr> pieces;
      if (has_rows[i]) pieces = pieces_of(fields.inputs[i], borders);
      for (size_t k = 0; k < places_.size(); ++k)
        inputs[k].push_back(has_rows[i] ? pieces[k] : whole_of(fields.inputs[i], places_[k]));
    }
    Shards cut{{}, places_, own};
    for (size_t k = 0; k < places_.size(); ++k)
      cut.parts.push_back(copy(node, std::move(inputs[k]), places_[k],
                               signature_of_part(fields.signature, own, k)));
    put(node, std::move(cut));
  }

  NodePtr copy(const NodePtr& node, std::vector<NodePtr> inputs, Place place, Signature signature) {
    auto fields = std::make_unique<Node::Fields>(node->fields());
    fields->origin.reset();
    fields->shards.reset();
    fields->late.reset();
    fields->final_signature.reset();
    fields->inputs = std::move(inputs);
    fields->signature = std::move(signature);
    fields->place = fields->signature.is_scalar() ? host : place;
    fields->is_rewritten = fields->owns_inputs = fields->counted = false;
    note_structure(*fields, false);
    return std::make_shared<Node>(std::move(fields));
  }

  void visit_reduction(const NodePtr& node) {
    Node::Fields& own = node->fields();
    const NodePtr rows = own.inputs[0];
    const auto& op = static_cast<const ReductionOperator&>(*own.op);
    std::vector<NodePtr> made;
    for (const NodePtr& piece : pieces_of(rows, 0)) {
      made.push_back(reduce_partially(op.reduction, piece, op.options));
      made.back()->fields().tag = own.tag;
    }
    own.op = ReduceShards::make(op.reduction, op.options, rows->signature().dtype);
    own.inputs = std::move(made);
    own.is_rewritten = false;
  }

  void visit_concat(const NodePtr& node) {
    std::vector<NodePtr> pieces;
    for (const NodePtr& input : node->fields().inputs) {
      const Shards* const cut = cut_of(input);
      if (cut)
        pieces.insert(pieces.end(), cut->parts.begin(), cut->parts.end());
      else
        pieces.push_back(before_copy(input));
    }
    put(node, evenly(pieces, node->signature()));
  }

  // The first rows of all are among the first rows of each.
  void visit_first(const NodePtr& node) {
    Node::Fields& own = node->fields();
    const Shards cut = *cut_of(own.inputs[0]);
    std::vector<NodePtr> firsts;
    for (size_t k = 0; k < places_.size(); ++k) {
      Signature signature = own.signature;
      signature.shape[0] = kUnknown;
      signature.domain = new_domain();
      firsts.push_back(copy(node, {cut.parts[k]}, places_[k], std::move(signature)));
    }
    Signature signature = own.signature;
    signature.shape[0] = kUnknown;
    signature.domain = new_domain();
    own.inputs = {gather_shards(firsts, places_[0], signature)};
    settle_at_first(own);
  }

  // There is no form of this node for shards.
  void gather(const NodePtr& node) {
    Node::Fields& own = node->fields();
    for (NodePtr& input : own.inputs)
      if (cut_of(input)) input = whole_of(input, places_[0]);
    settle_at_first(own);
  }

  void settle_at_first(Node::Fields& own) const {
    own.is_rewritten = false;  // a later plan cuts again
    if (!own.signature.is_scalar()) own.place = places_[0];
  }

  // ---- tables -----------------------------------------------------------------------------------

  void visit_table(const NodePtr& node);

  void visit_part(const NodePtr& node) {
    Node::Fields& own = node->fields();
    const NodePtr table = own.inputs[0];
    const auto found = tables_.find(table.get());
    if (found == tables_.end()) {
      if (is_source(table) && !default_shards().empty()) cut_source(node);
      return;
    }
    const auto& [tables, columns] = found->second;
    if (!columns.empty()) {
      const NodePtr& column = columns[static_cast<size_t>(own.part())];
      own.op = gather_shards({column}, places_[0], own.signature)->fields().op;
      own.inputs = {column};
      settle_at_first(own);
      return;
    }
    std::vector<NodePtr> parts;
    for (const NodePtr& each : tables) parts.push_back(table_column(each, own.part()));
    uint64_t& borders = filtered_[{table.get(), 0}];
    if (borders == 0) borders = new_domain();
    put(node, {std::move(parts), places_, borders});
  }

  // The value of a root is on the host, and its shards stay.
  void keep(const NodePtr& node) {
    const Shards* const cut = cut_of(node);
    if (!cut) return;
    Node::Fields& own = node->fields();
    if (kept_) {
      const auto shards = own.shards ? own.shards : std::make_shared<const Shards>(*cut);
      for (const NodePtr& root : plan_.replace_root(node, shards->parts))
        if (const NodePtr origin = root->fields().origin.lock())
          kept_->emplace_back(origin, shards);
      return;
    }
    if (own.shards) return;
    const NodePtr made = gather_shards(cut->parts, host, own.signature);
    own.op = made->fields().op;
    own.inputs = cut->parts;
    own.of_table = nullptr;
    own.place = host;
    own.is_rewritten = false;
    own.shards = std::make_shared<Shards>(*cut);
  }

  LogicalPlan& plan_;
  KeptShards* kept_;
  std::vector<Place> places_{};
  std::unordered_map<const Node*, Shards> cut_{};
  std::unordered_map<const Node*, std::vector<NodePtr>> even_{};
  std::map<std::pair<const Node*, int32_t>, NodePtr> whole_{};
  std::unordered_map<const Node*, ShardedResult> tables_{};
  std::map<std::tuple<uint64_t, uint64_t, size_t>, uint64_t> domains_{};
  std::map<std::pair<const Node*, uint64_t>, uint64_t> filtered_{};  // borders of what is picked
  std::vector<NodePtr> held_{};  // what the maps know by address
};

class ShardPlan::Inputs final : public ShardedInputs {
 public:
  Inputs(ShardPlan& plan, std::span<const NodePtr> nodes) : plan_(plan), nodes_(nodes) {}

  const std::vector<Place>& places() const override { return plan_.places_; }

  bool is_cut(int64_t input) const override { return plan_.cut_of(node(input)) != nullptr; }

  Dtype dtype(int64_t input) const override { return node(input)->signature().dtype; }

  std::vector<std::vector<NodePtr>> pieces(std::span<const int64_t> inputs) override {
    std::vector<NodePtr> nodes;
    for (const int64_t input : inputs) nodes.push_back(node(input));
    const uint64_t borders = plan_.borders_of(nodes);
    std::vector<std::vector<NodePtr>> made;
    for (const NodePtr& each : nodes) made.push_back(plan_.pieces_of(each, borders));
    return made;
  }

  std::vector<std::vector<NodePtr>> even_pieces(std::span<const int64_t> inputs) override {
    std::vector<std::vector<NodePtr>> made;
    for (const int64_t input : inputs) made.push_back(plan_.pieces_of(node(input), 0));
    return made;
  }

  NodePtr whole(int64_t input, Place place) override { return plan_.whole_of(node(input), place); }

 private:
  const NodePtr& node(int64_t input) const { return nodes_[static_cast<size_t>(input)]; }

  ShardPlan& plan_;
  std::span<const NodePtr> nodes_;
};

void ShardPlan::visit_table(const NodePtr& node) {
  const Node::Fields& fields = node->fields();
  const auto* const way = dynamic_cast<const RunsOnShards*>(fields.op.get());
  const bool has_run = fields.of_table->state && fields.of_table->state->has_run;
  if (way && !has_run && !plan_.nodes().is_root(node.get())) {
    Inputs inputs(*this, fields.inputs);
    ShardedResult made = way->on_shards(inputs, fields.inputs.size());
    for (const NodePtr& each : made.tables) each->fields().tag = fields.tag;
    if (!made.tables.empty() || !made.columns.empty()) {
      held_.push_back(node);
      tables_[node.get()] = std::move(made);
      return;
    }
  }
  gather(node);
}

}  // namespace

void shard(LogicalPlan& plan, KeptShards* kept) {
  ShardPlan(plan, kept).run();
}

bool may_read_shards(std::span<const PlanStep> steps) {
  const auto has_shards = [](const NodePtr& node) { return node->fields().shards != nullptr; };
  const bool cuts_sources = !default_shards().empty();
  return std::ranges::any_of(steps, [&](const PlanStep& step) {
    return std::ranges::any_of(step.inputs, has_shards) ||
           std::ranges::any_of(step.outputs, has_shards) ||
           (cuts_sources && std::ranges::any_of(step.outputs, is_source));
  });
}

}  // namespace hr
