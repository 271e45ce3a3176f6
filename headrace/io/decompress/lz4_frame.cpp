// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/decompress/lz4_frame.h"

#include "headrace/io/decompress/xxhash32.h"
#include "headrace/io/parquet/lz4.h"
#include "headrace/io/parquet/snappy.h"

#include <bit>
#include <memory>
#include <optional>

namespace hr {

namespace {

constexpr uint32_t kMagic = 0x184D2204;
constexpr uint32_t kSkippable = 0x184D2A50, kSkippableMask = 0xFFFFFFF0;
constexpr int64_t kHistory = int64_t{1} << 16;  // how far a match reaches back
using parquet::kUnpackSlack;

uint32_t number_at(const char* bytes) {
  uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return std::endian::native == std::endian::big ? __builtin_bswap32(value) : value;
}

class Lz4FrameReader {
 public:
  explicit Lz4FrameReader(PackedInput packed) : input_(std::move(packed)) {}

  int64_t read(char* into, int64_t size) {
    int64_t done = 0;
    while (done < size) {
      if (at_ == end_ && !next_block()) break;
      const int64_t some = std::min(size - done, end_ - at_);
      std::memcpy(into + done, window_.as<char>() + at_, static_cast<size_t>(some));
      at_ += some;
      done += some;
    }
    return done;
  }

 private:
  // Unpacks until there is something; false at the end of the last frame.
  bool next_block() {
    while (at_ == end_) {
      if (!in_frame_ && !next_frame()) return false;
      const uint32_t head = take_number();
      if (head == 0)
        end_frame();
      else
        unpack_block(head);
    }
    return true;
  }

  bool next_frame() {
    for (;;) {
      if (!input_.fill()) return false;
      const uint32_t magic = take_number();
      if (magic == kMagic) break;
      if ((magic & kSkippableMask) != kSkippable)
        input_.damaged("unexpected bytes follow the lz4 data", "cut them off");
      skip(take_number());
    }
    char head[14];
    take(head, 2);
    const auto flags = static_cast<uint8_t>(head[0]), sizes = static_cast<uint8_t>(head[1]);
    const int code = sizes >> 4 & 7;
    if (flags >> 6 != 1 || (flags & 2) || (sizes & 0x8F) || code < 4) corrupt();
    is_linked_ = !(flags & 32);
    has_block_checksum_ = flags & 16;
    int64_t size = 2;
    if (flags & 8) {
      take(head + size, 8);
      declared_ = number_at(head + size) | uint64_t{number_at(head + size + 4)} << 32;
      size += 8;
    } else {
      declared_.reset();
    }
    if (flags & 1)
      throw_error<UnsupportedError>(input_.op, "the lz4 data needs a dictionary",
                                    {{"path", input_.name}}, "decompress the file first");
    char check;
    take(&check, 1);
    if (static_cast<uint8_t>(check) != (xxhash32({head, static_cast<size_t>(size)}) >> 8 & 0xFF))
      corrupt();
    block_bytes_ = int64_t{1} << (8 + 2 * code);
    if (const int64_t room = kHistory + block_bytes_ + kUnpackSlack; window_.size_bytes() < room)
      window_ = Buffer::allocate(room);
    begin_ = at_ = end_ = kHistory;
    has_checksum_ = flags & 4;
    checksum_ = {};
    total_ = 0;
    in_frame_ = true;
    return true;
  }

  void unpack_block(uint32_t head) {
    const bool is_plain = head >> 31;
    const int64_t packed = head & 0x7FFFFFFF;
    if (packed > block_bytes_) corrupt();
    // Matches may reach back to what was unpacked before.
    char* const window = window_.mutable_as<char>();
    const int64_t kept = is_linked_ ? std::min(end_ - begin_, kHistory) : 0;
    std::memmove(window + kHistory - kept, window + end_ - kept, static_cast<size_t>(kept));
    begin_ = kHistory - kept;
    at_ = end_ = kHistory;
    int64_t size = packed;
    if (is_plain) {
      take(window + at_, packed);
      check_block({window + at_, static_cast<size_t>(packed)});
    } else {
      if (packed_.size_bytes() < packed) packed_ = Buffer::allocate(packed);
      const std::string_view block(packed_.as<char>(), static_cast<size_t>(packed));
      take(packed_.mutable_as<char>(), packed);
      check_block(block);
      size = parquet::unpack_lz4_behind(block, window + begin_, window + at_, block_bytes_);
      if (size < 0) corrupt();
    }
    end_ = at_ + size;
    total_ += static_cast<uint64_t>(size);
    if (has_checksum_) checksum_.add({window + at_, static_cast<size_t>(size)});
  }

  void check_block(std::string_view block) {
    if (has_block_checksum_ && take_number() != xxhash32(block)) corrupt();
  }

  void end_frame() {
    if (has_checksum_ && take_number() != checksum_.value()) corrupt();
    if (declared_ && *declared_ != total_) corrupt();
    in_frame_ = false;
  }

  void take(char* into, int64_t size) {
    if (!input_.take(into, size)) input_.damaged("the lz4 data ends early");
  }

  uint32_t take_number() {
    char bytes[4];
    take(bytes, 4);
    return number_at(bytes);
  }

  void skip(int64_t size) {
    while (size > 0) {
      if (!input_.fill()) input_.damaged("the lz4 data ends early");
      const int64_t some = std::min(size, input_.size());
      input_.begin += some;
      size -= some;
    }
  }

  [[noreturn]] void corrupt() const { input_.damaged("the lz4 data is corrupt"); }

  PackedInput input_;
  Buffer packed_{};
  Buffer window_{};
  int64_t begin_ = 0;  // of what matches may repeat
  int64_t at_ = 0;
  int64_t end_ = 0;
  bool in_frame_ = false;
  bool is_linked_ = false;
  bool has_block_checksum_ = false;
  bool has_checksum_ = false;
  std::optional<uint64_t> declared_{};
  uint64_t total_ = 0;
  int64_t block_bytes_ = 0;
  Xxhash32 checksum_{};
};

}  // namespace

ReadBytes read_lz4_frames(PackedInput packed) {
  auto reader = std::make_shared<Lz4FrameReader>(std::move(packed));
  return [reader](char* into, int64_t size) { return reader->read(into, size); };
}

}  // namespace hr
