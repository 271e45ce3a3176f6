// SPDX-License-Identifier: Apache-2.0
// Columns of strings as operators read and write them. For this room only.
#pragma once
#include "headrace/algo/keys/dictionary_encode.h"
#include "headrace/algo/select/bitmap_builder.h"
#include "headrace/algo/select/codes_between.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/dictionary.h"
#include "headrace/exec/workers.h"
#include "headrace/functions/strings/characters.h"
#include "headrace/functions/strings/string_pieces_math.h"
#include "headrace/plan/eval/expression.h"
#include "headrace/plan/graph/node.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace hr {

/// The values of categories, other columns as they are.
inline Column text_of(const Column& column) {
  return column.dtype().is_category() ? dictionary_decode(column) : column;
}

/// Which rows hold a category whose code compares so with `code`; -1 equals none.
inline Column compare_code(Op op, const Column& column, int32_t code, const Mask* where = nullptr) {
  const bool is_equality = op == Op::kEqual || op == Op::kNotEqual;
  const bool counts_own = is_equality || op == Op::kLessEqual || op == Op::kGreater;
  const bool inside = op == Op::kEqual || op == Op::kLess || op == Op::kLessEqual;
  return codes_between(column, is_equality ? code : 0, code + counts_own, inside, where);
}

/// Whether an order (negative, 0, positive) is what `op` asks for.
inline bool holds(Op op, int order) {
  switch (op) {
    case Op::kEqual:
      return order == 0;
    case Op::kNotEqual:
      return order != 0;
    case Op::kLess:
      return order < 0;
    case Op::kLessEqual:
      return order <= 0;
    case Op::kGreater:
      return order > 0;
    case Op::kGreaterEqual:
      return order >= 0;
    default:
      throw_error<InternalError>("compare", "not a comparison");
  }
}

inline void check_same_rows(std::string_view op, const NodePtr& a, const NodePtr& b) {
  const Signature &left = a->signature(), &right = b->signature();
  if (!left.same_rows(right))
    throw_error<InvalidArgumentError>(op, "columns have different lengths or frames",
                                      {left.rows_detail("left"), right.rows_detail("right")});
  if (left.domain != 0 && right.domain != 0 && left.domain != right.domain)
    throw_error<InvalidArgumentError>(op, "columns belong to different frames",
                                      {left.rows_detail("left"), right.rows_detail("right")},
                                      "bring them into one frame with merge or join first");
}

inline void check_text(const Signature& signature) {
  if (signature.form != Form::kColumn || !signature.dtype.has_text())
    throw_error<TypeMismatchError>("str", "expected a string column",
                                   {{"dtype", signature.dtype.name()}}, "use astype('string')");
}

/// The result of an operator on one column of strings.
inline Signature text_signature(const NodePtr& column, Dtype dtype) {
  Signature signature = column->signature();
  check_text(signature);
  signature.dtype = dtype;
  return signature;
}

/// An operator on the rows of a column of strings.
struct StringOperator : Operator {
  std::string_view name() const override { return "str"; }

  RowLineage lineage() const override { return RowLineage::kRowwise; }
};

/// Of operators that devices have kernels for, but not for categories.
inline std::string why_categories(const Value& column) {
  return signature_of(column).dtype.is_category()
             ? "new strings of categories have no kernel for CUDA"
             : "";
}

/// How explain() shows a pattern or a string, which may be long.
inline std::string shortened(std::string_view text) {
  return std::string(text.substr(0, 40));
}

/// `part_of(text)`, a piece of each text, as a column over the same text.
template <class F>
Column pieces_of(const Column& from, F&& part_of) {
  const int64_t rows = from.num_rows();
  const Nulls null(from);
  Buffer buffer = Buffer::allocate_spillable(16 * rows);
  if (rows > 0) {
    auto* const out = buffer.mutable_as<StringView>();
    const StringView* const in = from.values<StringView>().data();
    parallel_morsels(rows, {reads(from), writes(buffer, 16)}, [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; ++row) {
        out[row] = {};
        if (null(row)) continue;
        const std::string_view text = from.string(row);
        out[row] = view_of_part(in[row], text, part_of(text));
      }
    });
  }
  return from.with_rows(rows, std::move(buffer), null.bitmap(rows), null.any() ? -1 : 0);
}

/// Collects the strings of one morsel; inline ones need no other bytes.
class StringBuilder {
 public:
  /// `buffer`: the number of the buffer that they will be in.
  explicit StringBuilder(size_t buffer) : buffer_(static_cast<uint32_t>(buffer)) {}

  void add(std::string_view part) {
    if (part.empty()) return;  // it may have no address
    std::memcpy(reserve(part.size()), part.data(), part.size());
    used_ += static_cast<int64_t>(part.size());
  }

  /// Room for `bytes` more, of which `used` then says how many were taken.
  char* reserve(size_t bytes) {
    const int64_t wanted = used_ + static_cast<int64_t>(bytes);
    if (wanted > capacity_) grow(wanted);
    return data_ + used_;
  }

  void used(size_t bytes) { used_ += static_cast<int64_t>(bytes); }

  /// The view of what was added since the last one.
  StringView finish() {
    const int64_t size = used_ - begin_;
    if (used_ > std::numeric_limits<int32_t>::max())
      throw_error<InvalidArgumentError>("str", "the strings of these rows take too many bytes",
                                        {{"rows", morsel_rows()}, {"limit", "2 GiB"}});
    StringView view{};
    view.size = static_cast<uint32_t>(size);
    if (size == 0) return view;
    if (size <= static_cast<int64_t>(sizeof view.inlined)) {
      std::memcpy(view.inlined, data_ + begin_, static_cast<size_t>(size));
      used_ = begin_;
      return view;
    }
    std::memcpy(view.indirect.prefix, data_ + begin_, sizeof view.indirect.prefix);
    view.indirect.buffer = buffer_;
    view.indirect.offset = static_cast<uint32_t>(begin_);
    begin_ = used_;
    return view;
  }

  /// All strings that are not inline.
  Buffer text() const {
    Buffer exact = Buffer::allocate(used_);
    if (used_ > 0) std::memcpy(exact.mutable_as<char>(), data_, static_cast<size_t>(used_));
    return exact;
  }

 private:
  void grow(int64_t wanted) {
    capacity_ = std::max({wanted, 2 * capacity_, int64_t{1} << 12});
    Buffer larger = Buffer::allocate(capacity_);
    char* const data = larger.mutable_as<char>();
    if (used_ > 0) std::memcpy(data, data_, static_cast<size_t>(used_));
    scratch_ = std::move(larger);
    data_ = data;
  }

  uint32_t buffer_;
  int64_t used_ = 0;
  int64_t begin_ = 0;  // of the text in the making
  int64_t capacity_ = 0;
  Buffer scratch_{};
  char* data_ = nullptr;
};

/// New strings: `start()` returns the `make(row, builder)` of a morsel, which adds the string of a
/// row. Each morsel, of the longest kind, has a buffer of its own: threads do not matter, and the
/// buffers are large enough to spill. Where `make` returns false, the row has the string of `from`,
/// whose text is then shared.
template <class IsNull, class Start>
Column build_strings(int64_t rows, std::vector<BufferAccess> accesses, IsNull&& null,
                     Buffer validity, Start&& start, const Column* from = nullptr) {
  using Made = std::invoke_result_t<std::invoke_result_t<Start&>&, int64_t, StringBuilder&>;
  constexpr bool kMayKeep = std::is_same_v<Made, bool>;
  const int64_t nulls = validity ? -1 : 0;
  Buffer views = Buffer::allocate_spillable(16 * rows);
  const int64_t step = morsel_rows();
  const size_t shared = from ? from->text_buffers().size() : 0;
  std::vector<Buffer> text(shared + static_cast<size_t>(divide_up(rows, step)));
  std::atomic<bool> is_shared{false};
  if (rows > 0) {
    auto* const out = views.mutable_as<StringView>();
    const StringView* const in = from ? from->values<StringView>().data() : nullptr;
    accesses.push_back(writes(views, 16));
    parallel_morsels(rows, step, accesses, [&](Morsel morsel) {
      const size_t own = shared + static_cast<size_t>(morsel.index);
      StringBuilder builder(own);
      auto make = start();
      bool keeps = false;
      for (int64_t row = morsel.begin; row < morsel.end; ++row) {
        out[row] = {};
        if (null(row)) continue;
        if constexpr (kMayKeep) {
          if (!make(row, builder)) {
            out[row] = in[row];
            keeps |= in[row].size > sizeof in->inlined;
            continue;
          }
        } else {
          make(row, builder);
        }
        out[row] = builder.finish();
      }
      if (keeps) is_shared = true;
      text[own] = builder.text();
    });
  }
  if (is_shared) std::copy_n(from->text_buffers().begin(), shared, text.begin());
  return Column::strings(rows, std::move(views), std::move(text), std::move(validity), nulls);
}

/// The entry of each row's category, null where it or the row is.
inline Column spread_entries(const Column& categories, const Column& entries) {
  const int64_t rows = categories.num_rows();
  const Nulls null(categories), null_entry(entries);
  const int32_t* const codes = categories.values<int32_t>().data();
  const StringView* const in = entries.values<StringView>().data();
  const auto is_null = [&](int64_t row) { return null(row) || null_entry(codes[row]); };
  Buffer views = Buffer::allocate_spillable(16 * rows);
  if (rows > 0) {
    auto* const out = views.mutable_as<StringView>();
    parallel_morsels(rows, {reads(categories), writes(views, 16)}, [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; ++row)
        out[row] = is_null(row) ? StringView{} : in[codes[row]];
    });
  }
  Buffer validity;
  if (null.any() || null_entry.any())
    validity = bits_of(rows, {reads(categories)}, [&](int64_t row) { return !is_null(row); });
  const int64_t nulls = validity ? -1 : 0;
  return entries.with_rows(rows, std::move(views), std::move(validity), nulls);
}

/// `make(strings)` of a column of strings; of categories once for each distinct text.
template <class F>
Column over_texts(const Column& column, F&& make) {
  if (!column.dtype().is_category()) return make(column);
  return spread_entries(column, make(column.dictionary()->values()));
}

}  // namespace hr
