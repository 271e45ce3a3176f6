// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/values.h"

#include "headrace/base/utf8.h"
#include "headrace/data/column.h"
#include "headrace/io/byte_buffer.h"
#include "headrace/io/parquet/bit_packing_kernels.h"
#include "headrace/io/parquet/delta.h"
#include "headrace/io/parquet/hybrid.h"
#include "headrace/io/parquet/refusal.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace hr::parquet {

namespace {

constexpr const char* kEarly = "a page has fewer values than it says";
constexpr int64_t kBlock = 1024;

class PlainFixed final : public ValueReader {
 public:
  PlainFixed(int64_t width, std::string_view bytes) : width_(width), bytes_(bytes) {}

  void fixed(int64_t count, std::byte* out) override {
    const std::byte* const values = in_place(count);
    if (count > 0) std::memcpy(out, values, static_cast<size_t>(count * width_));
  }

  const std::byte* in_place(int64_t count) override {
    const auto left = static_cast<int64_t>(bytes_.size());
    if (count > left / width_) damaged(kEarly);
    const auto* const values = reinterpret_cast<const std::byte*>(bytes_.data());
    bytes_.remove_prefix(static_cast<size_t>(count * width_));
    return values;
  }

 private:
  int64_t width_;
  std::string_view bytes_;
};

class SplitFixed final : public ValueReader {
 public:
  SplitFixed(int64_t width, std::string_view bytes)
      : width_(width), count_(static_cast<int64_t>(bytes.size()) / width), bytes_(bytes) {}

  void fixed(int64_t count, std::byte* out) override {
    if (count > count_ - at_) damaged(kEarly);
    cpu::join_bytes(reinterpret_cast<const uint8_t*>(bytes_.data()), count_, width_, at_, count,
                    out);
    at_ += count;
  }

 private:
  int64_t width_;
  int64_t count_;
  std::string_view bytes_;
  int64_t at_ = 0;
};

class DeltaFixed final : public ValueReader {
 public:
  DeltaFixed(int64_t width, std::string_view bytes) : width_(width), reader_(bytes) {}

  void fixed(int64_t count, std::byte* out) override {
    if (width_ == 8) return reader_.read(count, reinterpret_cast<int64_t*>(out));
    std::array<int64_t, kBlock> block;
    for (int64_t done = 0; done < count;) {
      const int64_t some = std::min(count - done, kBlock);
      reader_.read(some, block.data());
      std::byte* const to = out + done * width_;
      for (int64_t i = 0; i < some; ++i) {  // sums of 32 bits wrap there
        const auto value = static_cast<int32_t>(block[static_cast<size_t>(i)]);
        std::memcpy(to + 4 * i, &value, 4);
      }
      done += some;
    }
  }

 private:
  int64_t width_;
  DeltaReader reader_;
};

class PlainBits final : public ValueReader {
 public:
  explicit PlainBits(std::string_view bytes) : bytes_(bytes) {}

  void bits(int64_t count, uint64_t* bitmap) override {
    if (count > static_cast<int64_t>(bytes_.size()) * 8 - at_) damaged(kEarly);
    append_bits(bitmap, 0, reinterpret_cast<const uint8_t*>(bytes_.data()), at_, count);
    at_ += count;
  }

 private:
  std::string_view bytes_;
  int64_t at_ = 0;
};

// The text behind 4 bytes with its length.
std::string_view prefixed(std::string_view bytes) {
  uint32_t size;
  if (bytes.size() < 4) damaged("the size of a page's part is cut off");
  std::memcpy(&size, bytes.data(), 4);
  if (size > bytes.size() - 4) damaged("a part of a page is longer than the page");
  return bytes.substr(4, size);
}

class RunBits final : public ValueReader {
 public:
  explicit RunBits(std::string_view bytes) : reader_(prefixed(bytes), 1) {}

  void bits(int64_t count, uint64_t* bitmap) override { reader_.read_bits(count, bitmap, 0); }

 private:
  HybridReader reader_;
};

class PlainTexts final : public ValueReader {
 public:
  explicit PlainTexts(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  void texts(int64_t count, std::string_view* out) override {
    for (int64_t i = 0; i < count;) {
      if (count - i >= kAlike && take_alike(out + i)) {
        i += kAlike;
        continue;
      }
      for (const int64_t stop = std::min(i + kApart, count); i < stop; ++i) out[i] = next();
    }
  }

 private:
  static constexpr int64_t kAlike = 8;
  static constexpr int64_t kApart = 32;  // before equal lengths are looked for again

  std::string_view next() {
    uint32_t size;
    if (end_ - at_ < 4) damaged(kEarly);
    std::memcpy(&size, at_, 4);
    at_ += 4;
    if (size > static_cast<uint64_t>(end_ - at_)) damaged("a string is longer than its page");
    at_ += size;
    return {at_ - size, size};
  }

  // The next strings, if they are as long as the first of them: no load waits for another then.
  bool take_alike(std::string_view* out) {
    uint32_t size, others = 0;
    if (end_ - at_ < 4) return false;
    std::memcpy(&size, at_, 4);
    const int64_t step = int64_t{size} + 4;
    if ((end_ - at_) / kAlike < step) return false;
    for (int64_t k = 1; k < kAlike; ++k) {
      uint32_t other;
      std::memcpy(&other, at_ + k * step, 4);
      others |= other ^ size;
    }
    if (others != 0) return false;
    for (int64_t k = 0; k < kAlike; ++k) out[k] = {at_ + k * step + 4, size};
    at_ += kAlike * step;
    return true;
  }

  const char* at_;
  const char* end_;
};

// Lengths that are all read at once, since what follows lies behind them.
struct Lengths {
  Lengths(std::string_view bytes, int64_t most) {
    DeltaReader reader(bytes);
    count = reader.count();
    if (count > most) damaged("a page has more strings than values");
    numbers = Buffer::allocate(8 * count);
    if (count > 0) reader.read(count, numbers.mutable_as<int64_t>());
    rest = reader.rest();
  }

  int64_t next() {
    if (at == count) damaged(kEarly);
    const int64_t length = numbers.as<int64_t>()[at++];
    if (length < 0 || length > UINT32_MAX) damaged("the length of a string is out of range");
    return length;
  }

  Buffer numbers{};
  int64_t count = 0;
  int64_t at = 0;
  std::string_view rest{};
};

class DeltaLengthTexts final : public ValueReader {
 public:
  DeltaLengthTexts(std::string_view bytes, int64_t most)
      : lengths_(bytes, most), text_(lengths_.rest) {}

  void texts(int64_t count, std::string_view* out) override {
    for (int64_t i = 0; i < count; ++i) out[i] = next();
  }

  std::string_view next() {
    const auto size = static_cast<size_t>(lengths_.next());
    if (size > text_.size()) damaged("a string is longer than its page");
    const std::string_view text = text_.substr(0, size);
    text_.remove_prefix(size);
    return text;
  }

 private:
  Lengths lengths_;
  std::string_view text_;
};

// Each string begins as the one before it does.
class DeltaTexts final : public ValueReader {
 public:
  DeltaTexts(std::string_view bytes, int64_t most)
      : prefixes_(bytes), suffixes_(prefixes_.behind()), text_(suffixes_.behind()) {
    if (prefixes_.count() > most || suffixes_.count() > most)
      damaged("a page has more strings than values");
    left_ = std::min(prefixes_.count(), suffixes_.count());
  }

  void texts(int64_t count, std::string_view* out) override {
    // The strings move while they grow: their places first, and what points to them at last.
    grown_.clear();
    grown_.append(last_);
    int64_t before = 0;
    for (int64_t i = 0; i < count; ++i) {
      if (next_ == known_) next_lengths();
      const int64_t prefix = prefix_[static_cast<size_t>(next_)];
      const int64_t suffix = suffix_[static_cast<size_t>(next_++)], begin = grown_.size();
      if (prefix < 0 || prefix > begin - before)
        damaged("a string repeats more of the one before than there is");
      if (suffix < 0 || suffix > std::ssize(text_)) damaged("a string is longer than its page");
      if (prefix + suffix > UINT32_MAX) damaged("the length of a string is out of range");
      char* const to = grown_.reserve(prefix + suffix);
      if (prefix > 0) std::memcpy(to, grown_.data() + before, static_cast<size_t>(prefix));
      if (suffix > 0) std::memcpy(to + prefix, text_.data(), static_cast<size_t>(suffix));
      text_.remove_prefix(static_cast<size_t>(suffix));
      grown_.advance(prefix + suffix);
      out[i] = {nullptr, static_cast<size_t>(grown_.size() - begin)};
      before = begin;
    }
    size_t at = last_.size();
    for (int64_t i = 0; i < count; ++i) {
      out[i] = {grown_.data() + at, out[i].size()};
      at += out[i].size();
    }
    if (count > 0) last_ = out[count - 1];
  }

  int64_t short_views(int64_t count, std::byte* out) override {
    if (last_.size() > sizeof(StringView::inlined) || !is_ascii(last_)) return 0;
    if (next_ == known_) next_lengths();
    count = std::min(count, known_ - next_);
    const int64_t *const prefixes = prefix_.data() + next_, *const suffixes =
                                                                suffix_.data() + next_;
    const int64_t bytes =
        cpu::short_front_coded_bytes(prefixes, suffixes, count, std::ssize(last_));
    if (bytes < 0 || bytes > std::ssize(text_)) return 0;
    const std::string_view text = text_.substr(0, static_cast<size_t>(bytes));
    if (!is_ascii(text)) return 0;
    std::array<char, kBlock * sizeof(StringView::inlined) + cpu::kReadBehind> copy;
    const bool is_at_end = std::ssize(text_) < bytes + cpu::kReadBehind;
    if (is_at_end && bytes > 0) std::memcpy(copy.data(), text.data(), text.size());
    StringView last{};
    std::memcpy(last.inlined, last_.data(), last_.size());
    cpu::put_front_coded(prefixes, suffixes, count, is_at_end ? copy.data() : text.data(),
                         reinterpret_cast<const std::byte*>(&last), out);
    std::memcpy(&last, out + 16 * (count - 1), sizeof last);
    last_.assign(last.inlined, last.size);
    text_.remove_prefix(text.size());
    next_ += count;
    return count;
  }

 private:
  void next_lengths() {
    if (left_ == 0) damaged(kEarly);
    known_ = std::min(left_, kBlock);
    next_ = 0;
    left_ -= known_;
    prefixes_.read(known_, prefix_.data());
    suffixes_.read(known_, suffix_.data());
  }

  DeltaReader prefixes_;
  DeltaReader suffixes_;
  std::string_view text_;
  int64_t left_ = 0;  // whose lengths were not read
  std::array<int64_t, kBlock> prefix_{};
  std::array<int64_t, kBlock> suffix_{};
  int64_t next_ = 0;
  int64_t known_ = 0;
  ByteBuffer grown_{};
  std::string last_{};
};

// Values of a fixed width that are encoded as strings are.
class FixedTexts final : public ValueReader {
 public:
  FixedTexts(int64_t width, std::unique_ptr<ValueReader> texts)
      : width_(width), texts_(std::move(texts)) {}

  void fixed(int64_t count, std::byte* out) override {
    std::array<std::string_view, kBlock> block;
    for (int64_t done = 0; done < count;) {
      const int64_t some = std::min(count - done, kBlock);
      texts_->texts(some, block.data());
      for (int64_t i = 0; i < some; ++i, out += width_) {
        const std::string_view text = block[static_cast<size_t>(i)];
        if (static_cast<int64_t>(text.size()) != width_)
          damaged("a value has another width than its column");
        std::memcpy(out, text.data(), text.size());
      }
      done += some;
    }
  }

 private:
  int64_t width_;
  std::unique_ptr<ValueReader> texts_;
};

[[noreturn]] void no_such_encoding(Encoding encoding) {
  damaged("the encoding of a page is not one for its type: encoding=" +
          std::to_string(static_cast<int>(encoding)));
}

bool is_integer(PhysicalType type) {
  return type == PhysicalType::kInt32 || type == PhysicalType::kInt64;
}

}  // namespace

void ValueReader::fixed(int64_t, std::byte*) {
  damaged("the values of a page have another form than its column");
}

void ValueReader::texts(int64_t, std::string_view*) {
  damaged("the values of a page have another form than its column");
}

void ValueReader::bits(int64_t, uint64_t*) {
  damaged("the values of a page have another form than its column");
}

std::unique_ptr<ValueReader> read_values(const Leaf& leaf, Encoding encoding,
                                         std::string_view bytes, int64_t most) {
  const PhysicalType type = leaf.physical;
  const int64_t width = leaf.stored_bytes;
  switch (encoding) {
    case Encoding::kPlain:
      if (type == PhysicalType::kBoolean) return std::make_unique<PlainBits>(bytes);
      if (type == PhysicalType::kByteArray) return std::make_unique<PlainTexts>(bytes);
      return std::make_unique<PlainFixed>(width, bytes);
    case Encoding::kRle:
      if (type == PhysicalType::kBoolean) return std::make_unique<RunBits>(bytes);
      break;
    case Encoding::kDeltaBinaryPacked:
      if (is_integer(type)) return std::make_unique<DeltaFixed>(width, bytes);
      break;
    case Encoding::kDeltaLengthByteArray:
      if (type == PhysicalType::kByteArray) return std::make_unique<DeltaLengthTexts>(bytes, most);
      break;
    case Encoding::kDeltaByteArray:
      if (type == PhysicalType::kByteArray) return std::make_unique<DeltaTexts>(bytes, most);
      if (type == PhysicalType::kFixed)
        return std::make_unique<FixedTexts>(width, std::make_unique<DeltaTexts>(bytes, most));
      break;
    case Encoding::kByteStreamSplit:
      if (width > 0 && type != PhysicalType::kInt96)
        return std::make_unique<SplitFixed>(width, bytes);
      break;
    default:
      break;
  }
  no_such_encoding(encoding);
}

}  // namespace hr::parquet
