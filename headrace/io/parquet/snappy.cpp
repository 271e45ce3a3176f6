// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/snappy.h"

#include "headrace/io/parquet/copy_match.h"

namespace hr::parquet {

namespace {

// The size that a block begins with; false when there is none.
bool take_size(const uint8_t*& p, const uint8_t* end, uint64_t& size) {
  size = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    if (p == end) return false;
    const uint64_t part = *p++;
    size |= (part & 127) << shift;
    if (part < 128) return true;
  }
  return false;
}

uint32_t little_endian(const uint8_t* p, int bytes) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= static_cast<uint32_t>(p[i]) << (8 * i);
  return value;
}

}  // namespace

bool unpack_snappy(std::string_view block, char* out, int64_t size) {
  const auto* p = reinterpret_cast<const uint8_t*>(block.data());
  const uint8_t* const end = p + block.size();
  uint64_t said = 0;
  if (!take_size(p, end, said) || said != static_cast<uint64_t>(size)) return false;
  char* const begin = out;
  char* const out_end = out + size;
  while (p < end) {
    const uint32_t tag = *p++;
    if ((tag & 3) == 0) {
      int64_t length = (tag >> 2) + 1;
      if (length <= 16 && end - p >= 16 && length <= out_end - out) {
        std::memcpy(out, p, 16);
        p += length;
        out += length;
        continue;
      }
      if (length > 60) {
        const int bytes = static_cast<int>(length - 60);
        if (end - p < bytes) return false;
        length = int64_t{little_endian(p, bytes)} + 1;
        p += bytes;
      }
      if (length > end - p || length > out_end - out) return false;
      std::memcpy(out, p, static_cast<size_t>(length));
      p += length;
      out += length;
      continue;
    }
    int64_t length = (tag >> 2) + 1;
    int64_t distance;
    if ((tag & 3) == 1) {
      if (p == end) return false;
      length = ((tag >> 2) & 7) + 4;
      distance = int64_t{tag >> 5} << 8 | *p++;
    } else {
      const int bytes = (tag & 3) == 2 ? 2 : 4;
      if (end - p < bytes) return false;
      distance = little_endian(p, bytes);
      p += bytes;
    }
    if (distance == 0 || distance > out - begin || length > out_end - out) return false;
    copy_match(out, distance, length);
    out += length;
  }
  return out == out_end;
}

}  // namespace hr::parquet
