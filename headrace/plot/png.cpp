// SPDX-License-Identifier: Apache-2.0
// PNG (ISO/IEC 15948): signature, IHDR, IDAT, IEND. Every line has filter 0.
#include "headrace/plot/png.h"

#include "headrace/base/error.h"
#include "headrace/memory/log/tag.h"

#ifdef HR_WITH_ZLIB
#include <zlib.h>
#endif

#include <array>
#include <cstring>

namespace hr {
namespace {

constexpr int64_t kMaxSide = 65536;

uint8_t* put_u32(uint8_t* out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) *out++ = static_cast<uint8_t>(value >> shift);
  return out;
}

uint32_t crc32_of(const uint8_t* bytes, int64_t count) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> made{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
      made[i] = c;
    }
    return made;
  }();
  uint32_t crc = 0xFFFFFFFFu;
  for (int64_t i = 0; i < count; ++i) crc = table[(crc ^ bytes[i]) & 255] ^ (crc >> 8);
  return ~crc;
}

/// Writes length, type and checksum around `count` bytes of data that lie at `out + 8` already.
uint8_t* close_chunk(uint8_t* out, const char* type, int64_t count) {
  put_u32(out, static_cast<uint32_t>(count));
  std::memcpy(out + 4, type, 4);
  return put_u32(out + 8 + count, crc32_of(out + 4, count + 4));
}

#ifdef HR_WITH_ZLIB

int64_t most_deflated_bytes(int64_t count) {
  return static_cast<int64_t>(compressBound(static_cast<uLong>(count)));
}

int64_t deflate_bytes(const uint8_t* bytes, int64_t count, uint8_t* out, int64_t room) {
  uLongf size = static_cast<uLongf>(room);
  if (compress2(out, &size, bytes, static_cast<uLong>(count), 6) != Z_OK)
    throw_error<OutOfMemoryError>("encode_png", "zlib ran out of memory", {{"bytes", count}});
  return static_cast<int64_t>(size);
}

#else

constexpr int64_t kStoredBlock = 65535;

int64_t most_deflated_bytes(int64_t count) {
  return count + 5 * (count / kStoredBlock + 1) + 6;
}

/// The zlib form (RFC 1950) of stored blocks (RFC 1951, 3.2.4): valid everywhere, not smaller.
int64_t deflate_bytes(const uint8_t* bytes, int64_t count, uint8_t* out, int64_t) {
  uint8_t* next = out;
  *next++ = 0x78;
  *next++ = 0x01;
  for (int64_t begin = 0; begin < count; begin += kStoredBlock) {
    const int64_t size = count - begin < kStoredBlock ? count - begin : kStoredBlock;
    *next++ = begin + size == count;
    for (const int64_t word : {size, ~size}) {
      *next++ = static_cast<uint8_t>(word);
      *next++ = static_cast<uint8_t>(word >> 8);
    }
    std::memcpy(next, bytes + begin, static_cast<size_t>(size));
    next += size;
  }
  uint32_t a = 1;
  uint32_t b = 0;
  for (int64_t i = 0; i < count; ++i) {
    a = (a + bytes[i]) % 65521;
    b = (b + a) % 65521;
  }
  return put_u32(next, b << 16 | a) - out;
}

#endif

/// Lines of pixels, each behind its filter byte.
Buffer filtered_lines(const Tensor& image, int64_t height, int64_t width, int64_t channels) {
  const int64_t line_bytes = 1 + width * channels;
  Buffer lines = Buffer::allocate(height * line_bytes);
  auto* out = lines.mutable_as<uint8_t>();
  const auto* pixels = image.as<uint8_t>();
  const Shape& strides = image.strides();
  const int64_t channel_stride = channels == 1 ? 1 : strides[2];
  for (int64_t y = 0; y < height; ++y) {
    *out++ = 0;
    for (int64_t x = 0; x < width; ++x)
      for (int64_t c = 0; c < channels; ++c)
        *out++ = pixels[y * strides[0] + x * strides[1] + c * channel_stride];
  }
  return lines;
}

}  // namespace

Tensor encode_png(const Tensor& image) {
  const int64_t dimensions = image.num_dimensions();
  const int64_t channels = dimensions == 3 ? image.shape()[2] : dimensions == 2 ? 1 : 0;
  if (image.dtype() != dtype_of<uint8_t>() ||
      (dimensions == 3 ? channels != 3 && channels != 4 : dimensions != 2))
    throw_error<TypeMismatchError>(
        "encode_png", "an image is uint8 [height, width], [height, width, 3] or [.., .., 4]",
        {{"dimensions", dimensions}, {"channels", channels}, {"dtype", image.dtype().name()}});
  const int64_t height = image.shape()[0];
  const int64_t width = image.shape()[1];
  if (height < 1 || width < 1 || height > kMaxSide || width > kMaxSide ||
      height * width * channels > INT32_MAX)
    throw_error<InvalidArgumentError>("encode_png", "the image is empty or too large",
                                      {{"height", height}, {"width", width}},
                                      "use sides of 1 to 65536 and less than 2 GiB in all");
  const ScopedTag tag("encode_png");
  const Buffer lines = filtered_lines(image, height, width, channels);
  constexpr int64_t kHeader = 8 + 25 + 8;
  const int64_t room = most_deflated_bytes(lines.size_bytes());
  Buffer file = Buffer::allocate(kHeader + room + 4 + 12);
  auto* out = file.mutable_as<uint8_t>();
  std::memcpy(out, "\x89PNG\r\n\x1a\n", 8);
  uint8_t* next = out + 8;
  put_u32(put_u32(next + 8, static_cast<uint32_t>(width)), static_cast<uint32_t>(height));
  const uint8_t color_type = channels == 1 ? 0 : channels == 3 ? 2 : 6;
  const uint8_t rest[5] = {8, color_type, 0, 0, 0};
  std::memcpy(next + 16, rest, 5);
  next = close_chunk(next, "IHDR", 13);
  const int64_t bytes = deflate_bytes(lines.as<uint8_t>(), lines.size_bytes(), next + 8, room);
  next = close_chunk(next, "IDAT", bytes);
  next = close_chunk(next, "IEND", 0);
  file.shrink(next - out);
  return Tensor(dtype_of<uint8_t>(), {next - out}, std::move(file));
}

}  // namespace hr
