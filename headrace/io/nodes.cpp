// SPDX-License-Identifier: Apache-2.0
// Deferred CSV scans.
#include "headrace/io/nodes.h"

#include "headrace/plan/placement.h"

namespace hr {

namespace {

NodePtr scan_prefix(const CsvScan& scan, int64_t max_rows) {
  const CsvSchema& schema = scan.schema();
  std::function<NodePtr(int64_t)> prefix;
  if (max_rows < 0) prefix = [scan](int64_t rows) { return scan_prefix(scan, rows); };
  return table_node("read_csv", scan.source().name(),
                    {.names = schema.names,
                     .dtypes = schema.dtypes,
                     .passes = 2,
                     .run =
                         [scan, max_rows](const std::vector<bool>& wanted, std::span<const Value>) {
                           return scan.read(wanted, max_rows, default_place()).table;
                         },
                     .prefix = std::move(prefix)});
}

}  // namespace

NodePtr scan_csv_node(const CsvScan& scan) {
  return scan_prefix(scan, -1);
}

}  // namespace hr
