// SPDX-License-Identifier: Apache-2.0
// Deferred CSV scans.
#include "headrace/io/nodes.h"

#include "headrace/plan/cost/cost_model.h"
#include "headrace/plan/execute/placement.h"
#include "headrace/plan/optimize/scan_predicate.h"

#include <algorithm>

namespace hr {

namespace {

CsvFilter filter_of(const RowPredicates& predicates, size_t columns,
                    std::span<const Value> others) {
  CsvFilter filter;
  filter.reads.assign(columns, false);
  for (const auto& each : predicates)
    for (const int64_t column : each->columns()) filter.reads[static_cast<size_t>(column)] = true;
  filter.test = [predicates, others, reads = filter.reads](const Table& table) {
    return evaluate_predicates(
        predicates,
        [&](int64_t column) {
          return table.column(
              std::count(reads.begin(), reads.begin() + static_cast<std::ptrdiff_t>(column), true));
        },
        others);
  };
  return filter;
}

NodePtr scan_where(const CsvScan& scan, const RowPredicates& predicates, int64_t max_rows);

std::string limit_text(int64_t max_rows) {
  return max_rows < 0 ? "" : ", first " + std::to_string(max_rows) + " rows";
}

int64_t at_most(int64_t rows, int64_t max_rows) {
  return max_rows < 0 ? rows : rows < 0 ? max_rows : std::min(rows, max_rows);
}

NodePtr scan_prefix(const CsvScan& scan, int64_t max_rows) {
  const CsvSchema& schema = scan.schema();
  TableOperator table;
  table.names = schema.names;
  table.dtypes = schema.dtypes;
  table.passes = 2;
  table.run = [scan, max_rows](const std::vector<bool>& wanted, std::span<const Value>) {
    return scan.read(wanted, max_rows, default_place()).table;
  };
  table.guess = [rows = schema.estimated_rows, max_rows](const InputEstimates&) {
    return at_most(rows, max_rows);
  };
  if (max_rows < 0) {
    table.prefix = [scan](int64_t rows) { return scan_prefix(scan, rows); };
    table.filtered = [scan](const RowPredicates& predicates) -> NodePtr {
      // A GPU has kernels for texts of numbers, and filters quickly; rejects count all rows.
      if (!default_place().is_host() || scan.options().on_bad == BadRows::kReject) return nullptr;
      return scan_where(scan, predicates, -1);
    };
  }
  return with_cost(
      table_node("read_csv", scan.source().name() + limit_text(max_rows), std::move(table)),
      {.nanoseconds = 10, .source_rows = at_most(schema.estimated_rows, max_rows)});
}

// The rows for which all predicates are true, or the first of them.
NodePtr scan_where(const CsvScan& scan, const RowPredicates& predicates, int64_t max_rows) {
  const CsvSchema& schema = scan.schema();
  TableOperator table;
  table.names = schema.names;
  table.dtypes = schema.dtypes;
  table.passes = 2;
  std::function<NodePtr(const RowPredicates&)> made;
  if (max_rows < 0) made = [scan](const RowPredicates& all) { return scan_where(scan, all, -1); };
  const std::string text =
      scan.source().name() + filter_table(table, predicates, made) + limit_text(max_rows);
  table.guess = [rows = guess_passing(schema.estimated_rows, predicates.size()),
                 max_rows](const InputEstimates&) { return at_most(rows, max_rows); };
  table.run = [scan, predicates, max_rows](const std::vector<bool>& wanted,
                                           std::span<const Value> others) {
    const CsvFilter filter = filter_of(predicates, wanted.size(), others);
    return scan.read_where(filter, wanted, max_rows).table;
  };
  if (max_rows < 0)
    table.prefix = [scan, predicates](int64_t rows) { return scan_where(scan, predicates, rows); };
  return with_cost(table_node("read_csv", text, std::move(table)),
                   {.nanoseconds = 10, .source_rows = schema.estimated_rows});
}

}  // namespace

NodePtr scan_csv_node(const CsvScan& scan) {
  return scan_prefix(scan, -1);
}

}  // namespace hr
