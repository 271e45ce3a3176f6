// SPDX-License-Identifier: Apache-2.0
// Tensors through DLPack.
#include "headrace/exchange/dlpack.h"

#include "headrace/base/error.h"
#include "headrace/exchange/protocol.h"
#include "headrace/exchange/strided.h"
#include "headrace/memory/buffer/shared_memory.h"
#include "headrace/memory/device/cuda_device.h"

#include <memory>

namespace hr {

namespace {

DLDataType data_type(Dtype dtype) {
  const auto bits = static_cast<uint8_t>(dtype.size_bytes() * 8);
  if (dtype.is_bool()) return {kDLBool, 8, 1};
  if (dtype.is_signed()) return {kDLInt, bits, 1};
  if (dtype.is_unsigned()) return {kDLUInt, bits, 1};
  if (dtype.is_floating()) return {kDLFloat, bits, 1};
  if (dtype.is_complex()) return {kDLComplex, bits, 1};
  throw_error<UnsupportedError>("to_dlpack", "DLPack does not support this dtype",
                                {{"dtype", dtype.name()}},
                                dtype.has_unit() ? "use astype('int64') first" : "");
}

Dtype dtype_of_data_type(std::string_view op, DLDataType type) {
  constexpr TypeId kAll[] = {
      TypeId::kBool,    TypeId::kInt8,      TypeId::kInt16,     TypeId::kInt32,  TypeId::kInt64,
      TypeId::kUInt8,   TypeId::kUInt16,    TypeId::kUInt32,    TypeId::kUInt64, TypeId::kFloat32,
      TypeId::kFloat64, TypeId::kComplex64, TypeId::kComplex128};
  for (const TypeId id : kAll) {
    const DLDataType known = data_type(id);
    if (known.code == type.code && known.bits == type.bits && type.lanes == 1) return id;
  }
  throw_error<UnsupportedError>(
      op, "unsupported DLPack dtype",
      {{"code", int{type.code}}, {"bits", int{type.bits}}, {"lanes", int{type.lanes}}},
      "cast it to float32 first");
}

// One allocation holds what the consumer gets and what keeps it alive.
template <class Managed>
struct Exported {
  explicit Exported(const Tensor& held) : tensor(held), note(held.buffer()) {}

  Managed managed{};
  Tensor tensor;
  ExportNote note;
  Shape shape;
  Shape strides;
};

template <class Managed>
Managed* export_tensor(const Tensor& tensor) {
  const DLDataType type = data_type(tensor.dtype());
  auto owned = std::make_unique<Exported<Managed>>(tensor);
  owned->shape = tensor.shape();
  owned->strides = tensor.strides();
  DLTensor& out = owned->managed.dl_tensor;
  out.data = const_cast<std::byte*>(tensor.data());
  const Place place = tensor.place();
  out.device = place.is_gpu() ? DLDevice{kDLCUDA, place.index} : DLDevice{kDLCPU, 0};
  out.ndim = static_cast<int32_t>(owned->shape.size());
  out.dtype = type;
  out.shape = owned->shape.data();
  out.strides = owned->strides.data();
  owned->managed.manager_ctx = owned.get();
  owned->managed.deleter = [](Managed* self) {
    delete static_cast<Exported<Managed>*>(self->manager_ctx);
  };
  return &owned.release()->managed;
}

template <class Managed>
void release_managed(void* context) noexcept {
  release_foreign(Owner{context, [](void* last) noexcept {
                          auto* managed = static_cast<Managed*>(last);
                          if (managed->deleter) managed->deleter(managed);
                        }});
}

template <class Managed>
Tensor import_tensor(std::string_view op, Managed* managed) {
  try {
    const DLTensor& in = managed->dl_tensor;
    const bool on_cuda = in.device.device_type == kDLCUDA && why_no_cuda().empty();
    if (in.device.device_type != kDLCPU && in.device.device_type != kDLCUDAHost && !on_cuda)
      throw_error<DeviceError>(op, "the host cannot read this memory",
                               {{"device_type", in.device.device_type}},
                               "move it first, for example x.cpu()");
    const Dtype dtype = dtype_of_data_type(op, in.dtype);
    if (in.ndim < 0 || (in.ndim > 0 && !in.shape))
      throw_error<InvalidArgumentError>(op, "the DLPack tensor has no shape", {{"ndim", in.ndim}});
    Shape shape(in.shape, in.shape + in.ndim);
    num_elements(shape);
    Shape strides = in.strides ? Shape(in.strides, in.strides + in.ndim) : row_major(shape);
    const auto* data = static_cast<const std::byte*>(in.data);
    return adopt_strided(op, dtype, data ? data + in.byte_offset : nullptr, std::move(shape),
                         std::move(strides), Owner{managed, release_managed<Managed>},
                         on_cuda ? cuda_place(in.device.device_id) : host);
  } catch (...) {
    release_managed<Managed>(managed);
    throw;
  }
}

}  // namespace

DLManagedTensorVersioned* to_dlpack(const Tensor& tensor, bool copied) {
  auto* managed = export_tensor<DLManagedTensorVersioned>(tensor);
  managed->version = {1, 0};
  managed->flags = copied ? kDLCopied : kDLReadOnly;
  return managed;
}

DLManagedTensor* to_dlpack_legacy(const Tensor& tensor) {
  return export_tensor<DLManagedTensor>(tensor);
}

std::optional<Tensor> detached(Tensor& tensor) {
  if (!tensor.is_contiguous() || !tensor.place().is_host()) return {};
  // Other processes may read a shared segment; its blocks never leave memory.
  if (!tensor.buffer().residency() &&
      find_shared(tensor.buffer().data(), tensor.buffer().size_bytes()))
    return {};
  const Dtype dtype = tensor.dtype();
  data_type(dtype);  // throws before anything is taken
  const Shape shape = tensor.shape();
  const int64_t offset = tensor.byte_offset();
  auto held = std::make_unique<Buffer>(tensor.buffer());
  tensor = Tensor();
  const auto give_back = [&] { tensor = Tensor(dtype, shape, *held, offset); };
  try {
    held->mutable_data();  // it knows whether this is the only handle, and ends eviction
  } catch (const InternalError&) {
    give_back();
    return {};
  } catch (...) {  // such as no room to bring the bytes back
    give_back();
    throw;
  }
  const std::byte* const data = held->data();
  const int64_t bytes = held->size_bytes();
  Buffer foreign = Buffer::adopt(data, bytes, Owner{held.get(), [](void* last) noexcept {
                                                      delete static_cast<Buffer*>(last);
                                                    }});
  (void)held.release();
  return Tensor(dtype, shape, std::move(foreign), offset);
}

Tensor from_dlpack(std::string_view op, DLManagedTensorVersioned* managed, bool* writable) {
  if (managed->version.major > 1) {
    const uint32_t major = managed->version.major;
    release_managed<DLManagedTensorVersioned>(managed);
    throw_error<UnsupportedError>(op, "unsupported DLPack version", {{"major", major}},
                                  "ask the producer for max_version=(1, 0)");
  }
  *writable = !(managed->flags & kDLReadOnly);
  return import_tensor(op, managed);
}

Tensor from_dlpack(std::string_view op, DLManagedTensor* managed, bool* writable) {
  *writable = true;
  return import_tensor(op, managed);
}

}  // namespace hr
