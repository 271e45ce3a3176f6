// SPDX-License-Identifier: Apache-2.0
// Windows within groups: sort by the keys, walk, sort back.
#include "headrace/relational/order/window.h"

#include "headrace/algo/keys/normalized_keys.h"
#include "headrace/algo/scan/segments.h"
#include "headrace/algo/select/gather.h"
#include "headrace/algo/sort/sort.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"
#include "headrace/functions/decimal/decimal_arithmetic.h"
#include "headrace/plan/graph/cost_model.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/relational/order/window_places.h"
#include "headrace/relational/rows/operator_inputs.h"
#include "headrace/relational/rows/struct_codes.h"

#include <algorithm>
#include <optional>

namespace hr {

namespace {

template <class... F>
struct Cases : F... {
  using F::operator()...;
};

template <class... F>
Cases(F...) -> Cases<F...>;  // for compilers that do not find it by themselves

std::string word_of(const WindowFunction& function) {
  return std::visit(
      Cases{[](const auto&) { return std::string("rolling"); },
            [](const EwmFunction&) { return std::string("ewm"); },
            [](CumulativeFunction each) {
              return std::string(aggregate_name(each.aggregate, AggregateForm::kCumulative));
            },
            [](ShiftFunction) { return std::string("shift"); },
            [](RankFunction) { return std::string("rank"); },
            [](RowNumberFunction) { return std::string("cumcount"); }},
      function);
}

std::string detail_of(const RollingFunction& rolling) {
  const int64_t window = rolling.options.window;
  const std::string rows = window >= kAllRows ? "all" : std::to_string(window);
  return std::string(aggregate_name(rolling.aggregate, AggregateForm::kRolling)) + " of " + rows +
         " rows";
}

std::string detail_of(const WindowFunction& function) {
  return std::visit(
      Cases{[](const RollingFunction& each) { return detail_of(each); },
            [](ShiftFunction each) { return std::to_string(each.periods); },
            [](RankFunction each) { return std::string(rank_method_name(each.method)); },
            [](const auto&) { return std::string(); }},
      function);
}

Dtype dtype_of_result(const WindowFunction& function, Dtype dtype) {
  return std::visit(
      Cases{[&](const RollingFunction& each) {
              return aggregate_dtype(each.aggregate, dtype, AggregateForm::kRolling);
            },
            [&](CumulativeFunction each) {
              return aggregate_dtype(each.aggregate, dtype, AggregateForm::kCumulative);
            },
            [&](ShiftFunction) { return dtype; },
            [&](RankFunction) {
              if (dtype.is_complex() || dtype.is_nested())
                throw_error<TypeMismatchError>("rank", "complex numbers and lists have no order");
              return Dtype(TypeId::kFloat64);
            },
            [](RowNumberFunction) { return Dtype(TypeId::kInt64); },
            [](const auto&) { return Dtype(TypeId::kFloat64); }},
      function);
}

// In windows bools count, and decimals are floats but for their sums and extremes.
NodePtr number_node(const NodePtr& column, const WindowFunction& function) {
  const NodePtr node = column_node(word_of(function), column);
  const auto exact = [&](Aggregate aggregate) {
    return aggregate_row(aggregate).decimals_as_floats ? decimal_to_float(node) : node;
  };
  if (const auto* rolling = std::get_if<RollingFunction>(&function)) {
    if (node->signature().dtype.is_bool()) return cast(node, TypeId::kInt8);
    return exact(rolling->aggregate);
  }
  if (std::holds_alternative<RollingPairFunction>(function) ||
      std::holds_alternative<EwmFunction>(function))
    return cast(decimal_to_float(node), TypeId::kFloat64);
  if (std::holds_alternative<RollingRankFunction>(function)) {
    if (node->signature().dtype.is_bool()) return cast(node, TypeId::kInt8);
    return decimal_to_float(node);
  }
  const auto* running = std::get_if<CumulativeFunction>(&function);
  return running ? exact(running->aggregate) : node;
}

// Makes int64 of each row; segments are visited by whole morsels.
template <class F>
Column integers(int64_t rows, F&& fill) {
  Buffer buffer = Buffer::allocate_spillable(8 * rows);
  if (rows > 0) {
    int64_t* const out = buffer.mutable_as<int64_t>();
    parallel_morsels(rows, morsel_rows(), {writes(buffer, 8)},
                     [&](Morsel morsel) { fill(morsel, out); });
    buffer.seal();
  }
  return Column(TypeId::kInt64, rows, std::move(buffer));
}

// Where row `periods` before stands in the same segment; -1 for none.
Column shifted_places(const Segments& segments, int64_t periods) {
  const int64_t rows = segments.rows(), by = std::clamp(periods, -rows, rows);
  return integers(rows, [&](Morsel morsel, int64_t* out) {
    segments.visit(morsel.begin, morsel.end, [&](int64_t segment, int64_t begin, int64_t end) {
      const int64_t stop = by < 0 ? segments.next_border(end, std::min(rows, end - by)) : end;
      for (int64_t row = begin; row < end; ++row)
        out[row] = row - by < segment || row - by >= stop ? -1 : row - by;
    });
  });
}

// What a function reads besides a column.
struct MoreColumns {
  const Column* other = nullptr;
  const Column* times = nullptr;
};

WindowBounds bounds_of(const RollingOptions& options, const Column* times,
                       const Segments& segments) {
  return times ? windows_of_spans(*times, options.window, options.center, options.closed, segments)
               : windows_of_rows(options.window, options.center, options.closed, segments);
}

Column walk(const WindowFunction& function, const Column& values, const MoreColumns& more,
            const Segments& segments) {
  return std::visit(
      Cases{[&](const RollingFunction& each) {
              if (!more.times) return rolling(values, each.aggregate, each.options, segments);
              return rolling_between(values, each.aggregate, each.options,
                                     bounds_of(each.options, more.times, segments));
            },
            [&](const RollingPairFunction& each) {
              return rolling_pairs(values, *more.other, each.correlation, each.options,
                                   bounds_of(each.options, more.times, segments));
            },
            [&](const RollingRankFunction& each) {
              return rolling_rank(values, each.ties, each.descending, each.as_share, each.options,
                                  bounds_of(each.options, more.times, segments));
            },
            [&](const EwmFunction& each) {
              return ewm(values, more.other, more.times, each.options, segments);
            },
            [&](CumulativeFunction each) { return cumulative(each.aggregate, values, segments); },
            [&](ShiftFunction each) {
              return gather_or_null(values, as_tensor(shifted_places(segments, each.periods)));
            },
            [&](const auto&) {  // places
              return integers(segments.rows(), [&](Morsel morsel, int64_t* out) {
                segments.visit(morsel.begin, morsel.end,
                               [&](int64_t segment, int64_t begin, int64_t end) {
                                 for (int64_t row = begin; row < end; ++row)
                                   out[row] = row - segment;
                               });
              });
            }},
      function);
}

// The rows with a missing key: they lie side by side.
struct Range {
  int64_t begin = 0, end = 0;
};

Range missing_rows(const Column& sorted_keys, const NormalizedKeys& packed) {
  if (!packed.has_missing()) return {};
  const auto keys = sorted_keys.values<uint64_t>();
  const auto [first, last] = std::equal_range(keys.begin(), keys.end(), packed.missing());
  return {first - keys.begin(), last - keys.begin()};
}

Column without(const Column& column, Range gone) {
  if (gone.begin == gone.end) return column;
  const int64_t rows = column.num_rows();
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
  auto* const bits = validity.mutable_as<uint8_t>();
  for (int64_t row = 0; row < rows; ++row)
    set_bit(bits, row, (row < gone.begin || row >= gone.end) && !column.is_null(row));
  if (column.offset() != 0)
    throw_error<InternalError>("window", "a result begins within its buffer");
  return column.with_rows(rows, column.values_buffer(), std::move(validity), -1);
}

std::vector<Column> in_row_order(const Column& places, std::vector<Column> results) {
  if (results.empty()) return results;
  return sort_rows({places}, {SortOrder{}}, results);
}

struct Rolling final : OperatorOf<Rolling> {
  WindowFunction function{};
  bool has_other = false;
  bool has_times = false;

  std::string_view name() const override {
    return std::holds_alternative<EwmFunction>(function) ? "ewm" : "rolling";
  }

  std::string arguments() const override { return detail_of(function); }

  Cost cost(const InputEstimates&) const override { return {.nanoseconds = 4}; }

  Value execute(std::span<const Value> inputs) const override {
    const auto& rows = std::get<Column>(inputs[0]);
    const Column* const other = has_other ? &std::get<Column>(inputs[1]) : nullptr;
    const Column* const times = has_times ? &std::get<Column>(inputs.back()) : nullptr;
    return walk(function, rows, {other, times}, Segments(rows.num_rows()));
  }

  static auto parameters(auto& self) {
    return std::tie(self.function, self.has_other, self.has_times);
  }
};

void check(const WindowFunction& function, bool of_rows) {
  std::visit(Cases{[&](const RollingFunction& each) { check_rolling(each.options, of_rows); },
                   [&](const RollingPairFunction& each) { check_rolling(each.options, of_rows); },
                   [&](const RollingRankFunction& each) { check_rolling(each.options, of_rows); },
                   [](const auto&) {}},
             function);
}

void check_same_rows(std::string_view op, const NodePtr& node, const NodePtr& first) {
  if (!node->signature().same_rows(first->signature()))
    throw_error<InvalidArgumentError>(
        op, "columns have different rows",
        {node->signature().rows_detail("rows"), first->signature().rows_detail("first_rows")},
        "bring them into one frame with merge or join first");
}

}  // namespace

NodePtr rolling(const NodePtr& column, const WindowFunction& function, const WindowInputs& more) {
  check(function, !more.times);
  std::vector<NodePtr> inputs{number_node(column, function)};
  if (more.other) inputs.push_back(number_node(more.other, function));
  if (more.times) inputs.push_back(column_node(word_of(function), more.times));
  for (const NodePtr& node : inputs) check_same_rows(word_of(function), node, inputs[0]);
  Signature signature = inputs[0]->signature();
  signature.dtype = dtype_of_result(function, signature.dtype);
  signature.nullable = true;
  return apply_operator(Rolling::make(function, more.other != nullptr, more.times != nullptr),
                        std::move(signature), std::move(inputs));
}

namespace {

// Whether running results keep a total per key instead of sorting the rows: always of few keys, and
// where the totals take a small part of the memory of the rows.
bool keeps_totals(double keys, double rows) {
  return keys <= 1 << 13 || (keys <= 1 << 20 && 4 * keys <= rows);
}

/// A function of each row within the rows that share its keys.
struct Window final : OperatorOf<Window, TableOperator> {
  std::vector<int64_t> keys{};     // places of inputs
  std::vector<int64_t> columns{};  // of the table's
  WindowFunction function{};
  bool drop_missing = true;
  int64_t other = -1;  // the second column of pairs
  int64_t times = -1;
  std::string word{};

  std::string_view name() const override { return word; }

  std::string arguments() const override { return detail_of(function); }

  int passes() const override { return 6; }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value>) const override {
    const bool has_kernel = std::holds_alternative<ShiftFunction>(function) ||
                            std::holds_alternative<RankFunction>(function) ||
                            std::holds_alternative<RowNumberFunction>(function);
    return has_kernel ? "" : word + " in groups has no kernel for CUDA";
  }

  Table execute(const std::vector<bool>& wanted, std::span<const Value> inputs,
                TableState* state) const override {
    for (const Value& input : inputs)
      if (const Place place = place_of(input); place.is_gpu())
        return execute_there(wanted, inputs, place, state);
    const auto column_at = [&](int64_t place) {
      return std::get<Column>(inputs[static_cast<size_t>(place)]);
    };
    std::vector<Column> key_columns;
    for (const int64_t place : keys) key_columns.push_back(column_at(place));
    const NormalizedKeys packed =
        NormalizedKeys::of(word, key_columns, {.ordered = false, .drop_missing = drop_missing});
    const int64_t rows = packed.num_rows();
    std::vector<std::string> kept;
    std::vector<Column> taken, results;
    for (size_t c = 0; c < wanted.size(); ++c) {
      if (!wanted[c]) continue;
      kept.push_back(names[c]);
      taken.push_back(column_at(columns[c]));
    }
    const auto* const running = std::get_if<CumulativeFunction>(&function);
    if (running && packed.domain() > 0 &&
        keeps_totals(static_cast<double>(packed.domain()), static_cast<double>(rows))) {
      const int64_t missing = packed.has_missing() ? static_cast<int64_t>(packed.missing()) : -1;
      const auto read = [&](int64_t row, int64_t count, uint32_t* groups) {
        packed.read(row, count, groups);
      };
      for (const Column& values : taken)
        results.push_back(cumulative(running->aggregate, values, read,
                                     static_cast<int64_t>(packed.domain()), missing,
                                     packed.accesses()));
      return Table(std::move(kept), std::move(results));
    }
    const Column normalized_keys(TypeId::kUInt64, rows, packed.to_buffer(0, rows));
    if (const auto* rank = std::get_if<RankFunction>(&function)) {
      for (const Column& values : taken)
        results.push_back(ranked(*rank, values, normalized_keys, packed));
      return Table(std::move(kept), std::move(results));
    }
    std::vector<Column> carried{normalized_keys, row_numbers(rows)};
    carried.insert(carried.end(), taken.begin(), taken.end());
    const size_t end = carried.size();
    if (other >= 0) carried.push_back(column_at(other));
    if (times >= 0) carried.push_back(column_at(times));
    const std::vector<Column> sorted = sort_rows({normalized_keys}, {SortOrder{}}, carried);
    const MoreColumns more{other >= 0 ? &sorted[end] : nullptr,
                           times >= 0 ? &sorted.back() : nullptr};
    const Segments segments = Segments::of_keys(sorted[0].values_buffer(), rows);
    const Range gone = missing_rows(sorted[0], packed);
    for (size_t c = 2; c < end; ++c)
      results.push_back(without(walk(function, sorted[c], more, segments), gone));
    return Table(std::move(kept), in_row_order(sorted[1], std::move(results)));
  }

  // Normalized keys and row numbers, both once more in the order of the keys, and the columns in
  // both orders; of running results of few groups, the columns alone.
  std::optional<OperatorCost> work(const InputEstimates& inputs, int64_t rows,
                                   const std::vector<bool>& wanted) const override {
    const bool ranks = std::holds_alternative<RankFunction>(function);
    const auto count = static_cast<double>(rows);
    const auto taken = static_cast<double>(std::count(wanted.begin(), wanted.end(), true));
    const auto found = inputs.keys(keys);
    if (std::holds_alternative<CumulativeFunction>(function) && found &&
        keeps_totals(found->domain, count))
      return OperatorCost{
          .nanoseconds = count * 4 * taken, .serial_nanoseconds = 0, .bytes = count * 8 * taken};
    return OperatorCost{.nanoseconds = count * (ranks ? 60 * taken : 32 + 8 * taken),
                        .serial_nanoseconds = 0,
                        .bytes = count * (46 + 16 * taken)};
  }

  static auto parameters(auto& self) {
    return std::tie(self.names, self.dtypes, self.columns_needed, self.keys, self.columns,
                    self.function, self.drop_missing, self.other, self.times, self.word);
  }

 private:
  // Places in groups on a CUDA device; on the host what has no numbers there.
  Table execute_there(const std::vector<bool>& wanted, std::span<const Value> inputs, Place place,
                      TableState* state) const {
    const auto column_at = [&](int64_t at) {
      return std::get<Column>(inputs[static_cast<size_t>(at)]);
    };
    std::vector<Column> key_columns;
    for (const int64_t at : keys) key_columns.push_back(column_at(at));
    std::vector<std::string> kept;
    std::vector<Column> results;
    std::optional<RowCodes> groups = numbers_of_keys(key_columns, drop_missing);
    for (size_t c = 0; c < wanted.size() && groups; ++c) {
      if (!wanted[c]) continue;
      std::optional<Column> made = column_there(groups->codes, column_at(columns[c]));
      if (!made) groups.reset();
      kept.push_back(names[c]);
      results.push_back(std::move(made).value_or(Column()));
    }
    if (groups) return Table(std::move(kept), std::move(results));
    const PlaceWork work = [&](std::span<const Value> here) {
      const Table table = execute(wanted, here, state);
      kept = table.names();
      return std::vector<Value>(table.columns().begin(), table.columns().end());
    };
    results.clear();
    for (const Value& made :
         run_on_host(word, "keys or values without numbers have no kernel for CUDA", place,
                     {inputs.begin(), inputs.end()}, work))
      results.push_back(std::get<Column>(made));
    return Table(std::move(kept), std::move(results));
  }

  std::optional<Column> column_there(const Column& groups, const Column& values) const {
    if (const auto* rank = std::get_if<RankFunction>(&function))
      return rank_there(&groups, values, rank->method, rank->descending);
    if (const auto* shift = std::get_if<ShiftFunction>(&function))
      return shift_there(groups, values, shift->periods);
    return row_numbers_there(groups);
  }

  Column ranked(const RankFunction& rank, const Column& values, const Column& normalized_keys,
                const NormalizedKeys& packed) const {
    const int64_t rows = packed.num_rows();
    const NormalizedKeys ties =
        NormalizedKeys::of(word, {values}, {.ordered = false, .drop_missing = true});
    const Column tie(TypeId::kUInt64, rows, ties.to_buffer(0, rows));
    const std::vector<Column> sorted =
        sort_rows({normalized_keys, values}, {SortOrder{}, SortOrder{rank.descending, false}},
                  {normalized_keys, tie, row_numbers(rows)});
    const Column places =
        rank_sorted(sorted[0].values_buffer(), sorted[1].values_buffer(), rows, ties, rank.method);
    return in_row_order(sorted[2], {without(places, missing_rows(sorted[0], packed))})[0];
  }
};

}  // namespace

NodePtr window_function(const std::vector<NodePtr>& keys, const std::vector<NodePtr>& columns,
                        const WindowFunction& function, bool drop_missing,
                        const WindowInputs& more) {
  const std::string op = word_of(function);
  if (keys.empty())
    throw_error<InvalidArgumentError>(op, "expected at least one key", {}, "name a column");
  check(function, !more.times);
  OperatorInputs inputs;
  std::vector<int64_t> key_places;
  const auto add = [&](const NodePtr& node) {
    if (!inputs.nodes.empty()) check_same_rows(op, node, inputs.nodes[0]);
    return inputs.add(node);
  };
  for (const NodePtr& key : keys) {
    const NodePtr node = column_node(op, plain_key(key));
    if (node->signature().dtype.is_complex() || node->signature().dtype.is_nested())
      throw_error<TypeMismatchError>(op, "complex numbers and lists cannot be keys");
    key_places.push_back(add(node));
  }
  auto table = std::make_shared<Window>();
  for (const NodePtr& column : columns) {
    const NodePtr node = number_node(column, function);
    table->dtypes.push_back(dtype_of_result(function, node->signature().dtype));
    table->names.push_back(std::to_string(table->names.size()));
    table->columns.push_back(add(node));
  }
  if (more.other) table->other = add(number_node(more.other, function));
  if (more.times) table->times = add(column_node(op, more.times));
  for (const int64_t place : table->columns) {
    const bool is_key = std::find(key_places.begin(), key_places.end(), place) != key_places.end();
    const bool is_shared = is_key || place == table->other || place == table->times;
    table->columns_needed.push_back(is_shared ? std::vector<int64_t>{} : std::vector{place});
  }
  table->keys = std::move(key_places);
  table->function = function;
  table->drop_missing = drop_missing;
  table->word = op;
  const int64_t rows = inputs.nodes[0]->signature().rows();
  return apply_table_operator(std::move(table), std::move(inputs.nodes), rows);
}

}  // namespace hr
