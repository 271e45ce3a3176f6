// SPDX-License-Identifier: Apache-2.0
// Deferred CSV scans.
#include "headrace/io/nodes.h"

#include "headrace/plan/graph/cost_model.h"
#include "headrace/plan/graph/placement.h"
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

std::string limit_text(int64_t max_rows) {
  return max_rows < 0 ? "" : ", first " + std::to_string(max_rows) + " rows";
}

int64_t at_most(int64_t rows, int64_t max_rows) {
  return max_rows < 0 ? rows : rows < 0 ? max_rows : std::min(rows, max_rows);
}

/// The rows of a scan for which all predicates are true, or the first of them.
struct ScanCsv final : TableOperator {
  ScanCsv(CsvScan of, RowPredicates tests, int64_t most)
      : scan(std::move(of)), predicates(std::move(tests)), max_rows(most) {
    names = scan.schema().names;
    dtypes = scan.schema().dtypes;
  }

  std::string_view name() const override { return "read_csv"; }

  std::string arguments() const override {
    return scan.source().name() + where_text(predicates) + limit_text(max_rows);
  }

  int passes() const override { return 2; }

  Table execute(const std::vector<bool>& wanted, std::span<const Value> inputs,
                TableState*) const override {
    if (predicates.empty())
      return made_at_default_place(
          [&](Place place) { return scan.read(wanted, max_rows, place).table; });
    return scan.read_where(filter_of(predicates, wanted.size(), inputs), wanted, max_rows).table;
  }

  int64_t guess_rows(const InputEstimates&) const override {
    const int64_t all = scan.schema().estimated_rows;
    return at_most(guess_passing(all, predicates.size()), max_rows);
  }

  Cost cost(const InputEstimates&) const override {
    const int64_t all = scan.schema().estimated_rows;
    return {.nanoseconds = 10, .source_rows = predicates.empty() ? at_most(all, max_rows) : all};
  }

  NodePtr limited(std::span<const NodePtr>, int64_t rows) const override {
    return max_rows < 0 ? node(predicates, rows) : nullptr;
  }

  // A GPU has kernels for CSV text of numbers, and filters quickly; rejects count all rows.
  bool takes_predicates() const override { return max_rows < 0; }

  NodePtr with_predicates(const RowPredicates& more) const override {
    if (predicates.empty() &&
        (!default_place().is_host() || scan.options().on_bad == BadRows::kReject))
      return nullptr;
    return node(both_of(predicates, more), -1);
  }

  NodePtr node(const RowPredicates& tests, int64_t most) const {
    return apply_table_operator(std::make_shared<ScanCsv>(scan, tests, most), inputs_of(tests));
  }

  CsvScan scan;
  RowPredicates predicates;
  int64_t max_rows;
};

}  // namespace

NodePtr scan_csv(const CsvScan& scan) {
  return apply_table_operator(std::make_shared<ScanCsv>(scan, RowPredicates{}, -1), {});
}

}  // namespace hr
