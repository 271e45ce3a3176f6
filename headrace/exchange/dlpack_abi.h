// SPDX-License-Identifier: Apache-2.0
// The structures of DLPack 1.x and of its older form, as the specification fixes them.
#pragma once
#include <cstdint>

namespace hr {

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};

inline constexpr int32_t kDLCPU = 1;
inline constexpr int32_t kDLCUDA = 2;
inline constexpr int32_t kDLCUDAHost = 3;

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

inline constexpr uint8_t kDLInt = 0;
inline constexpr uint8_t kDLUInt = 1;
inline constexpr uint8_t kDLFloat = 2;
inline constexpr uint8_t kDLComplex = 5;
inline constexpr uint8_t kDLBool = 6;

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null means row-major
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor*);
};

struct DLPackVersion {
  uint32_t major;
  uint32_t minor;
};

inline constexpr uint64_t kDLReadOnly = 1;
inline constexpr uint64_t kDLCopied = 2;

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned*);
  uint64_t flags;
  DLTensor dl_tensor;
};

}  // namespace hr
