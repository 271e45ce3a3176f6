// SPDX-License-Identifier: Apache-2.0
// DLPack and strided memory: the same pointers, flags, strides, and refusals that release.
#include "headrace/exchange/dlpack.h"

#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/exchange/array_interface.h"
#include "headrace/exchange/protocol.h"
#include "headrace/exchange/strided.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/buffer/shared_memory.h"
#include "headrace/memory/log/ledger.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace hr {
namespace {

Tensor counting(Shape shape) {
  const int64_t count = num_elements(shape);
  Buffer buffer = Buffer::allocate(count * 4);
  auto* values = buffer.mutable_as<float>();
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return Tensor(TypeId::kFloat32, std::move(shape), std::move(buffer));
}

TEST(Dlpack, RoundTripSharesAndIsReadOnly) {
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{65}, Shape{3, 4}, Shape{2, 0, 5}}) {
    const Tensor tensor = counting(shape);
    bool writable = true;
    const Tensor back = from_dlpack("from_dlpack", to_dlpack(tensor), &writable);
    EXPECT_FALSE(writable);
    EXPECT_EQ(back.shape(), tensor.shape());
    EXPECT_EQ(back.strides(), tensor.strides());
    if (tensor.num_elements() > 0) {
      EXPECT_EQ(back.data(), tensor.data());
    }
  }
}

TEST(Dlpack, NegativeAndZeroStrides) {
  const Tensor base = counting({12});
  const Tensor reversed(TypeId::kFloat32, {6}, {-2}, base.buffer(), 11 * 4);
  bool writable = false;
  Tensor back = from_dlpack("from_dlpack", to_dlpack(reversed), &writable);
  EXPECT_EQ(back.data(), reversed.data());
  EXPECT_EQ(copy_of("copy", back).as<float>()[5], 1.0f);
  const Tensor repeated(TypeId::kFloat32, {4, 3}, {0, 1}, base.buffer(), 8);
  back = from_dlpack("from_dlpack", to_dlpack(repeated), &writable);
  EXPECT_EQ(copy_of("copy", back).as<float>()[11], 4.0f);
  clear_ledger();
}

TEST(Dlpack, LegacyIsWritable) {
  bool writable = false;
  const Tensor back = from_dlpack("from_dlpack", to_dlpack_legacy(counting({4})), &writable);
  EXPECT_TRUE(writable);
  EXPECT_EQ(back.as<float>()[3], 3.0f);
}

TEST(Dlpack, OnlyTheOneHolderOfContiguousBytesHandsThemOver) {
  Tensor tensor = counting({2, 3});
  const std::byte* const data = tensor.data();
  {
    const Tensor view(TypeId::kFloat32, {3}, tensor.buffer(), 12);
    EXPECT_FALSE(detached(tensor));
    EXPECT_EQ(tensor.data(), data);
    EXPECT_EQ(tensor.shape(), (Shape{2, 3}));
  }
  Tensor flipped(TypeId::kFloat32, {6}, {-1}, counting({6}).buffer(), 20);
  EXPECT_FALSE(detached(flipped));
  Tensor foreign(TypeId::kFloat32, {1}, Buffer::adopt("abc", 4, Owner{}));
  EXPECT_FALSE(detached(foreign));
  Tensor shared(TypeId::kFloat32, {4}, Buffer::allocate(16, shared_resource()));
  EXPECT_FALSE(detached(shared));

  std::optional<Tensor> given = detached(tensor);
  ASSERT_TRUE(given);
  EXPECT_EQ(given->data(), data);
  EXPECT_EQ(given->shape(), (Shape{2, 3}));
  EXPECT_TRUE(given->buffer().is_foreign());
  EXPECT_EQ(tensor.num_elements(), 0);
  EXPECT_FALSE(detached(*given));

  Tensor empty = counting({0});
  EXPECT_TRUE(detached(empty));
  Tensor large = counting({1 << 20});
  large.buffer().seal();
  const int64_t before = memory_statistics().used_bytes;
  EXPECT_TRUE(detached(large));  // and dropped at once
  EXPECT_EQ(memory_statistics().used_bytes, before - (int64_t{4} << 20));
}

int deleted = 0;

DLManagedTensorVersioned* foreign(DLDataType type, DLDevice device, int64_t* shape, void* data) {
  auto* managed = new DLManagedTensorVersioned{};
  managed->version = {1, 0};
  managed->dl_tensor = {data, device, 1, type, shape, nullptr, 0};
  managed->deleter = [](DLManagedTensorVersioned* self) {
    ++deleted;
    delete self;
  };
  deleted = 0;
  return managed;
}

TEST(Dlpack, RefusalsRelease) {
  alignas(8) float values[4] = {1, 2, 3, 4};
  int64_t shape = 4;
  bool writable;
  EXPECT_THROW(from_dlpack("from_dlpack", foreign({2, 16, 1}, {1, 0}, &shape, values), &writable),
               UnsupportedError);
  EXPECT_EQ(deleted, 1);
  EXPECT_THROW(from_dlpack("from_dlpack", foreign({2, 32, 1}, {10, 0}, &shape, values), &writable),
               DeviceError);
  EXPECT_EQ(deleted, 1);
  EXPECT_THROW(from_dlpack("from_dlpack", foreign({2, 32, 1}, {1, 0}, &shape, nullptr), &writable),
               InvalidArgumentError);
  EXPECT_EQ(deleted, 1);
  auto* misaligned = foreign({2, 32, 1}, {1, 0}, &shape, reinterpret_cast<char*>(values) + 1);
  EXPECT_THROW(from_dlpack("from_dlpack", misaligned, &writable), InvalidArgumentError);
  EXPECT_EQ(deleted, 1);
  {
    const Tensor taken =
        from_dlpack("from_dlpack", foreign({2, 32, 1}, {1, 0}, &shape, values), &writable);
    EXPECT_TRUE(writable);
    EXPECT_EQ(taken.as<float>(), values);
    EXPECT_EQ(deleted, 0);
  }
  EXPECT_EQ(deleted, 1);
}

TEST(Strided, DenseColumns) {
  clear_ledger();
  Buffer values = Buffer::allocate_zeroed(5 * 8);
  Buffer validity = Buffer::allocate_zeroed(1);
  validity.mutable_as<uint8_t>()[0] = 0b10110;
  const Column plain(TypeId::kFloat64, 5, values);
  EXPECT_EQ(dense("to_numpy", plain).data(), values.data());
  EXPECT_EQ(ledger_bytes(), 0);

  const Column nulls(TypeId::kFloat64, 4, values, validity, -1, 1);
  const Tensor filled = dense("to_numpy", nulls);
  EXPECT_FALSE(std::isnan(filled.as<double>()[0]));
  EXPECT_TRUE(std::isnan(filled.as<double>()[2]));
  EXPECT_EQ(ledger_bytes(), 4 * 8);
  EXPECT_THROW(dense_view("to_numpy", nulls), ExchangeError);
  EXPECT_THROW(dense("to_numpy", Column(TypeId::kInt64, 5, values, validity, -1)), ExchangeError);
  {
    const NoCopies no_copies;
    EXPECT_THROW(dense("to_numpy", nulls), InvalidArgumentError);
  }
  const Column bits(TypeId::kBool, 5, validity);
  EXPECT_EQ(dense("to_numpy", bits).as<uint8_t>()[4], 1);
  EXPECT_THROW(dense_view("to_numpy", bits), ExchangeError);
  clear_ledger();
}

TEST(Strided, ColumnsOfTensors) {
  clear_ledger();
  const Tensor tensor = counting({200});
  EXPECT_EQ(column_of("series", tensor).values<float>().data(), tensor.as<float>());
  EXPECT_EQ(ledger_bytes(), 0);
  const Tensor strided(TypeId::kFloat32, {66}, {3}, tensor.buffer(), 4);
  EXPECT_EQ(column_of("series", strided).values<float>()[65], 196.0f);
  EXPECT_EQ(ledger_bytes(), 66 * 4);
  Buffer bytes = Buffer::allocate_zeroed(130);
  for (int64_t i = 0; i < 130; i += 3) bytes.mutable_as<uint8_t>()[i] = 1;
  const Column bits = column_of("series", Tensor(TypeId::kBool, {65}, {2}, bytes, 0));
  for (int64_t i = 0; i < 65; ++i) EXPECT_EQ(bits.bit(i), 2 * i % 3 == 0);
  EXPECT_THROW(column_of("series", counting({2, 3})), TypeMismatchError);
  clear_ledger();
}

TEST(ArrayInterface, WordsOfDtypes) {
  for (int id = 0; id <= static_cast<int>(TypeId::kComplex128); ++id) {
    const Dtype dtype = static_cast<TypeId>(id);
    EXPECT_EQ(from_typestr("asarray", to_typestr(dtype)), dtype);
    EXPECT_EQ(from_buffer_format("asarray", to_buffer_format(dtype), dtype.size_bytes()), dtype);
  }
  EXPECT_EQ(from_buffer_format("asarray", "<q", 8), Dtype(TypeId::kInt64));
  EXPECT_EQ(from_buffer_format("asarray", nullptr, 1), Dtype(TypeId::kUInt8));
  for (const char* word :
       {">f8", "|O", "<U5", "<M8[D]", ">M8[us]", "<m8[h]", "<f2", "|V8", "", "<f16"})
    EXPECT_THROW(from_typestr("asarray", word), UnsupportedError) << word;
  for (const char* word : {">d", "e", "g", "T{i:a:}", "s", "i i"})
    EXPECT_THROW(from_buffer_format("asarray", word, 8), UnsupportedError) << word;
  for (const TypeId id : {TypeId::kString, TypeId::kDate, TypeId::kCategory}) {
    EXPECT_THROW(to_typestr(id), ExchangeError);
    EXPECT_THROW(to_buffer_format(id), ExchangeError);
  }
  for (const TimeUnit unit :
       {TimeUnit::kSecond, TimeUnit::kMilli, TimeUnit::kMicro, TimeUnit::kNano}) {
    const Dtype dtype = Dtype::timestamp(unit);
    EXPECT_EQ(from_typestr("asarray", to_typestr(dtype)), dtype);
    EXPECT_THROW(to_buffer_format(dtype), ExchangeError);
  }
}

}  // namespace
}  // namespace hr
