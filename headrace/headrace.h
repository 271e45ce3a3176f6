// SPDX-License-Identifier: Apache-2.0
// The public C++ interface: what a user includes, and what is installed (with what it includes).
#pragma once

// Frames: tables, their columns and groups, in the words of the Python API.
#include "headrace/frame/frame.h"
#include "headrace/frame/series.h"

// Lazy arrays, and functions of lazy arrays and columns.
#include "headrace/functions/cast/float_to_int.h"
#include "headrace/functions/cast/format_values.h"
#include "headrace/functions/cast/parse_numbers.h"
#include "headrace/functions/decimal/decimal_arithmetic.h"
#include "headrace/functions/strings/string_compare.h"
#include "headrace/functions/strings/string_regex.h"
#include "headrace/functions/strings/string_search.h"
#include "headrace/functions/strings/string_transform.h"
#include "headrace/functions/temporal/calendar.h"
#include "headrace/functions/temporal/timezone.h"
#include "headrace/learn/nodes.h"
#include "headrace/plan/graph/array.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/view.h"
#include "headrace/plot/nodes.h"
#include "headrace/relational/aggregate/aggregate_nodes.h"
#include "headrace/relational/aggregate/correlation.h"
#include "headrace/relational/join/join_nodes.h"
#include "headrace/relational/order/rank.h"
#include "headrace/relational/order/rowwise_quantile.h"
#include "headrace/relational/order/sort_nodes.h"
#include "headrace/relational/order/window.h"
#include "headrace/relational/rows/row_nodes.h"
#include "headrace/signal/nodes.h"

// Files, values and their memory, threads, other libraries.
#include "headrace/base/error.h"
#include "headrace/data/table.h"
#include "headrace/data/tensor.h"
#include "headrace/exchange/arrow.h"
#include "headrace/exchange/dlpack.h"
#include "headrace/exec/workers.h"
#include "headrace/io/csv.h"
#include "headrace/io/csv_write.h"
#include "headrace/io/nodes.h"
#include "headrace/memory/adaptors/adaptors.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/log/ledger.h"
#include "headrace/memory/resource/resource.h"
