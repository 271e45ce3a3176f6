// SPDX-License-Identifier: Apache-2.0
// Strings made of strings.
#include "headrace/functions/strings/string_transform.h"

#include "headrace/base/enum_names.h"
#include "headrace/functions/strings/letter_case.h"
#include "headrace/functions/strings/string_builder.h"

#include <algorithm>
#include <array>
#include <optional>

namespace hr {

namespace {

struct Character {
  uint32_t code = 0;
  size_t bytes = 1;  // 1 with a code above U+10FFFF: a byte that begins no character
};

constexpr uint32_t kNoCharacter = 0xFFFFFFFF;

Character character_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(text[i])); };
  const uint32_t first = byte(at);
  if (first < 0x80) return {first, 1};
  const size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + bytes > text.size()) return {kNoCharacter, 1};
  uint32_t code = first & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if (starts_character(text[at + i])) return {kNoCharacter, 1};
    code = code << 6 | (byte(at + i) & 0x3F);
  }
  return {code, bytes};
}

// Writes a character, at most 4 bytes.
size_t put_character(uint32_t code, char* out) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    out[0] = static_cast<char>(code);
    return 1;
  }
  if (code < 0x800) {
    out[0] = static_cast<char>(0xC0 | code >> 6);
    out[1] = tail(0);
    return 2;
  }
  if (code < 0x10000) {
    out[0] = static_cast<char>(0xE0 | code >> 12);
    out[1] = tail(6);
    out[2] = tail(0);
    return 3;
  }
  out[0] = static_cast<char>(0xF0 | code >> 18);
  out[1] = tail(12);
  out[2] = tail(6);
  out[3] = tail(0);
  return 4;
}

constexpr size_t kMostCaseBytes = 12;  // three characters of four bytes

/// What characters become.
class CaseTable {
 public:
  explicit CaseTable(LetterCase wanted)
      : runs_(wanted == LetterCase::kUpper ? std::span<const CaseRun>(kUpperRuns) : kLowerRuns),
        special_(wanted == LetterCase::kUpper ? std::span<const CaseSpecial>(kUpperSpecial)
                                              : kLowerSpecial) {}

  size_t put(uint32_t code, char* out) const {
    const auto special =
        std::lower_bound(special_.begin(), special_.end(), code,
                         [](const CaseSpecial& each, uint32_t value) { return each.from < value; });
    if (special != special_.end() && special->from == code) {
      size_t bytes = 0;
      for (const uint32_t to : special->to)
        if (to != 0) bytes += put_character(to, out + bytes);
      return bytes;
    }
    const auto run =
        std::lower_bound(runs_.begin(), runs_.end(), code,
                         [](const CaseRun& each, uint32_t value) { return each.last < value; });
    if (run != runs_.end() && run->first <= code && (code - run->first) % run->step == 0)
      code = static_cast<uint32_t>(static_cast<int32_t>(code) + run->change);
    return put_character(code, out);
  }

 private:
  std::span<const CaseRun> runs_;
  std::span<const CaseSpecial> special_;
};

bool is_ascii(std::string_view text) {
  uint8_t all = 0;
  for (const char byte : text) all |= static_cast<uint8_t>(byte);
  return all < 0x80;
}

void add_in_case(LetterCase wanted, const CaseTable& table, std::string_view text,
                 StringBuilder& builder) {
  if (is_ascii(text)) {
    const auto first = static_cast<uint8_t>(wanted == LetterCase::kUpper ? 'a' : 'A');
    char* const out = builder.reserve(text.size());
    for (size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<uint8_t>(text[i]);
      out[i] = static_cast<char>(byte ^ (static_cast<uint8_t>(byte - first) < 26 ? 0x20 : 0));
    }
    builder.used(text.size());
    return;
  }
  for (size_t at = 0; at < text.size();) {
    const Character from = character_at(text, at);
    char* const out = builder.reserve(kMostCaseBytes);
    if (from.code == kNoCharacter) {
      out[0] = text[at];
      builder.used(1);
    } else {
      builder.used(table.put(from.code, out));
    }
    at += from.bytes;
  }
}

// What Python's str.strip() takes away.
bool is_space(uint32_t code) {
  if (code < 0x80) return code == ' ' || (code >= 9 && code <= 13) || (code >= 28 && code <= 31);
  return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
         code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

template <class F>
std::string_view strip(std::string_view text, StripEnds ends, F&& is_gone) {
  size_t begin = 0, end = text.size();
  while (ends.left && begin < end) {
    const Character each = character_at(text, begin);
    if (!is_gone(each.code)) break;
    begin += each.bytes;
  }
  while (ends.right && end > begin) {
    size_t at = end - 1;
    while (at > begin && !starts_character(text[at])) --at;
    const Character each = character_at(text, at);
    if (at + each.bytes != end || !is_gone(each.code)) break;
    end = at;
  }
  return text.substr(begin, end - begin);
}

void add_replaced(std::string_view text, std::string_view old, std::string_view fresh, int64_t most,
                  StringBuilder& builder) {
  if (old.empty()) {
    for (size_t at = 0;;) {
      if (most != 0) builder.add(fresh);
      if (most > 0) --most;
      if (at >= text.size()) return;
      const size_t next = next_character(text, at);
      builder.add(text.substr(at, next - at));
      at = next;
    }
  }
  size_t at = 0;
  for (; most != 0; --most) {
    const void* const found = memmem(text.data() + at, text.size() - at, old.data(), old.size());
    if (!found) break;
    const auto begin = static_cast<size_t>(static_cast<const char*>(found) - text.data());
    builder.add(text.substr(at, begin - at));
    builder.add(fresh);
    at = begin + old.size();
  }
  builder.add(text.substr(at));
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

// `add(text, builder)` of each text of a column.
template <class F>
Column change_texts(const Column& column, F&& add) {
  return over_texts(column, [&](const Column& from) {
    const Nulls null(from);
    return build_strings(from.num_rows(), {reads(from)}, null, null.bitmap(from.num_rows()), [&] {
      return [&](int64_t row, StringBuilder& builder) { add(from.string(row), builder); };
    });
  });
}

}  // namespace

LetterCase letter_case_from_name(std::string_view name) {
  constexpr std::string_view kNames[] = {"upper", "lower"};
  return enum_from_name<LetterCase>("str", "case", name, kNames);
}

Column change_case(LetterCase wanted, const Column& column) {
  const CaseTable table(wanted);
  return change_texts(column, [&](std::string_view text, StringBuilder& builder) {
    add_in_case(wanted, table, text, builder);
  });
}

Column strip_text(const Column& column, StripEnds ends, std::string_view gone) {
  std::vector<uint32_t> codes;
  for (size_t at = 0; at < gone.size();) {
    const Character each = character_at(gone, at);
    codes.push_back(each.code);
    at += each.bytes;
  }
  return over_texts(column, [&](const Column& from) {
    return pieces_of(from, [&](std::string_view text) {
      if (codes.empty()) return strip(text, ends, is_space);
      return strip(text, ends, [&](uint32_t code) {
        return std::find(codes.begin(), codes.end(), code) != codes.end();
      });
    });
  });
}

Column replace_text(const Column& column, std::string_view old, std::string_view fresh,
                    int64_t most) {
  return change_texts(column, [&](std::string_view text, StringBuilder& builder) {
    add_replaced(text, old, fresh, most, builder);
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
    return wanted == LetterCase::kUpper ? "upper" : "lower";
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
