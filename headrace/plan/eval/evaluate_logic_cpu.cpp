// SPDX-License-Identifier: Apache-2.0
// Kernels of comparisons, tests, logic and selection; bits to bytes and back.
#define HWY_TARGET_INCLUDE "headrace/plan/eval/evaluate_logic_cpu.cpp"
#include "headrace/base/bits.h"
#include "headrace/base/simd_targets.h"
#include "headrace/plan/eval/evaluate_kernels.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

using cpu::Kernel;
using cpu::Once;

#include "headrace/plan/eval/evaluate_math.h"

// Bytes that are fetched ahead: the processor does so within a page only, and a filter does little
// else than wait for its column.
constexpr int64_t kFetchAhead = 6 << 10;

template <class T>
HR_INLINE void fetch_ahead(const T* rows) {
  for (size_t line = 0; line < sizeof(T); ++line)  // of 64 rows
    __builtin_prefetch(reinterpret_cast<const char*>(rows) + kFetchAhead + 64 * line, 0, 2);
}

template <class F, Once once, class T>
HR_INLINE void compare_rows(const T* x, const T* y, T left, T right, uint8_t* __restrict z,
                            int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    z[i] = F::template apply<T>(once == Once::kLeft ? left : x[i],
                                once == Once::kRight ? right : y[i]);
}

template <class F, Once once, class T>
void compare(const void* a, const void* b, const void*, void* out, int64_t n) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  auto* z = static_cast<uint8_t*>(out);
  const T left = x[0], right = y[0];
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    if (once != Once::kLeft) fetch_ahead(x + i);
    if (once != Once::kRight) fetch_ahead(y + i);
    compare_rows<F, once>(x + i, y + i, left, right, z + i, 64);
  }
  compare_rows<F, once>(x + i, y + i, left, right, z + i, n - i);
}

template <class F, class T>
void test(const void* a, const void*, const void*, void* out, int64_t n) {
  const T* x = static_cast<const T*>(a);
  uint8_t* __restrict z = static_cast<uint8_t*>(out);
  for (int64_t i = 0; i < n; ++i) z[i] = F::template apply<T>(x[i]);
}

template <class F, class T>
void combine(const void* a, const void* b, const void*, void* out, int64_t n) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  T* __restrict z = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) z[i] = F::template apply<T>(x[i], y[i]);
}

// ~x for integers, 1 - x for bools.
template <class T, T mask>
void invert(const void* a, const void*, const void*, void* out, int64_t n) {
  const T* x = static_cast<const T*>(a);
  T* __restrict z = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) z[i] = static_cast<T>(x[i] ^ mask);
}

template <class T, Once once>
void where(const void* a, const void* b, const void* c, void* out, int64_t n) {
  const uint8_t* condition = static_cast<const uint8_t*>(a);
  const T* x = static_cast<const T*>(b);
  const T* y = static_cast<const T*>(c);
  T* __restrict z = static_cast<T*>(out);
  const T left = x[0], right = y[0];
  for (int64_t i = 0; i < n; ++i) {
    const T yes = once == Once::kLeft ? left : x[i];
    const T no = once == Once::kRight ? right : y[i];
    z[i] = condition[i] ? yes : no;
  }
}

template <class F, Once once>
Kernel comparison(Dtype dtype) {
  if (dtype.is_bool()) return compare<F, once, uint8_t>;
  return visit_real(dtype,
                    []<class T>(std::type_identity<T>) -> Kernel { return compare<F, once, T>; });
}

template <class F>
Kernel float_test(Dtype dtype) {
  return dtype.id() == TypeId::kFloat32 ? test<F, float> : test<F, double>;
}

template <template <class> class Form>
Kernel by_width(Dtype dtype) {
  switch (dtype.size_bytes()) {
    case 1:
      return Form<uint8_t>::kernel;
    case 2:
      return Form<uint16_t>::kernel;
    case 4:
      return Form<uint32_t>::kernel;
    default:
      return Form<uint64_t>::kernel;
  }
}

template <class T>
struct AndForm {
  static constexpr Kernel kernel = combine<And, T>;
};

template <class T>
struct OrForm {
  static constexpr Kernel kernel = combine<Or, T>;
};

template <class T>
struct XorForm {
  static constexpr Kernel kernel = combine<Xor, T>;
};

template <class T>
struct InvertForm {
  static constexpr Kernel kernel = invert<T, std::numeric_limits<T>::max()>;
};

template <Once once>
struct WhereForms {
  template <class T>
  struct Form {
    static constexpr Kernel kernel = where<T, once>;
  };
};

template <Once once>
Kernel logic(Op op, Dtype dtype) {
  switch (op) {
    case Op::kEqual:
      return comparison<Equal, once>(dtype);
    case Op::kNotEqual:
      return comparison<NotEqual, once>(dtype);
    case Op::kLess:
      return comparison<Less, once>(dtype);
    case Op::kLessEqual:
      return comparison<LessEqual, once>(dtype);
    case Op::kGreater:
      return comparison<Greater, once>(dtype);
    case Op::kGreaterEqual:
      return comparison<GreaterEqual, once>(dtype);
    case Op::kIsNan:
      return float_test<IsNan>(dtype);
    case Op::kIsInf:
      return float_test<IsInf>(dtype);
    case Op::kIsFinite:
      return float_test<IsFinite>(dtype);
    case Op::kLogicalAnd:
    case Op::kBitwiseAnd:
      return by_width<AndForm>(dtype);
    case Op::kLogicalOr:
    case Op::kBitwiseOr:
      return by_width<OrForm>(dtype);
    case Op::kLogicalXor:
    case Op::kBitwiseXor:
      return by_width<XorForm>(dtype);
    case Op::kLogicalNot:
      return invert<uint8_t, 1>;
    case Op::kInvert:
      return dtype.is_bool() ? invert<uint8_t, 1> : by_width<InvertForm>(dtype);
    case Op::kWhere:
      return by_width<WhereForms<once>::template Form>(dtype);
    default:
      return nullptr;
  }
}

void unpack(const uint8_t* bitmap, int64_t start, uint8_t* out, int64_t n) {
  for (int64_t i = 0; i < n; i += 64) {
    const int64_t count = n - i < 64 ? n - i : 64;
    const uint64_t word = load_bits(bitmap, start + i, count);
    uint8_t bytes[64];
    for (int k = 0; k < 8; ++k) {
      // spreads 8 bits over 8 bytes
      const uint64_t eight = (word >> (8 * k)) & 0xff;
      const uint64_t spread =
          (((eight * 0x0101010101010101) & 0x8040201008040201) + 0x7f7f7f7f7f7f7f7f) >> 7 &
          0x0101010101010101;
      std::memcpy(bytes + 8 * k, &spread, 8);
    }
    std::memcpy(out + i, bytes, static_cast<size_t>(count));
  }
}

void pack(const uint8_t* bytes, uint64_t* words, int64_t n) {
  for (int64_t i = 0; i < n; i += 64) {
    uint8_t block[64] = {};
    const uint8_t* from = bytes + i;
    if (n - i < 64) {
      std::memcpy(block, from, static_cast<size_t>(n - i));
      from = block;
    }
    uint64_t word = 0;
    for (int k = 0; k < 8; ++k) {
      uint64_t eight;
      std::memcpy(&eight, from + 8 * k, 8);
      // gathers the low bits of 8 bytes
      word |= ((eight & 0x0101010101010101) * 0x0102040810204080 >> 56) << (8 * k);
    }
    words[i / 64] = word;
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

Kernel logic_kernel(Op op, Dtype dtype, Once once) {
  if (once == Once::kLeft) return HR_SIMD(logic<Once::kLeft>)(op, dtype);
  if (once == Once::kRight) return HR_SIMD(logic<Once::kRight>)(op, dtype);
  return HR_SIMD(logic<Once::kNone>)(op, dtype);
}

void unpack_bits(const uint8_t* bitmap, int64_t start, uint8_t* out, int64_t n) {
  HR_SIMD(unpack)(bitmap, start, out, n);
}

void pack_bits(const uint8_t* bytes, uint64_t* words, int64_t n) {
  HR_SIMD(pack)(bytes, words, n);
}

}  // namespace hr::cpu
#endif
