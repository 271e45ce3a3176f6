// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/decompress/bzip2.h"

#include <array>
#include <bit>
#include <memory>
#include <numeric>
#include <vector>

namespace hr {

namespace {

constexpr uint64_t kBlockMagic = 0x314159265359, kEndMagic = 0x177245385090;
constexpr int kMaxLength = 20;  // of a code
constexpr int kTableBits = 9;   // codes that one look finds
constexpr int kGroupSymbols = 50;
constexpr int kMaxSymbols = 258;
constexpr int64_t kMaxRun = int64_t{1} << 21;

constexpr std::array<uint32_t, 256> kChecksums = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte << 24;
    for (int bit = 0; bit < 8; ++bit) value = value << 1 ^ (value >> 31 ? 0x04C11DB7 : 0);
    table[byte] = value;
  }
  return table;
}();

// A canonical Huffman code.
struct Code {
  std::array<uint16_t, 1 << kTableBits> table{};  // symbol << 4 | length; 0: a longer code
  std::array<int32_t, kMaxLength + 2> limit{};    // of codes with a length, the first behind
  std::array<int32_t, kMaxLength + 2> offset{};   // what makes a code a place in `order`
  std::array<uint16_t, kMaxSymbols> order{};

  // False where the lengths are those of no code.
  bool build(const std::array<uint8_t, kMaxSymbols>& lengths, int symbols) {
    std::array<int, kMaxLength + 2> counts{};
    for (int s = 0; s < symbols; ++s) ++counts[lengths[static_cast<size_t>(s)]];
    int32_t code = 0, place = 0;
    for (int length = 1; length <= kMaxLength; ++length) {
      const auto at = static_cast<size_t>(length);
      offset[at] = place - code;
      for (int s = 0; s < symbols; ++s)
        if (lengths[static_cast<size_t>(s)] == length)
          order[static_cast<size_t>(place++)] = static_cast<uint16_t>(s);
      code += counts[at];
      if (code > int32_t{1} << length) return false;
      limit[at] = code;
      code <<= 1;
    }
    table.fill(0);
    for (uint32_t bits = 0; bits < table.size(); ++bits)
      for (int length = 1; length <= kTableBits; ++length) {
        const auto at = static_cast<size_t>(length);
        const auto front = static_cast<int32_t>(bits >> (kTableBits - length));
        if (front >= limit[at]) continue;
        table[bits] =
            static_cast<uint16_t>(order[static_cast<size_t>(front + offset[at])] << 4 | length);
        break;
      }
    return true;
  }
};

class Bzip2Reader {
 public:
  explicit Bzip2Reader(PackedInput packed) : input_(std::move(packed)) {}

  int64_t read(char* into, int64_t size) {
    char* const end = into + size;
    char* out = into;
    while (out < end) {
      if (repeats_ == 0 && left_ == 0 && !next_block()) break;
      out = unpack(out, end);
    }
    return out - into;
  }

 private:
  // Bytes of the block, in which four equal ones are followed by how often they come again.
  char* unpack(char* out, char* end) {
    const auto put = [&](int64_t count) {
      for (int64_t k = 0; k < count; ++k)
        checksum_ = checksum_ << 8 ^ kChecksums[checksum_ >> 24 ^ last_];
      out = std::fill_n(out, count, static_cast<char>(last_));
    };
    const auto* const links = block_.as<uint32_t>();
    for (;;) {
      const int64_t some = std::min<int64_t>(repeats_, end - out);
      put(some);
      repeats_ -= some;
      if (out == end || left_ == 0) break;
      const uint32_t link = links[at_];
      at_ = link >> 8;
      const auto byte = static_cast<uint8_t>(link);
      --left_;
      if (equal_ == 4) {
        repeats_ = byte;
        equal_ = 0;
        continue;
      }
      equal_ = equal_ > 0 && byte == last_ ? equal_ + 1 : 1;
      last_ = byte;
      put(1);
    }
    if (left_ == 0 && repeats_ == 0 && ~checksum_ != expected_) corrupt();
    return out;
  }

  // False at the end of the last stream.
  bool next_block() {
    while (left_ == 0) {
      if (!in_stream_ && !next_stream()) return false;
      const uint64_t magic = bits(24) << 24 | bits(24);
      if (magic == kBlockMagic) {
        read_block();
      } else if (magic == kEndMagic) {
        if ((bits(16) << 16 | bits(16)) != combined_) corrupt();
        count_ -= count_ % 8;
        in_stream_ = false;
      } else {
        corrupt();
      }
    }
    return true;
  }

  bool next_stream() {
    if (count_ == 0 && !input_.fill()) return false;
    if (bits(24) != 0x425A68)
      input_.damaged("unexpected bytes follow the bzip2 data", "cut them off");
    const uint64_t level = bits(8) - '0';
    if (level < 1 || level > 9) corrupt();
    most_ = static_cast<int64_t>(level) * 100000;
    if (block_.size_bytes() < 4 * most_) block_ = Buffer::allocate(4 * most_);
    combined_ = 0;
    in_stream_ = true;
    return true;
  }

  void read_block() {
    expected_ = static_cast<uint32_t>(bits(16) << 16 | bits(16));
    combined_ = std::rotl(combined_, 1) ^ expected_;
    if (bits(1))
      throw_error<UnsupportedError>(input_.op, "the bzip2 data has randomised blocks",
                                    {{"path", input_.name}}, "decompress the file first");
    const auto first = static_cast<int64_t>(bits(24));
    const int symbols = read_symbols() + 2;
    read_codes(symbols);
    const int64_t size = read_moved_to_front(symbols - 1);
    if (first >= size) corrupt();
    // Each byte is linked to the one behind it in the text.
    auto* const links = block_.mutable_as<uint32_t>();
    std::array<uint32_t, 257> place{};
    for (size_t byte = 0; byte < 256; ++byte) place[byte + 1] = place[byte] + counts_[byte];
    for (int64_t i = 0; i < size; ++i)
      links[place[links[i] & 0xFF]++] |= static_cast<uint32_t>(i) << 8;
    at_ = links[first] >> 8;
    left_ = size;
    equal_ = 0;
    checksum_ = ~uint32_t{0};
  }

  // Which bytes there are, in `bytes_`; gives their number.
  int read_symbols() {
    const uint64_t used = bits(16);
    int count = 0;
    for (int high = 0; high < 16; ++high) {
      if (!(used >> (15 - high) & 1)) continue;
      const uint64_t some = bits(16);
      for (int low = 0; low < 16; ++low)
        if (some >> (15 - low) & 1)
          bytes_[static_cast<size_t>(count++)] = static_cast<uint8_t>(16 * high + low);
    }
    if (count == 0) corrupt();
    return count;
  }

  void read_codes(int symbols) {
    const auto groups = static_cast<size_t>(bits(3));
    if (groups < 2 || groups > 6) corrupt();
    selectors_.resize(static_cast<size_t>(bits(15)));
    if (selectors_.empty()) corrupt();
    std::array<uint8_t, 6> order;
    std::iota(order.begin(), order.end(), uint8_t{0});
    for (uint8_t& selector : selectors_) {
      size_t place = 0;
      while (bits(1))
        if (++place >= groups) corrupt();
      selector = order[place];
      std::copy_backward(order.begin(), order.begin() + place, order.begin() + place + 1);
      order[0] = selector;
    }
    for (size_t group = 0; group < groups; ++group) {
      std::array<uint8_t, kMaxSymbols> lengths{};
      auto length = static_cast<int>(bits(5));
      for (int s = 0; s < symbols; ++s) {
        for (;;) {
          if (length < 1 || length > kMaxLength) corrupt();
          if (!bits(1)) break;
          length += bits(1) ? -1 : 1;
        }
        lengths[static_cast<size_t>(s)] = static_cast<uint8_t>(length);
      }
      if (!codes_[group].build(lengths, symbols)) corrupt();
    }
  }

  // The bytes in the order of the sorted rotations, to `block_`, and how many there are of each.
  int64_t read_moved_to_front(int end_symbol) {
    auto* const out = block_.mutable_as<uint32_t>();
    std::array<uint8_t, 256> front = bytes_;
    counts_.fill(0);
    int64_t size = 0, run = 0, unit = 1;
    const auto put = [&](int64_t count) {
      if (count > most_ - size) corrupt();
      std::fill_n(out + size, count, front[0]);
      counts_[front[0]] += static_cast<uint32_t>(count);
      size += count;
    };
    for (const uint8_t selector : selectors_) {
      const Code& code = codes_[selector];
      for (int k = 0; k < kGroupSymbols; ++k) {
        const int symbol = next_symbol(code);
        if (symbol <= 1) {  // digits of a run's length, the least first
          if (unit >= kMaxRun) corrupt();
          run += unit << symbol;
          unit <<= 1;
          continue;
        }
        put(run);
        run = 0;
        unit = 1;
        if (symbol == end_symbol) return size;
        const uint8_t byte = front[static_cast<size_t>(symbol - 1)];
        std::memmove(front.data() + 1, front.data(), static_cast<size_t>(symbol - 1));
        front[0] = byte;
        put(1);
      }
    }
    corrupt();
  }

  int next_symbol(const Code& code) {
    // Behind the last code come the 80 bits of the next magic and a checksum.
    need(kMaxLength);
    const uint64_t next = bits_ << (64 - count_) >> (64 - kMaxLength);
    if (const uint16_t found = code.table[next >> (kMaxLength - kTableBits)]) {
      count_ -= found & 15;
      return found >> 4;
    }
    for (int length = kTableBits + 1; length <= kMaxLength; ++length) {
      const auto at = static_cast<size_t>(length);
      const auto front = static_cast<int32_t>(next >> (kMaxLength - length));
      if (front >= code.limit[at]) continue;
      count_ -= length;
      return code.order[static_cast<size_t>(front + code.offset[at])];
    }
    corrupt();
  }

  void need(int count) {
    while (count_ < count) {
      if (!input_.fill()) input_.damaged("the bzip2 data ends early");
      bits_ = bits_ << 8 | *input_.data();
      ++input_.begin;
      count_ += 8;
    }
  }

  uint64_t bits(int count) {
    need(count);
    count_ -= count;
    return bits_ >> count_ & ((uint64_t{1} << count) - 1);
  }

  [[noreturn]] void corrupt() const { input_.damaged("the bzip2 data is corrupt"); }

  PackedInput input_;
  uint64_t bits_ = 0;
  int count_ = 0;  // of bits that are not taken yet
  bool in_stream_ = false;
  uint32_t combined_ = 0;  // checksum of the stream
  int64_t most_ = 0;       // bytes of a block
  Buffer block_{};         // of each place, the byte and the place of the next one
  uint32_t at_ = 0;
  int64_t left_ = 0;
  int equal_ = 0;
  uint8_t last_ = 0;
  int64_t repeats_ = 0;
  uint32_t checksum_ = 0;
  uint32_t expected_ = 0;
  std::array<uint8_t, 256> bytes_{};
  std::array<uint32_t, 256> counts_{};
  std::vector<uint8_t> selectors_{};
  std::array<Code, 6> codes_{};
};

}  // namespace

ReadBytes read_bzip2(PackedInput packed) {
  auto reader = std::make_shared<Bzip2Reader>(std::move(packed));
  return [reader](char* into, int64_t size) { return reader->read(into, size); };
}

}  // namespace hr
