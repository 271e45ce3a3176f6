// SPDX-License-Identifier: Apache-2.0
// Any views, offsets and text end in strings that are safe to read or in an error: which of both,
// a slow and plain definition says as well.
#include "headrace/base/error.h"
#include "headrace/base/utf8.h"
#include "headrace/exchange/string_views.h"
#include "headrace/exchange/string_views_testing.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/log/ledger.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace hr {
namespace {

constexpr size_t kOptionBytes = 4;
constexpr size_t kMostRows = 16;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

bool is_utf8(std::string_view text) {
  return valid_utf8_bytes(text) == text.size();
}

bool is_good(const StringView& view, const std::vector<Buffer>& text) {
  if (view.size <= 12) return is_utf8({view.inlined, view.size});
  return view.indirect.buffer < text.size() &&
         uint64_t{view.indirect.offset} + view.size <=
             static_cast<uint64_t>(text[view.indirect.buffer].size_bytes()) &&
         is_utf8({text[view.indirect.buffer].as<char>() + view.indirect.offset, view.size});
}

// A view as its text says.
StringView plain_view(const Column& column, int64_t row) {
  const std::string_view text = column.string(row);
  StringView view{};
  view.size = static_cast<uint32_t>(text.size());
  if (text.size() > 12)
    view.indirect = column.values<StringView>()[static_cast<size_t>(row)].indirect;
  if (!text.empty()) std::memcpy(view.inlined, text.data(), text.size() > 12 ? 4 : text.size());
  return view;
}

void fuzz_views(const uint8_t* options, const uint8_t* data, size_t size) {
  const auto nulls = options[0] & 4 ? NullViews::kChecked : NullViews::kEmpty;
  std::vector<StringView> views(std::min<size_t>(options[1] % kMostRows, size / 16));
  if (!views.empty()) std::memcpy(views.data(), data, views.size() * 16);
  data += views.size() * 16;
  size -= views.size() * 16;
  std::vector<Buffer> text;
  for (size_t parts = options[0] >> 3 & 3, part = 0; part < parts; ++part) {
    const size_t begin = size * part / parts, end = size * (part + 1) / parts;
    text.push_back(exact_buffer(data + begin, end - begin));
  }
  for (StringView& view : views)  // else nearly all would leave their text
    if (options[0] & 32) {
      view.size %= 40;
      if (view.size <= 12) continue;
      view.indirect.buffer %= 4;
      view.indirect.offset %= 128;
      if ((options[0] & 64) && is_good(view, text))
        std::memcpy(view.indirect.prefix,
                    text[view.indirect.buffer].as<char>() + view.indirect.offset, 4);
    }
  const uint64_t validity = options[2] | uint64_t{options[3]} << 8;
  const bool has_nulls = options[0] & 128;
  bool all_good = true;
  for (size_t row = 0; row < views.size(); ++row)
    all_good &= (has_nulls && !(validity >> row & 1)) || is_good(views[row], text);
  const Column column =
      views_column(views, text, has_nulls ? std::optional(validity) : std::nullopt);
  Column checked;
  try {
    checked = check_string_views({.op = "fuzz"}, column, nulls);
  } catch (const InvalidArgumentError&) {
    expect(!all_good, "good views are refused");
    return;
  }
  expect(all_good, "bad views are let through");
  for (size_t i = 0; i < views.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    const StringView& view = checked.values<StringView>()[i];
    expect(is_good(view, text), "a view that nobody may read");
    expect(checked.is_null(row) == column.is_null(row), "nulls");
    if (checked.is_null(row)) {
      expect(view.size == 0 || nulls == NullViews::kChecked, "text in a null row");
      if (view.size == 0) continue;
    } else {
      expect(checked.string(row) == column.string(row), "the text changed");
    }
    const StringView plain = plain_view(checked, row);
    expect(std::memcmp(&view, &plain, sizeof view) == 0, "a prefix or a padding");
  }
}

template <class Offset>
void fuzz_offsets(const uint8_t* options, const uint8_t* data, size_t size) {
  std::vector<Offset> offsets(1 + std::min<size_t>(options[1] % kMostRows, size / sizeof(Offset)));
  std::memcpy(offsets.data() + 1, data, (offsets.size() - 1) * sizeof(Offset));
  data += (offsets.size() - 1) * sizeof(Offset);
  size -= (offsets.size() - 1) * sizeof(Offset);
  const Buffer text = exact_buffer(data, size);
  if (options[0] & 32) {
    for (Offset& offset : offsets)
      offset = static_cast<Offset>(static_cast<uint64_t>(offset) % (size + 1));
    std::sort(offsets.begin(), offsets.end());
  }
  const uint8_t* const validity = options[0] & 128 ? options + 2 : nullptr;
  const auto rows = static_cast<int64_t>(offsets.size()) - 1;
  const auto word = [&](int64_t row) {
    const auto begin = static_cast<size_t>(offsets[static_cast<size_t>(row)]);
    return std::string_view(text.as<char>() + begin,
                            static_cast<size_t>(offsets[static_cast<size_t>(row) + 1]) - begin);
  };
  const auto valid = [&](int64_t row) { return !validity || get_bit(validity, row); };
  bool all_good = offsets[0] >= 0;
  for (int64_t row = 0; all_good && row < rows; ++row) {
    const int64_t begin = offsets[static_cast<size_t>(row)];
    const int64_t end = offsets[static_cast<size_t>(row) + 1];
    all_good = begin <= end && end <= text.size_bytes() && (!valid(row) || is_utf8(word(row)));
  }
  const Buffer exact = exact_buffer(offsets.data(), offsets.size() * sizeof(Offset));
  Buffer views;
  try {
    views = views_from_offsets({.op = "fuzz"}, rows, exact.as<Offset>(),
                               {text.as<char>(), text.size_bytes()}, validity, 0);
  } catch (const InvalidArgumentError&) {
    expect(!all_good, "good offsets are refused");
    return;
  }
  expect(all_good, "bad offsets are let through");
  const Column column = Column::strings(rows, views, {text}, {}, 0);
  for (int64_t row = 0; row < rows; ++row) {
    expect(column.string(row) == (valid(row) ? word(row) : std::string_view()), "another text");
    const StringView plain = plain_view(column, row);
    expect(std::memcmp(&views.as<StringView>()[row], &plain, sizeof plain) == 0, "a prefix");
  }
}

}  // namespace
}  // namespace hr

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*words*/) {
  hr::set_threads(1);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hr;
  if (size < kOptionBytes) return 0;
  const uint8_t* const rest = data + kOptionBytes;
  const size_t length = size - kOptionBytes;
  switch (data[0] & 3) {
    case 0:
      fuzz_offsets<int32_t>(data, rest, length);
      break;
    case 1:
      fuzz_offsets<int64_t>(data, rest, length);
      break;
    default:
      fuzz_views(data, rest, length);
  }
  clear_ledger();
  return 0;
}
