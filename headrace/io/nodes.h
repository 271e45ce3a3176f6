// SPDX-License-Identifier: Apache-2.0
// Deferred reading: a table node over a scan that is stamped and sniffed.
#pragma once
#include "headrace/io/csv.h"
#include "headrace/plan/graph/node.h"

namespace hr {

/// The table of a scan. A plan reads only the columns that it needs, its prefix only the first
/// rows.
HR_API NodePtr scan_csv(const CsvScan& scan);

}  // namespace hr
