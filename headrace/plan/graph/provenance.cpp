// SPDX-License-Identifier: Apache-2.0
// Sets of marks as tries over their numbers that share branches (Okasaki and Gill, Fast mergeable
// integer maps, 1998). Most nodes have no marks, or those of one input, whose set they share.
#include "headrace/plan/graph/provenance.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/memory/sync/fork_mutex.h"
#include "headrace/plan/graph/node_fields.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace hr {

/// A mark, or two branches: numbers without `bit` on the left, with it on the right.
class MarkNode {
 public:
  explicit MarkNode(Mark mark)
      : prefix(mark.source->first + mark.column), source(std::move(mark.source)) {}

  MarkNode(uint64_t number, uint64_t branch, Marks without, Marks with)
      : prefix(number & ~(branch | (branch - 1))),
        bit(branch),
        left(std::move(without)),
        right(std::move(with)) {}

  uint64_t prefix;
  uint64_t bit = 0;
  ValueSourcePtr source{};
  Marks left{}, right{};
};

namespace {

// ---- sources ------------------------------------------------------------------------------------
struct KnownSources {
  ForkMutex mutex{};
  std::unordered_map<std::string, std::weak_ptr<const ValueSource>> sources{};
  uint64_t next = 1;
};

KnownSources& known_sources() {
  return process_global<KnownSources>();
}

std::string key_of(const ValueSource& source) {
  std::string key(source.is_tag ? "t" : "s");
  const auto put = [&](const std::string& part) {  // its length first: parts hold any byte
    key += std::to_string(part.size()) + ':' + part;
  };
  put(source.words);
  for (const std::string& column : source.columns) put(column);
  return key;
}

void forget(const ValueSource* source) {
  {
    KnownSources& known = known_sources();
    const std::string key = key_of(*source);
    const std::lock_guard lock(known.mutex);
    const auto found = known.sources.find(key);
    if (found != known.sources.end() && found->second.expired()) known.sources.erase(found);
  }
  delete source;
}

ValueSourcePtr known_source(ValueSource wanted) {
  KnownSources& known = known_sources();
  const std::string key = key_of(wanted);
  const std::lock_guard lock(known.mutex);
  std::weak_ptr<const ValueSource>& place = known.sources[key];
  if (ValueSourcePtr found = place.lock()) return found;
  wanted.first = known.next;
  known.next += wanted.columns.size();
  ValueSourcePtr made(new ValueSource(std::move(wanted)), forget);
  place = made;
  return made;
}

// ---- sets ---------------------------------------------------------------------------------------
bool is_below(uint64_t number, const MarkNode& branch) {
  return (number & ~(branch.bit | (branch.bit - 1))) == branch.prefix;
}

// Two sets whose numbers differ from some bit on.
Marks joined(const Marks& a, const Marks& b) {
  const uint64_t bit = std::bit_floor(a->prefix ^ b->prefix);
  return (a->prefix & bit) == 0 ? std::make_shared<MarkNode>(a->prefix, bit, a, b)
                                : std::make_shared<MarkNode>(a->prefix, bit, b, a);
}

// `of` with other branches; itself where they are the same.
Marks with_branches(const Marks& of, Marks left, Marks right) {
  if (left == of->left && right == of->right) return of;
  return std::make_shared<MarkNode>(of->prefix, of->bit, std::move(left), std::move(right));
}

Marks united(const Marks& a, const Marks& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  if (a->bit < b->bit) {
    if (!is_below(a->prefix, *b)) return joined(a, b);
    return (a->prefix & b->bit) == 0 ? with_branches(b, united(a, b->left), b->right)
                                     : with_branches(b, b->left, united(a, b->right));
  }
  if (a->bit > b->bit) {
    if (!is_below(b->prefix, *a)) return joined(a, b);
    return (b->prefix & a->bit) == 0 ? with_branches(a, united(a->left, b), a->right)
                                     : with_branches(a, a->left, united(a->right, b));
  }
  if (a->prefix != b->prefix) return joined(a, b);
  if (a->bit == 0) return a;
  return with_branches(a, united(a->left, b->left), united(a->right, b->right));
}

template <class Take>
void for_each_mark(const MarkNode* set, const Take& take) {
  if (!set) return;
  if (set->bit == 0) {
    take(Mark{set->source, set->prefix - set->source->first});
    return;
  }
  for_each_mark(set->left.get(), take);
  for_each_mark(set->right.get(), take);
}

Marks set_of(const Mark& mark) {
  return std::make_shared<MarkNode>(mark);
}

void add(Marks& to, const Marks& more) {
  to = united(to, more);
}

const Marks& own(const NodePtr& node) {
  return node->fields().marks;
}

// By column: the inputs that it alone needs and those whose values it repeats; else all that every
// column needs.
std::vector<Marks> marks_of_columns(const TableOperator& table,
                                    const std::vector<NodePtr>& inputs) {
  const size_t count = table.names.size();
  std::vector<bool> is_shared(inputs.size(), true);
  for (const std::vector<int64_t>& places : table.columns_needed)
    for (const int64_t place : places) is_shared[static_cast<size_t>(place)] = false;
  Marks shared;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (is_shared[i]) add(shared, own(inputs[i]));
  std::vector<Marks> made(count);
  for (size_t column = 0; column < count; ++column) {
    bool found = false;
    const auto take = [&](int64_t place) {
      add(made[column], own(inputs[static_cast<size_t>(place)]));
      found = true;
    };
    if (column < table.columns_needed.size())
      for (const int64_t place : table.columns_needed[column]) take(place);
    for (const RowSource& source : table.sources)
      if (column < source.columns.size() && source.columns[column] >= 0)
        take(source.columns[column]);
    if (!found) made[column] = shared;
  }
  return made;
}

NodePtr with_marks(const NodePtr& node, Marks marks) {
  const Signature& signature = node->signature();
  NodePtr made = node->is_ready() ? lazy_value(node->value(), node->detail(), signature.domain,
                                               node->fields().live)
                                  : apply_operator(relabel_operator(), signature, {node});
  made->fields().constant = node->fields().constant;
  made->fields().unique = node->fields().unique;
  made->fields().marks = std::move(marks);
  return made;
}

// ---- policy -------------------------------------------------------------------------------------
struct Policy {
  ForkMutex mutex{};
  std::atomic<bool> denies = false;
  std::vector<std::string> tags{};
};

Policy& policy() {
  return process_global<Policy>();
}

}  // namespace

ValueSourcePtr value_source(std::string words, std::vector<std::string> columns) {
  return known_source({.words = std::move(words), .columns = std::move(columns)});
}

ValueSourcePtr tag_source(std::string word, std::string column) {
  return known_source({.is_tag = true, .words = std::move(word), .columns = {std::move(column)}});
}

size_t count_value_sources() {
  KnownSources& known = known_sources();
  const std::lock_guard lock(known.mutex);
  return known.sources.size();
}

void note_marks(Node::Fields& fields) {
  const std::vector<NodePtr>& inputs = fields.inputs;
  if (fields.kind() == NodeKind::kPart) {
    const auto& of_columns = inputs[0]->fields().of_table->marks;
    const auto place = static_cast<size_t>(fields.part());
    if (place < of_columns.size()) fields.marks = of_columns[place];
    return;
  }
  if (fields.op && fields.op->constant()) return;  // one value of the plan's own
  if (std::ranges::none_of(inputs, [](const NodePtr& input) { return own(input) != nullptr; }))
    return;
  if (fields.kind() == NodeKind::kTable) {
    fields.of_table->marks = marks_of_columns(fields.table(), inputs);
    return;
  }
  const RowLineage lineage = fields.lineage();
  const bool picks = lineage == RowLineage::kFiltered || lineage == RowLineage::kTaken;
  for (size_t i = 0; i < (picks ? 1 : inputs.size()); ++i) add(fields.marks, own(inputs[i]));
}

std::vector<Mark> marks_of(const NodePtr& node) {
  std::vector<Mark> made;
  for_each_mark(own(node).get(), [&](Mark mark) { made.push_back(std::move(mark)); });
  return made;
}

NodePtr add_tags(const NodePtr& node, std::string_view column, std::span<const std::string> tags) {
  Marks marks = own(node);
  for (const std::string& tag : tags) add(marks, set_of({tag_source(tag, std::string(column))}));
  return with_marks(node, std::move(marks));
}

NodePtr remove_tags(const NodePtr& node, std::span<const std::string> tags) {
  Marks marks;
  for (const Mark& mark : marks_of(node))
    if (!mark.source->is_tag || std::ranges::find(tags, mark.source->words) == tags.end())
      add(marks, set_of(mark));
  return with_marks(node, std::move(marks));
}

void share_marks(const NodePtr& made, std::span<const NodePtr> from) {
  for (const NodePtr& each : from) add(made->fields().marks, own(each));
}

NodePtr keep_marks(const NodePtr& made, const NodePtr& from) {
  if (!own(from) || own(made) == own(from)) return made;
  return with_marks(made, united(own(made), own(from)));
}

void mark_sources(std::span<const NodePtr> nodes, const ValueSourcePtr& source,
                  const ValueSourcePtr& mark) {
  uint64_t column = 0;
  for (const NodePtr& node : nodes) {
    node->fields().source = {source, column};
    node->fields().marks = set_of(mark ? Mark{mark} : Mark{source, column});
    ++column;
  }
}

void deny_tags(std::vector<std::string> tags) {
  Policy& own = policy();
  const std::lock_guard lock(own.mutex);
  own.tags = std::move(tags);
  own.denies.store(!own.tags.empty(), std::memory_order_release);
}

std::vector<std::string> denied_tags() {
  Policy& own = policy();
  const std::lock_guard lock(own.mutex);
  return own.tags;
}

std::vector<Mark> denied_tags_of(const Node& node) {
  std::vector<Mark> found;
  const MarkNode* const marks = node.fields().marks.get();
  if (!marks || !policy().denies.load(std::memory_order_acquire)) return found;
  const std::vector<std::string> denied = denied_tags();
  for_each_mark(marks, [&](Mark mark) {
    if (mark.source->is_tag && std::ranges::find(denied, mark.source->words) != denied.end())
      found.push_back(std::move(mark));
  });
  return found;
}

void check_export(const Node& node) {
  const std::vector<Mark> found = denied_tags_of(node);
  if (found.empty()) return;
  throw_error<InvalidArgumentError>(
      "policy", "values made of a column with this tag may not leave",
      {{"tag", found[0].source->words}, {"column", found[0].name()}, {"operator", node.op()}},
      "leave them out, or take the tag away with untag() where the result tells of no one");
}

}  // namespace hr
