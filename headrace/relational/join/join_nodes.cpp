// SPDX-License-Identifier: Apache-2.0
// Deferred joins.
#include "headrace/relational/join/join_nodes.h"

#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/gather.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/dictionary.h"
#include "headrace/exec/workers.h"
#include "headrace/functions/decimal/decimal_arithmetic.h"
#include "headrace/plan/graph/fingerprint.h"
#include "headrace/plan/optimize/unique_keys.h"
#include "headrace/plan/optimize/zone_map.h"
#include "headrace/relational/join/join_cost.h"
#include "headrace/relational/join/semi_join_filter.h"
#include "headrace/relational/rows/operator_inputs.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <unordered_map>

namespace hr {

namespace {

constexpr std::string_view kOp = "merge";

// Both keys in the dtype that they have in common, in which == compares them.
void unify_key_types(std::string_view op, NodePtr& left, NodePtr& right) {
  if (left->signature().dtype.is_floating()) right = decimal_to_float(right);
  if (right->signature().dtype.is_floating()) left = decimal_to_float(left);
  const Dtype a = left->signature().dtype, b = right->signature().dtype;
  if (a == b || (a.is_category() && b.is_category())) return;
  if (a.is_decimal() && b.is_decimal()) {
    const Dtype common = decimal_result(Op::kMaximum, a, b);
    left = decimal_cast_node(left, common);
    right = decimal_cast_node(right, common);
    return;
  }
  const bool numbers = (a.is_real() || a.is_bool()) && (b.is_real() || b.is_bool());
  if (!numbers)
    throw_error<TypeMismatchError>(op, "values of these dtypes are not compared",
                                   {{"left", a.name()}, {"right", b.name()}},
                                   "cast one of them with astype");
  const Dtype common = promote(a, b);
  if (a != common) left = cast_node(left, common);
  if (b != common) right = cast_node(right, common);
}

// Which inputs a column is made of; -1: none.
struct OutputSource {
  int64_t left = -1;
  int64_t right = -1;
};

// Rows where a side has none are null.
Column picked(const Column& column, const Tensor& rows, bool may_miss) {
  return may_miss ? gather_or_null(column, rows) : gather(column, rows);
}

// The left value where there is a left row, else the right one.
Column coalesce_keys(const Column& left, const Column& right, const JoinedRows& joined) {
  if (joined.keeps_left) return left;
  const Column both = concatenate(kOp, left.dtype(), std::array{left, right});
  Buffer at = Buffer::allocate_spillable(8 * joined.rows);
  if (joined.rows > 0) {
    auto* const out = at.mutable_as<int64_t>();
    const auto *const from_left = joined.left.as<int32_t>(), *const from_right =
                                                                 joined.right.as<int32_t>();
    const std::vector<BufferAccess> accesses{reads(joined.left), reads(joined.right),
                                             writes(at, 8)};
    parallel_morsels(joined.rows, accesses, [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; ++row)
        out[row] = from_left[row] >= 0 ? from_left[row] : left.num_rows() + from_right[row];
    });
  }
  return gather(both, Tensor(TypeId::kInt64, {joined.rows}, std::move(at)));
}

// "left_only", "right_only" or "both".
Column make_indicator(const JoinedRows& joined, bool swapped) {
  Buffer codes = Buffer::allocate_spillable(4 * joined.rows);
  if (joined.rows > 0) {
    auto* const out = codes.mutable_as<int32_t>();
    const auto* const left = joined.keeps_left ? nullptr : joined.left.as<int32_t>();
    const auto* const right =
        joined.right.num_elements() > 0 ? joined.right.as<int32_t>() : nullptr;
    parallel_morsels(joined.rows, {writes(codes, 4)}, [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; ++row)
        out[row] = left && left[row] < 0 ? !swapped : right && right[row] < 0 ? swapped : 2;
    });
  }
  DictionaryBuilder words;
  for (const char* word : {"left_only", "right_only", "both"}) words.add(word);
  return Column::categories(joined.rows, std::move(codes), words.finish());
}

}  // namespace

namespace {

/// The inputs of a join: columns of each side, each once.
class SideInputs {
 public:
  /// The place of the node; -1 for none.
  int64_t add(const NodePtr& node, bool is_right) {
    if (!node) return -1;
    const auto [place, is_new] =
        places_[is_right].try_emplace(node.get(), static_cast<int64_t>(nodes_.size()));
    if (is_new) {
      nodes_.push_back(node);
      (is_right ? right_ : left_).push_back(place->second);
    }
    return place->second;
  }

  const std::vector<NodePtr>& nodes() const { return nodes_; }

  const std::vector<int64_t>& of(bool is_right) const { return is_right ? right_ : left_; }

 private:
  std::vector<NodePtr> nodes_{};
  std::vector<int64_t> left_{};
  std::vector<int64_t> right_{};
  std::array<std::unordered_map<const Node*, int64_t>, 2> places_{};  // by side
};

// Whether rows may have a match, as Node::MayMeet.
NodePtr may_meet_node(const Node::KeyPair& asked, const Node::KeyPair& first) {
  Signature signature = asked.keys->signature();
  signature.dtype = TypeId::kBool;
  signature.nullable = false;
  std::vector<NodePtr> inputs{asked.keys, asked.others};
  if (first.keys) inputs = {asked.keys, first.keys, asked.others, first.others};
  const size_t pairs = inputs.size() / 2;
  return test_node(std::string(kOp), "keys of another join", signature, std::move(inputs),
                   [pairs](std::span<const Value> given, const Mask* where) {
                     const auto pair = [&](size_t k) -> KeyColumns {
                       return {std::get<Column>(given[k]), std::get<Column>(given[pairs + k])};
                     };
                     const std::optional<KeyColumns> before =
                         pairs > 1 ? std::optional(pair(1)) : std::nullopt;
                     return semi_join_mask(pair(0), before, where);
                   },
                   {.row_inputs = static_cast<int64_t>(pairs), .same = "may meet"});
}

// A join of which only rows with one of each `required` side are wanted; none for one that there is
// not.
std::optional<JoinKind> kind_without(JoinKind kind, const std::vector<bool>& required) {
  const bool left = required[0], right = required[1];
  if (kind == JoinKind::kLeft && right) return JoinKind::kInner;
  if (kind != JoinKind::kOuter || (!left && !right)) return kind;
  if (!left) return {};
  return right ? JoinKind::kInner : JoinKind::kLeft;
}

}  // namespace

NodePtr join_node(const JoinSides& sides, const std::vector<JoinColumn>& columns, JoinKind kind,
                  JoinUnique unique, const std::string& indicator, const std::string& how) {
  TableOperator table;
  SideInputs inputs;
  std::vector<OutputSource> keys;
  for (size_t i = 0; i < sides.left_keys.size(); ++i) {
    NodePtr left = column_node(kOp, sides.left_keys[i]),
            right = column_node(kOp, sides.right_keys[i]);
    unify_key_types(kOp, left, right);
    keys.push_back({inputs.add(left, false), inputs.add(right, true)});
  }
  const auto are_known = [&](auto place) {
    std::vector<NodePtr> nodes;
    for (const OutputSource& key : keys)
      nodes.push_back(inputs.nodes()[static_cast<size_t>(place(key))]);
    return !nodes.empty() && are_unique(nodes);
  };
  const bool left_unique = are_known([](const OutputSource& key) { return key.left; }),
             right_unique = are_known([](const OutputSource& key) { return key.right; });
  unique.left &= !left_unique;
  unique.right &= !right_unique;
  const OutputSource rows = keys.empty()
                                ? OutputSource{inputs.add(column_node(kOp, sides.left_rows), false),
                                               inputs.add(column_node(kOp, sides.right_rows), true)}
                                : keys[0];
  const auto always = static_cast<int64_t>(inputs.nodes().size());
  std::vector<OutputSource> sources;
  RowSource of_left{.optional = kind == JoinKind::kOuter},
      of_right{.optional = kind != JoinKind::kInner};
  const bool filters = kind == JoinKind::kSemi || kind == JoinKind::kAnti;
  of_left.once = filters || (right_unique && kind != JoinKind::kOuter);
  of_right.once = left_unique && kind == JoinKind::kInner;
  bool joins_categories = false;  // of both sides
  OutputNames seen;
  const auto add = [&](const std::string& name, Dtype dtype, OutputSource source) {
    seen.add(kOp, name, "pass other suffixes, or rename it before");
    table.names.push_back(name);
    table.dtypes.push_back(dtype);
    sources.push_back(source);
    of_left.columns.push_back(source.right < 0 ? source.left : -1);
    of_right.columns.push_back(source.left < 0 ? source.right : -1);
    std::vector<int64_t>& needs = table.reads.emplace_back();
    for (const int64_t at : {source.left, source.right})
      if (at >= always) needs.push_back(at);
  };
  for (const JoinColumn& column : columns) {
    NodePtr left = column.left ? column_node(kOp, column.left) : nullptr;
    NodePtr right = column.right ? column_node(kOp, column.right) : nullptr;
    if (left && right) unify_key_types(kOp, left, right);
    joins_categories |= left && right && left->signature().dtype.is_category();
    add(column.name, (left ? left : right)->signature().dtype,
        {inputs.add(left, false), inputs.add(right, true)});
  }
  if (!indicator.empty()) add(indicator, TypeId::kCategory, {});
  table.inputs = inputs.nodes();
  table.passes = 2;
  JoinPlaces inputs_at{rows.left, rows.right, {}, {}, {}};
  for (const OutputSource& key : keys) {
    inputs_at.left_keys.push_back(key.left);
    inputs_at.right_keys.push_back(key.right);
  }
  for (const OutputSource& source : sources) inputs_at.left_columns.push_back(source.right < 0);
  table.guess = [kind, inputs_at](const InputEstimates& given) {
    return estimate_joined_rows(given, inputs_at, kind);
  };
  SameWords same;
  same.add(kind).add(unique.left).add(unique.right).add(how).add(indicator);
  for (const std::vector<OutputSource>* places : {&keys, &sources})
    for (const OutputSource& each : *places) same.add(each.left).add(each.right);
  for (const std::string& name : table.names) same.add(name);
  table.same = same.add(keys.size()).take();
  if (!unique.left && !unique.right) {
    if (kind != JoinKind::kOuter)
      for (const OutputSource& key : keys) {
        table.partners.push_back({key.right, key.left});
        if (kind == JoinKind::kInner) table.partners.push_back({key.left, key.right});
      }
    table.may_meet = may_meet_node;
    of_left.inputs = inputs.of(false);
    of_right.inputs = inputs.of(true);
    table.sources = {of_left, of_right};
    table.remade = [=, names = table.names, count = columns.size()](
                       std::span<const NodePtr> nodes,
                       const std::vector<bool>& required) -> NodePtr {
      const std::optional<JoinKind> own = kind_without(kind, required);
      if (!own || (*own != kind && joins_categories)) return nullptr;
      const auto at = [&](int64_t place) {
        return place < 0 ? nullptr : nodes[static_cast<size_t>(place)];
      };
      JoinSides made{at(rows.left), at(rows.right), {}, {}};
      for (const OutputSource& key : keys) {
        made.left_keys.push_back(at(key.left));
        made.right_keys.push_back(at(key.right));
      }
      std::vector<JoinColumn> kept;
      for (size_t i = 0; i < count; ++i)
        kept.push_back({names[i], at(sources[i].left), at(sources[i].right)});
      const std::string word = *own == kind               ? how
                               : *own == JoinKind::kInner ? "inner, made of " + how
                                                          : "left, made of " + how;
      return join_node(made, kept, *own, unique, indicator, word);
    };
  }
  const auto joined = std::make_shared<std::optional<JoinedRows>>();
  table.run = [=, names = table.names](const std::vector<bool>& wanted,
                                       std::span<const Value> given) {
    const auto column = [&](int64_t at) -> const Column& {
      return std::get<Column>(given[static_cast<size_t>(at)]);
    };
    if (!*joined) {
      std::vector<Column> left, right;
      for (const OutputSource& key : keys) {
        left.push_back(column(key.left));
        right.push_back(column(key.right));
      }
      *joined = join_rows(left, column(rows.left).num_rows(), right, column(rows.right).num_rows(),
                          kind, unique);
    }
    const JoinedRows& pairs = **joined;
    const bool left_misses = kind == JoinKind::kOuter, right_misses = kind != JoinKind::kInner;
    std::vector<std::string> made;
    std::vector<Column> results;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (!wanted[i]) continue;
      const auto [left, right] = sources[i];
      made.push_back(names[i]);
      if (left < 0 && right < 0)
        results.push_back(make_indicator(pairs, how == "right"));
      else if (right < 0)
        results.push_back(pairs.keeps_left ? column(left)
                                           : picked(column(left), pairs.left, left_misses));
      else if (left < 0)
        results.push_back(picked(column(right), pairs.right, right_misses));
      else
        results.push_back(coalesce_keys(column(left), column(right), pairs));
    }
    return Table(std::move(made), std::move(results));
  };
  const CostOf work = [=, dtypes = table.dtypes](const InputEstimates& given, int64_t made,
                                                 const std::vector<bool>& wanted) {
    return join_cost(given, inputs_at, kind, made, dtypes, wanted);
  };
  return with_cost(table_node(std::string(kOp), "how=" + how, std::move(table)), work);
}

namespace {

// Whether one of the values that are no NaN, in order, lies between two.
template <class T>
bool has_between(const std::vector<T>& sorted, const T& least, const T& most) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), least);
  return found != sorted.end() && *found <= most;
}

// By row: whether a value of `set` lies between that of `least` and that of `most`. NaN, which lies
// between none, may be there always.
Column any_between(const Column& set, const Column& least, const Column& most) {
  const int64_t rows = least.num_rows();
  Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(rows));
  const auto find = [&](auto&& value_of) {
    using T = std::decay_t<decltype(value_of(set, 0))>;
    std::vector<T> sorted;
    for (int64_t row = 0; row < set.num_rows(); ++row) sorted.push_back(value_of(set, row));
    const size_t nans = std::erase_if(sorted, [](const T& value) { return value != value; });
    std::sort(sorted.begin(), sorted.end());
    for (int64_t row = 0; row < rows; ++row)
      set_bit(bits.mutable_as<uint8_t>(), row,
              nans > 0 || least.is_null(row) || most.is_null(row) ||
                  has_between(sorted, value_of(least, row), value_of(most, row)));
  };
  if (set.dtype().is_string())
    find([](const Column& column, int64_t row) { return column.string(row); });
  else if (set.dtype().is_decimal())
    find([](const Column& column, int64_t row) {
      return column.values<Int128>()[static_cast<size_t>(row)];
    });
  else
    visit_real(set.dtype().storage(), [&]<class T>(std::type_identity<T>) {
      find([](const Column& column, int64_t row) {
        return column.values<T>()[static_cast<size_t>(row)];
      });
    });
  return Column(TypeId::kBool, rows, std::move(bits));
}

// Null is one of values with a null in them, and lies between none.
NodePtr may_be_in(const NodePtr& set, const NodePtr& least, const NodePtr& most) {
  const Signature& own = set->signature();
  const Dtype dtype = least->signature().dtype;
  const bool is_ordered = dtype.storage().is_real() || dtype.is_decimal() || dtype.is_string();
  if (dtype != own.dtype || !is_ordered || own.nullable) return nullptr;
  Signature signature = least->signature();
  signature.dtype = TypeId::kBool;
  signature.nullable = false;
  return operator_node("isin", "bounds", signature, {set, least, most}, 1,
                       [](std::span<const Value> given) -> Value {
                         return any_between(std::get<Column>(given[0]), std::get<Column>(given[1]),
                                            std::get<Column>(given[2]));
                       });
}

}  // namespace

NodePtr is_in_node(const NodePtr& values, const NodePtr& set) {
  NodePtr left = column_node("isin", values), right = column_node("isin", set);
  unify_key_types("isin", left, right);
  Signature signature = left->signature();
  signature.dtype = TypeId::kBool;
  signature.nullable = false;
  NodePtr made =
      test_node("isin", "", signature, {left, right},
                [](std::span<const Value> given, const Mask* where) {
                  return is_in(std::get<Column>(given[0]), std::get<Column>(given[1]), where);
                },
                {.row_inputs = 1, .same = "isin"});
  // Other threads may ask when the node ran and let go of its inputs, so the set is not held here.
  return with_bounds(std::move(made),
                     [known = std::weak_ptr(right)](const NodePtr& least, const NodePtr& most) {
                       const NodePtr one_of = known.lock();
                       // Values that have to be made first are not known when the plan is.
                       return one_of && is_known(one_of) ? may_be_in(one_of, least, most) : nullptr;
                     });
}

}  // namespace hr
