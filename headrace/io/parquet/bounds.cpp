// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/bounds.h"

#include "headrace/base/bits.h"
#include "headrace/base/utf8.h"
#include "headrace/io/byte_buffer.h"
#include "headrace/io/parquet/convert.h"
#include "headrace/io/parquet/refusal.h"

#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace hr::parquet {

namespace {

using Given = std::optional<std::string_view>;

struct Bound {
  Given least{};
  Given most{};
};

Bound bound_of(const Leaf& leaf, const Statistics& statistics) {
  if (statistics.least && statistics.most) return {statistics.least, statistics.most};
  // Old writers compared all bytes as signed numbers.
  const bool is_fixed = leaf.physical != PhysicalType::kByteArray &&
                        leaf.physical != PhysicalType::kFixed &&
                        leaf.physical != PhysicalType::kInt96;
  if (is_fixed && leaf.is_signed_order) return {statistics.old_least, statistics.old_most};
  return {};
}

bool has_order(const Leaf& leaf) {
  switch (leaf.conversion) {
    case Conversion::kInt96:
    case Conversion::kUuid:
    case Conversion::kNull:
      return false;
    default:
      return leaf.lists.empty();
  }
}

// A value of a fixed width, as ours; nothing when it is none.
bool fixed_value(const Leaf& leaf, std::string_view given, std::byte* out) {
  try {
    if (leaf.physical == PhysicalType::kByteArray) {
      decimal_of_bytes(given, out);
      return true;
    }
    if (static_cast<int64_t>(given.size()) != leaf.stored_bytes) return false;
    convert(leaf, reinterpret_cast<const std::byte*>(given.data()), 1, out);
  } catch (const Refusal&) {
    return false;
  }
  if (leaf.dtype.id() == TypeId::kFloat64) {
    double value;
    std::memcpy(&value, out, sizeof value);
    return !std::isnan(value);
  }
  if (leaf.dtype.id() == TypeId::kFloat32) {
    float value;
    std::memcpy(&value, out, sizeof value);
    return !std::isnan(value);
  }
  return true;
}

// A column that is filled row by row.
class Builder {
 public:
  Builder(Dtype dtype, int64_t rows)
      : dtype_(dtype),
        values_(Buffer::allocate_zeroed(rows * std::max<int64_t>(dtype.size_bytes(), 1))),
        validity_(Buffer::allocate_zeroed(bitmap_bytes(rows))),
        rows_(rows) {}

  std::byte* at(int64_t row) { return values_.mutable_data() + row * dtype_.size_bytes(); }

  void set_valid(int64_t row) {
    set_bit(validity_.mutable_as<uint8_t>(), row, true);
    ++valid_;
  }

  void set(int64_t row, bool value) { set_bit(values_.mutable_as<uint8_t>(), row, value); }

  void set(int64_t row, std::string_view text) {
    StringView view{};
    view.size = static_cast<uint32_t>(text.size());
    if (text.size() <= sizeof view.inlined) {
      if (!text.empty()) std::memcpy(view.inlined, text.data(), text.size());
    } else {
      std::memcpy(view.indirect.prefix, text.data(), sizeof view.indirect.prefix);
      view.indirect.offset = static_cast<uint32_t>(text_.size());
      text_.append(text);
    }
    std::memcpy(at(row), &view, sizeof view);
  }

  Column finish() {
    if (!dtype_.is_string())
      return Column(dtype_, rows_, std::move(values_), std::move(validity_), rows_ - valid_);
    return Column::strings(rows_, std::move(values_), {text_.finish()}, std::move(validity_),
                           rows_ - valid_);
  }

 private:
  Dtype dtype_;
  Buffer values_;
  Buffer validity_;
  ByteBuffer text_{};
  int64_t rows_;
  int64_t valid_ = 0;
};

constexpr size_t kLongestText = size_t{1} << 16;  // a bound of more is not worth its place

// Sets a row of both bounds where both mean something.
void set_bounds(const Leaf& leaf, const Bound& bound, int64_t row, Builder& least, Builder& most) {
  if (!bound.least || !bound.most) return;
  if (leaf.dtype.is_bool()) {
    if (bound.least->size() != 1 || bound.most->size() != 1) return;
    least.set(row, (*bound.least)[0] != 0);
    most.set(row, (*bound.most)[0] != 0);
    least.set_valid(row);
    most.set_valid(row);
    return;
  }
  if (leaf.dtype.has_text()) {
    // A text that was cut inside of a character is still a lower bound up to there.
    const std::string_view first = bound.least->substr(0, valid_utf8_bytes(*bound.least));
    if (first.size() <= kLongestText) {
      least.set(row, first);
      least.set_valid(row);
    }
    if (bound.most->size() <= kLongestText && is_valid_utf8(*bound.most)) {
      most.set(row, *bound.most);
      most.set_valid(row);
    }
    return;
  }
  if (!fixed_value(leaf, *bound.least, least.at(row)) ||
      !fixed_value(leaf, *bound.most, most.at(row)))
    return;
  least.set_valid(row);
  most.set_valid(row);
}

}  // namespace

ColumnBounds column_bounds(const ColumnSchema& column, const std::vector<Statistics>& groups) {
  const Leaf& leaf = column.leaf;
  const auto count = std::ssize(groups);
  const Dtype dtype = leaf.dtype.is_category() ? Dtype(TypeId::kString) : column.dtype;
  if (column.is_tree() || !has_order(leaf)) {
    const auto nothing = [&] {
      return Builder(dtype.is_nested() ? Dtype(TypeId::kInt64) : dtype, count).finish();
    };
    return {nothing(), nothing(), Builder(TypeId::kInt64, count).finish()};
  }
  Builder least(dtype, count), most(dtype, count), nulls(TypeId::kInt64, count);
  for (int64_t g = 0; g < count; ++g) {
    const Statistics& statistics = groups[static_cast<size_t>(g)];
    set_bounds(leaf, bound_of(leaf, statistics), g, least, most);
    if (!statistics.null_count) continue;
    std::memcpy(nulls.at(g), &*statistics.null_count, 8);
    nulls.set_valid(g);
  }
  return {least.finish(), most.finish(), nulls.finish()};
}

ColumnBounds column_bounds(const FileMetadata& file, const ColumnSchema& column) {
  std::vector<Statistics> groups;
  for (const RowGroupMetadata& group : file.row_groups)
    groups.push_back(group.chunks[static_cast<size_t>(column.leaf.index)].statistics);
  return column_bounds(column, groups);
}

}  // namespace hr::parquet
