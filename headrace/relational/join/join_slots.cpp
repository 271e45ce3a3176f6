// SPDX-License-Identifier: Apache-2.0
// Decides which slots keys have on a CUDA device, and how left rows find their matches.
#include "headrace/relational/join/join_slots.h"

#include "headrace/algo/sort/string_codes.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/relational/join/join_slots_kernels.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace hr {

namespace {

constexpr std::string_view kOp = "merge";
constexpr int64_t kMostRightRows = int64_t{1} << 30;  // their slots are 32 bits
constexpr uint64_t kFewSlots = 4096;
constexpr uint64_t kSlotsARow = 4;  // where numbers are slots: 16 bytes per row

Place place_of_keys(const std::vector<Column>& keys) {
  for (const Column& key : keys)
    if (!key.place().is_host()) return key.place();
  return host;
}

SlotKeyKind kind_of(Dtype dtype) {
  if (dtype.is_bool()) return SlotKeyKind::kBool;
  if (dtype.is_floating()) return SlotKeyKind::kFloating;
  return dtype.storage().is_signed() ? SlotKeyKind::kSigned : SlotKeyKind::kUnsigned;
}

bool is_same_dictionary(const Column& a, const Column& b) {
  return a.dictionary() == b.dictionary();
}

// Keys of strings on both sides as numbers of theirs.
std::array<std::vector<Column>, 2> with_numbers(const std::vector<Column>& left,
                                                const std::vector<Column>& right) {
  std::array<std::vector<Column>, 2> keys{left, right};
  for (size_t k = 0; k < left.size(); ++k) {
    if (!left[k].dtype().is_string()) continue;
    const std::array<Column, 2> numbers = encode_strings(left[k], right[k]);
    for (const size_t side : {0, 1}) keys[side][k] = numbers[side];
  }
  return keys;
}

// Keys as the kernels read them; their buffers are held by `call`.
SlotKeys keys_there(DeviceCall& call, const std::vector<Column>& columns) {
  SlotKeys keys;
  for (const Column& column : columns) {
    SlotKey& key = keys.keys[keys.count++];
    key.kind = kind_of(column.dtype());
    key.bytes = static_cast<uint8_t>(column.dtype().size_bytes());
    key.can_miss = column.null_count() > 0;
    key.offset = column.offset();
    if (column.num_rows() == 0) continue;
    call.reads(column.values_buffer());
    key.values = column.values_buffer().data();
    if (!key.can_miss) continue;
    call.reads(column.validity_buffer());
    key.validity = column.validity();
  }
  return keys;
}

Tensor as_rows(Buffer numbers, int64_t rows) {
  return Tensor(TypeId::kInt32, {rows}, std::move(numbers));
}

// The host finds the same, and says which row it is.
[[noreturn]] void refuse(const std::vector<Column>& left, int64_t left_rows,
                         const std::vector<Column>& right, int64_t right_rows, JoinKind kind,
                         JoinUnique unique, Place place) {
  const auto here = [&](const std::vector<Column>& columns) {
    std::vector<Column> moved;
    for (const Column& column : columns)
      moved.push_back(to_place(column, host, current_stream(place)));
    return moved;
  };
  join_rows(here(left), left_rows, here(right), right_rows, kind, unique);
  throw_error<InternalError>(kOp, "the device refused a join that the host does not");
}

/// One join: the table of the right rows, and the pairs.
class SlotJoin {
 public:
  SlotJoin(const std::vector<Column>& left, int64_t left_rows, const std::vector<Column>& right,
           int64_t right_rows, Place place)
      : place_(place),
        call_(kOp, place),
        left_(keys_there(call_, left)),
        right_(keys_there(call_, right)),
        left_rows_(left_rows),
        right_rows_(right_rows) {}

  /// False where the keys take more than 64 bits. Ranges are the right side's alone: what lies
  /// outside has no match.
  bool choose_slots() {
    if (right_rows_ == 0) return true;
    unsigned long long found[2][kMostSlotKeys];
    const Buffer ranges = call_.scratch(sizeof found);
    std::byte* const at = call_.writes(ranges);
    call_.fill(at, 0xFF, sizeof found[0]);
    call_.fill(at + sizeof found[0], 0, sizeof found[1]);
    auto* const least = reinterpret_cast<unsigned long long*>(at);
    cuda::slot_key_ranges(call_, right_, right_rows_, least, least + kMostSlotKeys);
    call_.fetch(found, at, sizeof found);
    int shift = 0;
    uint64_t last = 0;
    for (int k = right_.count; k-- > 0;) {
      SlotKey &key = right_.keys[k], &other = left_.keys[k];
      const bool has_value = found[0][k] <= found[1][k];
      key.least = has_value ? found[0][k] : 0;
      key.top = has_value ? found[1][k] - found[0][k] : 0;
      key.shift = shift;
      if (key.can_miss && key.top == UINT64_MAX) return false;
      const uint64_t own = key.top + key.can_miss;
      shift += bits_of_number(own);
      if (shift > 64) return false;
      if (own > 0) last |= own << key.shift;
      other.least = key.least;
      other.top = key.top;
      other.shift = key.shift;
      other.can_miss = key.can_miss;
    }
    const auto rows = static_cast<uint64_t>(right_rows_);
    if (last < std::max(kFewSlots, kSlotsARow * rows)) {
      map_.slots = last + 1;
      return true;
    }
    const uint64_t places = std::bit_ceil(std::max<uint64_t>(2 * rows, 2));
    numbers_ = call_.scratch(static_cast<int64_t>(places) * 8);
    map_.there = call_.writes_as<uint64_t>(numbers_);
    call_.fill(reinterpret_cast<std::byte*>(map_.there), 0xFF, numbers_.size_bytes());
    map_.slots = places + 1;
    map_.shift = 64 - std::countr_zero(places);
    return true;
  }

  /// Left rows that have a match, or that have none.
  JoinedRows filter(bool matched) {
    const Buffer marks = marked_slots();
    cuda::put_marks(call_, right_, right_rows_, map_, bytes_of(marks));
    const Buffer room = tiles_room(left_rows_);
    const cuda::PickedTiles picked = tiles_in(room, left_rows_);
    cuda::probe_marks(call_, left_, left_rows_, map_, bytes_of(marks), matched, picked);
    cuda::scan_tiles(call_, picked, left_rows_);
    JoinedRows result;
    call_.fetch(&result.rows, total_of(picked, left_rows_), 8);
    result.keeps_left = result.rows == left_rows_;
    if (!result.keeps_left) {
      Buffer left = allocate_result(4 * result.rows, place_);
      if (result.rows > 0)
        cuda::compact_matches(call_, picked, left_rows_, nullptr, numbers_of(left), nullptr);
      result.left = as_rows(std::move(left), result.rows);
    }
    cuda::finish(call_);
    return result;
  }

  /// Nothing where two right rows have one key.
  std::optional<JoinedRows> match_unique(JoinKind kind) {
    const Buffer row_of = call_.scratch(4 * slots());
    fill(row_of, 0xFF);
    // The last two: how many rows have a match, and whether a key comes twice.
    const Buffer room = tiles_room(left_rows_);
    const cuda::PickedTiles picked = tiles_in(room, left_rows_);
    int64_t* const total = total_of(picked, left_rows_);
    call_.fill(reinterpret_cast<std::byte*>(total), 0, 16);
    cuda::put_rows(call_, right_, right_rows_, map_, numbers_of(row_of), total + 1);
    Buffer marks;
    if (kind == JoinKind::kOuter) marks = marked_slots();
    Buffer matches = allocate_result(4 * left_rows_, place_);
    cuda::probe_rows(call_, left_, left_rows_, map_, numbers_of(row_of), total + 1,
                     numbers_of(matches), picked, bytes_of(marks));
    cuda::scan_tiles(call_, picked, left_rows_);
    int64_t found[2];
    call_.fetch(found, total, sizeof found);
    if (found[1] != 0) return std::nullopt;
    const Unmatched rest = unmatched(kind, marks);
    JoinedRows result;
    const int64_t from_left = kind == JoinKind::kInner ? found[0] : left_rows_;
    result.rows = from_left + rest.count;
    if (result.rows > INT32_MAX) return result;
    if (result.rows == left_rows_ && from_left == left_rows_) {
      result.keeps_left = true;
      result.right = as_rows(std::move(matches), left_rows_);
    } else {
      Buffer left = allocate_result(4 * result.rows, place_);
      Buffer right = allocate_result(4 * result.rows, place_);
      if (kind != JoinKind::kInner)
        cuda::pair_all(call_, left_rows_, numbers_of(matches), numbers_of(left), numbers_of(right));
      else if (from_left > 0)
        cuda::compact_matches(call_, picked, left_rows_, numbers_of(matches), numbers_of(left),
                              numbers_of(right));
      append(rest, from_left, left, right);
      result.left = as_rows(std::move(left), result.rows);
      result.right = as_rows(std::move(right), result.rows);
    }
    cuda::finish(call_);
    return result;
  }

  /// Of keys that come more than once.
  JoinedRows match_all(JoinKind kind) {
    Buffer rooms[4];
    for (Buffer& room : rooms) room = call_.scratch(4 * right_rows_);
    const Buffer bounds = call_.scratch(8 * slots());
    fill(bounds, 0);
    const uint32_t* const rows_by_slot = cuda::sort_by_slots(
        call_, right_, right_rows_, map_, {numbers_of(rooms[0]), numbers_of(rooms[1])},
        {numbers_of(rooms[2]), numbers_of(rooms[3])}, numbers_of(bounds));
    Buffer marks;
    if (kind == JoinKind::kOuter) marks = marked_slots();
    const Buffer begins = call_.scratch(4 * left_rows_), made = call_.scratch(4 * left_rows_);
    const Buffer sum = call_.scratch(8);
    fill(sum, 0);
    auto* const total = call_.writes_as<int64_t>(sum);
    cuda::probe_bounds(call_, left_, left_rows_, map_, numbers_of(bounds), kind != JoinKind::kInner,
                       numbers_of(begins), numbers_of(made), total, bytes_of(marks));
    int64_t from_left = 0;
    call_.fetch(&from_left, total, 8);
    const Unmatched rest = unmatched(kind, marks);
    JoinedRows result;
    result.rows = from_left + rest.count;
    if (result.rows > INT32_MAX) return result;
    Buffer left = allocate_result(4 * result.rows, place_);
    Buffer right = allocate_result(4 * result.rows, place_);
    cuda::expand_matches(call_, left_rows_, numbers_of(begins), numbers_of(made), rows_by_slot,
                         from_left, numbers_of(left), numbers_of(right));
    append(rest, from_left, left, right);
    cuda::finish(call_);
    result.left = as_rows(std::move(left), result.rows);
    result.right = as_rows(std::move(right), result.rows);
    return result;
  }

  /// Whether no two rows of a side have one key; slots are those of the right side.
  bool is_right_unique() {
    const Buffer row_of = call_.scratch(4 * slots());
    fill(row_of, 0xFF);
    const Buffer flag = call_.scratch(8);
    fill(flag, 0);
    auto* const has_twice = call_.writes_as<int64_t>(flag);
    cuda::put_rows(call_, right_, right_rows_, map_, numbers_of(row_of), has_twice);
    int64_t found = 0;
    call_.fetch(&found, has_twice, 8);
    cuda::finish(call_);
    return found == 0;
  }

 private:
  /// Right rows that no left row matches.
  struct Unmatched {
    int64_t count = 0;
    Buffer room{};
    cuda::PickedTiles picked{};
  };

  int64_t slots() const { return static_cast<int64_t>(map_.slots); }

  uint32_t* numbers_of(const Buffer& buffer) { return call_.writes_as<uint32_t>(buffer); }

  uint8_t* bytes_of(const Buffer& buffer) { return call_.writes_as<uint8_t>(buffer); }

  void fill(const Buffer& buffer, unsigned char byte) {
    call_.fill(call_.writes(buffer), byte, buffer.size_bytes());
  }

  Buffer marked_slots() {
    const Buffer marks = call_.scratch(slots());
    fill(marks, 0);
    return marks;
  }

  // A bit per row, in whole tiles, then a number for each tile, and two more.
  static int64_t num_tiles(int64_t rows) {
    return std::max<int64_t>((rows + cuda::kSlotTile - 1) / cuda::kSlotTile, 1);
  }

  Buffer tiles_room(int64_t rows) const {
    return call_.scratch(num_tiles(rows) * (cuda::kSlotTile / 8 + 8) + 16);
  }

  cuda::PickedTiles tiles_in(const Buffer& room, int64_t rows) {
    std::byte* const at = call_.writes(room);
    return {reinterpret_cast<uint32_t*>(at),
            reinterpret_cast<int64_t*>(at + num_tiles(rows) * cuda::kSlotTile / 8)};
  }

  static int64_t* total_of(cuda::PickedTiles picked, int64_t rows) {
    return picked.tiles + num_tiles(rows);
  }

  Unmatched unmatched(JoinKind kind, const Buffer& marks) {
    Unmatched rest;
    if (kind != JoinKind::kOuter || right_rows_ == 0) return rest;
    rest.room = tiles_room(right_rows_);
    rest.picked = tiles_in(rest.room, right_rows_);
    cuda::probe_marks(call_, right_, right_rows_, map_, bytes_of(marks), false, rest.picked);
    cuda::scan_tiles(call_, rest.picked, right_rows_);
    call_.fetch(&rest.count, total_of(rest.picked, right_rows_), 8);
    return rest;
  }

  void append(const Unmatched& rest, int64_t first, const Buffer& left, const Buffer& right) {
    if (rest.count > 0)
      cuda::compact_unmatched(call_, rest.picked, right_rows_, numbers_of(left) + first,
                              numbers_of(right) + first);
  }

  Place place_;
  DeviceCall call_;
  SlotKeys left_;
  SlotKeys right_;
  int64_t left_rows_;
  int64_t right_rows_;
  SlotMap map_{};
  Buffer numbers_{};
};

}  // namespace

std::string why_no_slots(const std::vector<Column>& left, const std::vector<Column>& right) {
  if (left.empty()) return "a cross join has no kernel for CUDA";
  if (left.size() > static_cast<size_t>(kMostSlotKeys))
    return "more than " + std::to_string(kMostSlotKeys) + " keys have no kernel for CUDA";
  for (size_t k = 0; k < left.size(); ++k) {
    const Dtype dtype = left[k].dtype();
    if (dtype.is_string()) {
      if (!right[k].dtype().is_string())
        return "keys of strings and of " + std::string(right[k].dtype().name()) +
               " have no kernel for CUDA";
      if (std::max(left[k].num_rows(), right[k].num_rows()) >= kTooManyRows)
        return "2^30 strings and more have no kernel for CUDA";
    } else if (dtype.is_category()) {
      if (!is_same_dictionary(left[k], right[k]))
        return "keys of different categories have no kernel for CUDA";
    } else if (!dtype.is_bool() && !dtype.is_floating() && !dtype.storage().is_integer()) {
      return "keys of " + std::string(dtype.name()) + " have no kernel for CUDA";
    }
  }
  return right[0].num_rows() > kMostRightRows ? "2^30 right rows and more have no kernel for CUDA"
                                              : std::string();
}

std::optional<JoinedRows> join_by_slots(const std::vector<Column>& left_keys, int64_t left_rows,
                                        const std::vector<Column>& right_keys, int64_t right_rows,
                                        JoinKind kind, JoinUnique unique) {
  Place place = place_of_keys(left_keys);
  if (place.is_host()) place = place_of_keys(right_keys);
  if constexpr (built_with_cuda) {
    const auto refused = [&] {
      refuse(left_keys, left_rows, right_keys, right_rows, kind, unique, place);
    };
    const auto [left, right] = with_numbers(left_keys, right_keys);
    if (unique.left) {
      const auto [others, own] = with_numbers(right_keys, left_keys);
      SlotJoin turned(others, right_rows, own, left_rows, place);
      if (!turned.choose_slots()) return std::nullopt;
      if (!turned.is_right_unique()) refused();
    }
    SlotJoin join(left, left_rows, right, right_rows, place);
    if (!join.choose_slots()) return std::nullopt;
    if (kind == JoinKind::kSemi || kind == JoinKind::kAnti) {
      if (unique.right && !join.is_right_unique()) refused();
      return join.filter(kind == JoinKind::kSemi);
    }
    std::optional<JoinedRows> result = join.match_unique(kind);
    if (!result && unique.right) refused();
    if (!result) result = join.match_all(kind);
    if (result->rows > INT32_MAX) refused();
    return result;
  } else {
    check_on_host(kOp, place);
    return std::nullopt;
  }
}

}  // namespace hr
