// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: normalized keys of rows, made while kernels read them.
#pragma once
#include "headrace/algo/bits/ordered_word_math.h"
#include "headrace/algo/keys/normalized_keys.h"
#include "headrace/algo/keys/normalized_keys_kernels.h"
#include "headrace/data/device_launch.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace hr::cuda {

/// Asks for bytes that the block reads later.
__device__ __forceinline__ void prefetch_bytes(const void* first, int bytes) {
  constexpr int kLine = 128;
  for (int at = static_cast<int>(threadIdx.x) * kLine; at < bytes;
       at += static_cast<int>(blockDim.x) * kLine)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(static_cast<const std::byte*>(first) + at));
}

/// One key column as kernels read it.
struct KeyPart {
  const void* values;
  const uint8_t* valid;  // bits; null: no row is null
  const uint32_t* turn;  // of codes; null: as they are
  int64_t offset;
  uint64_t least;
  uint64_t null_code;
  int shift;
  TypeId type;

  __device__ bool is_valid(int64_t row) const {
    const int64_t at = offset + row;
    return !valid || (valid[at >> 3] >> (at & 7) & 1);
  }

  /// Whether it is a NaN, of floats.
  __device__ bool is_nan(int64_t row) const {
    if (type == TypeId::kFloat64) return isnan(static_cast<const double*>(values)[offset + row]);
    if (type == TypeId::kFloat32) return isnan(static_cast<const float*>(values)[offset + row]);
    return false;
  }

  /// Ordered bits; every NaN has the same.
  template <class T>
  __device__ uint64_t floating(int64_t row) const {
    constexpr uint64_t kNan = ordered_word(std::numeric_limits<T>::quiet_NaN());
    const T value = static_cast<const T*>(values)[offset + row];
    return isnan(value) ? kNan : ordered_word(value);
  }

  template <class T>
  __device__ uint64_t integer(int64_t row) const {
    return static_cast<uint64_t>(static_cast<const T*>(values)[offset + row]) - least;
  }

  __device__ uint64_t code(int64_t row) const {
    switch (type) {
      case TypeId::kBool: {
        const int64_t at = offset + row;
        return static_cast<const uint8_t*>(values)[at >> 3] >> (at & 7) & 1;
      }
      case TypeId::kInt8:
        return integer<int8_t>(row);
      case TypeId::kInt16:
        return integer<int16_t>(row);
      case TypeId::kInt32:
        return turn ? turn[static_cast<const uint32_t*>(values)[offset + row]]
                    : integer<int32_t>(row);
      case TypeId::kFloat32:
        return floating<float>(row);
      case TypeId::kFloat64:
        return floating<double>(row);
      case TypeId::kUInt8:
        return integer<uint8_t>(row);
      case TypeId::kUInt16:
        return integer<uint16_t>(row);
      case TypeId::kUInt32:
        return integer<uint32_t>(row);
      default:
        return integer<int64_t>(row);
    }
  }
};

/// Any columns that NormalizedKeys::of_device takes.
struct KeyParts {
  static constexpr int kMost = kMostDeviceKeys;

  KeyPart parts[kMost];
  int count;
  bool drops;  // rows with a null have the key `missing`
  uint64_t missing;

  __device__ uint64_t operator()(int64_t row) const {
    uint64_t key = 0;
    for (int k = 0; k < count; ++k) {
      const KeyPart& part = parts[k];
      const bool there = part.is_valid(row);
      if (drops && (!there || part.is_nan(row))) return missing;
      key |= (there ? part.code(row) : part.null_code) << part.shift;
    }
    return key;
  }
};

/// One column of integers without nulls.
template <class T>
struct IntegerKey {
  const T* values;
  uint64_t least;

  __device__ uint64_t operator()(int64_t row) const {
    return static_cast<uint64_t>(values[row]) - least;
  }

  __device__ void prefetch(int64_t row, int count) const {
    prefetch_bytes(values + row, count * static_cast<int>(sizeof(T)));
  }
};

/// Calls f(keys) with what reads the keys fastest. Tables of the call are kept in `tables`.
template <class F>
void with_keys(DeviceCall& call, const NormalizedKeys& packed, std::vector<Buffer>& tables, F&& f) {
  const std::vector<KeyField> fields = packed.key_fields();
  const KeyField& first = fields[0];
  const auto width = first.column.dtype().storage().size_bytes();
  const bool is_bool = first.column.dtype().is_bool();
  for (const KeyField& field : fields) {
    call.reads(field.column.values_buffer());
    if (field.can_miss) call.reads(field.column.validity_buffer());
  }
  const bool is_floating = first.column.dtype().is_floating();
  if (fields.size() == 1 && !first.can_miss && !first.turn && !is_bool && !is_floating &&
      width >= 4) {
    const std::byte* const values =
        first.column.values_buffer().data() + first.column.offset() * width;
    if (width == 8)
      return f(IntegerKey<int64_t>{reinterpret_cast<const int64_t*>(values), first.least});
    if (first.column.dtype().storage().is_signed())
      return f(IntegerKey<int32_t>{reinterpret_cast<const int32_t*>(values), first.least});
  }
  KeyParts keys{};
  keys.drops = packed.has_missing();
  keys.missing = packed.missing();
  for (const KeyField& field : fields) {
    KeyPart& part = keys.parts[keys.count++];
    part.values = field.column.values_buffer().data();
    part.valid = field.can_miss ? field.column.validity() : nullptr;
    if (field.turn) {
      tables.push_back(call.table(field.turn.data(), field.turn.size_bytes()));
      part.turn = tables.back().template as<uint32_t>();
    }
    part.offset = field.column.offset();
    part.least = field.least;
    part.null_code = field.null_code;
    part.shift = field.shift & 63;  // of a field without bits the code is 0
    part.type = field.column.dtype().storage().id();
  }
  f(keys);
}

}  // namespace hr::cuda
