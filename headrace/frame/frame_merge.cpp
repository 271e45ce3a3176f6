// SPDX-License-Identifier: Apache-2.0
// Frame::merge: the keys and columns of a join, by name.
#include "headrace/base/error.h"
#include "headrace/frame/frame.h"
#include "headrace/relational/join/join_nodes.h"

#include <algorithm>
#include <utility>

namespace hr {

namespace {

constexpr std::string_view kOp = "merge";

JoinUnique unique_of(const std::string& validate) {
  if (validate == "1:1" || validate == "one_to_one") return {.left = true, .right = true};
  if (validate == "1:m" || validate == "one_to_many") return {.left = true};
  if (validate == "m:1" || validate == "many_to_one") return {.right = true};
  if (validate == "m:m" || validate == "many_to_many") return {};
  throw_error<InvalidArgumentError>(kOp, "invalid value", {{"validate", validate}},
                                    "expected '1:1', '1:m', 'm:1' or 'm:m'");
}

std::vector<std::string> shared_names(const Frame& left, const Frame& right) {
  std::vector<std::string> names;
  for (const std::string& name : left.columns())
    if (right.contains(name)) names.push_back(name);
  if (names.empty())
    throw_error<InvalidArgumentError>(kOp, "the frames have no column name in common", {},
                                      "pass left_on and right_on");
  return names;
}

struct KeyNames {
  std::vector<std::string> left{};
  std::vector<std::string> right{};
};

KeyNames key_names(const Frame& left, const Frame& right, const Names& on,
                   const MergeOptions& options) {
  const bool apart = !options.left_on.empty() || !options.right_on.empty();
  if (!on.empty() && apart)
    throw_error<InvalidArgumentError>(kOp, "got on together with left_on or right_on", {},
                                      "pass one or the other");
  if (options.how == "cross") {
    if (!on.empty() || apart) throw_error<InvalidArgumentError>(kOp, "a cross join takes no keys");
    return {};
  }
  if (!apart) {
    const std::vector<std::string> names = on.empty() ? Names(shared_names(left, right)) : on;
    return {names, names};
  }
  if (options.left_on.size() != options.right_on.size())
    throw_error<InvalidArgumentError>(
        kOp, "the sides have different numbers of keys",
        {{"left", options.left_on.size()}, {"right", options.right_on.size()}});
  return {options.left_on, options.right_on};
}

// Whether the key column `name` of both sides becomes one column.
bool is_shared(const KeyNames& keys, const std::string& name) {
  for (size_t i = 0; i < keys.left.size(); ++i)
    if (keys.left[i] == name && keys.right[i] == name) return true;
  return false;
}

std::vector<JoinColumn> joined_columns(const Frame& left, const Frame& right, const KeyNames& keys,
                                       const MergeOptions& options) {
  const std::string& how = options.how;
  const bool only_left = how == "semi" || how == "anti";
  std::vector<JoinColumn> columns;
  for (const std::string& name : left.columns()) {
    if (is_shared(keys, name)) {
      columns.push_back(shared_key(name, left[name], right[name], how));
    } else {
      const bool is_taken = !only_left && right.contains(name);
      columns.push_back({is_taken ? name + options.suffixes.first : name, left[name], nullptr});
    }
  }
  if (only_left) return columns;
  for (const std::string& name : right.columns())
    if (!is_shared(keys, name))
      columns.push_back(
          {left.contains(name) ? name + options.suffixes.second : name, nullptr, right[name]});
  return columns;
}

}  // namespace

Frame Frame::merge(const Frame& right, const Names& on, const MergeOptions& options) const {
  if (names_.empty() || right.names_.empty())
    throw_error<InvalidArgumentError>(kOp, "a frame has no columns", {{"columns", 0}});
  const std::string& how = options.how;
  const KeyNames keys = key_names(*this, right, on, options);
  JoinSides sides{.left_rows = nodes_[0],
                  .right_rows = right.nodes_[0],
                  .left_keys = nodes_of(keys.left),
                  .right_keys = right.nodes_of(keys.right)};
  std::vector<JoinColumn> columns = joined_columns(*this, right, keys, options);
  std::vector<std::string> order;  // columns of the keys of either side
  if (options.sort || how == "outer")
    for (size_t i = 0; i < keys.left.size(); ++i) {
      order.push_back(" key " + std::to_string(i));
      columns.push_back(shared_key(order.back(), sides.left_keys[i], sides.right_keys[i], how));
    }
  JoinUnique unique = unique_of(options.validate);
  if (how == "right") {  // the left join with swapped sides
    unique = {.left = unique.right, .right = unique.left, .swapped = true};
    std::swap(sides.left_rows, sides.right_rows);
    std::swap(sides.left_keys, sides.right_keys);
    for (JoinColumn& column : columns) std::swap(column.left, column.right);
  }
  const JoinKind kind = how == "cross"   ? JoinKind::kInner
                        : how == "right" ? JoinKind::kLeft
                                         : join_kind_from_name(how);
  const Frame made(join(sides, columns, kind, unique, options.indicator, how));
  return order.empty() ? made : made.sort_values(order).drop(order);
}

}  // namespace hr
