// SPDX-License-Identifier: Apache-2.0
// Lists of pieces of strings, over the same text. For this room only.
#pragma once
#include "headrace/functions/strings/string_builder.h"

#include <utility>

namespace hr {

/// Views in the making, of an unknown number.
class PieceBuilder {
 public:
  void add(const StringView& view) {
    if (count_ == capacity_) grow();
    data_[count_++] = view;
  }

  int64_t count() const { return count_; }

  const StringView* data() const { return data_; }

 private:
  void grow() {
    capacity_ = std::max<int64_t>(2 * capacity_, 1024);
    Buffer larger = Buffer::allocate(16 * capacity_);
    auto* const data = larger.mutable_as<StringView>();
    if (count_ > 0) std::memcpy(data, data_, static_cast<size_t>(16 * count_));
    buffer_ = std::move(larger);
    data_ = data;
  }

  int64_t count_ = 0;
  int64_t capacity_ = 0;
  Buffer buffer_{};
  StringView* data_ = nullptr;
};

/// A list of pieces of each text; null where it is. `start()` returns the `split(text, add)` of a
/// morsel, which calls `add` with each piece.
template <class Start>
Column lists_of_pieces(const Column& from, Start&& start) {
  const int64_t rows = from.num_rows();
  const Nulls null(from);
  Buffer spans = Buffer::allocate_spillable(16 * rows);
  if (rows == 0) return Column::lists(0, std::move(spans), Column(TypeId::kString, 0, {}));
  auto* const lists = spans.mutable_as<ListSpan>();
  const StringView* const in = from.values<StringView>().data();
  std::vector<PieceBuilder> pieces(static_cast<size_t>(num_morsels(rows)));
  parallel_morsels(rows, {reads(from), writes(spans, 16)}, [&](Morsel morsel) {
    PieceBuilder& made = pieces[static_cast<size_t>(morsel.index)];
    auto split = start();
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      const int64_t begin = made.count();
      if (!null(row)) {
        const std::string_view text = from.string(row);
        split(text, [&](std::string_view piece) { made.add(view_of_part(in[row], text, piece)); });
      }
      lists[row] = {begin, made.count() - begin};
    }
  });
  std::vector<int64_t> first{0};
  for (const PieceBuilder& made : pieces) first.push_back(first.back() + made.count());
  Buffer views = Buffer::allocate_spillable(16 * first.back());
  auto* const out = first.back() > 0 ? views.mutable_as<StringView>() : nullptr;
  parallel_morsels(rows, [&](Morsel morsel) {
    const auto index = static_cast<size_t>(morsel.index);
    const Pin pin({{&spans, 16 * morsel.begin, 16 * morsel.end, true},
                   {&views, 16 * first[index], 16 * first[index + 1], true}});
    const PieceBuilder made = std::exchange(pieces[index], {});
    if (made.count() > 0)
      std::memcpy(out + first[index], made.data(), static_cast<size_t>(16 * made.count()));
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      lists[row].begin = lists[row].size == 0 ? 0 : lists[row].begin + first[index];
  });
  return Column::lists(rows, std::move(spans),
                       Column::strings(first.back(), std::move(views), from.text_buffers()),
                       null.bitmap(rows), null.any() ? -1 : 0);
}

}  // namespace hr
