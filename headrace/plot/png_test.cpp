// SPDX-License-Identifier: Apache-2.0
// PNG files begin and end as the standard says; the Python tests read them with another library.
#include "headrace/plot/png.h"

#include "headrace/base/error.h"

#include <gtest/gtest.h>

#include <cstring>

namespace hr {
namespace {

Tensor image_of(Shape shape) {
  Buffer buffer = Buffer::allocate_zeroed(num_elements(shape));
  return Tensor(TypeId::kUInt8, std::move(shape), std::move(buffer));
}

TEST(EncodePng, WritesSignatureSizeAndEnd) {
  for (const Shape& shape : {Shape{3, 5}, Shape{3, 5, 3}, Shape{3, 5, 4}, Shape{300, 500, 4}}) {
    const Tensor file = encode_png(image_of(shape));
    const auto* bytes = file.as<uint8_t>();
    ASSERT_GT(file.num_elements(), 57);
    EXPECT_EQ(std::memcmp(bytes, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16), 0);
    EXPECT_EQ(bytes[18] * 256 + bytes[19], shape[1]);
    EXPECT_EQ(bytes[22] * 256 + bytes[23], shape[0]);
    EXPECT_EQ(bytes[25], shape.size() == 2 ? 0 : shape[2] == 3 ? 2 : 6);
    const uint8_t end[] = {0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xAE, 0x42, 0x60, 0x82};
    EXPECT_EQ(std::memcmp(bytes + file.num_elements() - 12, end, 12), 0);
  }
}

TEST(EncodePng, RefusesWhatIsNoImage) {
  EXPECT_THROW(encode_png(image_of({3})), TypeMismatchError);
  EXPECT_THROW(encode_png(image_of({3, 5, 2})), TypeMismatchError);
  EXPECT_THROW(encode_png(image_of({0, 5})), InvalidArgumentError);
  EXPECT_THROW(encode_png(image_of({1, 65537})), InvalidArgumentError);
  EXPECT_THROW(encode_png(Tensor(TypeId::kFloat64, {0, 5}, {})), TypeMismatchError);
}

}  // namespace
}  // namespace hr
