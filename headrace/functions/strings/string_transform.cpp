// SPDX-License-Identifier: Apache-2.0
// Strings made of strings.
#include "headrace/functions/strings/string_transform.h"

#include "headrace/base/enum_names.h"
#include "headrace/base/utf8.h"
#include "headrace/functions/strings/character_classes.h"
#include "headrace/functions/strings/characters.h"
#include "headrace/functions/strings/letter_case.h"
#include "headrace/functions/strings/string_builder.h"
#include "headrace/functions/strings/string_pieces_math.h"
#include "headrace/functions/strings/string_search_kernels.h"
#include "headrace/functions/strings/string_transform_kernels.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <utility>

namespace hr {

namespace {

constexpr std::string_view kCases[] = {"upper", "lower", "title", "capitalize", "swapcase"};
constexpr std::string_view kChanges[] = {"rjust", "ljust",  "center",
                                         "zfill", "repeat", "slice_replace"};
constexpr size_t kMostCaseBytes = 12;  // three characters of four bytes

const CaseSpecial* find_special(std::span<const CaseSpecial> all, uint32_t code) {
  const auto found =
      std::lower_bound(all.begin(), all.end(), code,
                       [](const CaseSpecial& each, uint32_t value) { return each.from < value; });
  return found != all.end() && found->from == code ? &*found : nullptr;
}

size_t put_special(const CaseSpecial& special, char* out) {
  size_t bytes = 0;
  for (const uint32_t to : special.to)
    if (to != 0) bytes += put_character(to, out + bytes);
  return bytes;
}

size_t put_mapped(std::span<const CaseRun> runs, std::span<const CaseSpecial> specials,
                  uint32_t code, char* out) {
  if (const CaseSpecial* const special = find_special(specials, code))
    return put_special(*special, out);
  const auto run =
      std::lower_bound(runs.begin(), runs.end(), code,
                       [](const CaseRun& each, uint32_t value) { return each.last < value; });
  if (run != runs.end() && run->first <= code && (code - run->first) % run->step == 0)
    code = static_cast<uint32_t>(static_cast<int32_t>(code) + run->change);
  return put_character(code, out);
}

size_t put_upper(uint32_t code, char* out) {
  return put_mapped(kUpperRuns, kUpperSpecial, code, out);
}

size_t put_lower(uint32_t code, char* out) {
  return put_mapped(kLowerRuns, kLowerSpecial, code, out);
}

size_t put_title(uint32_t code, char* out) {
  if (code >= 0x10D0 && code <= 0x10FF) return put_character(code, out);  // Georgian
  if (const CaseSpecial* const special = find_special(kTitleSpecial, code))
    return put_special(*special, out);
  return put_upper(code, out);
}

/// Writes the characters of one text in a case.
class CaseWriter {
 public:
  explicit CaseWriter(LetterCase wanted) : wanted_(wanted) {}

  size_t put(uint32_t code, char* out) {
    switch (wanted_) {
      case LetterCase::kUpper:
        return put_upper(code, out);
      case LetterCase::kLower:
        return put_lower(code, out);
      case LetterCase::kTitle: {
        const bool in_word =
            std::exchange(behind_letter_, (class_of(code) & (kIsLower | kIsUpper | kIsTitle)) != 0);
        return in_word ? put_lower(code, out) : put_title(code, out);
      }
      case LetterCase::kCapitalize:
        return std::exchange(behind_letter_, true) ? put_lower(code, out) : put_title(code, out);
      case LetterCase::kSwap:
        if (class_of(code) & kIsUpper) return put_lower(code, out);
        return class_of(code) & kIsLower ? put_upper(code, out) : put_character(code, out);
    }
    return 0;
  }

 private:
  LetterCase wanted_;
  bool behind_letter_ = false;
};

bool is_ascii_letter(uint8_t byte) {
  return static_cast<uint8_t>((byte | 0x20) - 'a') < 26;
}

// ASCII of one text in a case.
void put_ascii(LetterCase wanted, std::string_view text, char* out) {
  if (wanted == LetterCase::kUpper || wanted == LetterCase::kLower) {
    const auto first = static_cast<uint8_t>(wanted == LetterCase::kUpper ? 'a' : 'A');
    for (size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<uint8_t>(text[i]);
      out[i] = static_cast<char>(byte ^ (static_cast<uint8_t>(byte - first) < 26 ? 0x20 : 0));
    }
    return;
  }
  bool behind_letter = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    const bool letter = is_ascii_letter(byte);
    uint8_t made = byte;
    if (letter && wanted == LetterCase::kSwap)
      made = byte ^ 0x20;
    else if (letter)
      made = behind_letter ? byte | 0x20 : byte & 0xDF;
    behind_letter = letter || wanted == LetterCase::kCapitalize;
    out[i] = static_cast<char>(made);
  }
}

void add_in_case(LetterCase wanted, std::string_view text, StringBuilder& builder) {
  if (is_ascii(text)) {
    put_ascii(wanted, text, builder.reserve(text.size()));
    builder.used(text.size());
    return;
  }
  CaseWriter writer(wanted);
  for (size_t at = 0; at < text.size();) {
    const Character from = character_at(text, at);
    char* const out = builder.reserve(kMostCaseBytes);
    if (from.code == kNoCharacter) {
      out[0] = text[at];
      builder.used(1);
    } else {
      builder.used(writer.put(from.code, out));
    }
    at += from.bytes;
  }
}

// False, and adds nothing, where the text does not have it.
bool add_replaced(std::string_view text, std::string_view old, std::string_view fresh, int64_t most,
                  cpu::FindText find, StringBuilder& builder) {
  if (old.empty()) {
    for (size_t at = 0;;) {
      if (most != 0) builder.add(fresh);
      if (most > 0) --most;
      if (at >= text.size()) return true;
      const size_t next = next_character(text, at);
      builder.add(text.substr(at, next - at));
      at = next;
    }
  }
  size_t at = 0;
  for (; most != 0; --most) {
    const std::string_view rest = text.substr(at);
    const size_t found = find(rest, old);
    if (found == std::string_view::npos) break;
    builder.add(rest.substr(0, found));
    builder.add(fresh);
    at += found + old.size();
  }
  if (at > 0) builder.add(text.substr(at));
  return at > 0;
}

int64_t characters_in(std::string_view text) {
  return std::count_if(text.begin(), text.end(), starts_character);
}

void add_times(std::string_view part, int64_t times, StringBuilder& builder) {
  if (part.size() == 1 && times > 0) {
    const auto bytes = static_cast<size_t>(times);
    std::memset(builder.reserve(bytes), part[0], bytes);
    return builder.used(bytes);
  }
  for (int64_t k = 0; k < times; ++k) builder.add(part);
}

// The byte where a character begins, counted as Python's slices do.
size_t byte_at(std::string_view text, int64_t position, int64_t characters) {
  position = std::clamp<int64_t>(position < 0 ? position + characters : position, 0, characters);
  if (static_cast<size_t>(characters) == text.size()) return static_cast<size_t>(position);
  size_t at = 0;
  for (; position > 0; --position) at = next_character(text, at);
  return at;
}

void add_changed(TextChange change, std::string_view text, const TextChangeOptions& options,
                 StringBuilder& builder) {
  const auto& [size, fill, begin, end] = options;
  if (change == TextChange::kRepeat) return add_times(text, size, builder);
  const int64_t characters = characters_in(text);
  if (change == TextChange::kSliceReplace) {
    const size_t first = byte_at(text, begin.value_or(0), characters);
    const size_t last = byte_at(text, end.value_or(characters), characters);
    builder.add(text.substr(0, first));
    builder.add(fill);
    return builder.add(text.substr(std::max(first, last)));
  }
  const int64_t missing = std::max<int64_t>(size - characters, 0);
  if (change == TextChange::kZeroFill) {
    const bool sign = !text.empty() && (text[0] == '+' || text[0] == '-');
    builder.add(text.substr(0, sign));
    add_times("0", missing, builder);
    return builder.add(text.substr(sign));
  }
  const int64_t left = change == TextChange::kRightJustify  ? missing
                       : change == TextChange::kLeftJustify ? 0
                                                            : missing / 2 + (missing & size & 1);
  add_times(fill, left, builder);
  builder.add(text);
  add_times(fill, missing - left, builder);
}

void add_steps(std::string_view text, int64_t step, StringBuilder& builder) {
  const uint64_t every = step < 0 ? 0 - static_cast<uint64_t>(step) : static_cast<uint64_t>(step);
  uint64_t seen = 0;  // since the last one that was taken
  const auto take = [&](std::string_view character) {
    if (seen == 0) builder.add(character);
    if (++seen == every) seen = 0;
  };
  for (size_t at = 0; step > 0 && at < text.size();) {
    const size_t next = next_character(text, at);
    take(text.substr(at, next - at));
    at = next;
  }
  for (size_t end = text.size(); step < 0 && end > 0;) {
    size_t at = end - 1;
    while (at > 0 && !starts_character(text[at])) --at;
    take(text.substr(at, end - at));
    end = at;
  }
}

// `add(text, builder)` of each text of a column; where it returns false, the text stays.
template <class F>
Column change_texts(const Column& column, F&& add) {
  return over_texts(column, [&](const Column& from) {
    const Nulls null(from);
    const auto start = [&] {
      return [&](int64_t row, StringBuilder& builder) { return add(from.string(row), builder); };
    };
    return build_strings(from.num_rows(), {reads(from)}, null, null.bitmap(from.num_rows()), start,
                         &from);
  });
}

}  // namespace

LetterCase letter_case_from_name(std::string_view name) {
  return enum_from_name<LetterCase>("str", "case", name, kCases);
}

namespace {

constexpr uint64_t kOnes = 0x0101010101010101;  // a one in each byte

// The bit of letter case in the bytes of ASCII that change it.
uint64_t case_bits(LetterCase wanted, uint64_t word) {
  const uint64_t letters = wanted == LetterCase::kSwap ? word | 0x20 * kOnes : word;
  const uint64_t first = wanted == LetterCase::kLower ? 'A' : 'a';
  const uint64_t from = letters + (0x80 - first) * kOnes;
  const uint64_t behind = letters + (0x80 - first - 26) * kOnes;
  return ((from ^ behind) & 0x80 * kOnes) >> 2;
}

int64_t text_bytes(const Column& strings) {
  int64_t bytes = 0;
  for (const Buffer& text : strings.text_buffers()) bytes += text.size_bytes();
  return bytes;
}

// Text of ASCII in upper, lower or swapped case keeps its size, so all of it is changed where it
// is, and views stay; none if it is not ASCII, or if the rows use less than half of it.
std::optional<Column> change_ascii(LetterCase wanted, const Column& from) {
  const int64_t rows = from.num_rows();
  const Nulls null(from);
  const StringView* const in = from.values<StringView>().data();
  for (const Buffer& text : from.text_buffers())
    if (!is_ascii({text.as<char>(), static_cast<size_t>(text.size_bytes())})) return {};
  Buffer views = Buffer::allocate_spillable(16 * rows);
  if (rows == 0) return Column::strings(0, std::move(views), {});
  auto* const out = views.mutable_as<StringView>();
  std::atomic<int64_t> used{0};
  std::atomic<uint64_t> high{0};
  parallel_morsels(rows, {reads(from), writes(views, 16)}, [&](Morsel morsel) {
    int64_t far = 0;
    uint64_t all = 0;
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      uint64_t words[2] = {};
      if (!null(row)) std::memcpy(words, in + row, sizeof words);
      const auto size = static_cast<uint32_t>(words[0]);
      const uint64_t inlined = size <= sizeof in->inlined ? ~uint64_t{0} : 0;
      far += static_cast<int64_t>(size & ~inlined);
      const uint64_t text[2] = {words[0] & ~uint64_t{UINT32_MAX}, words[1] & inlined};
      all |= text[0] | text[1];
      words[0] ^= case_bits(wanted, text[0]);
      words[1] ^= case_bits(wanted, text[1]);
      std::memcpy(out + row, words, sizeof words);
    }
    used += far;
    high |= all;
  });
  if ((high & 0x80 * kOnes) != 0 || 2 * used < text_bytes(from)) return {};
  std::vector<Buffer> texts;
  for (const Buffer& text : from.text_buffers()) {
    Buffer& made = texts.emplace_back(Buffer::allocate_spillable(text.size_bytes()));
    if (text.size_bytes() == 0) continue;
    char* const to = made.mutable_as<char>();
    parallel_morsels(text.size_bytes(), {{&text, 0, 8, 8, text.size_bytes()}, writes(made, 1)},
                     [&](Morsel morsel) {
                       const auto size = static_cast<size_t>(morsel.end - morsel.begin);
                       put_ascii(wanted, {text.as<char>() + morsel.begin, size}, to + morsel.begin);
                     });
  }
  return Column::strings(rows, std::move(views), std::move(texts), null.bitmap(rows),
                         null.any() ? -1 : 0);
}

}  // namespace

Column change_case(LetterCase wanted, const Column& column) {
  if constexpr (built_with_cuda)
    if (column.place().is_gpu()) return cuda::change_case(wanted, column);
  const bool keeps_size = wanted != LetterCase::kTitle && wanted != LetterCase::kCapitalize;
  if (column.dtype().is_string() && keeps_size)
    if (std::optional<Column> made = change_ascii(wanted, column)) return *std::move(made);
  return change_texts(column, [&](std::string_view text, StringBuilder& builder) {
    add_in_case(wanted, text, builder);
  });
}

Column strip_text(const Column& column, StripEnds ends, std::string_view gone) {
  std::vector<uint32_t> codes;
  for (size_t at = 0; at < gone.size();) {
    const Character each = character_at(gone, at);
    codes.push_back(each.code);
    at += each.bytes;
  }
  if constexpr (built_with_cuda)
    if (column.place().is_gpu()) return cuda::strip_text(column, ends, codes);
  return over_texts(column, [&](const Column& from) {
    return pieces_of(from, [&](std::string_view text) {
      if (codes.empty()) return stripped(text, ends.left, ends.right, is_space);
      return stripped(text, ends.left, ends.right, [&](uint32_t code) {
        return std::find(codes.begin(), codes.end(), code) != codes.end();
      });
    });
  });
}

Column replace_text(const Column& column, std::string_view old, std::string_view fresh,
                    int64_t most) {
  return change_texts(column,
                      [&, find = cpu::find_text()](std::string_view text, StringBuilder& builder) {
                        return add_replaced(text, old, fresh, most, find, builder);
                      });
}

TextChange text_change_from_name(std::string_view name) {
  return enum_from_name<TextChange>("str", "method", name, kChanges);
}

Column change_text(TextChange change, const Column& column, const TextChangeOptions& options) {
  return change_texts(column, [&](std::string_view text, StringBuilder& builder) {
    add_changed(change, text, options, builder);
  });
}

Column step_text(const Column& column, int64_t step) {
  return change_texts(column, [step](std::string_view text, StringBuilder& builder) {
    add_steps(text, step, builder);
  });
}

namespace {

struct StringCase final : OperatorOf<StringCase, StringOperator> {
  LetterCase wanted{};

  std::string arguments() const override {
    return std::string(kCases[static_cast<size_t>(wanted)]);
  }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    if (wanted != LetterCase::kUpper && wanted != LetterCase::kLower)
      return "this case has no kernel for CUDA";
    if (std::string why = why_categories(inputs[0]); !why.empty()) return why;
    if constexpr (built_with_cuda) return cuda::why_no_case_kernel(std::get<Column>(inputs[0]));
    return {};
  }

  Value execute(std::span<const Value> inputs) const override {
    return change_case(wanted, std::get<Column>(inputs[0]));
  }

  static auto parameters(auto& self) { return std::tie(self.wanted); }
};

struct StringStrip final : OperatorOf<StringStrip, StringOperator> {
  StripEnds ends{};
  std::string gone{};

  std::string arguments() const override { return "strip"; }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    return why_categories(inputs[0]);
  }

  Value execute(std::span<const Value> inputs) const override {
    return strip_text(std::get<Column>(inputs[0]), ends, gone);
  }

  static auto parameters(auto& self) { return std::tie(self.ends, self.gone); }
};

struct StringReplace final : OperatorOf<StringReplace, StringOperator> {
  std::string old{};
  std::string fresh{};
  int64_t most = 0;

  std::string arguments() const override { return "replace " + shortened(old); }

  Value execute(std::span<const Value> inputs) const override {
    return replace_text(std::get<Column>(inputs[0]), old, fresh, most);
  }

  static auto parameters(auto& self) { return std::tie(self.old, self.fresh, self.most); }
};

struct StringChange final : OperatorOf<StringChange, StringOperator> {
  TextChange change{};
  TextChangeOptions options{};

  std::string arguments() const override {
    return std::string(kChanges[static_cast<size_t>(change)]);
  }

  Value execute(std::span<const Value> inputs) const override {
    return change_text(change, std::get<Column>(inputs[0]), options);
  }

  static auto parameters(auto& self) { return std::tie(self.change, self.options); }
};

struct StringStep final : OperatorOf<StringStep, StringOperator> {
  int64_t step = 1;

  std::string arguments() const override { return "step " + std::to_string(step); }

  Value execute(std::span<const Value> inputs) const override {
    return step_text(std::get<Column>(inputs[0]), step);
  }

  static auto parameters(auto& self) { return std::tie(self.step); }
};

struct StringConcat final : OperatorOf<StringConcat, StringOperator> {
  std::vector<std::optional<std::string>> pieces{};  // literal strings; none: the next input

  std::string arguments() const override { return "concatenate"; }

  int64_t rowwise_inputs() const override {
    return std::count(pieces.begin(), pieces.end(), std::nullopt);
  }

  Value execute(std::span<const Value> inputs) const override {
    std::vector<Column> columns;
    std::vector<BufferAccess> accesses;
    for (const Value& value : inputs) columns.push_back(text_of(std::get<Column>(value)));
    std::vector<Nulls> nulls;
    bool nullable = false;
    for (const Column& column : columns) {
      accesses.push_back(reads(column));
      nulls.emplace_back(column);
      nullable |= nulls.back().any();
    }
    const int64_t rows = columns[0].num_rows();
    const auto null = [&](int64_t row) {
      return std::any_of(nulls.begin(), nulls.end(),
                         [row](const Nulls& each) { return each(row); });
    };
    Buffer validity;
    if (nullable) validity = bits_of(rows, {}, [&](int64_t row) { return !null(row); });
    return build_strings(rows, accesses, null, std::move(validity), [&] {
      return [&](int64_t row, StringBuilder& builder) {
        const Column* next = columns.data();
        for (const auto& text : pieces)
          builder.add(text ? std::string_view(*text) : (next++)->string(row));
      };
    });
  }

  static auto parameters(auto& self) { return std::tie(self.pieces); }
};

}  // namespace

NodePtr change_case(LetterCase wanted, const NodePtr& column) {
  return apply_operator(StringCase::make(wanted), text_signature(column, TypeId::kString),
                        {column});
}

NodePtr strip_text(const NodePtr& column, StripEnds ends, const std::string& gone) {
  return apply_operator(StringStrip::make(ends, gone), text_signature(column, TypeId::kString),
                        {column});
}

NodePtr replace_text(const NodePtr& column, const std::string& old, const std::string& fresh,
                     int64_t most) {
  return apply_operator(StringReplace::make(old, fresh, most),
                        text_signature(column, TypeId::kString), {column});
}

NodePtr change_text(TextChange change, const NodePtr& column, const TextChangeOptions& options) {
  return apply_operator(StringChange::make(change, options),
                        text_signature(column, TypeId::kString), {column});
}

NodePtr step_text(const NodePtr& column, int64_t step) {
  if (step == 0) throw_error<InvalidArgumentError>("str", "the step of a slice is 0");
  return apply_operator(StringStep::make(step), text_signature(column, TypeId::kString), {column});
}

NodePtr concatenate_text(const std::vector<TextPiece>& pieces) {
  std::vector<std::optional<std::string>> order;
  std::vector<NodePtr> inputs;
  for (const TextPiece& piece : pieces) {
    if (const auto* text = std::get_if<std::string>(&piece)) {
      order.emplace_back(*text);
      continue;
    }
    const NodePtr& node = std::get<NodePtr>(piece);
    check_text(node->signature());
    order.emplace_back();
    inputs.push_back(node);
  }
  if (inputs.empty()) throw_error<InvalidArgumentError>("str", "no columns to concatenate");
  Signature signature = inputs[0]->signature();
  for (const NodePtr& node : inputs) {
    const Signature& other = node->signature();
    if (!signature.same_rows(other) ||
        (signature.domain != 0 && other.domain != 0 && signature.domain != other.domain))
      throw_error<InvalidArgumentError>("str", "columns have different lengths or frames",
                                        {signature.rows_detail("left"), other.rows_detail("right")},
                                        "bring them into one frame with merge or join first");
    signature.nullable |= other.nullable;
  }
  signature.dtype = TypeId::kString;
  return apply_operator(StringConcat::make(std::move(order)), std::move(signature),
                        std::move(inputs));
}

}  // namespace hr
