// SPDX-License-Identifier: Apache-2.0
// Dictionary: one object for equal contents; the table that finds the code of a value.
#include "headrace/data/dictionary.h"

#include "headrace/base/bits.h"
#include "headrace/base/error.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <mutex>
#include <numeric>
#include <pthread.h>
#include <unordered_map>

namespace hr {

namespace {

constexpr int64_t kTextPart = int64_t{1} << 30;
constexpr int64_t kMaxText = std::numeric_limits<int32_t>::max();

// Few strings get many slots: where each is found at its first, the processor estimates right.
constexpr uint64_t kFewestSlots = 1024;
constexpr uint64_t kSparse = 1 << 16;

// Every dictionary that is in use, by the hash of its contents.
struct Known {
  std::mutex mutex;
  std::unordered_multimap<uint64_t, std::weak_ptr<const Dictionary>> by_hash;
  size_t sweep_at = 64;
};

std::atomic<Known*> known_in_use{nullptr};

// Never destroyed: columns may outlive static objects. A fork does not wait for who compares
// strings; a child that another thread's hands were in the list of begins with an empty one.
Known& known() {
  [[maybe_unused]] static const bool made = [] {
    known_in_use = new Known;
    pthread_atfork(nullptr, nullptr, [] {
      Known& parents = *known_in_use;
      if (parents.mutex.try_lock())
        parents.mutex.unlock();
      else
        known_in_use = new Known;
    });
    return true;
  }();
  return *known_in_use;
}

// The text of a value that is not missing; `space` holds the bytes of one that is no string.
std::string_view text_of(const Column& values, int64_t row, StringView& space) {
  if (values.dtype().is_string()) return values.string(row);
  text_of_value(values, row, space);
  return {space.inlined, space.size};
}

bool same_values(const Column& a, const Column& b) {
  if (a.dtype() != b.dtype() || a.num_rows() != b.num_rows()) return false;
  if (a.values_buffer() == b.values_buffer() && a.offset() == b.offset() &&
      a.text_buffers() == b.text_buffers())
    return true;
  StringView left, right;
  for (int64_t row = 0; row < a.num_rows(); ++row)
    if (text_of(a, row, left) != text_of(b, row, right)) return false;
  return true;
}

uint64_t extend(uint64_t hash, const StringKey& key) {
  return StringKey::mix(hash + 0x9E3779B97F4A7C15u, key.hash);
}

// Room for at least `needed` bytes with what is there kept.
void grow(Buffer& buffer, int64_t used, int64_t needed) {
  if (needed <= buffer.size_bytes()) return;
  Buffer larger = Buffer::allocate(std::max<int64_t>({1024, 2 * buffer.size_bytes(), needed}));
  if (used > 0) std::memcpy(larger.mutable_data(), buffer.data(), static_cast<size_t>(used));
  buffer = std::move(larger);
}

}  // namespace

DictionaryPtr shared_dictionary(Column values, uint64_t hash, bool ordered) {
  static std::atomic<uint64_t> last_id{0};
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  const auto [begin, end] = all.by_hash.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (DictionaryPtr same = it->second.lock();
        same && same->is_ordered() == ordered && same_values(same->values(), values))
      return same;
  if (all.by_hash.size() >= all.sweep_at) {
    std::erase_if(all.by_hash, [](const auto& entry) { return entry.second.expired(); });
    all.sweep_at = std::max<size_t>(64, 2 * all.by_hash.size());
  }
  DictionaryPtr made(new Dictionary(std::move(values), ordered, ++last_id));
  all.by_hash.emplace(hash, made);
  return made;
}

int32_t DictionaryBuilder::insert(const StringKey& key, std::string_view text) {
  if (static_cast<int64_t>(text.size()) > kMaxText)
    throw_error<InvalidArgumentError>("category", "a string is too long for a dictionary",
                                      {{"bytes", text.size()}, {"limit", kMaxText}},
                                      "keep the column as strings");
  if (size_ == std::numeric_limits<int32_t>::max())
    throw_error<InvalidArgumentError>("category", "too many distinct strings for a dictionary",
                                      {{"limit", size_}}, "keep the column as strings");
  const uint64_t room = num_slots_ / (num_slots_ < kSparse ? 4 : 2);
  if (static_cast<uint64_t>(size_) >= room) grow_slots();
  grow(views_, int64_t{16} * size_, int64_t{16} * (size_ + 1));
  view_data_ = views_.mutable_as<StringView>();
  StringView view{};
  std::memcpy(&view, key.words, sizeof view);
  if (!key.is_inline()) append_text(text, view);
  view_data_[size_] = view;
  put_slot(static_cast<uint32_t>(key.hash), size_);
  return size_++;
}

std::string_view DictionaryBuilder::text_at(int32_t code) const {
  const StringView& view = view_data_[code];
  if (view.size <= sizeof view.inlined) return {view.inlined, view.size};
  return {text_[view.indirect.buffer].as<char>() + view.indirect.offset, view.size};
}

void DictionaryBuilder::put_slot(uint32_t tag, int32_t code) {
  uint64_t at = tag & (num_slots_ - 1);
  while (slot_data_[at].code >= 0) at = (at + 1) & (num_slots_ - 1);
  slot_data_[at] = {tag, code};
}

void DictionaryBuilder::grow_slots() {
  const uint64_t larger = std::max<uint64_t>(kFewestSlots, 2 * num_slots_);
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(larger * sizeof(Slot)));
  slot_data_ = buffer.mutable_as<Slot>();
  std::fill_n(slot_data_, larger, Slot{0, -1});
  slots_ = std::move(buffer);
  num_slots_ = larger;
  // In the order of the codes, so that no string's search passes over a later one.
  for (int32_t code = 0; code < size_; ++code)
    put_slot(static_cast<uint32_t>(StringKey(text_at(code)).hash), code);
}

void DictionaryBuilder::shrink(int32_t size) {
  while (size_ > size) {
    const int32_t code = size_ - 1;
    const auto tag = static_cast<uint32_t>(StringKey(text_at(code)).hash);
    uint64_t at = tag & (num_slots_ - 1);
    while (slot_data_[at].code != code) at = (at + 1) & (num_slots_ - 1);
    slot_data_[at].code = -1;
    if (const StringView& view = view_data_[code]; view.size > sizeof view.inlined) {
      text_.resize(view.indirect.buffer + size_t{1});
      text_used_ = view.indirect.offset;
    }
    --size_;
  }
}

void DictionaryBuilder::append_text(std::string_view text, StringView& view) {
  const auto bytes = static_cast<int64_t>(text.size());
  if (text_.empty() || (text_used_ > 0 && text_used_ + bytes > kTextPart)) {
    text_.emplace_back();
    text_used_ = 0;
  }
  Buffer& part = text_.back();
  grow(part, text_used_, text_used_ + bytes);
  std::memcpy(part.mutable_data() + text_used_, text.data(), text.size());
  view.indirect.buffer = static_cast<uint32_t>(text_.size() - 1);
  view.indirect.offset = static_cast<uint32_t>(text_used_);
  text_used_ += bytes;
}

Buffer DictionaryBuilder::add_all(const Column& values) {
  const int64_t rows = values.num_rows();
  if (rows == 0) return {};
  Buffer buffer = Buffer::allocate(rows * 4);
  auto* codes = buffer.mutable_as<int32_t>();
  bool stays = true;
  StringView space;
  for (int64_t row = 0; row < rows; ++row) {
    codes[row] = add(text_of(values, row, space));
    stays &= codes[row] == row;
  }
  return stays ? Buffer() : buffer;
}

Column DictionaryBuilder::values() const {
  return Column::strings(size_, views_, text_);
}

DictionaryPtr DictionaryBuilder::finish(bool ordered) {
  uint64_t hash = 0;
  for (int32_t code = 0; code < size_; ++code) hash = extend(hash, StringKey(text_at(code)));
  slots_ = {};
  if (size_ > 0) views_.shrink(int64_t{16} * size_);
  if (!text_.empty()) text_.back().shrink(text_used_);
  DictionaryPtr made =
      shared_dictionary(Column::strings(size_, std::move(views_), std::move(text_)), hash, ordered);
  *this = {};
  return made;
}

bool text_of_value(const Column& values, int64_t row, StringView& text) {
  if (values.is_null(row)) return false;
  const Dtype dtype = values.dtype();
  if (dtype.is_string()) {
    text = values.values<StringView>()[static_cast<size_t>(row)];
    return true;
  }
  text = {};
  text.size = static_cast<uint32_t>(dtype.size_bytes());
  if (dtype.is_bool()) {
    text.inlined[0] = static_cast<char>(values.bit(row));
    return true;
  }
  const std::byte* const at =
      values.values_buffer().data() + (values.offset() + row) * dtype.size_bytes();
  if (!dtype.is_floating()) {
    std::memcpy(text.inlined, at, text.size);
    return true;
  }
  return visit_floating(dtype, [&]<class T>(std::type_identity<T>) {
    T value;
    std::memcpy(&value, at, sizeof value);
    if (value == 0) value = 0;  // of either sign
    std::memcpy(text.inlined, &value, sizeof value);
    return value == value;
  });
}

Column values_of_texts(const Column& texts, Dtype dtype) {
  if (dtype.is_string()) return texts;
  const int64_t rows = texts.num_rows();
  const int64_t width = dtype.size_bytes();
  Buffer buffer = Buffer::allocate_zeroed(dtype.is_bool() ? bitmap_bytes(rows) : rows * width);
  for (int64_t row = 0; row < rows; ++row) {
    const std::string_view text = texts.string(row);
    if (dtype.is_bool())
      set_bit(buffer.mutable_as<uint8_t>(), row, text[0] != 0);
    else
      std::memcpy(buffer.mutable_data() + row * width, text.data(), text.size());
  }
  return Column(dtype, rows, std::move(buffer));
}

std::vector<int32_t> sorted_codes(const Column& values) {
  std::vector<int32_t> codes(static_cast<size_t>(values.num_rows()));
  std::iota(codes.begin(), codes.end(), 0);
  const auto sort_by = [&](auto&& value) {
    std::sort(codes.begin(), codes.end(),
              [&](int32_t a, int32_t b) { return value(a) < value(b); });
  };
  if (values.dtype().is_string())
    sort_by([&](int32_t code) { return values.string(code); });
  else if (values.dtype().is_bool())
    sort_by([&](int32_t code) { return values.bit(code); });
  else
    visit_real(values.dtype().storage(), [&]<class T>(std::type_identity<T>) {
      sort_by([in = values.values<T>()](int32_t code) { return in[static_cast<size_t>(code)]; });
    });
  return codes;
}

DictionaryPtr dictionary_of(Column values, bool ordered) {
  uint64_t hash = 0;
  StringView space;
  for (int64_t row = 0; row < values.num_rows(); ++row)
    hash = extend(hash, StringKey(text_of(values, row, space)));
  return shared_dictionary(std::move(values), hash, ordered);
}

DistinctValues distinct_values(const Column& values, bool ordered) {
  const int64_t rows = values.num_rows();
  DictionaryBuilder builder;
  Buffer codes = Buffer::allocate(rows * 4);
  uint64_t hash = 0;
  bool distinct = true;
  if (rows > 0) {
    auto* out = codes.mutable_as<int32_t>();
    for (int64_t row = 0; row < rows; ++row) {
      StringView view;
      if (!text_of_value(values, row, view)) {
        out[row] = -1;
        distinct = false;
        continue;
      }
      const std::string_view text = text_of(values, row, view);
      out[row] = builder.add(text);
      distinct &= out[row] == row;
      hash = extend(hash, StringKey(text));
    }
  }
  if (distinct) return {shared_dictionary(values, hash, ordered), {}};
  if (values.dtype().is_string()) return {builder.finish(ordered), std::move(codes)};
  return {dictionary_of(values_of_texts(builder.values(), values.dtype()), ordered),
          std::move(codes)};
}

MergedDictionary merge_dictionaries(const std::vector<DictionaryPtr>& dictionaries) {
  MergedDictionary merged;
  merged.codes.resize(dictionaries.size());
  if (dictionaries.empty()) {
    merged.dictionary = DictionaryBuilder().finish();
    return merged;
  }
  merged.dictionary = dictionaries[0];
  const auto same = [&](const DictionaryPtr& each) { return each->id() == dictionaries[0]->id(); };
  if (std::all_of(dictionaries.begin(), dictionaries.end(), same)) return merged;
  DictionaryBuilder builder;
  for (size_t k = 0; k < dictionaries.size(); ++k)
    merged.codes[k] = builder.add_all(dictionaries[k]->values());
  const Dtype dtype = dictionaries[0]->values().dtype();
  merged.dictionary = dtype.is_string() ? builder.finish()
                                        : dictionary_of(values_of_texts(builder.values(), dtype));
  return merged;
}

}  // namespace hr
