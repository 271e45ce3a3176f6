// SPDX-License-Identifier: Apache-2.0
// Regular expressions by RE2. Each morsel compiles its own: threads then share no cache of states.
#include "headrace/functions/strings/string_regex.h"

#include "headrace/algo/select/map_rows.h"
#include "headrace/base/enum_names.h"
#include "headrace/base/utf8.h"
#include "headrace/functions/strings/byte_runs.h"
#include "headrace/functions/strings/regex_syntax.h"
#include "headrace/functions/strings/string_search_kernels.h"
#include "headrace/functions/strings/text_pieces.h"

#include <algorithm>
#include <memory>
#include <optional>

#ifdef HR_WITH_RE2
#include <re2/re2.h>
#endif

namespace hr {

namespace {

constexpr std::string_view kAnchors[] = {"contains", "match", "fullmatch"};

}  // namespace

RegexAnchor regex_anchor_from_name(std::string_view name) {
  return enum_from_name<RegexAnchor>("str", "test", name, kAnchors);
}

RegexPattern regex_pattern(std::string op, const std::string& pattern, const std::string& flags) {
  std::string letters = flags;
  const bool is_ascii = std::erase(letters, 'a') > 0;
  return {std::move(op), letters.empty() ? pattern : "(?" + letters + ")" + pattern, is_ascii};
}

#ifdef HR_WITH_RE2

namespace {

using Regex = std::unique_ptr<const re2::RE2>;

Regex compile(const RegexPattern& pattern, const std::string& text) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto regex = std::make_unique<re2::RE2>(text, options);
  if (!regex->ok())
    throw_error<InvalidArgumentError>(
        pattern.op, "invalid RE2 pattern",
        {{"pat", pattern.text}, {"reason", regex->error()}, {"at", regex->error_arg()}},
        "pass regex=False to match the pattern literally");
  return regex;
}

Regex compile(const RegexPattern& pattern) {
  return compile(pattern, pattern.text);
}

re2::StringPiece piece_of(std::string_view text) {
  return {text.data(), text.size()};
}

std::string_view view_of(const re2::StringPiece& piece) {
  return {piece.data(), piece.size()};
}

// The longest string that each match of a pattern has, as far as plain letters tell; empty:
// unknown.
std::string required_literal(std::string_view pattern) {
  std::string best, run;
  const auto end_run = [&] {
    if (run.size() > best.size()) best = run;
    run.clear();
  };
  for (size_t at = 0; at < pattern.size(); ++at) {
    const char letter = pattern[at];
    if (letter == '|' || letter == '(' || letter == ')' || letter == '{') return {};
    if (letter == '\\') {
      if (++at == pattern.size()) return {};
      if (std::string_view("dDwWsSbB").find(pattern[at]) != std::string_view::npos)
        end_run();
      else if (std::string_view(".^$*+?{}[]|()\\-/ ").find(pattern[at]) != std::string_view::npos)
        run += pattern[at];
      else
        return {};
    } else if (letter == '[') {
      end_run();
      const size_t end = pattern.find(']', at + 1);
      if (end == std::string_view::npos) return {};
      const std::string_view members = pattern.substr(at + 1, end - at - 1);
      if (members.empty() || members == "^" || members.find_first_of("[\\") != members.npos)
        return {};
      at = end;
    } else if (letter == '*' || letter == '?') {  // what is before it may be missing
      while (!run.empty() && !starts_character(run.back())) run.pop_back();
      if (!run.empty()) run.pop_back();
      end_run();
    } else if (letter == '+' || letter == '.' || letter == '^' || letter == '$') {
      end_run();
    } else {
      run += letter;
    }
  }
  end_run();
  return best.size() > 1 ? best : std::string();
}

// Finds a pattern in strings. One thread uses it.
class Matcher {
 public:
  explicit Matcher(const RegexPattern& pattern)
      : pattern_(pattern), regex_(compile(pattern)), runs_(ByteRuns::of(pattern.text)) {
    if (!pattern.is_ascii) unicode_ = unicode_pattern(pattern.text);
    if (pattern.text.find_first_of("\\.^$*+?{}[]|()") == std::string::npos) literal_ = pattern.text;
    if (!runs_) required_ = required_literal(pattern.text);
  }

  const re2::RE2& regex() const { return *regex_; }

  /// The pattern as a string needs it: classes of ASCII serve a string of ASCII, and cost less.
  /// Null where nothing matches. Reads the whole string: ask once for each.
  const re2::RE2* regex_of(std::string_view text) const {
    if (!unicode_.differs || is_ascii(text)) return regex_.get();
    if (!may_match(text)) return nullptr;
    if (!unicode_.lacking.empty() && has_wide_word_characters(text))
      throw_error<UnsupportedError>(
          pattern_.op, "RE2 knows letters of ASCII only in a part of this pattern",
          {{"pat", pattern_.text}, {"part", unicode_.lacking}, {"text", shortened(text)}},
          "pass flags=re.ASCII if words have letters of ASCII only, or map a function of Python's "
          "re");
    if (!wide_) wide_ = compile(pattern_, unicode_.text);
    return wide_.get();
  }

  /// The first match from `at` on by the string's own pattern, with as many groups as there is
  /// room for.
  bool find(const re2::RE2& own, std::string_view text, size_t at,
            std::vector<re2::StringPiece>& groups) const {
    if (runs_ && &own == regex_.get())
      return (groups[0] = piece_of(runs_->find(text, at))).data() != nullptr;
    if (!literal_.empty()) {
      const size_t found = find_text_(text.substr(at), literal_);
      if (found == std::string_view::npos) return false;
      groups[0] = piece_of(text.substr(at + found, literal_.size()));
      return true;
    }
    return may_match(text.substr(at)) &&
           own.Match(piece_of(text), at, text.size(), re2::RE2::UNANCHORED, groups.data(),
                     static_cast<int>(groups.size()));
  }

  /// False only where nothing matches.
  bool may_match(std::string_view text) const {
    return required_.empty() || find_text_(text, required_) != std::string_view::npos;
  }

 private:
  RegexPattern pattern_;
  Regex regex_;
  UnicodePattern unicode_{};
  mutable Regex wide_{};  // of the pattern in Unicode, once a string needs it
  // Instead, of a pattern without groups:
  std::optional<ByteRuns> runs_;
  std::string literal_{};
  std::string required_{};  // each match has it
  cpu::FindText find_text_ = cpu::find_text();
};

re2::RE2::Anchor anchor_of(RegexAnchor anchor) {
  return anchor == RegexAnchor::kAnywhere ? re2::RE2::UNANCHORED
         : anchor == RegexAnchor::kStart  ? re2::RE2::ANCHOR_START
                                          : re2::RE2::ANCHOR_BOTH;
}

Column test_strings(RegexAnchor anchor, const Column& strings, const RegexPattern& pattern,
                    const Mask* where) {
  const int64_t rows = strings.num_rows();
  const Nulls null(strings);
  Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(rows));
  if (rows > 0) {
    auto* const out = bits.mutable_as<uint8_t>();
    parallel_morsels(rows, {reads(strings)}, [&](Morsel morsel) {
      const Matcher matcher(pattern);
      for (int64_t row = morsel.begin; row < morsel.end; ++row) {
        if (null(row) || (where && where->word(row, 1) == 0)) continue;
        const std::string_view text = strings.string(row);
        if (!matcher.may_match(text)) continue;
        const re2::RE2* const own = matcher.regex_of(text);
        if (own && own->Match(piece_of(text), 0, text.size(), anchor_of(anchor), nullptr, 0))
          set_bit(out, row, true);
      }
    });
  }
  return bool_column(rows, std::move(bits), null.any(), null);
}

// What a match becomes: literal strings and groups in turn.
class Replacement {
 public:
  Replacement(const RegexPattern& pattern, const re2::RE2& regex, const std::string& fresh)
      : pattern_(pattern), regex_(regex) {
    for (size_t at = 0; at < fresh.size(); ++at) {
      if (fresh[at] != '\\' || at + 1 == fresh.size()) {
        add_letter(fresh[at]);
        continue;
      }
      const char next = fresh[++at];
      if (next == 'g' && at + 1 < fresh.size() && fresh[at + 1] == '<') {
        const size_t end = fresh.find('>', at);
        if (end == std::string::npos) refuse(fresh, "a group name is not closed");
        add_group(fresh, fresh.substr(at + 2, end - at - 2));
        at = end;
      } else if (next >= '1' && next <= '9') {
        size_t digits = 1;
        if (at + 1 < fresh.size() && is_digit(fresh[at + 1])) ++digits;
        add_group(fresh, fresh.substr(at, digits));
        at += digits - 1;
      } else if (next == 'n') {
        add_letter('\n');
      } else if (next == 't') {
        add_letter('\t');
      } else if (is_letter(next) || is_digit(next)) {
        refuse(fresh, "unknown escape");
      } else {
        if (next != '\\') add_letter('\\');
        add_letter(next);
      }
    }
  }

  int num_groups() const { return most_group_ + 1; }

  void add_to(StringBuilder& builder, const std::vector<re2::StringPiece>& groups) const {
    for (const Piece& piece : pieces_)
      builder.add(piece.group < 0 ? std::string_view(piece.text)
                                  : view_of(groups[static_cast<size_t>(piece.group)]));
  }

 private:
  struct Piece {
    int group = -1;
    std::string text{};
  };

  static bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

  static bool is_letter(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
  }

  [[noreturn]] void refuse(const std::string& fresh, std::string_view what) const {
    throw_error<InvalidArgumentError>(pattern_.op, what, {{"pat", pattern_.text}, {"repl", fresh}},
                                      "groups are \\1 or \\g<name>, a backslash is \\\\");
  }

  void add_letter(char letter) {
    if (pieces_.empty() || pieces_.back().group >= 0) pieces_.emplace_back();
    pieces_.back().text.push_back(letter);
  }

  void add_group(const std::string& fresh, const std::string& name) {
    int group = -1;
    if (!name.empty() && name.size() < 4 && std::all_of(name.begin(), name.end(), is_digit)) {
      group = std::stoi(name);
    } else {
      const auto& names = regex_.NamedCapturingGroups();
      if (const auto found = names.find(name); found != names.end()) group = found->second;
    }
    if (group < 0 || group > regex_.NumberOfCapturingGroups())
      refuse(fresh, "unknown group in the replacement");
    pieces_.push_back({group, {}});
    most_group_ = std::max(most_group_, group);
  }

  const RegexPattern& pattern_;
  const re2::RE2& regex_;
  std::vector<Piece> pieces_{};
  int most_group_ = 0;
};

// `visit(begin, end)` of the first `most` (negative: all) matches, with their groups.
template <class Visit>
void for_each_match(const Matcher& regex, std::string_view text, int64_t most,
                    std::vector<re2::StringPiece>& groups, const Visit& visit) {
  const re2::RE2* const own = regex.regex_of(text);
  for (size_t at = 0; own && most != 0 && at <= text.size(); --most) {
    if (!regex.find(*own, text, at, groups)) return;
    const auto begin = static_cast<size_t>(groups[0].data() - text.data());
    const size_t end = begin + groups[0].size();
    visit(begin, end);
    at = end > begin ? end : end < text.size() ? next_character(text, end) : end + 1;
  }
}

// False, and adds nothing, where nothing matches.
bool add_replaced(const Matcher& regex, const Replacement& fresh, std::string_view text,
                  int64_t most, std::vector<re2::StringPiece>& groups, StringBuilder& builder) {
  size_t copied = 0;
  bool found = false;
  for_each_match(regex, text, most, groups, [&](size_t begin, size_t end) {
    found = true;
    builder.add(text.substr(copied, begin - copied));
    fresh.add_to(builder, groups);
    copied = end;
  });
  if (found) builder.add(text.substr(copied));
  return found;
}

Column extract_group(const Column& from, const RegexPattern& pattern, int64_t group) {
  const int64_t rows = from.num_rows();
  const Nulls null(from);
  Buffer views = Buffer::allocate_spillable(16 * rows);
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
  if (rows > 0) {
    auto* const out = views.mutable_as<StringView>();
    auto* const valid = validity.mutable_as<uint8_t>();
    const StringView* const in = from.values<StringView>().data();
    parallel_morsels(rows, {reads(from), writes(views, 16)}, [&](Morsel morsel) {
      const Matcher matcher(pattern);
      std::vector<re2::StringPiece> groups(static_cast<size_t>(group) + 1);
      for (int64_t row = morsel.begin; row < morsel.end; ++row) {
        out[row] = {};
        if (null(row)) continue;
        const std::string_view text = from.string(row);
        const re2::RE2* const own = matcher.regex_of(text);
        if (!own ||
            !own->Match(piece_of(text), 0, text.size(), re2::RE2::UNANCHORED, groups.data(),
                        static_cast<int>(groups.size())) ||
            !groups.back().data())
          continue;
        out[row] = view_of_part(in[row], text, view_of(groups.back()));
        set_bit(valid, row, true);
      }
    });
  }
  return from.with_rows(rows, std::move(views), std::move(validity), -1);
}

}  // namespace

Column test_regex(RegexAnchor anchor, const Column& column, const RegexPattern& pattern,
                  const Mask* where) {
  if (!column.dtype().is_category()) return test_strings(anchor, column, pattern, where);
  const Column entries = test_strings(anchor, column.dictionary()->values(), pattern, nullptr);
  return test_codes(column, [&](int32_t code) { return get_bit(entries.bits(), code); }, where);
}

namespace {

struct RegexTest final : OperatorOf<RegexTest, Predicate> {
  RegexAnchor anchor{};
  RegexPattern pattern{};

  std::string_view name() const override { return "str"; }

  std::string arguments() const override {
    return std::string(kAnchors[static_cast<size_t>(anchor)]) + " /" + shortened(pattern.text) +
           "/";
  }

  Column test(std::span<const Value> inputs, const Mask* where) const override {
    return test_regex(anchor, std::get<Column>(inputs[0]), pattern, where);
  }

  static auto parameters(auto& self) { return std::tie(self.anchor, self.pattern); }
};

}  // namespace

NodePtr test_regex(RegexAnchor anchor, const NodePtr& column, const RegexPattern& pattern) {
  compile(pattern);
  return apply_predicate(RegexTest::make(anchor, pattern), text_signature(column, TypeId::kBool),
                         {column});
}

Column replace_regex(const Column& column, const RegexPattern& pattern, const std::string& fresh,
                     int64_t most) {
  return over_texts(column, [&](const Column& from) {
    const Nulls null(from);
    const auto start = [&] {
      const auto regex = std::make_shared<const Matcher>(pattern);
      const Replacement made(pattern, regex->regex(), fresh);
      std::vector<re2::StringPiece> groups(static_cast<size_t>(made.num_groups()));
      return [&from, most, regex, made, groups](int64_t row, StringBuilder& builder) mutable {
        return add_replaced(*regex, made, from.string(row), most, groups, builder);
      };
    };
    return build_strings(from.num_rows(), {reads(from)}, null, null.bitmap(from.num_rows()), start,
                         &from);
  });
}

namespace {

struct RegexReplace final : OperatorOf<RegexReplace, StringOperator> {
  RegexPattern pattern{};
  std::string fresh{};
  int64_t most = 0;

  std::string arguments() const override { return "replace /" + shortened(pattern.text) + "/"; }

  Value execute(std::span<const Value> inputs) const override {
    return replace_regex(std::get<Column>(inputs[0]), pattern, fresh, most);
  }

  static auto parameters(auto& self) { return std::tie(self.pattern, self.fresh, self.most); }
};

struct RegexExtract final : OperatorOf<RegexExtract, StringOperator> {
  RegexPattern pattern{};
  int64_t group = 0;

  std::string arguments() const override { return "extract /" + shortened(pattern.text) + "/"; }

  Value execute(std::span<const Value> inputs) const override {
    return over_texts(std::get<Column>(inputs[0]), [&](const Column& strings) {
      return extract_group(strings, pattern, group);
    });
  }

  static auto parameters(auto& self) { return std::tie(self.pattern, self.group); }
};

}  // namespace

NodePtr replace_regex(const NodePtr& column, const RegexPattern& pattern, const std::string& fresh,
                      int64_t most) {
  const Regex regex = compile(pattern);
  Replacement(pattern, *regex, fresh);  // says what is wrong with it now
  return apply_operator(RegexReplace::make(pattern, fresh, most),
                        text_signature(column, TypeId::kString), {column});
}

Column split_regex(const Column& column, const RegexPattern& pattern, int64_t most) {
  return lists_of_pieces(text_of(column), [&] {
    return [most, regex = Matcher(pattern), groups = std::vector<re2::StringPiece>(1)](
               std::string_view text, const auto& add) mutable {
      size_t begin = 0;
      for_each_match(regex, text, most, groups, [&](size_t at, size_t end) {
        add(text.substr(begin, at - begin));
        begin = end;
      });
      add(text.substr(begin));
    };
  });
}

Column find_all(const Column& column, const RegexPattern& pattern) {
  return lists_of_pieces(text_of(column), [&] {
    Matcher matcher(pattern);
    const int groups = 1 + matcher.regex().NumberOfCapturingGroups();
    return [regex = std::move(matcher),
            found = std::vector<re2::StringPiece>(static_cast<size_t>(groups))](
               std::string_view text, const auto& add) mutable {
      for_each_match(regex, text, -1, found, [&](size_t, size_t) {
        add(found.back().data() ? view_of(found.back()) : text.substr(0, 0));
      });
    };
  });
}

Column count_regex(const Column& column, const RegexPattern& pattern) {
  const Column from = text_of(column);
  const Nulls null(from);
  return map_morsels<int64_t>(from, TypeId::kInt64, [&](Morsel morsel, int64_t* out) {
    const Matcher regex(pattern);
    std::vector<re2::StringPiece> groups(1);
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      int64_t count = 0;
      if (!null(row))
        for_each_match(regex, from.string(row), -1, groups, [&](size_t, size_t) { ++count; });
      out[row] = count;
    }
  });
}

namespace {

struct RegexSplit final : OperatorOf<RegexSplit, StringOperator> {
  RegexPattern pattern{};
  int64_t most = 0;

  std::string arguments() const override { return "split /" + shortened(pattern.text) + "/"; }

  Value execute(std::span<const Value> inputs) const override {
    return split_regex(std::get<Column>(inputs[0]), pattern, most);
  }

  static auto parameters(auto& self) { return std::tie(self.pattern, self.most); }
};

struct RegexFindAll final : OperatorOf<RegexFindAll, StringOperator> {
  RegexPattern pattern{};

  std::string arguments() const override { return "findall /" + shortened(pattern.text) + "/"; }

  Value execute(std::span<const Value> inputs) const override {
    return find_all(std::get<Column>(inputs[0]), pattern);
  }

  static auto parameters(auto& self) { return std::tie(self.pattern); }
};

struct RegexCount final : OperatorOf<RegexCount, StringOperator> {
  RegexPattern pattern{};

  std::string arguments() const override { return "count /" + shortened(pattern.text) + "/"; }

  Value execute(std::span<const Value> inputs) const override {
    return count_regex(std::get<Column>(inputs[0]), pattern);
  }

  static auto parameters(auto& self) { return std::tie(self.pattern); }
};

void refuse_groups(const RegexPattern& pattern, int most) {
  if (const int groups = compile(pattern)->NumberOfCapturingGroups(); groups > most)
    throw_error<InvalidArgumentError>(pattern.op, "the pattern has too many groups",
                                      {{"pat", pattern.text}, {"groups", groups}, {"most", most}},
                                      "write (?:...) for a group that is not wanted");
}

}  // namespace

NodePtr split_regex(const NodePtr& column, const RegexPattern& pattern, int64_t most) {
  refuse_groups(pattern, 0);
  return apply_operator(RegexSplit::make(pattern, most),
                        text_signature(column, Dtype::list(TypeId::kString)), {column});
}

NodePtr find_all(const NodePtr& column, const RegexPattern& pattern) {
  refuse_groups(pattern, 1);
  return apply_operator(RegexFindAll::make(pattern),
                        text_signature(column, Dtype::list(TypeId::kString)), {column});
}

NodePtr count_regex(const NodePtr& column, const RegexPattern& pattern) {
  compile(pattern);
  return apply_operator(RegexCount::make(pattern), text_signature(column, TypeId::kInt64),
                        {column});
}

std::vector<std::pair<std::string, NodePtr>> extract_regex(const NodePtr& column,
                                                           const RegexPattern& pattern) {
  const Regex regex = compile(pattern);
  const int count = regex->NumberOfCapturingGroups();
  if (count == 0)
    throw_error<InvalidArgumentError>(pattern.op, "the pattern has no group",
                                      {{"pat", pattern.text}},
                                      "put the part to extract in parentheses: (\\d+)");
  const auto& names = regex->CapturingGroupNames();
  std::vector<std::pair<std::string, NodePtr>> made;
  for (int group = 1; group <= count; ++group) {
    const auto name = names.find(group);
    Signature signature = text_signature(column, TypeId::kString);
    signature.nullable = true;  // where nothing matches
    made.emplace_back(name == names.end() ? std::to_string(group - 1) : name->second,
                      apply_operator(RegexExtract::make(pattern, group), signature, {column}));
  }
  return made;
}

#else

namespace {

[[noreturn]] void no_regex(const RegexPattern& pattern) {
  throw_error<UnsupportedError>(pattern.op, "this build does not include RE2",
                                {{"pat", pattern.text}},
                                "pass regex=False, or build with RE2 (libre2-dev)");
}

}  // namespace

Column test_regex(RegexAnchor, const Column&, const RegexPattern& pattern, const Mask*) {
  no_regex(pattern);
}

NodePtr test_regex(RegexAnchor, const NodePtr&, const RegexPattern& pattern) {
  no_regex(pattern);
}

Column replace_regex(const Column&, const RegexPattern& pattern, const std::string&, int64_t) {
  no_regex(pattern);
}

NodePtr replace_regex(const NodePtr&, const RegexPattern& pattern, const std::string&, int64_t) {
  no_regex(pattern);
}

Column split_regex(const Column&, const RegexPattern& pattern, int64_t) {
  no_regex(pattern);
}

NodePtr split_regex(const NodePtr&, const RegexPattern& pattern, int64_t) {
  no_regex(pattern);
}

Column find_all(const Column&, const RegexPattern& pattern) {
  no_regex(pattern);
}

NodePtr find_all(const NodePtr&, const RegexPattern& pattern) {
  no_regex(pattern);
}

Column count_regex(const Column&, const RegexPattern& pattern) {
  no_regex(pattern);
}

NodePtr count_regex(const NodePtr&, const RegexPattern& pattern) {
  no_regex(pattern);
}

std::vector<std::pair<std::string, NodePtr>> extract_regex(const NodePtr&,
                                                           const RegexPattern& pattern) {
  no_regex(pattern);
}

#endif

}  // namespace hr
