// SPDX-License-Identifier: Apache-2.0
// Frame: methods as nodes of the rooms below.
#include "headrace/frame/frame.h"

#include "headrace/base/error.h"
#include "headrace/frame/row_set.h"
#include "headrace/frame/table_text.h"
#include "headrace/io/nodes.h"
#include "headrace/plan/graph/constants.h"
#include "headrace/plan/graph/picked_rows.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/unique_keys.h"
#include "headrace/plan/graph/view.h"
#include "headrace/relational/order/sort_nodes.h"
#include "headrace/relational/rows/row_nodes.h"

#include <algorithm>

namespace hr {

namespace {

// A number in each row of `like`; the result of a reduction stays lazy.
NodePtr repeated(const NodePtr& like, const NodePtr& number) {
  if (const auto constant = constant_of(number)) return repeat(like, *constant);
  return hr::elementwise(Op::kWhere, {repeat(like, Scalar(true)), number, number});
}

Source source_of(std::string_view op, const std::string& path, const CsvOptions& options) {
  if (options.on_bad == BadRows::kReject)
    throw_error<InvalidArgumentError>(op, "a frame does not hold rejected rows",
                                      {{"on_bad", "reject"}},
                                      "use read_csv(Source::path(path), options)");
  return Source::path(path);
}

}  // namespace

// ---- making -------------------------------------------------------------------------------------

Frame::Frame(const std::vector<std::pair<std::string, Series>>& columns) {
  for (const auto& [name, series] : columns) {
    if (contains(name))
      throw_error<InvalidArgumentError>("Frame", "duplicate column name", {{"name", name}},
                                        "rename one of the columns");
    put("Frame", name, series);
  }
}

Frame::Frame(const Table& table) : names_(table.names()) {
  const uint64_t domain = new_domain();
  for (size_t i = 0; i < names_.size(); ++i)
    nodes_.push_back(lazy_value(table.columns()[i], names_[i], domain));
}

Frame::Frame(const NodePtr& table) : names_(table_names(table)) {
  for (int64_t i = 0; i < num_columns(); ++i) nodes_.push_back(table_column(table, i));
}

Frame read_csv(const std::string& path, const CsvOptions& options) {
  return Frame(read_csv(source_of("read_csv", path, options), options, default_place()).table);
}

Frame scan_csv(const std::string& path, const CsvOptions& options) {
  return Frame(scan_csv(CsvScan(source_of("scan_csv", path, options), options)));
}

// ---- columns ------------------------------------------------------------------------------------

int64_t Frame::num_rows() const {
  if (nodes_.empty()) return 0;
  if (nodes_[0]->signature().rows() == kUnknown) force(nodes_[0]);
  return nodes_[0]->signature().rows();
}

bool Frame::contains(std::string_view name) const {
  return std::ranges::find(names_, name) != names_.end();
}

size_t Frame::find(std::string_view name) const {
  return static_cast<size_t>(find_column("Frame", names_, name));
}

std::vector<NodePtr> Frame::nodes_of(const Names& names) const {
  std::vector<NodePtr> nodes;
  for (const std::string& name : names) nodes.push_back(nodes_[find(name)]);
  return nodes;
}

void Frame::put(std::string_view op, std::string_view name, const NodePtr& given) {
  const bool is_number = given->signature().is_scalar();
  if (is_number && nodes_.empty())
    throw_error<InvalidArgumentError>(op, "a number has no rows", {{"column", name}},
                                      "put a column before it");
  NodePtr node = as_column(is_number ? repeated(nodes_[0], given) : given);
  const bool is_free = node->signature().domain == 0;
  if (nodes_.empty()) {
    if (is_free) node = in_domain(node, new_domain());
  } else {
    if (is_free && node->signature().rows() != kUnknown) num_rows();  // to compare with these
    node = align_check(op, name, nodes_[0], node);
  }
  if (contains(name)) {
    nodes_[find(name)] = std::move(node);
  } else {
    names_.emplace_back(name);
    nodes_.push_back(std::move(node));
  }
}

Series Frame::operator[](std::string_view name) const {
  return nodes_[find(name)];
}

Frame Frame::select(const Names& names) const {
  Frame made;
  for (const std::string& name : names) made.put("select", name, nodes_[find(name)]);
  return made;
}

Frame Frame::drop(const Names& names) const {
  Frame made = *this;
  for (const std::string& name : names) {
    const auto place = static_cast<int64_t>(made.find(name));
    made.names_.erase(made.names_.begin() + place);
    made.nodes_.erase(made.nodes_.begin() + place);
  }
  return made;
}

Frame Frame::rename(std::string_view from, std::string to) const {
  const size_t place = find(from);
  if (from != to && contains(to))
    throw_error<InvalidArgumentError>("rename", "the column already exists", {{"name", to}},
                                      "drop it first");
  Frame made = *this;
  made.names_[place] = std::move(to);
  return made;
}

Frame Frame::assign(std::string_view name, const Series& values) const {
  Frame made = *this;
  made.put("assign", name, values);
  return made;
}

// ---- rows ---------------------------------------------------------------------------------------

Frame Frame::in_row_set(const std::vector<NodePtr>& nodes, uint64_t domain) const {
  Frame made(names_, {});
  for (const NodePtr& node : nodes) made.nodes_.push_back(in_domain(node, domain));
  return made;
}

Frame Frame::filter(const Series& mask) const {
  Frame made(names_, {});
  for (const NodePtr& node : nodes_) made.nodes_.push_back(hr::filter(node, mask));
  return made;
}

Frame Frame::head(int64_t n) const {
  if (nodes_.empty()) return *this;
  if (n < 0) {
    Frame made(names_, {});
    for (const NodePtr& node : nodes_) made.nodes_.push_back(hr::trim(node, 0, -n));
    return made;
  }
  const uint64_t picked = nodes_[0]->signature().domain & kPickedRows;
  return in_row_set(hr::head(nodes_, n), new_domain() | picked);
}

Frame Frame::sort_values(const Names& by, const SortOptions& options) const {
  constexpr std::string_view kOp = "sort_values";
  if (options.na_position != "last" && options.na_position != "first")
    throw_error<InvalidArgumentError>(kOp, "invalid value", {{"na_position", options.na_position}},
                                      "expected 'first' or 'last'");
  const size_t directions = options.ascending.size();
  if (directions != 1 && directions != by.size())
    throw_error<InvalidArgumentError>(kOp, "number of directions does not match the keys",
                                      {{"expected", by.size()}, {"got", directions}});
  std::vector<SortOrder> orders;
  for (size_t i = 0; i < by.size(); ++i)
    orders.push_back({.descending = !options.ascending[directions == 1 ? 0 : i],
                      .missing_first = options.na_position == "first"});
  return Frame(sort(nodes_of(by), orders, names_, nodes_));
}

Frame Frame::drop_duplicates(const Names& subset) const {
  const Names names = subset.empty() ? Names(names_) : subset;
  const std::vector<NodePtr> keys = nodes_of(names);
  if (keys.empty() || are_unique(keys)) return *this;
  std::vector<GroupKey> grouped;
  for (size_t i = 0; i < keys.size(); ++i) grouped.push_back({names.begin()[i], keys[i]});
  const NodePtr groups = hr::group_by(grouped, {{"", {.aggregate = Aggregate::kFirstRow}}},
                                      {.order = GroupOrder::kFirstSeen, .drop_missing = false});
  const NodePtr rows = table_column(groups, static_cast<int64_t>(keys.size()));
  std::vector<NodePtr> taken;
  for (const NodePtr& node : nodes_) taken.push_back(take(node, rows));
  return in_row_set(taken, rows->signature().domain | kPickedRows);
}

Frame concat(const std::vector<Frame>& frames) {
  if (frames.empty())
    throw_error<InvalidArgumentError>("concat", "nothing to concatenate", {{"frames", 0}},
                                      "pass at least one frame");
  std::vector<std::pair<std::string, Series>> columns;
  const uint64_t domain = new_domain() | kPickedRows;
  for (const Frame& frame : frames)  // a column that only a later frame has
    for (const std::string& name : frame.columns())
      find_column("concat", frames[0].columns(), name);
  for (const std::string& name : frames[0].columns()) {
    std::vector<NodePtr> parts;
    for (const Frame& frame : frames)
      parts.push_back(
          frame.nodes()[static_cast<size_t>(find_column("concat", frame.columns(), name))]);
    columns.emplace_back(name, in_domain(hr::concat(parts), domain));
  }
  return columns;
}

GroupBy Frame::group_by(const Names& keys, const GroupByOptions& options) const {
  return GroupBy(*this, keys,
                 {.order = options.sort ? GroupOrder::kSorted : GroupOrder::kFirstSeen,
                  .drop_missing = options.dropna});
}

// ---- values -------------------------------------------------------------------------------------

Table Frame::table() const {
  force(nodes_);
  std::vector<Column> columns;
  for (const NodePtr& node : nodes_) columns.push_back(Series(node).column());
  return Table(names_, std::move(columns));
}

std::string Frame::to_string() const {
  return table_text(table());
}

void Frame::to_csv(const std::string& path, const CsvWriteOptions& options) const {
  write_csv(table(), path, options);
}

}  // namespace hr
