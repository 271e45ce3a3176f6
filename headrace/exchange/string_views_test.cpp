// SPDX-License-Identifier: Apache-2.0
// Views and offsets of others: what is refused, what is mended, what is left alone.
#include "headrace/exchange/string_views.h"

#include "headrace/base/error.h"
#include "headrace/base/simd.h"
#include "headrace/exchange/string_views_kernels.h"
#include "headrace/exchange/string_views_testing.h"
#include "headrace/memory/log/ledger.h"

#include <gmock/gmock.h>

#include <limits>
#include <utility>

namespace hr {
namespace {

using testing::HasSubstr;

const std::string kText = "a text of thirty-two bytes: \xC3\xA4\xC3\xB6";
const TextOrigin kOrigin{.op = "test", .column = "s", .first_row = 100};

Buffer text() {
  return exact_buffer(kText.data(), kText.size());
}

StringView far(uint32_t size, uint32_t buffer, uint32_t offset) {
  StringView view{};
  view.size = size;
  view.indirect.buffer = buffer;
  view.indirect.offset = offset;
  if (offset + uint64_t{4} <= kText.size())
    std::memcpy(view.indirect.prefix, kText.data() + offset, sizeof view.indirect.prefix);
  return view;
}

StringView inlined(std::string_view word) {
  StringView view{};
  view.size = static_cast<uint32_t>(word.size());
  std::memcpy(view.inlined, word.data(), word.size());
  return view;
}

std::string refusal(const StringView& view) {
  // Good ones around it: one of them in ASCII, one not.
  const std::vector<StringView> views = {far(20, 0, 0), view, inlined("\xC3\xA4")};
  std::string message;
  for (const NullViews nulls : {NullViews::kEmpty, NullViews::kChecked}) {
    try {
      check_string_views(kOrigin, views_column(views, {text()}), nulls);
      message += "none";
    } catch (const InvalidArgumentError& error) {
      message = error.what();
    }
    // The same view in a null row is no error, and cannot be read afterwards.
    const Column null = check_string_views(kOrigin, views_column(views, {text()}, 0b101), nulls);
    if (message.find("none") == std::string::npos) {
      EXPECT_EQ(null.string(1), "");
    }
    EXPECT_EQ(null.null_count(), 1);
    EXPECT_EQ(null.string(0), kText.substr(0, 20));
  }
  clear_ledger();
  return message == "nonenone" ? "" : message;
}

TEST(StringViews, ThoseThatLeaveTheirTextAreRefused) {
  const auto end = static_cast<uint32_t>(kText.size());
  EXPECT_EQ(refusal(far(13, 0, end - 13)), "");
  EXPECT_EQ(refusal(far(end, 0, 0)), "");
  const std::string leaves = "a string view is out of range of its buffer";
  EXPECT_THAT(
      refusal(far(13, 0, end - 12)),
      HasSubstr("test: " + leaves + ": column='s', row=101, buffer=0, offset=20, bytes=13"));
  EXPECT_THAT(refusal(far(end + 1, 0, 0)), HasSubstr(leaves));
  EXPECT_THAT(refusal(far(13, 0, end)), HasSubstr(leaves));
  // A sum that overflows 32 bits, sizes and offsets that are negative to Arrow.
  EXPECT_THAT(refusal(far(13, 0, 0xFFFFFFFF)), HasSubstr(leaves));
  EXPECT_THAT(refusal(far(0xFFFFFFFF, 0, 1)), HasSubstr(leaves));
  EXPECT_THAT(refusal(far(0x80000000, 0, 0)), HasSubstr(leaves));
  EXPECT_THAT(refusal(far(13, 0, 0x80000000)), HasSubstr(leaves));
  // Buffers that are not there.
  EXPECT_THAT(refusal(far(13, 1, 0)), HasSubstr(leaves));
  EXPECT_THAT(refusal(far(13, 0xFFFFFFFF, 0)), HasSubstr(leaves));
  EXPECT_THROW(check_string_views(kOrigin, views_column({far(13, 0, 0)}, {})),
               InvalidArgumentError);
}

TEST(StringViews, TextThatIsNotUtf8IsRefused) {
  EXPECT_EQ(refusal(inlined("\xC3\xA4")), "");
  EXPECT_THAT(refusal(inlined("ab\xC3")),
              HasSubstr("a string is not UTF-8: column='s', row=101, byte=2"));
  EXPECT_THAT(refusal(inlined("\xC3(")), HasSubstr("a string is not UTF-8"));
  EXPECT_THAT(refusal(far(29, 0, 0)), HasSubstr("a string is not UTF-8"));  // ends in a letter
  EXPECT_THAT(refusal(far(13, 0, 16)), HasSubstr("a string is not UTF-8"));
  // Two halves of a letter in strings that are adjacent in memory.
  EXPECT_THROW(check_string_views(kOrigin, views_column({far(29, 0, 0), far(13, 1, 0)},
                                                        {exact_buffer(kText.data(), 29),
                                                         exact_buffer("\xA4 and so forth", 14)})),
               InvalidArgumentError);
}

TEST(StringViews, PrefixesThatDisagreeAreMended) {
  StringView wrong = far(20, 0, 2);
  wrong.indirect.prefix[3] = '?';
  const Column column = check_string_views(kOrigin, views_column({wrong, far(20, 0, 0)}, {text()}));
  EXPECT_EQ(std::string(column.values<StringView>()[0].indirect.prefix, 4), kText.substr(2, 4));
  EXPECT_EQ(column.string(0), kText.substr(2, 20));
  ASSERT_EQ(ledger_entries().size(), 1u);
  EXPECT_EQ(ledger_entries()[0].reason, "string views get their prefixes");
  clear_ledger();
}

TEST(StringViews, PaddingThatIsNotZeroIsMended) {
  for (const char garbage : {'\x01', '\x80'})
    for (uint32_t size = 0; size < sizeof(StringView::inlined); ++size)
      for (uint32_t at = size; at < sizeof(StringView::inlined); ++at) {
        StringView wrong = inlined(std::string(size, 'x'));
        wrong.inlined[at] = garbage;
        const Column column = check_string_views(kOrigin, views_column({wrong}, {}));
        EXPECT_EQ(column.string(0), std::string(size, 'x'));
        EXPECT_EQ(column.values<StringView>()[0].inlined[at], 0) << size << " " << at;
      }
  clear_ledger();
}

// Each byte of one view, with each of its values, between good ones; vectors end anywhere.
TEST(StringViews, ShortAsciiIsFoundAtEachLevel) {
  const SimdLevel best = simd_level();
  for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2, SimdLevel::kAvx512}) {
    if (level > best) continue;
    set_simd_level(level);
    std::vector<StringView> views;
    for (size_t k = 0; k < 11; ++k) views.push_back(inlined(std::string(k * 5 % 13, 'a' + k)));
    for (size_t at = 0; at < views.size(); ++at)
      for (size_t size = 0; size <= 13; ++size) {
        const StringView good = size < 13 ? inlined(std::string(size, 'x')) : far(13, 0, 0);
        for (size_t place = 0; place < sizeof good; ++place)
          for (int value = 0; value < 256; ++value) {
            const StringView before = std::exchange(views[at], good);
            reinterpret_cast<unsigned char*>(&views[at])[place] = static_cast<unsigned char>(value);
            const StringView& view = views[at];
            bool is_good = view.size <= sizeof view.inlined;
            for (uint32_t i = 0; is_good && i < sizeof view.inlined; ++i)
              is_good = i < view.size ? view.inlined[i] >= 0 : view.inlined[i] == 0;
            ASSERT_EQ(cpu::all_short_ascii(views.data(), std::ssize(views)), is_good)
                << size << " " << place << " " << value;
            ASSERT_TRUE(cpu::all_short_ascii(views.data(), static_cast<int64_t>(at)));
            views[at] = before;
          }
      }
  }
  set_simd_level(best);
}

TEST(StringViews, GoodOnesAreNotCopied) {
  const std::vector<StringView> views = {inlined(""), inlined("twelve bytes"), far(20, 0, 0),
                                         far(12 + 1, 0, 3), inlined("\xC3\xA4")};
  for (const NullViews nulls : {NullViews::kEmpty, NullViews::kChecked}) {
    const Column column = views_column(views, {text()});
    EXPECT_EQ(check_string_views(kOrigin, column, nulls).values_buffer(), column.values_buffer());
  }
  // What stands in null rows stays where it does no harm and empty ones were not asked for.
  const Column column = views_column(views, {text()}, 0b11011);
  EXPECT_EQ(check_string_views(kOrigin, column, NullViews::kChecked).values_buffer(),
            column.values_buffer());
  EXPECT_TRUE(ledger_entries().empty());
  EXPECT_EQ(check_string_views(kOrigin, column).string(2), "");
  EXPECT_EQ(ledger_entries()[0].reason, "null strings become empty");
  clear_ledger();
}

template <class Offset>
void check_offsets() {
  const auto views_of = [](const std::vector<Offset>& offsets, const uint8_t* validity = nullptr) {
    const Buffer exact = exact_buffer(offsets.data(), offsets.size() * sizeof(Offset));
    const Buffer bytes = text();
    const Buffer views =
        views_from_offsets(kOrigin, static_cast<int64_t>(offsets.size()) - 1, exact.as<Offset>(),
                           {bytes.as<char>(), bytes.size_bytes()}, validity, 0);
    return views.as<StringView>()[0].size;
  };
  const auto size = static_cast<Offset>(kText.size());
  constexpr Offset kMost = std::numeric_limits<Offset>::max();
  constexpr Offset kLeast = std::numeric_limits<Offset>::min();
  EXPECT_EQ(views_of({0, size}), kText.size());
  EXPECT_EQ(views_of({size, size}), 0u);
  const uint8_t none = 0;
  for (const std::vector<Offset>& bad : std::vector<std::vector<Offset>>{
           {0, size + 1}, {5, 4}, {-1, 4}, {0, -1}, {kLeast, 0}, {0, kMost}, {kMost, kLeast}}) {
    EXPECT_THROW(views_of(bad), InvalidArgumentError) << bad[0] << " " << bad[1];
    EXPECT_THROW(views_of(bad, &none), InvalidArgumentError) << bad[0] << " " << bad[1];
  }
  EXPECT_THROW(views_of({0, 29, size}), InvalidArgumentError);  // a letter cut in two
  EXPECT_EQ(views_of({0, 29, size}, &none), 0u);
  clear_ledger();
}

TEST(StringViews, OffsetsThatFallOrLeaveTheTextAreRefused) {
  check_offsets<int32_t>();
  check_offsets<int64_t>();
}

}  // namespace
}  // namespace hr
