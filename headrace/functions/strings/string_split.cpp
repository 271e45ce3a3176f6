// SPDX-License-Identifier: Apache-2.0
// Strings cut at a separator.
#include "headrace/functions/strings/string_split.h"

#include "headrace/functions/strings/text_pieces.h"

#include <algorithm>

namespace hr {

namespace {

constexpr size_t kNone = std::string_view::npos;

// Where the separator is first from `at` on. A short distance is searched byte by byte.
size_t find_separator(std::string_view text, std::string_view by, size_t at) {
  if (by.size() > 1) {
    const void* const found = memmem(text.data() + at, text.size() - at, by.data(), by.size());
    return found ? static_cast<size_t>(static_cast<const char*>(found) - text.data()) : kNone;
  }
  for (; at < text.size(); ++at)
    if (text[at] == by[0]) return at;
  return kNone;
}

template <class Add>
void split_at(std::string_view text, std::string_view by, int64_t most, const Add& add) {
  size_t begin = 0;
  for (; most != 0; --most) {
    const size_t at = find_separator(text, by, begin);
    if (at == kNone) break;
    add(text.substr(begin, at - begin));
    begin = at + by.size();
  }
  add(text.substr(begin));
}

template <class Add>
void split_at_space(std::string_view text, int64_t most, const Add& add) {
  size_t at = 0;
  const auto skip = [&](bool space) {
    while (at < text.size()) {
      const Character each = character_at(text, at);
      if (is_space(each.code) != space) return;
      at += each.bytes;
    }
  };
  for (skip(true); at < text.size(); skip(true)) {
    const size_t begin = at;
    if (most == 0) return add(text.substr(begin));
    skip(false);
    add(text.substr(begin, at - begin));
    --most;
  }
}

// From the right the pieces are found last one first.
class Reversed {
 public:
  void add(std::string_view piece) { pieces_.push_back(piece); }

  template <class Add>
  void give(const Add& add) {
    std::for_each(pieces_.rbegin(), pieces_.rend(), add);
    pieces_.clear();
  }

 private:
  std::vector<std::string_view> pieces_{};
};

void split_at_from_right(std::string_view text, std::string_view by, int64_t most,
                         Reversed& pieces) {
  size_t end = text.size();
  for (; most != 0 && end >= by.size(); --most) {
    const size_t at = text.rfind(by, end - by.size());
    if (at == kNone) break;
    pieces.add(text.substr(at + by.size(), end - at - by.size()));
    end = at;
  }
  pieces.add(text.substr(0, end));
}

void split_at_space_from_right(std::string_view text, int64_t most, Reversed& pieces) {
  size_t end = text.size();
  const auto skip = [&](bool space) {
    while (end > 0) {
      const Character each = character_before(text, end);
      if (is_space(each.code) != space) return;
      end -= each.bytes;
    }
  };
  for (skip(true); end > 0; skip(true)) {
    const size_t last = end;
    if (most == 0) return pieces.add(text.substr(0, last));
    skip(false);
    pieces.add(text.substr(end, last - end));
    --most;
  }
}

struct StringSplit final : OperatorOf<StringSplit, StringOperator> {
  TextSplit split{};

  std::string arguments() const override { return "split " + shortened(split.by); }

  Value execute(std::span<const Value> inputs) const override {
    return split_text(std::get<Column>(inputs[0]), split);
  }

  static auto parameters(auto& self) { return std::tie(self.split); }
};

struct StringPartition final : OperatorOf<StringPartition, StringOperator> {
  TextPartition partition{};
  TextPart part{};

  std::string arguments() const override { return "partition " + shortened(partition.separator); }

  Value execute(std::span<const Value> inputs) const override {
    return partition_text(std::get<Column>(inputs[0]), partition, part);
  }

  static auto parameters(auto& self) { return std::tie(self.partition, self.part); }
};

}  // namespace

Column split_text(const Column& column, const TextSplit& split) {
  const auto& [by, most, from_right] = split;
  const Column from = text_of(column);
  if (!from_right)
    return lists_of_pieces(from, [&] {
      return [&](std::string_view text, const auto& add) {
        if (by.empty())
          split_at_space(text, most, add);
        else
          split_at(text, by, most, add);
      };
    });
  return lists_of_pieces(from, [&] {
    return [&, pieces = Reversed()](std::string_view text, const auto& add) mutable {
      if (by.empty())
        split_at_space_from_right(text, most, pieces);
      else
        split_at_from_right(text, by, most, pieces);
      pieces.give(add);
    };
  });
}

NodePtr split_text(const NodePtr& column, const TextSplit& split) {
  return apply_operator(StringSplit::make(split),
                        text_signature(column, Dtype::list(TypeId::kString)), {column});
}

Column partition_text(const Column& column, const TextPartition& partition, TextPart part) {
  const std::string& by = partition.separator;
  return over_texts(column, [&](const Column& from) {
    return pieces_of(from, [&](std::string_view text) {
      const size_t at = partition.from_right ? text.rfind(by) : find_separator(text, by, 0);
      if (at == kNone) {
        const bool whole = part == (partition.from_right ? TextPart::kBehind : TextPart::kBefore);
        return whole ? text : text.substr(0, 0);
      }
      if (part == TextPart::kBefore) return text.substr(0, at);
      return part == TextPart::kSeparator ? text.substr(at, by.size())
                                          : text.substr(at + by.size());
    });
  });
}

NodePtr partition_text(const NodePtr& column, const TextPartition& partition, TextPart part) {
  if (partition.separator.empty())
    throw_error<InvalidArgumentError>("partition", "the separator is empty");
  return apply_operator(StringPartition::make(partition, part),
                        text_signature(column, TypeId::kString), {column});
}

}  // namespace hr
