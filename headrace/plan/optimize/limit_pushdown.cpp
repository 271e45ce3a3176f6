// SPDX-License-Identifier: Apache-2.0
// The first rows of a node, from no more input rows than these.
#include "headrace/plan/optimize/limit_pushdown.h"

#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/provenance.h"
#include "headrace/plan/optimize/expression_rewriter.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace hr {

namespace {

using Nodes = std::unordered_set<const Node*>;

int64_t first_rows_of(const Node& node) {
  const OperatorPtr& op = node.fields().op;
  return op ? op->first_rows() : -1;
}

constexpr int kMostNested = 64;  // parts whose own parts are visited: bounds the recursion

// Lives while a thread visits the parts of one table.
struct LooksAtParts {
  LooksAtParts() { ++nested; }
  ~LooksAtParts() { --nested; }
  LooksAtParts(const LooksAtParts&) = delete;
  LooksAtParts& operator=(const LooksAtParts&) = delete;

  static inline thread_local int nested = 0;
};

// Columns of concatenated parts, of which only the first rows are needed.
struct FirstOfParts final : TableOperator {
  FirstOfParts(int64_t first, size_t of) : rows(first), count(of) {}

  int64_t rows;
  size_t count;                                 // of the parts
  std::vector<std::vector<NodePtr>> columns{};  // by column, then part
  std::vector<OperatorPtr> concat{};            // by column

  std::string_view name() const override { return "concat"; }

  std::string arguments() const override {
    return "first " + std::to_string(rows) + " rows of " + std::to_string(count) + " parts";
  }

  int64_t guess_rows(const InputEstimates&) const override { return rows; }

  /// Looks at one part after the other until there are enough rows.
  Table execute(const std::vector<bool>& wanted, std::span<const Value>,
                TableState*) const override {
    std::vector<std::string> names_made;
    std::vector<size_t> places;
    for (size_t c = 0; c < wanted.size(); ++c) {
      if (!wanted[c]) continue;
      names_made.push_back(names[c]);
      places.push_back(c);
    }
    std::vector<std::vector<Value>> values(places.size());
    int64_t left = rows;
    const LooksAtParts looks;
    for (size_t part = 0; part < columns[0].size() && (left > 0 || part == 0); ++part) {
      std::vector<NodePtr> nodes;
      for (const size_t c : places) nodes.push_back(columns[c][part]);
      nodes = head(nodes, left);
      execute_nested(nodes);
      for (size_t i = 0; i < nodes.size(); ++i) values[i].push_back(nodes[i]->value());
      left -= nodes[0]->signature().rows();
    }
    std::vector<Column> made;
    for (size_t i = 0; i < places.size(); ++i)
      made.push_back(std::get<Column>(execute_at_place(*concat[places[i]], std::move(values[i]))));
    return Table(std::move(names_made), std::move(made));
  }
};

class Prefix {
 public:
  /// `kept`: what is made whole anyway, of a plan that is being made.
  explicit Prefix(int64_t rows, const Nodes* kept = nullptr) : rows_(rows), kept_(kept) {}

  NodePtr of(const NodePtr& node) {
    if (is_short(node)) return node;
    NodePtr made = shorter(node);
    return made ? made : slice(node, 0, rows_);
  }

  /// Null where all rows have to be made first.
  NodePtr shorter(const NodePtr& node) {
    if (const auto it = done_.find(node.get()); it != done_.end()) return it->second;
    if (depth_ > kDeepest) return nullptr;
    ++depth_;
    const NodePtr result = make(node);
    --depth_;
    done_.emplace(node.get(), result);
    return result;
  }

 private:
  bool is_short(const NodePtr& node) const {
    const int64_t own = first_rows_of(*node);
    return own >= 0 && own <= rows_;
  }

  bool is_kept(const Node* node) const { return kept_ && kept_->contains(node); }

  NodePtr make(const NodePtr& node) {
    const Node::Fields& fields = node->fields();
    if (node->is_ready() || is_kept(node.get())) return nullptr;
    if (fields.kind() == NodeKind::kPart) return of_part(node);
    if (fields.lineage() == RowLineage::kConcatenated)
      return LooksAtParts::nested < kMostNested ? of_concat(node) : nullptr;
    if (fields.lineage() == RowLineage::kSame) {
      const NodePtr same = shorter(fields.inputs[0]);
      return same ? keep_marks(same, node) : nullptr;
    }
    const bool by_row = fields.lineage() == RowLineage::kRowwise;
    return by_row && !fields.signature.shape.empty() ? of_rows(node) : nullptr;
  }

  NodePtr of_rows(const NodePtr& node) {
    const Node::Fields& fields = node->fields();
    const size_t by_row = row_inputs(*node);
    bool changed = false;
    std::vector<NodePtr> inputs = fields.inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool has_rows = i < by_row || (is_masked(fields) && i + 1 == inputs.size());
      if (!has_rows || !inputs[i]->signature().same_rows(fields.signature)) continue;
      const NodePtr first = of(inputs[i]);
      changed |= first != inputs[i];
      inputs[i] = in_rows(first);
    }
    return changed ? remade_by_row(*node, std::move(inputs)) : nullptr;
  }

  // First rows that were found in different ways are the same rows.
  NodePtr in_rows(const NodePtr& node) {
    const Signature& signature = node->signature();
    if (signature.shape.empty() || signature.domain == 0 || signature.domain == domain_)
      return node;
    if (const auto it = placed_.find(node); it != placed_.end()) return it->second;
    const NodePtr result = in_domain(node, domain_);
    placed_.emplace(node, result);
    return result;
  }

  NodePtr of_part(const NodePtr& part) {
    const NodePtr& table = part->fields().inputs[0];
    const int64_t all = table->signature().rows();
    if (table->is_ready() || is_kept(table.get()) || (all != kUnknown && all <= rows_))
      return nullptr;
    const auto [found, is_new] = tables_.try_emplace(table.get());
    NodePtr& made = found->second;
    if (is_new) {
      made = table->fields().table().limited(table->fields().inputs, rows_);
      if (made && kept_) made->fields().tag = table->tag();
    }
    if (!made) return nullptr;
    return marked(table_column(made, part->fields().part()), part);
  }

  // A column of a table that was just made here: nothing else uses it yet.
  static NodePtr marked(NodePtr made, const NodePtr& from) {
    share_marks(made, {&from, 1});
    return made;
  }

  // The inputs of a concat, and in place of those that are concats theirs: frames that grow in a
  // loop nest thousands of them.
  std::vector<NodePtr> parts_of(const NodePtr& concat) const {
    std::vector<NodePtr> parts, stack{concat};
    while (!stack.empty()) {
      const NodePtr part = std::move(stack.back());
      stack.pop_back();
      const Node* node = part.get();
      while (!node->is_ready() && node->fields().lineage() == RowLineage::kSame)
        node = node->fields().inputs[0].get();
      if (node->is_ready() || node->fields().lineage() != RowLineage::kConcatenated ||
          is_kept(node)) {
        parts.push_back(part);
        continue;
      }
      const std::vector<NodePtr>& inputs = node->fields().inputs;
      stack.insert(stack.end(), inputs.rbegin(), inputs.rend());
    }
    return parts;
  }

  // Columns whose parts have the same rows are those of one table.
  NodePtr of_concat(const NodePtr& node) {
    const Node::Fields& fields = node->fields();
    const std::vector<NodePtr> inputs = parts_of(node);
    std::vector<std::pair<uint64_t, int64_t>> rows;
    for (const NodePtr& input : inputs)
      rows.emplace_back(input->signature().domain, input->signature().rows());
    auto& [parts, table] = concats_[rows];
    if (!parts) {
      parts = std::make_shared<FirstOfParts>(rows_, rows.size());
      table = apply_table_operator(parts, {});
      table->fields().tag = node->tag();
    }
    parts->names.push_back(std::to_string(parts->names.size()));
    parts->dtypes.push_back(fields.signature.dtype);
    parts->columns.push_back(inputs);
    parts->concat.push_back(fields.op);
    table->fields().of_table->column_keys.emplace_back();
    return marked(table_column(table, static_cast<int64_t>(parts->names.size()) - 1), node);
  }

  static constexpr int kDeepest = 1000;  // bounds the recursion

  struct Concat {
    std::shared_ptr<FirstOfParts> parts{};
    NodePtr table{};
  };

  int64_t rows_;
  const Nodes* kept_;
  uint64_t domain_ = new_domain();
  int depth_ = 0;
  std::unordered_map<const Node*, NodePtr> done_{};
  std::unordered_map<const Node*, NodePtr> tables_{};
  std::unordered_map<NodePtr, NodePtr> placed_{};
  std::map<std::vector<std::pair<uint64_t, int64_t>>, Concat> concats_{};  // by rows of the parts
};

bool is_first_rows(const Node* node) {
  return first_rows_of(*node) >= 0;
}

}  // namespace

NodePtr head(const NodePtr& node, int64_t rows) {
  return head(std::span(&node, 1), rows)[0];
}

std::vector<NodePtr> head(std::span<const NodePtr> nodes, int64_t rows, uint64_t domain) {
  if (domain != 0 && std::ranges::all_of(nodes, [](const NodePtr& n) { return n->is_ready(); }))
    return slice(nodes, 0, rows, domain);
  const std::lock_guard lock(plan_mutex());
  Prefix prefix(rows);
  std::vector<NodePtr> result;
  for (const NodePtr& node : nodes) {
    const int64_t known = node->signature().rows();
    result.push_back(known != kUnknown && known <= rows ? node : prefix.of(node));
    if (domain != 0) result.back() = in_domain(result.back(), domain);
  }
  return result;
}

bool push_first_rows(const PlanNodes& nodes) {
  const std::vector<NodePtr>& order = nodes.order();
  Nodes kept;
  for (size_t i = order.size(); i-- > 0;) {
    const Node* const node = order[i].get();
    bool whole = nodes.is_root(node);
    for (const Node* user : nodes.users(node)) whole |= kept.contains(user) && !is_first_rows(user);
    if (whole) kept.insert(node);
  }
  std::map<int64_t, Prefix> prefixes;
  bool changed = false;
  for (const NodePtr& node : order) {
    Node::Fields& fields = node->fields();
    const int64_t rows = first_rows_of(*node);
    if (rows < 0) continue;
    Prefix& prefix = prefixes.try_emplace(rows, rows, &kept).first->second;
    const NodePtr made = prefix.shorter(fields.inputs[0]);
    if (!made) continue;
    fields.inputs[0] = made;
    changed = true;
  }
  return changed;
}

}  // namespace hr
