// SPDX-License-Identifier: Apache-2.0
// Layout, checksum, and checks of what a model's file says of itself.
#include "headrace/learn/model_file.h"

#include "headrace/algo/keys/hash.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exchange/string_views.h"
#include "headrace/io/sink.h"
#include "headrace/io/source.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace hr {

namespace {

constexpr std::string_view kMagic("\x89HRMODL\n", 8);
constexpr uint32_t kVersion = 1;
constexpr int64_t kHead = 40;  // bytes before the header
constexpr int64_t kChecksumAt = 32;
constexpr int64_t kGrain = 64;
constexpr int64_t kMostHeader = int64_t{64} << 20;
constexpr size_t kMostDimensions = 32;

/// Of bytes that come in pieces, each but the last a multiple of eight long.
class Checksum {
 public:
  void add(const void* data, int64_t bytes) {
    const auto* const from = static_cast<const char*>(data);
    for (int64_t i = 0; i < bytes; i += 8) {
      uint64_t word = 0;
      std::memcpy(&word, from + i, static_cast<size_t>(std::min<int64_t>(8, bytes - i)));
      state_ = hash_key(state_ + word) + word;
    }
    bytes_ += static_cast<uint64_t>(bytes);
  }

  uint64_t value() const { return hash_key(state_ ^ bytes_); }

 private:
  uint64_t state_ = 0;
  uint64_t bytes_ = 0;
};

bool is_stored(Dtype dtype) {
  return dtype.is_number() || dtype.is_complex();
}

// ---- writing ---------------------------------------------------------------------------------

struct Piece {
  Buffer buffer;
  int64_t begin = 0;
  int64_t bytes = 0;
};

std::string json_numbers(const std::vector<int64_t>& numbers) {
  std::string made = "[";
  for (const int64_t number : numbers) {
    if (made.size() > 1) made += ", ";
    made += std::to_string(number);
  }
  return made + "]";
}

/// The arrays in order: what the header says of them, and their bytes.
class Layout {
 public:
  void add(const ModelArray& array) {
    if (!table_.empty()) table_ += ", ";
    if (const auto* tensor = std::get_if<Tensor>(&array))
      add_tensor(*tensor);
    else
      add_strings(std::get<Column>(array));
  }

  const std::vector<Piece>& pieces() const { return pieces_; }

  // The header, padded, once the place of its end is the one that it speaks of.
  std::string header(std::string_view body) const {
    const std::string rest = body == "{}" ? "}" : ", " + std::string(body.substr(1));
    std::string made;
    int64_t end = kHead;
    while (true) {
      made = "{\"arrays\": [" + placed(end) + "]" + rest;
      const int64_t needed = round_up(kHead + static_cast<int64_t>(made.size()), kGrain);
      if (needed <= end) break;
      end = needed;
    }
    made.resize(static_cast<size_t>(end - kHead), ' ');
    return made;
  }

 private:
  void start(Dtype dtype, const Shape& shape) {
    table_ +=
        "{\"dtype\": \"" + std::string(dtype.name()) + "\", \"shape\": " + json_numbers(shape);
  }

  // Where it lies is known when the header is; until then its number stands behind a mark.
  void put(std::string_view name, Piece piece) {
    table_ += ", \"" + std::string(name) + "\": " + kMark;
    pieces_.push_back(std::move(piece));
  }

  std::string placed(int64_t end) const {
    std::string made;
    size_t from = 0;
    for (const Piece& piece : pieces_) {
      const size_t mark = table_.find(kMark, from);
      made += table_.substr(from, mark - from) + json_numbers({end, piece.bytes});
      from = mark + 1;
      end = round_up(end + piece.bytes, kGrain);
    }
    return made + table_.substr(from);
  }

  void add_tensor(const Tensor& given) {
    if (!is_stored(given.dtype()))
      throw_error<TypeMismatchError>("save", "arrays of this dtype cannot be saved",
                                     {{"dtype", given.dtype().name()}});
    const Tensor tensor = contiguous(given, "save");
    start(tensor.dtype(), tensor.shape());
    put("values", {tensor.buffer(), tensor.byte_offset(),
                   tensor.num_elements() * tensor.dtype().size_bytes()});
    table_ += "}";
  }

  void add_strings(const Column& column) {
    if (!column.dtype().is_string())
      throw_error<TypeMismatchError>("save", "only columns of strings can be saved",
                                     {{"dtype", column.dtype().name()}});
    const int64_t rows = column.num_rows();
    Buffer offsets = Buffer::allocate((rows + 1) * 8);
    auto* const place = offsets.mutable_as<int64_t>();
    place[0] = 0;
    for (int64_t row = 0; row < rows; ++row)
      place[row + 1] =
          place[row] + (column.is_null(row) ? 0 : static_cast<int64_t>(column.string(row).size()));
    Buffer text = Buffer::allocate(place[rows]);
    for (int64_t row = 0; row < rows; ++row)
      if (place[row + 1] > place[row])
        std::memcpy(text.mutable_as<char>() + place[row], column.string(row).data(),
                    static_cast<size_t>(place[row + 1] - place[row]));
    const int64_t bytes = place[rows];
    start(column.dtype(), {rows});
    put("offsets", {std::move(offsets), 0, (rows + 1) * 8});
    put("text", {std::move(text), 0, bytes});
    if (column.null_count() > 0) {
      Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
      for (int64_t row = 0; row < rows; ++row)
        if (!column.is_null(row)) set_bit(validity.mutable_as<uint8_t>(), row, true);
      put("validity", {std::move(validity), 0, bitmap_bytes(rows)});
    }
    table_ += "}";
  }

  static constexpr char kMark = '\x01';
  std::string table_{};
  std::vector<Piece> pieces_{};
};

// ---- reading ---------------------------------------------------------------------------------

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  ModelFile read() {
    load();
    const int64_t end = check_head();
    JsonFault fault;
    auto header =
        Json::parse(std::string(file_.as<char>() + kHead, static_cast<size_t>(end - kHead)), fault);
    if (!header)
      refuse("its header is not JSON: " + std::string(fault.what),
             kHead + static_cast<int64_t>(fault.at));
    const auto table = header->find("arrays");
    if (!table || table->kind() != Json::Kind::kArray) refuse("its header has no arrays");
    place_ = end;
    std::vector<ModelArray> arrays;
    for (const Json& entry : table->items()) arrays.push_back(array(entry));
    if (place_ != size_) refuse("something follows its arrays", place_);
    return {std::move(*header), std::move(arrays)};
  }

 private:
  [[noreturn]] void refuse(const std::string& what, int64_t byte = -1) const {
    const std::string message =
        byte < 0 ? error_message("load", what, {{"path", path_}}, "save the model again")
                 : error_message("load", what, {{"path", path_}, {"byte", byte}},
                                 "save the model again");
    throw InputError(message, path_);
  }

  void load() {
    const auto source = Source::path(path_).open("load", Compression::kNone);
    size_ = source->load(kHead);
    char head[kHead];
    if (size_ == kHead) source->read(0, head, kHead);
    if (size_ < kHead || std::string_view(head, kMagic.size()) != kMagic)
      refuse("this is not a model file written by save()");
    size_ = source->load(std::numeric_limits<int64_t>::max());
    file_ = Buffer::allocate(size_);
    source->read(0, file_.mutable_as<char>(), size_);
    source->check_unchanged();
  }

  template <class T>
  T field(int64_t at) const {
    T value;
    std::memcpy(&value, file_.data() + at, sizeof value);
    return value;
  }

  // The end of the header.
  int64_t check_head() const {
    if (const auto version = field<uint32_t>(8); version != kVersion)
      throw_error<UnsupportedError>("load", "the file is of another version",
                                    {{"path", path_}, {"version", version}, {"known", kVersion}},
                                    "update headrace");
    const auto header = field<uint64_t>(16), all = field<uint64_t>(24);
    if (all != static_cast<uint64_t>(size_)) refuse("the file is cut off, or something follows it");
    if (field<uint32_t>(12) != 0 || header > static_cast<uint64_t>(size_ - kHead) ||
        (header + kHead) % kGrain != 0)
      refuse("the size of its header is wrong");
    if (header > kMostHeader) refuse("its header is larger than 64 MiB");
    Checksum sum;
    sum.add(file_.data(), kChecksumAt);
    sum.add(file_.data() + kHead, size_ - kHead);
    if (sum.value() != field<uint64_t>(kChecksumAt)) refuse("it is damaged: its checksum differs");
    return kHead + static_cast<int64_t>(header);
  }

  // Where a part of an array begins: at the place that follows from those before it.
  int64_t part(const Json& entry, std::string_view name, int64_t bytes) {
    const auto given = entry.find(name);
    const auto numbers = given ? given->items() : std::vector<Json>();
    if (numbers.size() != 2 || numbers[0].integer() != place_ || numbers[1].integer() != bytes ||
        bytes > size_ - place_)
      refuse("the place or size of an array is wrong", place_);
    const int64_t begin = place_, padding = (kGrain - bytes % kGrain) % kGrain;
    if (padding > size_ - begin - bytes) refuse("the file is cut off", begin);
    place_ = begin + bytes + padding;
    return begin;
  }

  ModelArray array(const Json& entry) {
    const auto name = entry.find("dtype"), given = entry.find("shape");
    if (!name || name->kind() != Json::Kind::kString || !given ||
        given->kind() != Json::Kind::kArray || given->items().size() > kMostDimensions)
      refuse("an array has no dtype or shape", place_);
    Shape shape;
    int64_t elements = 1;
    for (const Json& each : given->items()) {
      const auto extent = each.integer();
      if (!extent || *extent < 0 || __builtin_mul_overflow(elements, *extent, &elements))
        refuse("the shape of an array is wrong", place_);
      shape.push_back(*extent);
    }
    if (name->string() == "string") return strings(entry, shape);
    for (const TypeId id :
         {TypeId::kBool, TypeId::kInt8, TypeId::kInt16, TypeId::kInt32, TypeId::kInt64,
          TypeId::kUInt8, TypeId::kUInt16, TypeId::kUInt32, TypeId::kUInt64, TypeId::kFloat32,
          TypeId::kFloat64, TypeId::kComplex64, TypeId::kComplex128})
      if (Dtype(id).name() == name->string()) return tensor(entry, id, std::move(shape), elements);
    refuse("an array has an unknown dtype", place_);
  }

  Tensor tensor(const Json& entry, Dtype dtype, Shape shape, int64_t elements) {
    int64_t bytes;
    if (__builtin_mul_overflow(elements, dtype.size_bytes(), &bytes))
      refuse("the shape of an array is wrong", place_);
    const int64_t begin = part(entry, "values", bytes);
    const auto* const values = file_.as<uint8_t>() + begin;
    if (dtype.is_bool() && std::any_of(values, values + bytes, [](uint8_t b) { return b > 1; }))
      refuse("a bool is neither 0 nor 1", begin);
    return Tensor(dtype, std::move(shape), file_, begin);
  }

  Column strings(const Json& entry, const Shape& shape) {
    if (shape.size() != 1 || shape[0] > size_ / 8) refuse("the shape of an array is wrong", place_);
    const int64_t rows = shape[0];
    const auto* const offsets =
        reinterpret_cast<const int64_t*>(file_.data() + part(entry, "offsets", (rows + 1) * 8));
    const auto text = entry.find("text");
    const auto numbers = text ? text->items() : std::vector<Json>();
    const int64_t bytes = numbers.size() == 2 ? numbers[1].integer().value_or(-1) : -1;
    if (bytes < 0) refuse("the place or size of an array is wrong", place_);
    const int64_t text_at = part(entry, "text", bytes);
    const auto valid = entry.find("validity");
    const int64_t validity_at = valid ? part(entry, "validity", bitmap_bytes(rows)) : 0;
    const auto* const bits = valid ? file_.as<uint8_t>() + validity_at : nullptr;
    if (bytes > kTextPart) refuse("an array has more than 1 GiB of text", text_at);
    if (offsets[0] != 0 || offsets[rows] != bytes)
      refuse("the offsets of strings are wrong", text_at);
    const Buffer chars = copy(text_at, bytes);  // views reach 4 GiB, a file may be longer
    try {
      Buffer views = views_from_offsets<int64_t>({.op = "load"}, rows, offsets,
                                                 {chars.as<char>(), bytes}, bits, 0);
      return Column::strings(rows, std::move(views), {chars},
                             valid ? copy(validity_at, bitmap_bytes(rows)) : Buffer(),
                             valid ? -1 : 0);
    } catch (const InvalidArgumentError&) {
      refuse("the strings of an array are wrong", text_at);
    }
  }

  Buffer copy(int64_t begin, int64_t bytes) const {
    Buffer made = Buffer::allocate(bytes);
    if (bytes > 0)
      std::memcpy(made.mutable_data(), file_.data() + begin, static_cast<size_t>(bytes));
    return made;
  }

  const std::string& path_;
  Buffer file_{};
  int64_t size_ = 0;
  int64_t place_ = 0;  // the end of what arrays took so far, rounded up
};

}  // namespace

void write_model_file(const std::string& path, std::string_view body,
                      const std::vector<ModelArray>& arrays) {
  JsonFault fault;
  const auto parsed = Json::parse(std::string(body), fault);
  if (!parsed || parsed->kind() != Json::Kind::kObject || body[0] != '{' || parsed->find("arrays"))
    throw_error<InvalidArgumentError>("save", "the header is not a JSON object",
                                      {{"what", fault.what}, {"byte", fault.at}});
  const ScopedTag tag("save");
  Layout layout;
  for (const ModelArray& array : arrays) layout.add(array);
  const std::string header = layout.header(body);
  if (static_cast<int64_t>(header.size()) > kMostHeader)
    throw_error<UnsupportedError>("save", "what is not in arrays is larger than 64 MiB",
                                  {{"bytes", header.size()}});
  const std::string zeros(kGrain, '\0');
  std::string head(kMagic);
  const auto put = [&head](auto number) {
    head.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  auto total = kHead + static_cast<int64_t>(header.size());
  for (const Piece& piece : layout.pieces()) total = round_up(total + piece.bytes, kGrain);
  put(kVersion);
  put(uint32_t{0});
  put(static_cast<uint64_t>(header.size()));
  put(static_cast<uint64_t>(total));
  // All bytes but those of the sum itself; each part ends at a multiple of eight.
  Checksum sum;
  std::vector<std::string_view> parts;
  const auto add = [&](std::string_view bytes) {
    sum.add(bytes.data(), static_cast<int64_t>(bytes.size()));
    parts.push_back(bytes);
  };
  sum.add(head.data(), kChecksumAt);
  add(header);
  std::vector<std::string> tails;
  tails.reserve(layout.pieces().size());
  for (const Piece& piece : layout.pieces()) {
    if (piece.bytes == 0) continue;
    const auto* const data = piece.buffer.as<char>() + piece.begin;
    const auto whole = static_cast<size_t>(piece.bytes / kGrain * kGrain);
    add({data, whole});
    if (piece.bytes % kGrain == 0) continue;
    tails.emplace_back(data + whole, static_cast<size_t>(piece.bytes) - whole).resize(kGrain, '\0');
    add(tails.back());
  }
  put(sum.value());
  Sink sink("save", path, /*durable=*/false);
  sink.append(head);
  for (const std::string_view part : parts) sink.append(part);
  sink.commit();
}

ModelFile read_model_file(const std::string& path) {
  const ScopedTag tag("load");
  return Reader(path).read();
}

}  // namespace hr
