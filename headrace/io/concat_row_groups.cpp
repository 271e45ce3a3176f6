// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/concat_row_groups.h"

#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/gather.h"
#include "headrace/algo/select/mask_prefix.h"
#include "headrace/plan/graph/placement.h"

#include <algorithm>
#include <limits>
#include <memory>

namespace hr {

namespace {

struct Sources {
  std::vector<RowGroups> each;
  Table values;
  std::function<Table(const std::vector<bool>&, const std::vector<bool>&)> read;
  std::function<Table(std::span<const PickedSource>, const std::vector<bool>&)> read_picked_of;
  std::vector<int64_t> first_group{0};  // of each source, then the end

  size_t source_of(int64_t group) const {
    const auto behind = std::upper_bound(first_group.begin(), first_group.end(), group);
    return static_cast<size_t>(behind - first_group.begin()) - 1;
  }

  size_t num_own() const { return each[0].none.names().size(); }

  std::vector<bool> own(const std::vector<bool>& wanted) const {
    return {wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(num_own())};
  }

  static bool any(const std::vector<bool>& columns) {
    return std::find(columns.begin(), columns.end(), true) != columns.end();
  }

  // `table` with the wanted values of sources: `source` of each of `rows` rows, or of all of them.
  Table with_values(Table table, const std::vector<bool>& wanted, const Tensor& source) const {
    std::vector<std::string> names = table.names();
    std::vector<Column> columns = table.columns();
    const Place place = place_of(table);
    for (size_t v = 0; v < values.names().size(); ++v) {
      if (!wanted[num_own() + v]) continue;
      names.push_back(values.names()[v]);
      columns.push_back(std::get<Column>(to_place(gather(values.columns()[v], source), place)));
    }
    return Table(std::move(names), std::move(columns));
  }

  // One source for all rows.
  static Tensor always(size_t source, int64_t rows) {
    Buffer number = Buffer::allocate(sizeof(int64_t));
    *number.mutable_as<int64_t>() = static_cast<int64_t>(source);
    return Tensor(TypeId::kInt64, Shape{rows}, Shape{0}, std::move(number), 0);
  }

  // The source of each group.
  Tensor of_groups() const {
    Buffer numbers = Buffer::allocate(first_group.back() * int64_t{8});
    for (size_t s = 0; s < each.size(); ++s)
      std::fill(numbers.mutable_as<int64_t>() + first_group[s],
                numbers.mutable_as<int64_t>() + first_group[s + 1], static_cast<int64_t>(s));
    return Tensor(TypeId::kInt64, Shape{first_group.back()}, std::move(numbers), 0);
  }

  struct SourceRows {
    size_t source;
    int64_t rows;
  };

  // The source of each row.
  static Tensor of_rows(const std::vector<SourceRows>& sources) {
    int64_t all = 0;
    for (const auto& [source, rows] : sources) all += rows;
    Buffer numbers = Buffer::allocate(all * int64_t{4});
    int32_t* at = numbers.mutable_as<int32_t>();
    for (const auto& [source, rows] : sources)
      at = std::fill_n(at, rows, static_cast<int32_t>(source));
    return Tensor(TypeId::kInt32, Shape{all}, std::move(numbers), 0);
  }

  bool has_values(const std::vector<bool>& wanted) const {
    return any({wanted.begin() + static_cast<std::ptrdiff_t>(num_own()), wanted.end()});
  }

  Table read_groups(const std::vector<bool>& wanted, const std::vector<bool>& groups) const {
    Table table = read(own(wanted), groups);
    if (!has_values(wanted)) return table;
    std::vector<SourceRows> all;
    auto group = groups.begin();
    for (size_t s = 0; s < each.size(); ++s) {
      all.push_back({s, 0});
      for (const int64_t rows : each[s].rows)
        if (groups.empty() || *group++) all.back().rows += rows;
    }
    return with_values(std::move(table), wanted, of_rows(all));
  }

  ColumnBounds bounds(int64_t column) const {
    const auto own = static_cast<int64_t>(num_own());
    if (column < own) {
      std::vector<Column> least, most, nulls;
      for (const RowGroups& source : each) {
        if (source.rows.empty()) continue;
        ColumnBounds some = source.bounds(column);
        least.push_back(std::move(some.least));
        most.push_back(std::move(some.most));
        nulls.push_back(std::move(some.nulls));
      }
      const std::string& op = each[0].op;
      return {concatenate(op, least[0].dtype(), least), concatenate(op, most[0].dtype(), most),
              concatenate(op, TypeId::kInt64, nulls)};
    }
    const Column value = gather(values.column(column - own), of_groups());
    Buffer nulls = Buffer::allocate(value.num_rows() * int64_t{8});
    int64_t group = 0;
    for (const RowGroups& source : each)
      for (const int64_t rows : source.rows) {
        nulls.mutable_as<int64_t>()[group] = value.is_null(group) ? rows : 0;
        ++group;
      }
    return {value, value, Column(TypeId::kInt64, value.num_rows(), std::move(nulls))};
  }

  // Batches of the values of a source alone, such as those of its folder: its file is not read.
  static RowGroups::Batches value_batches(const std::shared_ptr<const Sources>& self, size_t s,
                                          const std::vector<bool>& wanted, int64_t rows,
                                          const std::vector<RowRange>& ranges) {
    return [self, s, wanted, rows, ranges, range = size_t{0},
            read = int64_t{0}]() mutable -> std::optional<Table> {
      for (; range < ranges.size(); ++range, read = 0) {
        const int64_t count = std::min(ranges[range].end - ranges[range].begin - read, rows);
        if (count == 0) continue;
        read += count;
        return self->with_values(Table(), wanted, always(s, count));
      }
      return std::nullopt;
    };
  }

  RowGroups::Batches read_group(const std::shared_ptr<const Sources>& self, int64_t group,
                                const std::vector<bool>& wanted, int64_t rows) const {
    const size_t s = source_of(group);
    const int64_t inside = group - first_group[s];
    const int64_t all = each[s].rows[static_cast<size_t>(inside)];
    if (any(own(wanted)))
      return [self, wanted, s,
              next = each[s].read_group(inside, own(wanted), rows)]() -> std::optional<Table> {
        std::optional<Table> batch = next();
        if (!batch) return batch;
        const int64_t count = batch->num_rows();
        return self->with_values(std::move(*batch), wanted, always(s, count));
      };
    return value_batches(self, s, wanted, rows, {{0, all}});
  }

  // What is known of parts of a group, by its source; of the values of sources that they are one.
  std::vector<int64_t> borders(int64_t group, const std::vector<bool>& columns) const {
    const size_t s = source_of(group);
    if (!each[s].borders) return {};
    return each[s].borders(group - first_group[s], own(columns));
  }

  ColumnBounds part_bounds(int64_t group, int64_t column,
                           const std::vector<int64_t>& borders) const {
    const size_t s = source_of(group);
    const auto own = static_cast<int64_t>(num_own());
    if (column < own) return each[s].part_bounds(group - first_group[s], column, borders);
    const int64_t parts = std::ssize(borders) - 1;
    const Column value = gather(values.column(column - own), always(s, parts));
    Buffer nulls = Buffer::allocate(parts * int64_t{8});
    for (int64_t p = 0; p < parts; ++p) {
      const auto at = static_cast<size_t>(p);
      nulls.mutable_as<int64_t>()[p] = value.is_null(p) ? borders[at + 1] - borders[at] : 0;
    }
    return {value, value, Column(TypeId::kInt64, parts, std::move(nulls))};
  }

  RowGroups::Batches read_ranges(const std::shared_ptr<const Sources>& self, int64_t group,
                                 const std::vector<bool>& wanted, int64_t rows,
                                 const std::vector<RowRange>& ranges) const {
    const size_t s = source_of(group);
    if (!any(own(wanted))) return value_batches(self, s, wanted, rows, ranges);
    return [self, wanted, s,
            next = each[s].read_ranges(group - first_group[s], own(wanted), rows,
                                       ranges)]() -> std::optional<Table> {
      std::optional<Table> batch = next();
      if (!batch) return batch;
      const int64_t count = batch->num_rows();
      return self->with_values(std::move(*batch), wanted, always(s, count));
    };
  }

  bool may_have(int64_t group, int64_t column, const Column& some) const {
    const size_t s = source_of(group);
    return column >= static_cast<int64_t>(num_own()) || !each[s].may_have ||
           each[s].may_have(group - first_group[s], column, some);
  }

  std::optional<Column> distinct_values(int64_t group, int64_t column) const {
    const size_t s = source_of(group);
    if (column >= static_cast<int64_t>(num_own()) || !each[s].distinct_values) return {};
    return each[s].distinct_values(group - first_group[s], column);
  }

  Buffer test_rows(int64_t group, int64_t column, const Column& test) const {
    const size_t s = source_of(group);
    return each[s].test_rows(group - first_group[s], column, test);
  }

  Table read_picked(std::span<const PickedGroup> groups, const std::vector<bool>& wanted) const {
    std::vector<PickedSource> picked;
    for (const auto& [group, test] : groups) {
      const size_t s = source_of(group);
      if (picked.empty() || picked.back().source != s) picked.push_back({s, {}});
      picked.back().groups.push_back({group - first_group[s], test});
    }
    Table table;
    if (any(own(wanted))) table = read_picked_of(picked, own(wanted));
    if (!has_values(wanted)) return table;
    std::vector<SourceRows> sources;
    for (const PickedSource& of : picked) {
      sources.push_back({of.source, 0});
      for (const PickedGroup& group : of.groups)
        sources.back().rows +=
            mask_prefix(Mask(group.test), std::numeric_limits<int64_t>::max()).picked;
    }
    return with_values(std::move(table), wanted, of_rows(sources));
  }
};

}  // namespace

RowGroups concat_row_groups(
    std::string name, std::vector<RowGroups> sources, Table values,
    std::function<Table(const std::vector<bool>& wanted, const std::vector<bool>& groups)> read,
    std::function<Table(std::span<const PickedSource> picked, const std::vector<bool>& wanted)>
        read_picked) {
  auto all = std::make_shared<Sources>(Sources{.each = std::move(sources),
                                               .values = std::move(values),
                                               .read = std::move(read),
                                               .read_picked_of = std::move(read_picked)});
  const Table& first = all->each[0].none;
  std::vector<std::string> names = first.names();
  std::vector<Column> none = first.columns();
  for (size_t v = 0; v < all->values.names().size(); ++v) {
    names.push_back(all->values.names()[v]);
    none.push_back(all->values.columns()[v].slice(0, 0));
  }
  RowGroups made{.op = all->each[0].op,
                 .name = std::move(name),
                 .none = Table(std::move(names), std::move(none))};
  for (const RowGroups& source : all->each) {
    made.rows.insert(made.rows.end(), source.rows.begin(), source.rows.end());
    made.bytes += source.bytes;
    all->first_group.push_back(std::ssize(made.rows));
  }
  const std::shared_ptr<const Sources> kept = all;
  made.bytes_read = [kept] {
    int64_t bytes = 0;
    for (const RowGroups& source : kept->each) bytes += source.bytes_read();
    return bytes;
  };
  made.bounds = [kept](int64_t column) { return kept->bounds(column); };
  made.read = [kept](const std::vector<bool>& wanted, const std::vector<bool>& groups) {
    return kept->read_groups(wanted, groups);
  };
  made.read_group = [kept](int64_t group, const std::vector<bool>& wanted, int64_t rows) {
    return kept->read_group(kept, group, wanted, rows);
  };
  made.read_picked = [kept](std::span<const PickedGroup> groups, const std::vector<bool>& wanted) {
    return kept->read_picked(groups, wanted);
  };
  made.may_have = [kept](int64_t group, int64_t column, const Column& some) {
    return kept->may_have(group, column, some);
  };
  made.distinct_values = [kept](int64_t group, int64_t column) {
    return kept->distinct_values(group, column);
  };
  made.test_rows = [kept](int64_t group, int64_t column, const Column& test) {
    return kept->test_rows(group, column, test);
  };
  made.borders = [kept](int64_t group, const std::vector<bool>& columns) {
    return kept->borders(group, columns);
  };
  made.part_bounds = [kept](int64_t group, int64_t column, const std::vector<int64_t>& borders) {
    return kept->part_bounds(group, column, borders);
  };
  made.read_ranges = [kept](int64_t group, const std::vector<bool>& wanted, int64_t rows,
                            const std::vector<RowRange>& ranges) {
    return kept->read_ranges(kept, group, wanted, rows, ranges);
  };
  return made;
}

}  // namespace hr
