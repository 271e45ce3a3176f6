// SPDX-License-Identifier: Apache-2.0
// Row groups: those that may have wanted rows, batch by batch.
#include "headrace/io/row_groups.h"

#include "headrace/algo/bits/bitmap_writer.h"
#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/filter.h"
#include "headrace/algo/select/mask_prefix.h"
#include "headrace/base/bits.h"
#include "headrace/data/dictionary.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/plan/execute/profile.h"
#include "headrace/plan/graph/cost_model.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/optimize/membership.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <numeric>

namespace hr {

namespace {

constexpr int64_t kFewRows = int64_t{1} << 14;
constexpr int64_t kMostTogether = 64;
constexpr int64_t kMostRowsTogether = int64_t{1} << 24;   // whose tested columns exist at once
constexpr int64_t kMostDistinctBytes = int64_t{1} << 25;  // of values that are tested together

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
        all_{predicates, {others.begin(), others.end()}},
        wanted_(wanted),
        left_(max_rows < 0 ? std::numeric_limits<int64_t>::max() : max_rows),
        is_limited_(max_rows >= 0),
        coded_(wanted.size()),
        parts_(wanted.size()) {
    // A few first rows are looked for in small batches, in the first group.
    if (is_limited_)
      batch_rows_ = std::clamp(max_rows, std::min(kFewRows, morsel_rows()), morsel_rows());
    else if (memory_limit() == std::numeric_limits<int64_t>::max())
      most_together_ = kMostTogether;
    if (most_together_ > 1 && threads() > 1) batches_together_ = 2 * threads();
    for (size_t c = 0; c < wanted.size(); ++c)
      coded_[c] = wanted[c] && source.none.columns()[c].dtype().is_category();
    split_tests();
  }

  Table run() {
    const std::vector<bool> may = groups_for(source_, all_.predicates, all_.others);
    const int64_t before = source_.bytes_read();
    const auto step = static_cast<size_t>(most_together_);
    for (size_t begin = 0; begin < may.size() && left_ > 0; begin += step) {
      std::vector<GroupRows> groups;
      for (size_t g = begin; g < std::min(begin + step, may.size()); ++g)
        groups.push_back({.group = static_cast<int64_t>(g),
                          .is_read = may[g] && may_have_members(static_cast<int64_t>(g)),
                          .kept = Kept(wanted_.size())});
      if (!all_.predicates.empty() && source_.distinct_values) test_distinct_values(groups);
      read(groups);
    }
    std::string note = groups_text(read_, may.size());
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
  using Columns = std::vector<bool>;              // by place: whether it is one of them
  using Kept = std::vector<std::vector<Column>>;  // by column

  static bool any(const Columns& columns) {
    return std::find(columns.begin(), columns.end(), true) != columns.end();
  }

  static Columns both(Columns a, const Columns& b) {
    for (size_t c = 0; c < a.size(); ++c) a[c] = a[c] && b[c];
    return a;
  }

  static Columns without(Columns a, const Columns& b) {
    for (size_t c = 0; c < a.size(); ++c) a[c] = a[c] && !b[c];
    return a;
  }

  // The column of a table that was read for some columns.
  static const Column& column_of(const Table& table, const Columns& read, size_t column) {
    return table.column(
        std::count(read.begin(), read.begin() + static_cast<std::ptrdiff_t>(column), true));
  }

  // Some predicates, and what they read in addition to columns.
  struct Tests {
    RowPredicates predicates{};
    std::vector<Value> others{};

    void add(const std::shared_ptr<const RowPredicate>& predicate, std::span<const Value> own) {
      predicates.push_back(predicate);
      others.insert(others.end(), own.begin(), own.end());
    }

    Column evaluate(const Table& table, const Columns& read) const {
      return evaluate_predicates(
          predicates,
          [&](int64_t column) { return column_of(table, read, static_cast<size_t>(column)); },
          others);
    }
  };

  // A column whose values are all known, and for each of these whether the tests are true.
  struct CodedTest {
    int64_t column;
    Column test;
  };

  // What was read of a group, and what is to be read of it.
  struct GroupRows {
    int64_t group = 0;
    bool is_read = false;  // it may have wanted rows
    Kept kept{};
    std::vector<CodedTest> coded{};
    RowGroups::Batches batches{};  // null at their end
    std::vector<RowRange> ranges{};
    size_t range = 0;  // that the next batch lies in
    int64_t at = 0;    // the row that it begins with
    Buffer picked{};   // a bit for each row: the tests so far are true
    int64_t found = 0;
    int64_t end = 0;  // of the rows that were tested

    // Whether the same tests run on batches, on codes and on picked rows.
    bool is_read_as(const GroupRows& other) const {
      return coded.size() == other.coded.size() &&
             std::equal(
                 coded.begin(), coded.end(), other.coded.begin(),
                 [](const CodedTest& a, const CodedTest& b) { return a.column == b.column; });
    }
  };

  // Tests of one column alone may run on its dictionary. Those that need a set of many values,
  // which is prepared anew each time, wait for the rows that other tests leave of many groups.
  void split_tests() {
    by_column_.resize(wanted_.size());
    auto given = all_.others.begin();
    for (const auto& each : all_.predicates) {
      const std::span<const Value> own(given, given + std::ssize(each->others()));
      given += std::ssize(each->others());
      const std::vector<int64_t>& columns = each->columns();
      if (!columns.empty() &&
          std::ranges::all_of(columns, [&](int64_t c) { return c == columns[0]; }))
        by_column_[static_cast<size_t>(columns[0])].add(each, own);
      const bool waits = most_together_ > 1 && std::ranges::any_of(own, [](const Value& value) {
                           const auto* const column = std::get_if<Column>(&value);
                           return column && column->num_rows() > kFewRows;
                         });
      (waits ? waiting_ : soon_).add(each, own);
    }
  }

  Columns columns_of(const Tests& tests) const {
    Columns columns(wanted_.size());
    for (const auto& each : tests.predicates)
      for (const int64_t column : each->columns()) columns[static_cast<size_t>(column)] = true;
    return columns;
  }

  // By a filter of its values.
  bool may_have_members(int64_t group) {
    if (all_.predicates.empty() || !source_.may_have ||
        hr::may_have_members(all_.predicates, all_.others,
                             [&](int64_t column, const Column& values) {
                               return source_.may_have(group, column, values);
                             }))
      return true;
    ++left_out_by_filter_;
    return false;
  }

  // Runs tests on the values that columns of groups may have, of as many groups at once as have few
  // bytes of them. A group of which none is true is not read.
  void test_distinct_values(std::vector<GroupRows>& groups) {
    for (size_t c = 0; c < wanted_.size(); ++c) {
      if (by_column_[c].predicates.empty()) continue;
      for (size_t begin = 0; begin < groups.size();) {
        std::vector<std::optional<Column>> values(groups.size() - begin);
        const size_t count = read_distinct_values(groups, begin, static_cast<int64_t>(c), values);
        values.resize(count);
        test_distinct_values(std::span(groups).subspan(begin, count), c, values);
        begin += count;
      }
    }
  }

  // The values of groups from `begin` on, until they have many bytes; how many groups these are.
  size_t read_distinct_values(const std::vector<GroupRows>& groups, size_t begin, int64_t column,
                              std::vector<std::optional<Column>>& values) const {
    std::atomic<int64_t> bytes{0};
    std::vector<uint8_t> is_done(values.size(), 0);
    parallel_for(std::ssize(values), [&](int64_t task) {
      const auto g = static_cast<size_t>(task);
      if (g > 0 && bytes.load() >= kMostDistinctBytes) return;
      if (const GroupRows& rows = groups[begin + g]; rows.is_read)
        values[g] = source_.distinct_values(rows.group, column);
      if (values[g]) bytes += values[g]->size_bytes();
      is_done[g] = 1;
    });
    return static_cast<size_t>(std::ranges::find(is_done, 0) - is_done.begin());
  }

  void test_distinct_values(std::span<GroupRows> groups, size_t column,
                            const std::vector<std::optional<Column>>& values) {
    for (size_t g = 0; g < groups.size();) {
      std::vector<Column> known;
      size_t end = g;  // behind the groups whose values can be put together
      for (; end < groups.size(); ++end) {
        if (!values[end]) continue;
        if (!known.empty() && !is_joined(known[0], *values[end])) break;
        known.push_back(*values[end]);
      }
      if (known.empty()) return;
      const Column all = concatenate(source_.op, known[0].dtype(), known);
      const Tests& tests = by_column_[column];
      const Column test =
          evaluate_predicates(tests.predicates, [&](int64_t) { return all; }, tests.others);
      for (int64_t at = 0; g < end; ++g) {
        if (!values[g]) continue;
        const int64_t count = values[g]->num_rows();
        take_distinct_test(groups[g], static_cast<int64_t>(column), test.slice(at, count));
        at += count;
      }
    }
  }

  // Whether the order of categories stays when columns become one: a test may compare by it.
  static bool is_joined(const Column& first, const Column& other) {
    if (!first.dtype().is_category()) return true;
    const DictionaryPtr &a = first.dictionary(), &b = other.dictionary();
    return a->id() == b->id() || (!a->is_ordered() && !b->is_ordered());
  }

  void take_distinct_test(GroupRows& rows, int64_t column, Column test) {
    if (mask_prefix(Mask(test), test.num_rows()).picked > 0) {
      if (!is_limited_ && rows.is_read) rows.coded.push_back({column, std::move(test)});
      return;
    }
    ++left_out_by_dictionary_;
    rows.is_read = false;
    rows.coded.clear();
  }

  // Reads the wanted rows of groups. Those that are read in the same way are so together.
  void read(std::vector<GroupRows>& groups) {
    std::vector<GroupRows> together;
    int64_t rows_together = 0;
    for (GroupRows& rows : groups) {
      if (left_ == 0) break;
      if (rows.is_read) open(rows);
      const auto last = std::find_if(together.rbegin(), together.rend(),
                                     [](const GroupRows& each) { return each.is_read; });
      const bool is_other = rows.is_read && last != together.rend() && !rows.is_read_as(*last);
      if (is_other || rows_together >= kMostRowsTogether) {
        settle(together);
        rows_together = 0;
      }
      if (rows.is_read) rows_together += source_.rows[static_cast<size_t>(rows.group)];
      together.push_back(std::move(rows));
      if (std::ranges::count_if(together, [](const GroupRows& each) {
            return static_cast<bool>(each.batches);
          }) >= batches_together_)
        read_batches(together);
    }
    settle(together);
  }

  // Begins to read a group that may have wanted rows.
  void open(GroupRows& rows) {
    const int64_t all = source_.rows[static_cast<size_t>(rows.group)];
    ++read_;
    if (all_.predicates.empty()) {
      rows.batches = source_.read_group(rows.group, wanted_, batch_rows_);
      return;
    }
    Parts parts(source_, rows.group, all_.predicates, all_.others, columns_of(all_));
    parts_kept_ += parts.kept;
    parts_all_ += parts.all;
    rows.ranges = std::move(parts.ranges);
    // Other tests of a column whole would hold it in memory.
    const bool is_tight = most_together_ == 1 && !tests_without(rows.coded).predicates.empty();
    if (rows.ranges.empty() || parts.kept < parts.all || is_tight) rows.coded.clear();
    if (rows.ranges.empty()) {
      rows.is_read = false;
    } else if (rows.coded.empty()) {
      rows.picked = Buffer::allocate_zeroed((all + 63) / 64 * 8);
      rows.at = rows.ranges[0].begin;
      if (soon_.predicates.empty())
        pick_ranges(rows);
      else if (parts.all == 0)
        rows.batches = source_.read_group(rows.group, columns_of(soon_), batch_rows_);
      else
        rows.batches = source_.read_ranges(rows.group, columns_of(soon_), batch_rows_, rows.ranges);
    }
  }

  // All rows that may be wanted, of which none was tested.
  static void pick_ranges(GroupRows& rows) {
    const BitmapWriter bits(rows.picked.mutable_data());
    for (const RowRange& range : rows.ranges) {
      for (int64_t row = range.begin; row < range.end; row += 64) {
        const int64_t count = std::min<int64_t>(64, range.end - row);
        bits.put(row, ~uint64_t{0} >> (64 - count), count);
      }
      rows.found += range.end - range.begin;
      rows.end = range.end;
    }
  }

  // Reads batches of all groups at the same time; plans run one after the other.
  void read_batches(std::vector<GroupRows>& groups) {
    std::vector<std::optional<Table>> batches(groups.size());
    for (bool any_left = true; any_left && left_ > 0;) {
      parallel_for(std::ssize(groups), [&](int64_t task) {
        const auto g = static_cast<size_t>(task);
        batches[g] = groups[g].batches ? groups[g].batches() : std::nullopt;
      });
      any_left = false;
      for (size_t g = 0; g < groups.size(); ++g) {
        if (batches[g] && left_ > 0) {
          take(groups[g], *batches[g]);
          any_left = true;
          batch_rows_ = morsel_rows();  // of groups to come
        } else {
          groups[g].batches = nullptr;
        }
      }
    }
  }

  // Keeps the wanted rows of a batch.
  void take(GroupRows& rows, const Table& batch) {
    if (all_.predicates.empty()) {
      const int64_t count = std::min(left_, batch.num_rows());
      keep(rows.kept, batch.slice(0, count), wanted_, nullptr);
      left_ -= count;
      return;
    }
    const Columns tested = columns_of(soon_);
    Column test = soon_.evaluate(batch, tested);
    const MaskPrefix first = mask_prefix(Mask(test), left_);
    test = test.slice(0, first.rows);
    const Mask mask(test);
    keep(rows.kept, batch.slice(0, first.rows), tested, &mask);
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

  // Reads what is left to read of groups, and adds their rows to those before.
  void settle(std::vector<GroupRows>& groups) {
    read_batches(groups);
    if (!all_.predicates.empty()) {
      parallel_for(std::ssize(groups), [&](int64_t task) {
        GroupRows& rows = groups[static_cast<size_t>(task)];
        if (!rows.coded.empty()) test_codes(rows);
      });
      const auto first =
          std::ranges::find_if(groups, [](const GroupRows& each) { return each.is_read; });
      read_picked(groups, first != groups.end() ? first->coded : std::vector<CodedTest>());
    }
    for (GroupRows& rows : groups)
      for (size_t c = 0; c < wanted_.size(); ++c)
        std::ranges::move(rows.kept[c], std::back_inserter(parts_[c]));
    groups.clear();
  }

  // The columns that were not read with the tests so far, of the rows that were picked; those that
  // the other tests read first.
  void read_picked(std::vector<GroupRows>& groups, const std::vector<CodedTest>& coded) {
    const bool on_codes = !coded.empty();
    const Columns tested = on_codes ? Columns(wanted_.size()) : columns_of(soon_);
    Columns behind = without(wanted_, tested);
    if (const Tests rest = on_codes ? tests_without(coded) : waiting_; !rest.predicates.empty()) {
      const Columns read = columns_of(rest);
      const std::vector<Table> tables = read_picked_to_test(groups, read);
      std::vector<Column> tests;
      for (const Table& table : tables)
        tests.push_back(table.num_rows() == 0 ? Column(TypeId::kBool, 0, Buffer())
                                              : rest.evaluate(table, read));
      pick_again(groups, concatenate(source_.op, TypeId::kBool, tests));
      for (size_t c = 0; c < wanted_.size(); ++c) {
        if (!read[c] || !behind[c]) continue;
        for (size_t k = 0; k < tables.size(); ++k)
          parts_[c].push_back(filter(column_of(tables[k], read, c), Mask(tests[k])));
        behind[c] = false;
      }
    }
    // Codes are those of the whole source, with groups without wanted rows.
    for (GroupRows& rows : groups)
      if (!rows.is_read && any(both(coded_, tested))) read_codes(rows, both(coded_, tested));
    if (!any(behind)) return;
    const Table table = read_picked(groups, behind);
    for (size_t c = 0; c < wanted_.size(); ++c)
      if (behind[c]) parts_[c].push_back(column_of(table, behind, c));
  }

  // All tests but those of columns that ran on codes.
  Tests tests_without(const std::vector<CodedTest>& coded) const {
    Tests rest;
    auto given = all_.others.begin();
    for (const auto& each : all_.predicates) {
      const std::span<const Value> own(given, given + std::ssize(each->others()));
      given += std::ssize(each->others());
      const auto ran = [&](const CodedTest& test) {
        const RowPredicates& on = by_column_[static_cast<size_t>(test.column)].predicates;
        return std::ranges::find(on, each) != on.end();
      };
      if (std::ranges::none_of(coded, ran)) rest.add(each, own);
    }
    return rest;
  }

  // Those of a group apart where they may be categories whose order differs from group to group.
  std::vector<Table> read_picked_to_test(const std::vector<GroupRows>& groups,
                                         const Columns& columns) const {
    bool has_categories = false;
    for (size_t c = 0; c < columns.size(); ++c)
      has_categories |= columns[c] && source_.none.columns()[c].dtype().is_category();
    if (!has_categories || groups.size() < 2) return {read_picked(groups, columns)};
    std::vector<Table> tables(groups.size());
    parallel_for(std::ssize(groups), [&](int64_t task) {
      const auto g = static_cast<size_t>(task);
      tables[g] = read_picked(std::span(groups).subspan(g, 1), columns);
    });
    return tables;
  }

  Table read_picked(std::span<const GroupRows> groups, const Columns& columns) const {
    std::vector<PickedGroup> picked;
    for (const GroupRows& rows : groups)
      if (rows.found > 0 || any(both(coded_, columns)))
        picked.push_back({rows.group, Column(TypeId::kBool, rows.end, rows.picked)});
    if (!picked.empty()) return source_.read_picked(picked, columns);
    std::vector<std::string> names;
    std::vector<Column> none;
    for (size_t c = 0; c < columns.size(); ++c) {
      if (!columns[c]) continue;
      names.push_back(source_.none.names()[c]);
      none.push_back(source_.none.columns()[c]);
    }
    return Table(std::move(names), std::move(none));
  }

  // Leaves of the picked rows of all groups those for which `test` is true.
  static void pick_again(std::vector<GroupRows>& groups, const Column& test) {
    const Mask mask(test);
    int64_t at = 0;
    for (GroupRows& rows : groups) {
      if (rows.found == 0) continue;
      const int64_t begin = at;
      const Buffer before = std::move(rows.picked);
      rows.picked = Buffer::allocate_zeroed(before.size_bytes());
      auto* const words = rows.picked.mutable_as<uint64_t>();
      for (int64_t i = 0; i < (rows.end + 63) / 64; ++i) {
        uint64_t left = before.as<uint64_t>()[i];
        if (left == 0) continue;
        const int64_t count = std::popcount(left);
        for (uint64_t bits = mask.word(at, count); bits != 0; bits >>= 1, left &= left - 1)
          if (bits & 1) words[i] |= left & (~left + 1);
        at += count;
      }
      rows.found = count_bits(rows.picked.as<uint8_t>(), 0, rows.end);
      for (std::vector<Column>& parts : rows.kept) {
        int64_t row = begin;
        for (Column& part : parts) {
          const Column own = test.slice(row, part.num_rows());
          row += part.num_rows();
          part = filter(part, Mask(own));
        }
      }
    }
  }

  // Of a group without wanted rows, so that codes are those of the whole source.
  void read_codes(GroupRows& rows, const Columns& coded) {
    const PickedGroup none{rows.group, Column(TypeId::kBool, 0, Buffer())};
    keep(rows.kept, source_.read_picked(std::span(&none, 1), coded), coded, nullptr);
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
  const Tests all_;
  const Columns& wanted_;
  int64_t left_;
  bool is_limited_;
  Columns coded_;                   // wanted ones with categories
  std::vector<Tests> by_column_{};  // tests that read this column alone
  Tests soon_{};                    // of batches
  Tests waiting_{};                 // of the rows that those leave
  Kept parts_;
  int64_t batch_rows_ = morsel_rows();
  int64_t most_together_ = 1;     // groups whose bits and picked rows exist at once
  int64_t batches_together_ = 1;  // groups of which batches are read at once
  int64_t read_ = 0;
  int64_t left_out_by_filter_ = 0;
  int64_t left_out_by_dictionary_ = 0;
  int64_t parts_kept_ = 0;
  int64_t parts_all_ = 0;
};

// The rows that predicates want, on a device: it decodes whole row groups, and filters quickly.
Table read_and_filter(const RowGroups& source, const RowPredicates& predicates,
                      const std::vector<bool>& wanted) {
  std::vector<bool> groups = groups_for(source, predicates, {});
  for (size_t g = 0; g < groups.size(); ++g)
    groups[g] =
        groups[g] &&
        (!source.may_have || may_have_members(predicates, {}, [&](int64_t c, const Column& values) {
          return source.may_have(static_cast<int64_t>(g), c, values);
        }));
  std::vector<bool> read = wanted;
  for (const auto& each : predicates)
    for (const int64_t column : each->columns()) read[static_cast<size_t>(column)] = true;
  const int64_t before = source.bytes_read();
  const auto kept = std::count(groups.begin(), groups.end(), true);
  const Table table = source.read(read, groups);
  note_on_step(groups_text(kept, groups.size()) + ", " + bytes_text(source, before));
  const auto column_of = [&](int64_t c) {
    return table.column(std::count(read.begin(), read.begin() + c, true));
  };
  const Column test = evaluate_predicates(predicates, column_of, {});
  std::optional<Column> here;  // of columns that have no place on devices
  std::vector<std::string> names;
  std::vector<Column> columns;
  for (size_t c = 0; c < wanted.size(); ++c) {
    if (!wanted[c]) continue;
    const Column column = column_of(static_cast<int64_t>(c));
    if (column.place() != test.place() && !here)
      here = std::get<Column>(to_place(test, column.place()));
    names.push_back(source.none.names()[c]);
    columns.push_back(filter(column, Mask(column.place() == test.place() ? test : *here)));
  }
  return Table(std::move(names), std::move(columns));
}

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
      Table table = source->read(wanted, {});
      note_on_step(bytes_text(*source, before));
      return table;
    }
    if (default_place().is_gpu() && inputs.empty() && max_rows < 0)
      return read_and_filter(*source, predicates, wanted);
    Table made = Reading(*source, predicates, inputs, wanted, max_rows).run();
    // Without inputs the executor moves it.
    const bool moves = !inputs.empty() && std::ranges::all_of(inputs, [](const Value& value) {
      return place_of(value).is_host();
    });
    if (!moves) return made;
    return std::get<Table>(at_default_place(made));
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
