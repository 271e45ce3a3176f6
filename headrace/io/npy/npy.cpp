// SPDX-License-Identifier: Apache-2.0
// The .npy reader: a header that is compared word by word, values read to their place in parts.
#include "headrace/io/npy/npy.h"

#include "headrace/base/error.h"
#include "headrace/exchange/array_interface.h"
#include "headrace/exec/workers.h"
#include "headrace/io/npy/npy_header.h"
#include "headrace/memory/buffer/pin.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

namespace hr {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr int64_t kMostHeader = int64_t{1} << 16;
constexpr int64_t kPartBytes = int64_t{1} << 22;  // a multiple of every width

class Reader {
 public:
  Reader(std::string_view op, const std::string& name, const NpyBytes& bytes)
      : op_(op), name_(name), bytes_(bytes) {}

  Tensor run() {
    read_header();
    const bool is_swapped = header_.descr.starts_with('>');
    std::string word = header_.descr;
    if (is_swapped || word.starts_with('=')) word[0] = '<';
    // One byte has no order, whatever the file calls it.
    if (word.size() == 3 && (word.ends_with("1"))) word[0] = '|';
    const Dtype dtype = dtype_of(word);
    const int64_t size = size_of(dtype);
    Buffer values = Buffer::allocate_spillable(size);
    if (bytes_.takes_places)
      parallel_for((size + kPartBytes - 1) / kPartBytes,
                   [&](int64_t part) { read_part(part * kPartBytes, dtype, is_swapped, values); });
    else
      for (int64_t begin = 0; begin < size; begin += kPartBytes)
        read_part(begin, dtype, is_swapped, values);
    values.seal();
    return Tensor(dtype, header_.shape, strides(), std::move(values), 0);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(
        std::string(op_) + ": " + what + ": path='" + name_ + "'; fetch or write the file again",
        name_);
  }

  void read_header() {
    char front[12];
    const int64_t count = std::min<int64_t>(bytes_.size, 10);
    if (count > 0) bytes_.read(0, front, count);
    if (count < 10 || std::string_view(front, 6) != kMagic) fail("this is not a .npy file");
    const int version = front[6];
    if (version < 1 || version > 3)
      throw UnsupportedError(std::string(op_) +
                             ": unknown version of the format: version=" + std::to_string(version) +
                             ", path='" + name_ + "'; write it again by numpy.save");
    int64_t at = 10;
    if (version > 1) {
      if (bytes_.size < 12) fail("the file ends in its header");
      bytes_.read(10, front + 10, 2);
      at = 12;
    }
    int64_t length = 0;
    for (int64_t i = at; i-- > 8;) length = length << 8 | static_cast<uint8_t>(front[i]);
    if (length > kMostHeader) fail("the header is too long");
    if (length > bytes_.size - at) fail("the file ends in its header");
    std::string text(static_cast<size_t>(length), ' ');
    if (length > 0) bytes_.read(at, text.data(), length);
    if (const char* const wrong = npy::parse_header(text, header_)) fail(wrong);
    begin_ = at + length;
  }

  Dtype dtype_of(const std::string& word) const {
    const auto refuse = [&](const char* what, const char* fix) {
      throw UnsupportedError(std::string(op_) + ": " + what + ": dtype='" + header_.descr +
                             "', path='" + name_ + "'; " + fix);
    };
    if (word.find('O') != word.npos)
      refuse("arrays of objects are pickles, which may run any code",
             "save numbers, or use numpy.load(path, allow_pickle=True) if you trust the file");
    if (word == "[" || word.find('V') != word.npos)
      refuse("arrays of records are not read",
             "use hr.DataFrame(numpy.load(path)), which makes their fields columns");
    if (word.find_first_of("SU") != word.npos)
      refuse("arrays of strings are not read", "use hr.Series(numpy.load(path))");
    return from_typestr(op_, word);
  }

  // Bytes of all values, which are there.
  int64_t size_of(Dtype dtype) const {
    int64_t size = dtype.size_bytes();
    const int64_t held = bytes_.size - begin_;
    bool fits = true;
    for (const int64_t each : header_.shape) fits &= !__builtin_mul_overflow(size, each, &size);
    if (std::ranges::find(header_.shape, 0) != header_.shape.end()) {
      num_elements(header_.shape);
      return 0;
    }
    if (!fits || size > held)
      fail("the file ends before its last value: bytes=" + std::to_string(held) +
           ", expected=" + (fits ? std::to_string(size) : std::string("more than 2^63")));
    return size;
  }

  void read_part(int64_t begin, Dtype dtype, bool is_swapped, Buffer& values) const {
    const int64_t size = std::min(kPartBytes, values.size_bytes() - begin);
    char* const out = values.mutable_as<char>() + begin;
    const Pin pin{{&values, begin, begin + size, true}};
    bytes_.read(begin_ + begin, out, size);
    if (dtype.is_bool() && std::any_of(out, out + size, [](char c) { return c & ~1; }))
      fail("a bool is neither 0 nor 1");
    if (!is_swapped) return;
    const int64_t width = dtype.size_bytes() / (dtype.is_complex() ? 2 : 1);
    if (width == 2) swap_all<uint16_t>(out, size);
    if (width == 4) swap_all<uint32_t>(out, size);
    if (width == 8) swap_all<uint64_t>(out, size);
  }

  template <class T>
  static void swap_all(char* bytes, int64_t size) {
    for (int64_t at = 0; at < size; at += static_cast<int64_t>(sizeof(T))) {
      T value;
      std::memcpy(&value, bytes + at, sizeof value);
      if constexpr (sizeof(T) == 2) value = __builtin_bswap16(value);
      if constexpr (sizeof(T) == 4) value = __builtin_bswap32(value);
      if constexpr (sizeof(T) == 8) value = __builtin_bswap64(value);
      std::memcpy(bytes + at, &value, sizeof value);
    }
  }

  Shape strides() const {
    if (!header_.is_fortran) return row_major(header_.shape);
    Shape strides;
    int64_t step = 1;
    for (const int64_t size : header_.shape) {
      strides.push_back(step);
      step *= std::max<int64_t>(size, 1);
    }
    return strides;
  }

  std::string_view op_;
  const std::string& name_;
  const NpyBytes& bytes_;
  npy::Header header_{};
  int64_t begin_ = 0;  // of the values
};

}  // namespace

Tensor read_npy(std::string_view op, const std::string& name, const NpyBytes& bytes) {
  const ScopedTag tag("read_npy");
  return Reader(op, name, bytes).run();
}

Tensor read_npy(std::string_view op, const std::string& name, ByteSource& source) {
  const int64_t size = source.load(std::numeric_limits<int64_t>::max());
  Tensor made = read_npy(
      op, name,
      {.read = [&](int64_t offset, char* into, int64_t count) { source.read(offset, into, count); },
       .size = size,
       .takes_places = true});
  source.check_unchanged();
  return made;
}

}  // namespace hr
