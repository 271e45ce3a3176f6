// SPDX-License-Identifier: Apache-2.0
// The transforms equal the definition, evaluated in long double, for any length.
#include "headrace/signal/fft.h"

#include "headrace/base/error.h"
#include "headrace/base/simd.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/spill/spill.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

namespace hr {
namespace {

using namespace testing;
using Exact = std::complex<long double>;

template <class C>
std::vector<C> noise(int64_t count) {
  std::vector<C> values;
  uint64_t state = 17;
  const auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 11) * 0x1p-53 - 0.5;
  };
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_arithmetic_v<C>) {
      values.push_back(static_cast<C>(next()));
    } else {
      const auto re = static_cast<typename C::value_type>(next());
      values.push_back({re, static_cast<typename C::value_type>(next())});
    }
  }
  return values;
}

template <class C>
std::vector<Exact> exact(const std::vector<C>& x) {
  std::vector<Exact> values;
  for (const C& each : x) values.push_back(Exact(each));
  return values;
}

std::vector<Exact> definition(const std::vector<Exact>& x, int sign) {
  const auto n = x.size();
  std::vector<Exact> roots(n);
  for (size_t k = 0; k < n; ++k) {
    const long double angle = 2 * M_PIl * static_cast<long double>(k) / static_cast<long double>(n);
    roots[k] = {std::cos(angle), static_cast<long double>(sign) * std::sin(angle)};
  }
  std::vector<Exact> result(n);
  for (size_t k = 0; k < n; ++k)
    for (size_t j = 0; j < n; ++j) result[k] += x[j] * roots[j * k % n];
  return result;
}

/// The 2-norm of the difference over that of the expected values, in eps of T.
template <class T, class C>
double error_in_eps(const Tensor& result, const std::vector<Exact>& expected, double scale = 1) {
  const auto values = values_of<C>(result);
  EXPECT_EQ(values.size(), expected.size());
  long double error = 0;
  long double norm = 0;
  for (size_t k = 0; k < values.size(); ++k) {
    const Exact wanted = expected[k] * static_cast<long double>(scale);
    error += std::norm(Exact(values[k]) - wanted);
    norm += std::norm(wanted);
  }
  const long double relative = norm == 0 ? 0 : std::sqrt(error / norm);
  return static_cast<double>(relative) / static_cast<double>(std::numeric_limits<T>::epsilon());
}

template <class T>
double allowed(int64_t n) {
  return 3 + std::log2(static_cast<double>(n));
}

std::vector<int64_t> lengths() {
  std::vector<int64_t> all;
  for (int64_t n = 1; n <= 130; ++n) all.push_back(n);
  for (const int64_t n : {169, 243, 256, 289,  323,  360,  361,  499,  512,  513, 539,
                          625, 997, 961, 1000, 1001, 1024, 1040, 1331, 1536, 2187})
    all.push_back(n);
  return all;
}

template <class T>
class Fft : public ::testing::Test {};

using FloatTypes = ::testing::Types<float, double>;

TYPED_TEST_SUITE(Fft, FloatTypes);

TYPED_TEST(Fft, EqualsTheDefinition) {
  using C = std::complex<TypeParam>;
  for (const int64_t n : lengths()) {
    const std::vector<C> x = noise<C>(n);
    const Tensor input = tensor_of(x);
    const double bound = allowed<TypeParam>(n);
    const auto forward = definition(exact(x), -1);
    const auto inverse = definition(exact(x), 1);
    EXPECT_LT((error_in_eps<TypeParam, C>(fft(input), forward)), bound) << n;
    EXPECT_LT((error_in_eps<TypeParam, C>(ifft(input), inverse, 1.0 / static_cast<double>(n))),
              bound)
        << n;
  }
}

TYPED_TEST(Fft, OfRealRowsEqualsTheDefinition) {
  using C = std::complex<TypeParam>;
  for (const int64_t n : lengths()) {
    const std::vector<TypeParam> x = noise<TypeParam>(n);
    auto expected = definition(exact(x), -1);
    const double bound = allowed<TypeParam>(n);
    EXPECT_LT((error_in_eps<TypeParam, C>(fft(tensor_of(x)), expected)), bound) << n;
    expected.resize(static_cast<size_t>(n / 2 + 1));
    const Tensor half = rfft(tensor_of(x));
    EXPECT_LT((error_in_eps<TypeParam, C>(half, expected)), bound) << n;
    const Tensor back = irfft(half, n);
    EXPECT_EQ(back.dtype(), dtype_of<TypeParam>());
    EXPECT_LT((error_in_eps<TypeParam, TypeParam>(back, exact(x))), 2 * bound) << n;
  }
}

TYPED_TEST(Fft, ReadsBackLongRows) {
  using C = std::complex<TypeParam>;
  for (const int64_t n : {int64_t{1} << 18, int64_t{200'000}, int64_t{65'537}}) {
    const std::vector<C> x = noise<C>(n);
    const Tensor back = ifft(fft(tensor_of(x)));
    EXPECT_LT((error_in_eps<TypeParam, C>(back, exact(x))), 2 * allowed<TypeParam>(n)) << n;
  }
}

TEST(FftOfRows, TakesShapesAndStrides) {
  const std::vector<double> values = noise<double>(2 * 3 * 20);
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(values.size() * sizeof(double)));
  std::copy(values.begin(), values.end(), buffer.mutable_as<double>());
  const Tensor x(TypeId::kFloat64, {2, 3, 20}, buffer);
  // Axes exchanged and the last one backwards: element [a][b][c] is x[b][a][19 - c].
  const Tensor view(TypeId::kFloat64, {3, 2, 20}, {20, 60, -1}, buffer, 19 * 8);
  const Tensor result = rfft(view);
  EXPECT_EQ(result.shape(), (Shape{3, 2, 11}));
  for (int64_t a = 0; a < 3; ++a)
    for (int64_t b = 0; b < 2; ++b) {
      std::vector<double> row(20);
      for (int64_t c = 0; c < 20; ++c)
        row[static_cast<size_t>(c)] = values[static_cast<size_t>(b * 60 + a * 20 + 19 - c)];
      const Tensor alone = rfft(tensor_of(row));
      EXPECT_EQ(std::memcmp(alone.data(), result.data() + (a * 2 + b) * 11 * 16, 11 * 16), 0);
    }
}

TEST(FftOfRows, CutsAndPads) {
  const std::vector<double> x = noise<double>(10);
  std::vector<double> cut(x.begin(), x.begin() + 7);
  std::vector<double> padded = x;
  padded.resize(16);
  EXPECT_TRUE(same_bits(fft(tensor_of(x), 7), fft(tensor_of(cut))));
  EXPECT_TRUE(same_bits(rfft(tensor_of(x), 16), rfft(tensor_of(padded))));
  EXPECT_TRUE(same_bits(rfft(tensor_of(x), 7), rfft(tensor_of(cut))));
  EXPECT_EQ(values_of<double>(irfft(tensor_of<double>({1}), 4)),
            (std::vector<double>{0.25, 0.25, 0.25, 0.25}));
}

TEST(FftOfRows, IgnoresImaginaryPartsThatARealRowCannotHave) {
  using C = std::complex<double>;
  const Tensor clean = irfft(tensor_of<C>({{1, 0}, {2, 1}, {3, 0}}), 4);
  EXPECT_TRUE(same_bits(clean, irfft(tensor_of<C>({{1, 5}, {2, 1}, {3, 7}}), 4)));
}

TEST(FftOfRows, ScalesAsTheNormSays) {
  const Tensor x = tensor_of<double>({1, 0, 0, 0});
  using C = std::complex<double>;
  EXPECT_EQ(values_of<C>(fft(x))[1], C(1, 0));
  EXPECT_EQ(values_of<C>(fft(x, {}, FftNorm::kOrtho))[1], C(0.5, 0));
  EXPECT_EQ(values_of<C>(fft(x, {}, FftNorm::kForward))[1], C(0.25, 0));
  EXPECT_EQ(values_of<C>(ifft(x))[1], C(0.25, 0));
  EXPECT_EQ(values_of<C>(ifft(x, {}, FftNorm::kForward))[1], C(1, 0));
}

TEST(FftOfRows, TakesEveryNumberDtype) {
  const auto is_right = [&](const Tensor& result, Dtype dtype) {
    EXPECT_EQ(result.dtype(), dtype);
    EXPECT_EQ(values_of<std::complex<double>>(result),
              (std::vector<std::complex<double>>{{3, 0}, {0, -1}, {1, 0}, {0, 1}}));
  };
  is_right(fft(tensor_of<int8_t>({1, 1, 1, 0})), TypeId::kComplex128);
  is_right(fft(tensor_of<uint64_t>({1, 1, 1, 0})), TypeId::kComplex128);
  const Tensor bytes = tensor_of<uint8_t>({1, 1, 1, 0});
  is_right(fft(Tensor(TypeId::kBool, {4}, bytes.buffer())), TypeId::kComplex128);
  EXPECT_EQ(fft(tensor_of<float>({1})).dtype(), Dtype(TypeId::kComplex64));
}

TEST(FftOfRows, IsTheSameForAnyThreads) {
  const std::vector<double> values = noise<double>(64 * 1001);
  const Tensor flat = tensor_of(values);
  const Tensor x(TypeId::kFloat64, {1001, 64}, flat.buffer());
  EXPECT_TRUE(same_for_any_threads([&] { return rfft(x); }));
  EXPECT_TRUE(same_for_any_threads([&] { return fft(flat); }));
}

template <class T>
std::vector<Tensor> some_transforms() {
  using C = std::complex<T>;
  std::vector<Tensor> results;
  for (const int64_t n : {2, 15, 31, 57, 64, 74, 350, 521, 589, 1042, 4096, 9002, 64064}) {
    const Tensor alone = tensor_of(noise<C>(n));
    const Tensor rows(dtype_of<T>(), {5, n}, tensor_of(noise<T>(5 * n)).buffer());
    results.push_back(fft(alone));
    results.push_back(ifft(alone, n, FftNorm::kOrtho));
    results.push_back(rfft(rows));
    results.push_back(irfft(results.back(), n));
    results.push_back(irfft(alone, n + 1));
  }
  return results;
}

TYPED_TEST(Fft, IsTheSameAtAnyLevel) {
  const SimdLevel best = simd_level();
  const std::vector<Tensor> fast = some_transforms<TypeParam>();
  for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2}) {
    if (level > best) continue;
    set_simd_level(level);
    clear_fft_plans();
    const std::vector<Tensor> slow = some_transforms<TypeParam>();
    set_simd_level(best);
    for (size_t i = 0; i < fast.size(); ++i) EXPECT_TRUE(same_bits(fast[i], slow[i])) << i;
  }
  clear_fft_plans();
}

template <class C>
void expect_rows_alone(int64_t n) {
  const std::vector<C> values = noise<C>(19 * n);
  const Tensor x(dtype_of<C>(), {19, n}, tensor_of(values).buffer());
  const Tensor result = fft(x);
  const int64_t bytes = result.dtype().size_bytes() * n;
  for (const int64_t row : {0, 7, 16, 18}) {
    const auto begin = values.begin() + row * n;
    const Tensor alone = fft(tensor_of(std::vector<C>(begin, begin + n)));
    EXPECT_EQ(std::memcmp(alone.data(), result.data() + row * bytes, static_cast<size_t>(bytes)), 0)
        << n;
  }
}

TEST(FftOfRows, GivesARowTheSameBitsAloneAndAmongOthers) {
  for (const int64_t n : {1, 12, 93, 127, 512, 521, 1040, 9000}) {
    expect_rows_alone<double>(n);
    expect_rows_alone<std::complex<float>>(n);
  }
}

TEST(FftOfRows, ReadsRowsOfSharedWorkAtAnyThreads) {
  const Tensor x = tensor_of(noise<float>(100'003));  // a prime
  EXPECT_TRUE(same_for_any_threads([&] { return rfft(x); }));
  EXPECT_TRUE(same_for_any_threads([&] { return irfft(rfft(x), 1 << 17); }));
}

TEST(FftOfRows, KeepsANotANumberInItsRow) {
  std::vector<double> values = noise<double>(3 * 16);
  values[20] = std::numeric_limits<double>::quiet_NaN();
  const Tensor x(TypeId::kFloat64, {3, 16}, tensor_of(values).buffer());
  const auto result = values_of<std::complex<double>>(fft(x));
  for (size_t i = 0; i < result.size(); ++i)
    EXPECT_EQ(std::isnan(result[i].real()), i / 16 == 1) << i;
}

TEST(FftOfRows, KeepsPlansThatMayBeDropped) {
  const Tensor x = tensor_of(noise<float>(97));
  const Tensor before = rfft(x);
  clear_fft_plans();
  EXPECT_TRUE(same_bits(before, rfft(x)));
}

TEST(FftOfRows, GivesPlansBackWhenMemoryIsShort) {
  const int64_t disk = spill_limit();
  const int64_t limit = memory_limit();
  fft(tensor_of(noise<double>(100'003)));  // its plan has tables of 5 MB
  set_spill_limit(0);
  set_memory_limit(memory_statistics().used_bytes + 1000);
  EXPECT_NO_THROW(Buffer::allocate(4 << 20));
  set_memory_limit(limit);
  set_spill_limit(disk);
}

TEST(FftOfRows, TakesNoRows) {
  EXPECT_EQ(fft(Tensor(TypeId::kFloat64, {0, 8}, Buffer{})).shape(), (Shape{0, 8}));
  EXPECT_EQ(values_of<double>(irfft(Tensor(TypeId::kComplex128, {0}, Buffer{}), 2)),
            (std::vector<double>{0, 0}));
}

TEST(FftOfRows, RefusesWhatHasNoTransform) {
  const Tensor x = tensor_of<double>({1, 2});
  EXPECT_THROW(fft(x, 0), InvalidArgumentError);
  EXPECT_THROW(fft(x, -1), InvalidArgumentError);
  EXPECT_THROW(fft(tensor_of<double>({})), InvalidArgumentError);
  EXPECT_THROW(irfft(tensor_of<double>({1})), InvalidArgumentError);
  EXPECT_THROW(fft(scalar_tensor(1.0)), InvalidArgumentError);
  EXPECT_THROW(rfft(tensor_of<std::complex<double>>({{1, 2}})), TypeMismatchError);
  EXPECT_THROW(fft(x, std::numeric_limits<int64_t>::max()), Error);
}

}  // namespace
}  // namespace hr
