// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/lz4.h"

#include "headrace/io/parquet/copy_match.h"
#include "headrace/io/parquet/find_matches.h"

#include <algorithm>

namespace hr::parquet {

namespace {

constexpr int64_t kFarPacked = 24;    // a token, 16 bytes of literals, a distance
constexpr int64_t kFarUnpacked = 64;  // the most of both, and what is copied too much
constexpr int64_t kMatchSlack = 16;   // that copy_match may write behind a match

// Adds the bytes that a length of 15 continues in; false when they leave the block.
bool take_more(const uint8_t*& p, const uint8_t* end, int64_t& length) {
  for (;;) {
    if (p == end) return false;
    const uint8_t more = *p++;
    length += more;
    if (more != 255) return true;
  }
}

uint32_t big_endian(const char* p) {
  const auto byte = [p](int i) { return uint32_t{static_cast<uint8_t>(p[i])}; };
  return byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
}

bool unpack_frames(std::string_view frames, char* out, int64_t size) {
  while (!frames.empty()) {
    if (frames.size() < 8) return false;
    const int64_t unpacked = big_endian(frames.data());
    const size_t packed = big_endian(frames.data() + 4);
    frames.remove_prefix(8);
    if (packed > frames.size() || unpacked > size) return false;
    if (!unpack_lz4(frames.substr(0, packed), out, unpacked)) return false;
    frames.remove_prefix(packed);
    out += unpacked;
    size -= unpacked;
  }
  return size == 0;
}

}  // namespace

bool unpack_lz4(std::string_view block, char* out, int64_t size) {
  return unpack_lz4_behind(block, out, out, size) == size;
}

int64_t unpack_lz4_behind(std::string_view block, const char* begin, char* out, int64_t most) {
  const auto* p = reinterpret_cast<const uint8_t*>(block.data());
  const uint8_t* const end = p + block.size();
  const char* const first = out;
  char* const out_end = out + most;
  while (p < end) {
    // What most sequences are: short, and far from both ends.
    while (end - p >= kFarPacked && out_end - out >= kFarUnpacked) {
      const uint32_t token = *p;
      const uint32_t literals = token >> 4, more = token & 15;
      if (literals == 15 || more == 15) break;
      std::memcpy(out, p + 1, 16);
      p += 1 + literals;
      out += literals;
      uint16_t distance;
      std::memcpy(&distance, p, sizeof distance);
      if (distance == 0 || distance > out - begin) return -1;
      p += sizeof distance;
      if (distance >= 16) {
        std::memcpy(out, out - distance, 16);
        std::memcpy(out + 16, out + 16 - distance, 2);
      } else if (distance >= 8) {
        std::memcpy(out, out - distance, 8);
        std::memcpy(out + 8, out + 8 - distance, 8);
        std::memcpy(out + 16, out + 16 - distance, 2);
      } else {
        copy_match(out, distance, more + 4);
      }
      out += more + 4;
    }
    const uint32_t token = *p++;
    int64_t length = token >> 4;
    if (length == 15 && !take_more(p, end, length)) return -1;
    if (length > end - p || length > out_end - out) return -1;
    if (length > 0) std::memcpy(out, p, static_cast<size_t>(length));
    p += length;
    out += length;
    if (p == end) break;  // the last sequence has no match
    if (end - p < 2) return -1;
    const int64_t distance = p[0] | p[1] << 8;
    p += 2;
    length = token & 15;
    if (length == 15 && !take_more(p, end, length)) return -1;
    length += 4;
    if (distance == 0 || distance > out - begin || length > out_end - out) return -1;
    if (length <= out_end - out - kMatchSlack)
      copy_match(out, distance, length);
    else
      for (int64_t i = 0; i < length; ++i) out[i] = out[i - distance];
    out += length;
  }
  return out - first;
}

bool unpack_lz4_hadoop(std::string_view frames, char* out, int64_t size) {
  return unpack_frames(frames, out, size) || unpack_lz4(frames, out, size);
}

namespace {

// What of a length its 4 bits do not hold.
char* put_more(uint32_t length, char* out) {
  if (length < 15) return out;
  for (length -= 15; length >= 255; length -= 255) *out++ = static_cast<char>(255);
  *out++ = static_cast<char>(length);
  return out;
}

}  // namespace

int64_t pack_lz4(std::string_view bytes, char* const begin) {
  char* out = begin;
  find_matches(bytes, [&](std::string_view literal, uint32_t distance, uint32_t length) {
    const auto literals = static_cast<uint32_t>(literal.size());
    const uint32_t more = length > 0 ? length - 4 : 0;
    *out++ = static_cast<char>(std::min(literals, 15u) << 4 | std::min(more, 15u));
    out = put_more(literals, out);
    if (literals > 0) std::memcpy(out, literal.data(), literals);
    out += literals;
    if (length == 0) return;
    *out++ = static_cast<char>(distance);
    *out++ = static_cast<char>(distance >> 8);
    out = put_more(more, out);
  });
  return out - begin;
}

int64_t pack_lz4_frame(std::string_view bytes, char* const begin) {
  // Its magic number; blocks that refer to no other, of 4 MiB; the checksum of these two bytes.
  constexpr std::string_view kHead = "\x04\x22\x4D\x18\x60\x70\x73";
  constexpr size_t kBlock = size_t{1} << 22;
  constexpr uint32_t kRaw = 0x80000000, kEnd = 0;
  char* out = std::copy(kHead.begin(), kHead.end(), begin);
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kBlock))) {
    const std::string_view block = bytes.substr(0, kBlock);
    auto size = static_cast<uint32_t>(pack_lz4(block, out + sizeof kEnd));
    if (size >= block.size()) {
      std::memcpy(out + sizeof kEnd, block.data(), block.size());
      size = static_cast<uint32_t>(block.size()) | kRaw;
    }
    std::memcpy(out, &size, sizeof size);
    out += sizeof size + (size & ~kRaw);
  }
  std::memcpy(out, &kEnd, sizeof kEnd);
  return out + sizeof kEnd - begin;
}

}  // namespace hr::parquet
