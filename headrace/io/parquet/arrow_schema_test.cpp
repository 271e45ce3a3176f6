// SPDX-License-Identifier: Apache-2.0
// A schema as pyarrow keeps it; each change of its bytes gives some hints or none.
#include "headrace/io/parquet/arrow_schema.h"

#include <gtest/gtest.h>

namespace hr::parquet {
namespace {

// z: timestamp[us, Europe/Berlin], d: duration[ms], c: an ordered dictionary, l: lists of lists.
const std::string kSchema =
    "/////6ABAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAQAAAAkAQAA6AAAAJQAAA"
    "AEAAAA/P7//wAAAQwUAAAAGAAAAAQAAAABAAAAEAAAAAEAAABsAAAAKP///yT///8AAAEMFAAAABwAAAAEAAAAAQAA"
    "ABQAAAAEAAAAaXRlbQAAAABU////UP///wAAAQUQAAAAGAAAAAQAAAAAAAAABAAAAGl0ZW0AAAAAfP///xAAGAAIAA"
    "YABwAMABAAFAAQAAAAAAABBRQAAABAAAAAHAAAAAQAAAAAAAAAAQAAAGMACgAMAAAACAAHAAoAAAAAAAABDAAAAAgA"
    "DAAIAAcACAAAAAAAAAEgAAAA3P///9j///8AAAESEAAAABgAAAAEAAAAAAAAAAEAAABkAAAABAAEAAQAAAAQABQACA"
    "AGAAcADAAAABAAEAAAAAAAAQoQAAAAHAAAAAQAAAAAAAAAAQAAAHoAAAAIAAwABgAIAAgAAAAAAAIABAAAAA0AAABF"
    "dXJvcGUvQmVybGluAAAAAAAAAA==";

TEST(ArrowSchema, HasWhatParquetHasNoWordsFor) {
  const std::vector<ArrowHint> hints = parse_arrow_schema(kSchema);
  ASSERT_EQ(hints.size(), 4u);
  EXPECT_EQ(hints[0].name, "z");
  EXPECT_EQ(hints[0].zone, "Europe/Berlin");
  EXPECT_EQ(hints[1].duration, TimeUnit::kMilli);
  EXPECT_FALSE(hints[0].duration || hints[2].duration);
  EXPECT_TRUE(hints[2].is_dictionary && hints[2].is_ordered);
  EXPECT_EQ(hints[3].name, "l");
  EXPECT_FALSE(hints[3].is_dictionary);
}

TEST(ArrowSchema, OtherBytesGiveSomeHintsOrNone) {
  EXPECT_TRUE(parse_arrow_schema("").empty());
  EXPECT_TRUE(parse_arrow_schema("no base64!").empty());
  for (size_t size = 0; size < kSchema.size(); ++size) {
    const std::string cut = kSchema.substr(0, size);
    EXPECT_LE(parse_arrow_schema(cut).size(), 4u);
    for (const char c : {'A', '/', 'Q'}) {
      std::string changed = kSchema;
      changed[size] = c;
      EXPECT_LE(parse_arrow_schema(changed).size(), kSchema.size());
    }
  }
}

}  // namespace
}  // namespace hr::parquet
