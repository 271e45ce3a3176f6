// SPDX-License-Identifier: Apache-2.0
// nonzero finds the true elements of byte gates and bit gates.
#include "headrace/algo/select/nonzero.h"

#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/base/simd.h"
#include "headrace/data/tensor_testing.h"

#include <gtest/gtest.h>

namespace hr {
namespace {

using namespace testing;

std::vector<uint8_t> gate_bytes(int64_t count, uint64_t one_in) {
  std::vector<uint8_t> bytes;
  uint64_t state = 7;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    bytes.push_back((state >> 33) % one_in == 0 ? 1 : 0);
  }
  return bytes;
}

std::vector<int64_t> positions(const std::vector<uint8_t>& bytes) {
  std::vector<int64_t> expected;
  for (size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i]) expected.push_back(static_cast<int64_t>(i));
  return expected;
}

Tensor as_bool(const Tensor& bytes) {
  return Tensor(TypeId::kBool, bytes.shape(), bytes.strides(), bytes.buffer(), bytes.byte_offset());
}

TEST(Nonzero, FindsBytes) {
  for (const int64_t size : edge_sizes())
    for (const uint64_t one_in : {1, 2, 100})
      for (const int64_t stride : {1, 2, -3}) {
        const std::vector<uint8_t> bytes = gate_bytes(size, one_in);
        const Tensor result = nonzero(as_bool(tensor_of(bytes, stride)));
        EXPECT_EQ(result.dtype(), Dtype(TypeId::kInt64));
        EXPECT_EQ(values_of<int64_t>(result), positions(bytes)) << size << " 1/" << one_in;
      }
}

TEST(Nonzero, FindsBitsFromAnyOffset) {
  for (const int64_t size : edge_sizes())
    for (const int64_t offset : {0, 3, 8, 61}) {
      const std::vector<uint8_t> bytes = gate_bytes(size, 3);
      Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(size + offset));
      for (int64_t i = 0; i < size; ++i)
        set_bit(bits.mutable_as<uint8_t>(), i + offset, bytes[static_cast<size_t>(i)] != 0);
      const Column gate(TypeId::kBool, size, std::move(bits), {}, 0, offset);
      EXPECT_EQ(values_of<int64_t>(nonzero(gate)), positions(bytes)) << size;
    }
}

TEST(Nonzero, TakesEveryByteButZeroAsTrue) {
  std::vector<uint8_t> bytes(256);
  for (size_t i = 0; i < 256; ++i) bytes[i] = static_cast<uint8_t>(i);
  EXPECT_EQ(values_of<int64_t>(nonzero(as_bool(tensor_of(bytes)))), positions(bytes));
}

TEST(Nonzero, IsTheSameForAnyThreadsAndLevel) {
  const Tensor gate = as_bool(tensor_of(gate_bytes(5 * kMorselRows + 3, 5)));
  EXPECT_TRUE(same_for_any_threads([&] { return nonzero(gate); }));
  const SimdLevel best = simd_level();
  const Tensor places = nonzero(gate);
  set_simd_level(SimdLevel::kBase);
  EXPECT_TRUE(same_bits(places, nonzero(gate)));
  if (best != SimdLevel::kBase) set_simd_level(SimdLevel::kAvx2);
  EXPECT_TRUE(same_bits(places, nonzero(gate)));
  set_simd_level(best);
}

TEST(Nonzero, RefusesNullsAndOtherDtypes) {
  EXPECT_THROW(nonzero(tensor_of<uint8_t>({1, 0})), TypeMismatchError);
  EXPECT_THROW(nonzero(Tensor(TypeId::kBool, {1, 1}, Buffer::allocate_zeroed(1))),
               TypeMismatchError);
  const Column gate(TypeId::kBool, 8, Buffer::allocate_zeroed(1), Buffer::allocate_zeroed(1), 8);
  EXPECT_THROW(nonzero(gate), InvalidArgumentError);
}

}  // namespace
}  // namespace hr
