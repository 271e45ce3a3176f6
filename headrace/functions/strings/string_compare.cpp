// SPDX-License-Identifier: Apache-2.0
// Texts row by row.
#include "headrace/functions/strings/string_compare.h"

#include "headrace/algo/keys/dictionary_encode.h"
#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/gather.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/dictionary.h"
#include "headrace/data/string_reader.h"
#include "headrace/exec/workers.h"
#include "headrace/functions/strings/string_builder.h"
#include "headrace/functions/strings/string_compare_kernels.h"
#include "headrace/functions/strings/string_search_kernels.h"
#include "headrace/plan/graph/view.h"
#include "headrace/plan/optimize/membership.h"
#include "headrace/plan/optimize/zone_map.h"

#include <array>
#include <bit>
#include <cstring>
#include <numeric>

namespace hr {

namespace {

bool has_text(Dtype dtype) {
  return dtype.has_text();
}

// A text as its view would be, up to 12 bytes; behind these the text itself.
struct Needle {
  uint64_t words[2] = {0, 0};
  std::string_view text;

  explicit Needle(std::string_view of) : text(of) {
    StringView view{};
    view.size = static_cast<uint32_t>(of.size());
    std::memcpy(view.inlined, of.data(), std::min(of.size(), sizeof view.inlined));
    std::memcpy(words, &view, sizeof words);
  }

  bool is_inline() const { return text.size() <= sizeof(StringView::inlined); }
};

// Which rows' strings equal a needle that does not stand in its view. A block's views tell of most
// rows that they differ; the bytes of the others, which lie far from each other, are fetched before
// the first is compared.
Buffer match_long(const Column& column, const Needle& needle, const Mask* where) {
  const int64_t rows = column.num_rows();
  Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(rows));
  if (rows == 0) return bits;
  uint8_t* const out = bits.mutable_as<uint8_t>();
  const auto* const words = reinterpret_cast<const uint64_t*>(column.values<StringView>().data());
  const Nulls null(column);
  const StringReader texts(column);
  parallel_morsels(rows, {reads(column)}, [&, first = needle.words[0]](Morsel morsel) {
    uint16_t places[kBlockRows];
    const char* bytes[kBlockRows];
    for (int64_t begin = morsel.begin; begin < morsel.end; begin += kBlockRows) {
      const int64_t end = std::min(begin + kBlockRows, morsel.end);
      int64_t found = 0;
      for (int64_t row = begin; row < end; row += 64) {
        const int64_t count = std::min<int64_t>(64, end - row);
        uint64_t close = where ? where->word(row, count) : ~uint64_t{0} >> (64 - count);
        if (close == 0) continue;
        uint64_t same = 0;
        for (int64_t i = 0; i < count; ++i) same |= uint64_t{words[2 * (row + i)] == first} << i;
        for (close &= same; close; close &= close - 1) {
          const int64_t place = row + std::countr_zero(close);
          if (null(place)) continue;
          places[found] = static_cast<uint16_t>(place - begin);
          bytes[found] = texts[place].data();
          __builtin_prefetch(bytes[found++]);
        }
      }
      for (int64_t i = 0; i < found; ++i)
        if (std::memcmp(bytes[i], needle.text.data(), needle.text.size()) == 0)
          set_bit(out, begin + places[i], true);
    }
  });
  return bits;
}

// Which rows' strings are one of `texts`; of null rows it says anything.
Buffer match_strings(const Column& column, const std::vector<std::string_view>& texts,
                     const Mask* where) {
  const auto* const words = reinterpret_cast<const uint64_t*>(column.values<StringView>().data());
  const std::vector<BufferAccess> accesses{reads(column)};
  std::vector<Needle> needles;
  for (const std::string_view text : texts) needles.emplace_back(text);
  // Without a branch, which would often be mispredicted.
  const auto same = [words](const Needle& needle, int64_t row) {
    return ((words[2 * row] ^ needle.words[0]) | (words[2 * row + 1] ^ needle.words[1])) == 0;
  };
  const auto each = [&](auto&& test) {
    return bits_of(column.num_rows(), accesses, test, where, kFewCheapRows);
  };
  if (needles.size() == 1 && needles[0].is_inline())
    return each([same, needle = needles[0]](int64_t row) { return same(needle, row); });
  if (needles.size() == 2 && needles[0].is_inline() && needles[1].is_inline())
    return each([same, a = needles[0], b = needles[1]](int64_t row) -> bool {
      return same(a, row) | same(b, row);
    });
  const Nulls null(column);
  if (needles.size() == 1) return match_long(column, needles[0], where);
  return bits_of(
      column.num_rows(), accesses,
      [&](int64_t row) {
        bool found = false;
        for (const Needle& needle : needles) {
          if (needle.is_inline())
            found |= same(needle, row);
          else if (words[2 * row] == needle.words[0])  // size and the first four bytes
            found |= !null(row) && column.string(row) == needle.text;
        }
        return found;
      },
      where);
}

Column compare_strings(Op op, const Column& column, std::string_view text,
                       const Mask* where = nullptr) {
  const int64_t rows = column.num_rows();
  const Nulls null(column);
  Buffer bits;
  if (op == Op::kEqual || op == Op::kNotEqual) {
    bits = match_strings(column, {text}, where);
    if (op == Op::kNotEqual && rows > 0) {
      uint8_t* const bytes = bits.mutable_as<uint8_t>();
      for (int64_t row = 0; row < rows; row += 64) {
        const int64_t count = std::min<int64_t>(64, rows - row);
        const uint64_t all = where ? where->word(row, count) : ~uint64_t{0} >> (64 - count);
        const uint64_t word = load_bits(bytes, row, count) ^ all;
        std::memcpy(bytes + row / 8, &word, static_cast<size_t>(bitmap_bytes(count)));
      }
    }
  } else {
    bits = bits_of(
        rows, {reads(column)},
        [&](int64_t row) { return !null(row) && holds(op, column.string(row).compare(text)); },
        where);
  }
  return bool_column(rows, std::move(bits), null.any(), null);
}

bool is_order(Op op) {
  return op != Op::kEqual && op != Op::kNotEqual;
}

[[noreturn]] void refuse_order(Op op, std::string_view what) {
  throw_error<TypeMismatchError>(op_row(op).name, what, {}, "use astype('string')");
}

Column compare_codes(Op op, const Column& left, const Column& right) {
  const int32_t* const a = left.values<int32_t>().data();
  const int32_t* const b = right.values<int32_t>().data();
  const Nulls left_null(left), right_null(right);
  const auto null = [&](int64_t row) { return left_null(row) || right_null(row); };
  Buffer bits = bits_of(left.num_rows(), {reads(left), reads(right)},
                        [&](int64_t row) { return !null(row) && holds(op, a[row] - b[row]); });
  return bool_column(left.num_rows(), std::move(bits), left_null.any() || right_null.any(), null);
}

// The code of a dictionary's text; -1 if it has none.
int32_t code_of(const Dictionary& dictionary, std::string_view text) {
  const int64_t size = dictionary.size();
  const Buffer bits = match_strings(dictionary.values(), {text}, nullptr);
  for (int64_t code = 0; code < size; code += 64)
    if (const uint64_t word =
            load_bits(bits.as<uint8_t>(), code, std::min<int64_t>(64, size - code)))
      return static_cast<int32_t>(code) + std::countr_zero(word);
  return -1;
}

NodePtr text_column(std::string_view op, const NodePtr& node) {
  const Signature& signature = node->signature();
  if (!(has_text(signature.dtype) || signature.dtype.is_category()) ||
      signature.form != Form::kColumn)
    throw_error<TypeMismatchError>(op, "expected a string column",
                                   {{"dtype", signature.dtype.name()}}, "use astype('string')");
  return node;
}

Signature bool_signature(const NodePtr& column) {
  Signature signature = column->signature();
  signature.dtype = TypeId::kBool;
  return signature;
}

}  // namespace

Column compare_text(Op op, const Column& column, std::string_view text, const Mask* where) {
  if constexpr (built_with_cuda)
    if (column.place().is_gpu() && column.dtype().is_string())
      return cuda::compare_text(op, column, text);
  if (!column.dtype().is_category()) return compare_strings(op, column, text, where);
  const Dictionary& dictionary = *column.dictionary();
  if (is_order(op) && !dictionary.is_ordered()) refuse_order(op, "these categories have no order");
  const int32_t code = code_of(dictionary, text);
  if (is_order(op) && code < 0) refuse_order(op, "the string is not one of the categories");
  if constexpr (built_with_cuda)
    if (column.place().is_gpu())
      return cuda::test_codes(column, bits_of(dictionary.size(), {}, [&](int64_t each) {
                                return holds(op, static_cast<int>(each) - code);
                              }));
  return compare_code(op, column, code, where);
}

Column is_one_of(const Column& column, const std::vector<std::string_view>& texts,
                 const Mask* where) {
  if (!column.dtype().is_category()) {
    Buffer bits = match_strings(column, texts, where);
    const Buffer valid = Nulls(column).bitmap(column.num_rows());
    for (int64_t i = 0; valid && i < bits.size_bytes(); ++i)
      bits.mutable_as<uint8_t>()[i] &= valid.as<uint8_t>()[i];
    return Column(TypeId::kBool, column.num_rows(), std::move(bits));
  }
  const Buffer entries = match_strings(column.dictionary()->values(), texts, nullptr);
  const int32_t* const codes = column.values<int32_t>().data();
  const Nulls null(column);
  return Column(
      TypeId::kBool, column.num_rows(),
      bits_of(
          column.num_rows(), {reads(column)},
          [&](int64_t row) { return !null(row) && get_bit(entries.as<uint8_t>(), codes[row]); },
          where));
}

Column compare_text(Op op, const Column& left, const Column& right) {
  if constexpr (built_with_cuda)
    if (left.place().is_gpu()) return cuda::compare_text(op, left, right);
  if (left.dtype().is_category() && right.dtype().is_category()) {
    const bool same = left.dictionary()->id() == right.dictionary()->id();
    if (is_order(op) && !(same && left.dictionary()->is_ordered()))
      refuse_order(op, "these categories have different orders");
    if (same) return compare_codes(op, left, right);
  } else if (is_order(op) && (left.dtype().is_category() || right.dtype().is_category())) {
    refuse_order(op, "categories and strings cannot be ordered");
  }
  const Column a = left.dtype().is_category() ? dictionary_decode(left) : left;
  const Column b = right.dtype().is_category() ? dictionary_decode(right) : right;
  const Nulls left_null(a), right_null(b);
  const auto null = [&](int64_t row) { return left_null(row) || right_null(row); };
  Buffer bits = bits_of(a.num_rows(), {reads(a), reads(b)}, [&](int64_t row) {
    return !null(row) && holds(op, a.string(row).compare(b.string(row)));
  });
  return bool_column(a.num_rows(), std::move(bits), left_null.any() || right_null.any(), null);
}

namespace {

/// Of a column with a constant.
struct StringComparison final : OperatorOf<StringComparison, Predicate>, MembershipTest {
  Op op{};
  std::string text{};

  std::string_view name() const override { return op_row(op).name; }

  std::string arguments() const override { return shortened(text); }

  bool supports(Place) const override { return true; }

  Column test(std::span<const Value> inputs, const Mask* where) const override {
    return compare_text(op, std::get<Column>(inputs[0]), text, where);
  }

  // Categories have an order of their own.
  NodePtr may_be_true(std::span<const NodePtr> inputs, const NodePtr& least,
                      const NodePtr& most) const override {
    if (is_order(op) && !inputs[0]->signature().dtype.is_string()) return nullptr;
    return may_compare(op, least, most, [this](Op each, const NodePtr& bound) {
      return compare_text(each, bound, text);
    });
  }

  std::optional<Column> members(std::span<const NodePtr> /*inputs*/) const override {
    if (op != Op::kEqual) return {};
    DictionaryBuilder one;
    one.add(text);
    return one.finish()->values();
  }

  static auto parameters(auto& self) { return std::tie(self.op, self.text); }
};

/// Of two columns.
struct StringColumnsComparison final : OperatorOf<StringColumnsComparison> {
  Op op{};

  std::string_view name() const override { return op_row(op).name; }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  int64_t rowwise_inputs() const override { return 2; }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    for (const Value& input : inputs)
      if (signature_of(input).dtype.is_category())
        return "comparing categories with a column has no kernel for CUDA";
    return {};
  }

  Value execute(std::span<const Value> inputs) const override {
    return compare_text(op, std::get<Column>(inputs[0]), std::get<Column>(inputs[1]));
  }

  static auto parameters(auto& self) { return std::tie(self.op); }
};

// What `where` chooses in a row: the view of a column, or one text for all rows, whose far text is
// `texts` buffers behind the ones before it.
struct Choice {
  const Column* column = nullptr;
  StringView text{};
  uint32_t texts = 0;

  Choice(const Column* from, const std::string& constant, std::vector<Buffer>& all)
      : column(from), texts(static_cast<uint32_t>(all.size())) {
    if (column) {
      all.insert(all.end(), column->text_buffers().begin(), column->text_buffers().end());
      return;
    }
    text.size = static_cast<uint32_t>(constant.size());
    if (constant.size() <= sizeof text.inlined) {
      std::memcpy(text.inlined, constant.data(), constant.size());
      return;
    }
    std::memcpy(text.indirect.prefix, constant.data(), sizeof text.indirect.prefix);
    text.indirect.buffer = texts;
    all.push_back(Buffer::allocate(static_cast<int64_t>(constant.size())));
    std::memcpy(all.back().mutable_data(), constant.data(), constant.size());
  }

  bool has_nulls() const { return column && column->null_count() > 0; }
  bool is_null(int64_t row) const { return column && column->is_null(row); }

  StringView at(int64_t row) const {
    if (!column) return text;
    StringView view = column->values<StringView>()[static_cast<size_t>(row)];
    if (view.size > sizeof view.inlined) view.indirect.buffer += texts;
    return view;
  }
};

struct StringWhere final : OperatorOf<StringWhere> {
  bool yes_is_text = false, no_is_text = false;  // rather than an input
  std::string yes{}, no{};

  std::string_view name() const override { return "where"; }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  int64_t rowwise_inputs() const override { return 3 - yes_is_text - no_is_text; }

  static auto parameters(auto& self) {
    return std::tie(self.yes_is_text, self.no_is_text, self.yes, self.no);
  }

  Value execute(std::span<const Value> inputs) const override {
    const auto& wanted = std::get<Column>(inputs[0]);
    const Column* left = yes_is_text ? nullptr : &std::get<Column>(inputs[1]);
    const Column* right = no_is_text ? nullptr : &std::get<Column>(inputs.back());
    if (left && right && left->dtype().is_category()) return of_categories(wanted, *left, *right);
    const int64_t rows = wanted.num_rows();
    std::vector<Buffer> text;
    const Choice chosen(left, yes, text), other(right, no, text);
    Buffer views = Buffer::allocate_spillable(16 * rows);
    const bool has_nulls = wanted.null_count() > 0 || chosen.has_nulls() || other.has_nulls();
    Buffer validity = has_nulls ? Buffer::allocate_zeroed(bitmap_bytes(rows)) : Buffer();
    std::vector<int64_t> nulls(static_cast<size_t>(num_morsels(rows)));
    if (rows > 0) {
      auto* const out = views.mutable_as<StringView>();
      uint8_t* const valid = has_nulls ? validity.mutable_as<uint8_t>() : nullptr;
      std::vector<BufferAccess> accesses{reads(wanted), writes(views, 16)};
      for (const Column* side : {left, right})
        if (side) accesses.push_back(reads(*side));
      parallel_morsels(rows, accesses, [&](Morsel morsel) {
        if (!left && !right && !has_nulls) {  // without a branch
          const StringView both[] = {other.text, chosen.text};
          const uint8_t* const bits = wanted.bits();
          for (int64_t row = morsel.begin; row < morsel.end; ++row)
            out[row] = both[get_bit(bits, wanted.offset() + row)];
          return;
        }
        for (int64_t row = morsel.begin; row < morsel.end; ++row) {
          const Choice& from = wanted.bit(row) ? chosen : other;
          if (has_nulls && (wanted.is_null(row) || from.is_null(row))) {
            out[row] = {};
            ++nulls[static_cast<size_t>(morsel.index)];
            continue;
          }
          out[row] = from.at(row);
          if (valid) set_bit(valid, row, true);
        }
      });
    }
    const int64_t missing = std::accumulate(nulls.begin(), nulls.end(), int64_t{0});
    return Column::strings(rows, std::move(views), std::move(text), std::move(validity), missing);
  }

 private:
  static Column of_categories(const Column& wanted, const Column& left, const Column& right) {
    const int64_t rows = wanted.num_rows();
    Buffer at = Buffer::allocate_spillable(8 * rows);
    if (rows > 0) {
      int64_t* const out = at.mutable_as<int64_t>();
      parallel_morsels(rows, {writes(at, 8)}, [&](Morsel morsel) {
        for (int64_t row = morsel.begin; row < morsel.end; ++row)
          out[row] = wanted.is_null(row) ? -1 : wanted.bit(row) ? row : rows + row;
      });
    }
    const Tensor rows_of(TypeId::kInt64, {rows}, std::move(at));
    const Column both = concatenate("where", left.dtype(), std::array{left, right});
    return wanted.null_count() > 0 ? gather_or_null(both, rows_of) : gather(both, rows_of);
  }
};

}  // namespace

NodePtr compare_text(Op op, const NodePtr& column, const std::string& text) {
  return apply_predicate(StringComparison::make(op, text),
                         bool_signature(text_column(op_row(op).name, column)), {column});
}

NodePtr compare_text(Op op, const NodePtr& left, const NodePtr& right) {
  const std::string_view name = op_row(op).name;
  check_same_rows(name, text_column(name, left), text_column(name, right));
  Signature signature = bool_signature(left);
  signature.nullable |= right->signature().nullable;
  return apply_operator(StringColumnsComparison::make(op), std::move(signature), {left, right});
}

NodePtr string_where(const NodePtr& condition, const TextPiece& yes, const TextPiece& no) {
  constexpr std::string_view kOp = "where";
  if (!condition->signature().dtype.is_bool())
    throw_error<TypeMismatchError>(kOp, "the condition must be bool",
                                   {{"dtype", condition->signature().dtype.name()}});
  const NodePtr test =
      condition->signature().form == Form::kTensor ? as_column(condition) : condition;
  std::vector<NodePtr> columns;
  const auto text_in = [&](const TextPiece& side) {
    if (const auto* text = std::get_if<std::string>(&side)) return *text;
    columns.push_back(text_column(kOp, std::get<NodePtr>(side)));
    check_same_rows(kOp, test, columns.back());
    return std::string();
  };
  const std::string chosen = text_in(yes), other = text_in(no);
  const bool of_categories = columns.size() == 2 && columns[0]->signature().dtype.is_category() &&
                             columns[0]->signature().dtype == columns[1]->signature().dtype;
  Signature signature = test->signature();
  signature.dtype = of_categories ? columns[0]->signature().dtype : Dtype(TypeId::kString);
  std::vector<NodePtr> inputs{test};
  for (const NodePtr& column : columns) {
    signature.nullable |= column->signature().nullable;
    if (signature.domain == 0) signature.domain = column->signature().domain;
    inputs.push_back(of_categories ? column : cast(column, TypeId::kString));
  }
  return apply_operator(StringWhere::make(std::holds_alternative<std::string>(yes),
                                          std::holds_alternative<std::string>(no), chosen, other),
                        std::move(signature), std::move(inputs));
}

}  // namespace hr
