// SPDX-License-Identifier: Apache-2.0
// Transforms over several axes equal those of the lines of each axis, one axis after the other.
#include "headrace/base/error.h"
#include "headrace/base/simd.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/signal/fft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

namespace hr {
namespace {

using namespace testing;

template <class C>
Tensor noise(Shape shape) {
  const int64_t numbers = std::is_arithmetic_v<C> ? 1 : 2;
  using T = decltype(std::abs(C{}));
  const auto value = [](uint64_t s) {
    const double x = static_cast<double>(s >> 11) * 0x1p-53 - 0.5;
    return std::is_integral_v<C> ? 1000 * x : x;
  };
  const Tensor flat = tensor_of(random_values<T>(num_elements(shape) * numbers, 17, value));
  return Tensor(dtype_of<C>(), std::move(shape), flat.buffer());
}

Tensor exchanged(const Tensor& x, size_t axis) {
  Shape shape = x.shape(), strides = x.strides();
  std::swap(shape[axis], shape.back());
  std::swap(strides[axis], strides.back());
  return Tensor(x.dtype(), std::move(shape), std::move(strides), x.buffer(), x.byte_offset());
}

template <class C>
C element(const Tensor& x, int64_t place) {
  int64_t offset = 0;
  for (size_t axis = x.shape().size(); axis-- > 0; place /= x.shape()[axis])
    offset += place % x.shape()[axis] * x.strides()[axis];
  return x.as<C>()[offset];
}

/// The 2-norm of the difference over that of the expected values.
template <class C>
double distance(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  EXPECT_EQ(a.dtype(), b.dtype());
  double error = 0, norm = 0;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    error += static_cast<double>(std::norm(element<C>(a, i) - element<C>(b, i)));
    norm += static_cast<double>(std::norm(element<C>(b, i)));
  }
  return std::sqrt(error / norm);
}

template <class C>
void check(const Tensor& x, const std::vector<int64_t>& axes) {
  using Result = std::complex<decltype(std::abs(C{}))>;
  for (const bool inverse : {false, true}) {
    const FftNorm norm = inverse ? FftNorm::kOrtho : FftNorm::kBackward;
    Tensor expected = x;
    for (size_t k = axes.size(); k-- > 0;) {
      const auto axis = static_cast<size_t>(axes[k]);
      const Tensor lines = exchanged(expected, axis);
      expected = exchanged(inverse ? ifft(lines, {}, norm) : fft(lines, {}, norm), axis);
    }
    constexpr double kEps = std::numeric_limits<typename Result::value_type>::epsilon();
    EXPECT_LT(distance<Result>(fftn(x, axes, inverse, norm), expected), 16 * kEps)
        << x.shape()[0] << ", " << x.shape().back() << " inverse " << inverse;
  }
}

TEST(FftColumns, EqualThoseOfLines) {
  // In one step, by Bluestein's method in lanes, in two steps, one column after the other.
  for (const int64_t n : {1, 2, 3, 8, 30, 67, 512, 513, 521, 600, 1024, 2053})
    for (const int64_t width : {1, 2, 7, 8, 9, 16, 17, 35}) {
      const bool is_short = n < 100;
      check<double>(noise<double>({n, width}), {0, 1});
      check<std::complex<double>>(noise<std::complex<double>>({n, width}), {0});
      if (!is_short && width > 9) continue;
      check<float>(noise<float>({n, width}), {0, 1});
      check<std::complex<float>>(noise<std::complex<float>>({n, width}), {1, 0});
    }
}

TEST(FftColumns, TakeAnyAxesAndStrides) {
  const Tensor x = noise<double>({5, 6, 7, 12});
  for (const std::vector<int64_t>& axes : std::vector<std::vector<int64_t>>{
           {3}, {0, 3}, {1, 3}, {2, 3}, {0, 1, 3}, {3, 1, 0}, {1, 2, 3}, {0, 1, 2, 3}}) {
    check<double>(x, axes);
    check<double>(exchanged(x, 1), axes);
  }
  const Tensor z = noise<std::complex<double>>({5, 6, 7, 12});
  for (const std::vector<int64_t>& axes :
       std::vector<std::vector<int64_t>>{{0}, {1}, {2}, {2, 0}, {0, 1, 2}, {0, 3}}) {
    check<std::complex<double>>(z, axes);
    check<std::complex<double>>(exchanged(z, 0), axes);
  }
  check<double>(noise<int64_t>({4, 6}), {0, 1});
}

TEST(FftColumns, AreTheSameForAnyThreadsAndLevel) {
  for (const Shape& shape : {Shape{600, 70}, Shape{90, 33, 20}, Shape{521, 20}}) {
    const Tensor x = noise<double>(shape);
    const std::vector<int64_t> axes =
        shape.size() == 2 ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0, 1, 2};
    EXPECT_TRUE(same_for_any_threads([&] { return fftn(x, axes); }));
    const Tensor fast = fftn(x, axes);
    const SimdLevel best = simd_level();
    for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2}) {
      if (level > best) continue;
      set_simd_level(level);
      clear_fft_plans();
      EXPECT_TRUE(same_bits(fast, fftn(x, axes)));
    }
    set_simd_level(best);
    clear_fft_plans();
  }
}

TEST(FftColumns, RefuseOtherAxes) {
  const Tensor x = noise<double>({3, 4});
  EXPECT_THROW(fftn(x, {2}), InvalidArgumentError);
  EXPECT_THROW(fftn(x, {-1}), InvalidArgumentError);
  EXPECT_THROW(fftn(x, {1, 1}), InvalidArgumentError);
  EXPECT_THROW(fftn(x, {}), InvalidArgumentError);
  EXPECT_THROW(fftn(x, {0}), TypeMismatchError);
  EXPECT_THROW(fftn(Tensor(TypeId::kFloat64, {0, 4}, Buffer{}), {0, 1}), InvalidArgumentError);
  EXPECT_EQ(fftn(Tensor(TypeId::kFloat64, {0, 4}, Buffer{}), {1}).shape(), (Shape{0, 4}));
}

}  // namespace
}  // namespace hr
