// SPDX-License-Identifier: Apache-2.0
// Integers near each other numbered where they are: by subtraction, or by a map of ranks.
#include "headrace/graph/structure/number_integers.h"

#include "headrace/algo/keys/rank_map.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace hr {

namespace {

template <class T>
class NearIntegers {
 public:
  explicit NearIntegers(const std::vector<std::vector<Column>>& parts) {
    for (const std::vector<Column>& part : parts) {
      columns_.push_back(part[0]);
      rows_ += part[0].num_rows();
      Range own = range_of(part[0]);
      if (part[0].num_rows() == 0) continue;
      least_ = std::min(least_, own.least);
      most_ = std::max(most_, own.most);
      ranges_.emplace_back(own, columns_.size() - 1);
    }
  }

  std::optional<NumberedVertices> number() const {
    const uint64_t domain = rows_ == 0 ? 0 : key(most_) + 1;
    if (!are_near(domain, rows_)) return std::nullopt;
    NumberedVertices made;
    RankMap map;
    for (const auto& [range, part] : ranges_)
      if (range.is_run && range.least == least_ && range.most == most_)
        made.ids.assign(1, columns_[part]);
    if (made.ids.empty()) {
      map =
          RankMap(rows_, domain - 1,
                  [this](int64_t row, int64_t count, uint64_t* out) { read(row, count, out); }, {});
      made.ids.push_back(ids_of(map));
    }
    made.count = made.ids[0].num_rows();
    for (const Column& column : columns_)
      made.numbers.push_back(
          numbers_of(column, static_cast<uint64_t>(made.count) == domain ? nullptr : &map));
    return made;
  }

 private:
  struct Range {
    T least = std::numeric_limits<T>::max();
    T most = std::numeric_limits<T>::lowest();
    bool is_run = true;  // each is one more than the one before
  };

  uint64_t key(T id) const { return static_cast<uint64_t>(id) - static_cast<uint64_t>(least_); }

  static Range range_of(const Column& column) {
    const std::span<const T> ids = column.values<T>();
    std::vector<Range> pieces(static_cast<size_t>(num_morsels(column.num_rows())));
    parallel_morsels(column.num_rows(), {reads(column)}, [&](Morsel morsel) {
      Range own;
      const auto begin = static_cast<size_t>(morsel.begin), end = static_cast<size_t>(morsel.end);
      for (size_t i = begin; i < end; ++i) {
        own.least = std::min(own.least, ids[i]);
        own.most = std::max(own.most, ids[i]);
      }
      const auto first = static_cast<uint64_t>(ids[begin]);
      own.is_run = static_cast<uint64_t>(own.most) - first == end - begin - 1;
      for (size_t i = begin; own.is_run && i < end; ++i)
        own.is_run = static_cast<uint64_t>(ids[i]) - first == i - begin;
      pieces[static_cast<size_t>(morsel.index)] = own;
    });
    Range all;
    for (size_t i = 0; i < pieces.size(); ++i) {
      const Range& own = pieces[i];
      all.is_run =
          all.is_run && own.is_run &&
          (i == 0 ||
           static_cast<uint64_t>(own.least) - static_cast<uint64_t>(pieces[i - 1].most) == 1);
      all.least = std::min(all.least, own.least);
      all.most = std::max(all.most, own.most);
    }
    return all;
  }

  // The keys of rows of all parts, one after the other.
  void read(int64_t row, int64_t count, uint64_t* out) const {
    for (const Column& column : columns_) {
      if (row >= column.num_rows()) {
        row -= column.num_rows();
        continue;
      }
      const int64_t here = std::min(column.num_rows() - row, count);
      const Pin pin(ranges_of(std::array{reads(column)}, row, row + here));
      const T* const ids = column.values<T>().data() + row;
      for (int64_t i = 0; i < here; ++i) *out++ = key(ids[i]);
      count -= here;
      row = 0;
      if (count == 0) return;
    }
  }

  Column ids_of(const RankMap& map) const {
    const Buffer keys = map.keys();
    Buffer made = Buffer::allocate(static_cast<int64_t>(sizeof(T)) * map.size());
    auto* const out = made.mutable_as<T>();
    const auto* const from = keys.as<uint64_t>();
    parallel_morsels(map.size(), [&](Morsel morsel) {
      for (int64_t i = morsel.begin; i < morsel.end; ++i)
        out[i] = static_cast<T>(from[i] + static_cast<uint64_t>(least_));
    });
    made.seal();
    return columns_[0].with_rows(map.size(), std::move(made), Buffer(), 0);
  }

  /// `map`: null where every key of the range is there.
  Buffer numbers_of(const Column& column, const RankMap* map) const {
    if (sizeof(T) == 4 && least_ == 0 && !map && column.offset() == 0)
      return column.values_buffer();
    const int64_t rows = column.num_rows();
    Buffer made = Buffer::allocate_temporary(4 * rows);
    if (rows > 0) {
      auto* const out = made.mutable_as<uint32_t>();
      const std::span<const T> ids = column.values<T>();
      parallel_morsels(rows, {reads(column), {&made, 0, 32, 32, rows, 0, 0, true}},
                       [&](Morsel morsel) {
                         for (int64_t i = morsel.begin; i < morsel.end; ++i) {
                           const uint64_t own = key(ids[static_cast<size_t>(i)]);
                           out[i] = static_cast<uint32_t>(map ? map->rank(own) : own);
                         }
                       });
    }
    made.seal();
    return made;
  }

  std::vector<Column> columns_{};
  std::vector<std::pair<Range, size_t>> ranges_{};  // of those that have rows
  int64_t rows_ = 0;
  T least_ = std::numeric_limits<T>::max();
  T most_ = std::numeric_limits<T>::lowest();
};

}  // namespace

std::optional<NumberedVertices> number_integers(const std::vector<std::vector<Column>>& parts) {
  if (parts[0].size() != 1) return std::nullopt;
  switch (parts[0][0].dtype().id()) {
    case TypeId::kInt32:
      return NearIntegers<int32_t>(parts).number();
    case TypeId::kInt64:
      return NearIntegers<int64_t>(parts).number();
    case TypeId::kUInt32:
      return NearIntegers<uint32_t>(parts).number();
    case TypeId::kUInt64:
      return NearIntegers<uint64_t>(parts).number();
    default:
      return std::nullopt;
  }
}

}  // namespace hr
