// SPDX-License-Identifier: Apache-2.0
// Row groups: those that may have wanted rows, batch by batch.
#include "headrace/io/row_groups.h"

#include "headrace/algo/bits/bitmap_writer.h"
#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/filter.h"
#include "headrace/algo/select/mask_prefix.h"
#include "headrace/base/bits.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/plan/execute/profile.h"
#include "headrace/plan/graph/cost_model.h"
#include "headrace/plan/optimize/membership.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace hr {

namespace {

constexpr int64_t kFewRows = int64_t{1} << 14;
constexpr int64_t kMostTogether = 64;  // groups whose bits and picked rows exist at once

using Source = std::shared_ptr<const RowGroups>;

Column column_of(const std::vector<int64_t>& numbers) {
  Buffer values = Buffer::allocate(8 * std::ssize(numbers));
  std::copy(numbers.begin(), numbers.end(), values.mutable_as<int64_t>());
  return Column(TypeId::kInt64, std::ssize(numbers), std::move(values));
}

// Those of a group that may have wanted rows, by what is known of its parts.
struct Parts {
  Parts(const RowGroups& source, int64_t group, const RowPredicates& predicates,
        std::span<const Value> others, const std::vector<bool>& tested) {
    const int64_t rows = source.rows[static_cast<size_t>(group)];
    const std::vector<int64_t> borders =
        source.borders ? source.borders(group, tested) : std::vector<int64_t>();
    if (borders.size() < 2) {
      ranges.push_back({0, rows});
      return;
    }
    std::vector<int64_t> sizes;
    for (size_t i = 0; i + 1 < borders.size(); ++i) sizes.push_back(borders[i + 1] - borders[i]);
    const std::vector<bool> may = prune_row_groups(
        predicates, column_of(sizes),
        [&](int64_t column) { return source.part_bounds(group, column, borders); }, others);
    all = std::ssize(may);
    for (size_t i = 0; i < may.size(); ++i) {
      if (!may[i]) continue;
      ++kept;
      if (!ranges.empty() && ranges.back().end == borders[i])
        ranges.back().end = borders[i + 1];
      else
        ranges.push_back({borders[i], borders[i + 1]});
    }
  }

  std::vector<RowRange> ranges{};
  int64_t kept = 0;
  int64_t all = 0;  // 0 where nothing is known
};

std::vector<bool> groups_for(const RowGroups& source, const RowPredicates& predicates,
                             std::span<const Value> others) {
  if (predicates.empty() || source.rows.empty()) return std::vector<bool>(source.rows.size(), true);
  return prune_row_groups(predicates, column_of(source.rows), source.bounds, others);
}

std::string groups_text(int64_t some, size_t all) {
  return "row groups " + std::to_string(some) + " of " + std::to_string(all);
}

std::string bytes_text(const RowGroups& source, int64_t before) {
  return format_bytes(source.bytes_read() - before) + " of " + format_bytes(source.bytes) + " read";
}

// One reading of the rows that all predicates want, up to a limit.
class Reading {
 public:
  Reading(const RowGroups& source, const RowPredicates& predicates, std::span<const Value> others,
          const std::vector<bool>& wanted, int64_t max_rows)
      : source_(source),
        predicates_(predicates),
        others_(others),
        wanted_(wanted),
        left_(max_rows < 0 ? std::numeric_limits<int64_t>::max() : max_rows),
        is_limited_(max_rows >= 0),
        tested_(wanted.size()),
        behind_(wanted),
        coded_(wanted.size()),
        parts_(wanted.size()) {
    // A few first rows are looked for in small batches, in the first group.
    if (max_rows >= 0)
      batch_rows_ = std::clamp(max_rows, std::min(kFewRows, morsel_rows()), morsel_rows());
    else if (memory_limit() == std::numeric_limits<int64_t>::max() && threads() > 1)
      groups_at_once_ = 2 * threads();
    for (const auto& each : predicates)
      for (const int64_t column : each->columns()) tested_[static_cast<size_t>(column)] = true;
    for (size_t c = 0; c < wanted.size(); ++c) {
      behind_[c] = wanted[c] && !tested_[c];
      coded_[c] = wanted[c] && source.none.columns()[c].dtype().is_category();
    }
  }

  Table run() {
    const std::vector<bool> may = groups_for(source_, predicates_, others_);
    const int64_t before = source_.bytes_read();
    int64_t read = 0;
    std::vector<GroupRows> together;
    int64_t batched = 0;  // of them, those that are read in batches
    for (size_t group = 0; group < may.size() && left_ > 0; ++group) {
      GroupRows rows{.group = static_cast<int64_t>(group), .kept = Kept(wanted_.size())};
      if (may[group] && !values_rule_out(rows)) {
        ++read;
        open(rows);
      } else if (any(coded_)) {
        read_codes(rows, coded_);
      }
      batched += rows.batches ? 1 : 0;
      together.push_back(std::move(rows));
      const int64_t most = groups_at_once_ == 1 ? 1 : kMostTogether;
      if (batched >= groups_at_once_ || std::ssize(together) >= most || group + 1 == may.size()) {
        read_groups(together);
        batched = 0;
      }
    }
    std::string note = groups_text(read, may.size());
    if (left_out_by_filter_ > 0)
      note += ", left out by Bloom filters " + std::to_string(left_out_by_filter_);
    if (left_out_by_dictionary_ > 0)
      note += ", left out by dictionaries " + std::to_string(left_out_by_dictionary_);
    if (parts_all_ > 0)
      note += ", pages " + std::to_string(parts_kept_) + " of " + std::to_string(parts_all_);
    note_on_step(note + ", " + bytes_text(source_, before));
    std::vector<std::string> names;
    std::vector<Column> columns;
    for (size_t c = 0; c < wanted_.size(); ++c) {
      if (!wanted_[c]) continue;
      const Column& none = source_.none.columns()[c];
      names.push_back(source_.none.names()[c]);
      columns.push_back(parts_[c].empty() ? none
                                          : concatenate(source_.op, none.dtype(), parts_[c]));
      parts_[c].clear();
    }
    return Table(std::move(names), std::move(columns));
  }

 private:
  static bool any(const std::vector<bool>& columns) {
    return std::find(columns.begin(), columns.end(), true) != columns.end();
  }

  // The column of a batch that was read for some columns.
  static const Column& column_of(const Table& batch, const std::vector<bool>& read, size_t column) {
    return batch.column(
        std::count(read.begin(), read.begin() + static_cast<std::ptrdiff_t>(column), true));
  }

  using Kept = std::vector<std::vector<Column>>;  // by column

  // A column whose values are all known, and for each of these whether the tests are true.
  struct CodedTest {
    int64_t column;
    Column test;
  };

  // What was read of a group, and what is to be read of it.
  struct GroupRows {
    int64_t group = 0;
    Kept kept{};
    std::vector<CodedTest> coded{};  // all tests, or none
    RowGroups::Batches batches{};    // null at their end
    std::vector<RowRange> ranges{};
    size_t range = 0;  // that the next batch lies in
    int64_t at = 0;    // the row that it begins with
    Buffer picked{};   // a bit for each row: the tests are true
    int64_t found = 0;
    int64_t end = 0;  // of the rows that were tested
  };

  // Whether a group has no wanted row, by the values that its columns may have.
  bool values_rule_out(GroupRows& rows) {
    if (predicates_.empty()) return false;
    if (source_.may_have &&
        !may_have_members(predicates_, others_, [&](int64_t column, const Column& values) {
          return source_.may_have(rows.group, column, values);
        })) {
      ++left_out_by_filter_;
      return true;
    }
    if (!source_.distinct_values) return false;
    size_t coded = 0;
    for (size_t c = 0; c < tested_.size(); ++c) {
      const auto column = static_cast<int64_t>(c);
      const ColumnTests tests = tests_of(column);
      if (tests.predicates.empty()) continue;
      const std::optional<Column> values = source_.distinct_values(rows.group, column);
      if (!values) continue;
      Column test =
          evaluate_predicates(tests.predicates, [&](int64_t) { return *values; }, tests.others);
      if (mask_prefix(Mask(test), values->num_rows()).picked == 0) {
        ++left_out_by_dictionary_;
        rows.coded.clear();
        return true;
      }
      coded += tests.predicates.size();
      rows.coded.push_back({column, std::move(test)});
    }
    if (coded < predicates_.size() || is_limited_) rows.coded.clear();
    return false;
  }

  // Those of the predicates that read one column alone.
  struct ColumnTests {
    RowPredicates predicates{};
    std::vector<Value> others{};
  };

  ColumnTests tests_of(int64_t column) const {
    ColumnTests tests;
    auto given = others_.begin();
    for (const auto& each : predicates_) {
      const auto end = given + std::ssize(each->others());
      const std::vector<int64_t>& columns = each->columns();
      if (!columns.empty() &&
          std::ranges::all_of(columns, [&](int64_t c) { return c == column; })) {
        tests.predicates.push_back(each);
        tests.others.insert(tests.others.end(), given, end);
      }
      given = end;
    }
    return tests;
  }

  // Begins to read a group that may have wanted rows.
  void open(GroupRows& rows) {
    if (predicates_.empty()) {
      rows.batches = source_.read_group(rows.group, wanted_, batch_rows_);
      return;
    }
    Parts parts(source_, rows.group, predicates_, others_, tested_);
    parts_kept_ += parts.kept;
    parts_all_ += parts.all;
    rows.ranges = std::move(parts.ranges);
    if (rows.ranges.empty() || parts.kept < parts.all) rows.coded.clear();
    if (rows.ranges.empty()) {
      if (any(coded_)) read_codes(rows, coded_);
      return;
    }
    if (!rows.coded.empty()) return;
    rows.at = rows.ranges[0].begin;
    rows.picked =
        Buffer::allocate_zeroed((source_.rows[static_cast<size_t>(rows.group)] + 63) / 64 * 8);
    rows.batches = parts.all == 0
                       ? source_.read_group(rows.group, tested_, batch_rows_)
                       : source_.read_ranges(rows.group, tested_, batch_rows_, rows.ranges);
  }

  // Reads groups that were opened, all at the same time; plans run one after the other.
  void read_groups(std::vector<GroupRows>& groups) {
    std::vector<std::optional<Table>> batches(groups.size());
    bool has_read = false;
    for (bool any_left = true; any_left && left_ > 0;) {
      parallel_for(std::ssize(groups), [&](int64_t task) {
        const auto g = static_cast<size_t>(task);
        batches[g] = groups[g].batches ? groups[g].batches() : std::nullopt;
      });
      any_left = false;
      for (size_t g = 0; g < groups.size(); ++g) {
        if (batches[g] && left_ > 0) {
          take(groups[g], *batches[g]);
          any_left = has_read = true;
        } else {
          groups[g].batches = nullptr;
        }
      }
    }
    if (!predicates_.empty()) pick_others(groups);
    for (GroupRows& rows : groups)
      for (size_t c = 0; c < wanted_.size(); ++c)
        std::ranges::move(rows.kept[c], std::back_inserter(parts_[c]));
    groups.clear();
    if (has_read) batch_rows_ = morsel_rows();
  }

  // Keeps the wanted rows of a batch.
  void take(GroupRows& rows, const Table& batch) {
    if (predicates_.empty()) {
      const int64_t count = std::min(left_, batch.num_rows());
      keep(rows.kept, batch.slice(0, count), wanted_, nullptr);
      left_ -= count;
      return;
    }
    Column test = evaluate_predicates(
        predicates_,
        [&](int64_t column) { return column_of(batch, tested_, static_cast<size_t>(column)); },
        others_);
    const MaskPrefix first = mask_prefix(Mask(test), left_);
    test = test.slice(0, first.rows);
    const Mask mask(test);
    keep(rows.kept, batch.slice(0, first.rows), tested_, &mask);
    const BitmapWriter bits(rows.picked.mutable_data());
    for_each_mask_word(mask, 0, first.rows, [&](int64_t row, int64_t count, uint64_t word) {
      bits.put(rows.at + row, word, count);
    });
    left_ -= first.picked;
    rows.found += first.picked;
    rows.end = rows.at + first.rows;
    rows.at += batch.num_rows();
    if (rows.at >= rows.ranges[rows.range].end && ++rows.range < rows.ranges.size())
      rows.at = rows.ranges[rows.range].begin;
  }

  // Tests the rows of a group by their values' places among all values.
  void test_codes(GroupRows& rows) const {
    rows.end = source_.rows[static_cast<size_t>(rows.group)];
    for (const CodedTest& each : rows.coded) {
      const Buffer bits = source_.test_rows(rows.group, each.column, each.test);
      if (!rows.picked) {
        rows.picked = bits;
        continue;
      }
      auto* const words = rows.picked.mutable_as<uint64_t>();
      for (int64_t i = 0; i < bits.size_bytes() / 8; ++i) words[i] &= bits.as<uint64_t>()[i];
    }
    rows.found = count_bits(rows.picked.as<uint8_t>(), 0, rows.end);
  }

  // The columns that were not read with the tests, of the rows that were picked.
  void pick_others(std::vector<GroupRows>& groups) {
    std::vector<Table> tables(groups.size());
    const auto others = [&](const GroupRows& rows) -> const std::vector<bool>& {
      return rows.coded.empty() ? behind_ : wanted_;
    };
    parallel_for(std::ssize(groups), [&](int64_t task) {
      GroupRows& rows = groups[static_cast<size_t>(task)];
      if (!rows.coded.empty()) test_codes(rows);
      if (rows.found == 0 || !any(others(rows))) return;
      const Column test(TypeId::kBool, rows.end, std::move(rows.picked));
      tables[static_cast<size_t>(task)] = source_.read_picked(rows.group, others(rows), test);
    });
    for (size_t g = 0; g < groups.size(); ++g) {
      GroupRows& rows = groups[g];
      if (rows.found > 0 && any(others(rows)))
        keep(rows.kept, tables[g], others(rows), nullptr);
      else if (rows.found == 0 && rows.end > 0 && any(coded_))
        read_codes(rows, both(coded_, others(rows)));
    }
  }

  // Of a group without wanted rows, so that codes are those of the whole source.
  void read_codes(GroupRows& rows, const std::vector<bool>& coded) {
    const auto batches = source_.read_group(rows.group, coded, morsel_rows());
    while (const std::optional<Table> batch = batches())
      keep(rows.kept, batch->slice(0, 0), coded, nullptr);
  }

  static std::vector<bool> both(std::vector<bool> a, const std::vector<bool>& b) {
    for (size_t c = 0; c < a.size(); ++c) a[c] = a[c] && b[c];
    return a;
  }

  void keep(Kept& kept, const Table& batch, const std::vector<bool>& read, const Mask* mask) {
    for (size_t c = 0; c < wanted_.size(); ++c) {
      if (!read[c] || !wanted_[c]) continue;
      Column column = column_of(batch, read, c);
      if (mask) column = filter(column, *mask);
      if (column.num_rows() > 0 || coded_[c]) kept[c].push_back(std::move(column));
    }
  }

  const RowGroups& source_;
  const RowPredicates& predicates_;
  std::span<const Value> others_;
  const std::vector<bool>& wanted_;
  int64_t left_;
  bool is_limited_;
  std::vector<bool> tested_;  // columns that the predicates read
  std::vector<bool> behind_;  // the other wanted ones
  std::vector<bool> coded_;   // wanted ones with categories
  std::vector<std::vector<Column>> parts_;
  int64_t batch_rows_ = morsel_rows();
  int64_t groups_at_once_ = 1;
  int64_t left_out_by_filter_ = 0;
  int64_t left_out_by_dictionary_ = 0;
  int64_t parts_kept_ = 0;
  int64_t parts_all_ = 0;
};

struct ScanRowGroups final : TableOperator {
  ScanRowGroups(Source of, RowPredicates tests, int64_t most)
      : source(std::move(of)), predicates(std::move(tests)), max_rows(most) {
    names = source->none.names();
    for (const Column& column : source->none.columns()) dtypes.push_back(column.dtype());
  }

  std::string_view name() const override { return source->op; }

  std::string arguments() const override {
    std::string text = source->name + where_text(predicates);
    if (max_rows >= 0) text += ", first " + std::to_string(max_rows) + " rows";
    return text;
  }

  std::string describe(std::span<const NodePtr> inputs) const override {
    if (predicates.empty()) return arguments();
    const std::vector<bool> groups = may(inputs);
    return arguments() + "; " +
           groups_text(std::count(groups.begin(), groups.end(), true), groups.size());
  }

  Table execute(const std::vector<bool>& wanted, std::span<const Value> inputs,
                TableState*) const override {
    if (predicates.empty() && max_rows < 0) {
      const int64_t before = source->bytes_read();
      Table table = source->read(wanted);
      note_on_step(bytes_text(*source, before));
      return table;
    }
    return Reading(*source, predicates, inputs, wanted, max_rows).run();
  }

  int64_t guess_rows(const InputEstimates& inputs) const override {
    int64_t rows = 0;
    const std::vector<bool> groups =
        inputs.size() == 0 ? may({}) : std::vector<bool>(source->rows.size(), true);
    for (size_t g = 0; g < groups.size(); ++g) rows += groups[g] ? source->rows[g] : 0;
    rows = guess_passing(rows, predicates.size());
    return max_rows < 0 ? rows : std::min(rows, max_rows);
  }

  Cost cost(const InputEstimates&) const override {
    return {.nanoseconds = 10, .source_rows = most_rows()};
  }

  NodePtr limited(std::span<const NodePtr>, int64_t rows) const override {
    return max_rows < 0 ? node(source, predicates, rows) : nullptr;
  }

  bool takes_predicates() const override { return max_rows < 0; }

  NodePtr with_predicates(const RowPredicates& more) const override {
    return node(source, both_of(predicates, more), -1);
  }

  static NodePtr node(const Source& source, const RowPredicates& predicates, int64_t max_rows) {
    auto op = std::make_shared<ScanRowGroups>(source, predicates, max_rows);
    const int64_t rows = predicates.empty() ? op->most_rows() : kUnknown;
    return apply_table_operator(std::move(op), inputs_of(predicates), rows);
  }

  Source source;
  RowPredicates predicates;
  int64_t max_rows;

 private:
  int64_t most_rows() const {
    const int64_t all = std::accumulate(source->rows.begin(), source->rows.end(), int64_t{0});
    return max_rows < 0 ? all : std::min(all, max_rows);
  }

  // Groups that may be read, as far as the inputs are known.
  std::vector<bool> may(std::span<const NodePtr> inputs) const {
    std::vector<Value> others;
    for (const NodePtr& input : inputs)
      if (input->is_ready()) others.push_back(input->value());
    return others.size() == inputs_of(predicates).size()
               ? groups_for(*source, predicates, others)
               : std::vector<bool>(source->rows.size(), true);
  }
};

}  // namespace

NodePtr scan_row_groups(RowGroups source) {
  return ScanRowGroups::node(std::make_shared<RowGroups>(std::move(source)), {}, -1);
}

}  // namespace hr
