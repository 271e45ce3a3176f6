// SPDX-License-Identifier: Apache-2.0
// Elementary functions against long double libm: error bounds, limits, and equal bits everywhere.
#include "headrace/algo/math/vmath.h"

#include "headrace/base/simd.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

namespace hr {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

uint64_t next_random(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

double uniform(uint64_t& state, double low, double high) {
  return low + (high - low) * static_cast<double>(next_random(state) >> 11) * 0x1p-53;
}

// Distance in ulps of double at the exact value; infinite for a wrong limit.
double ulp_error(double got, long double exact) {
  const double rounded = static_cast<double>(exact);
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) && std::isnan(got) ? 0 : kInf;
  if (std::isinf(rounded) || std::isinf(got)) {
    if (rounded == got) return 0;
    // overflow may round the other way at the border
    return std::fabs(got) == std::numeric_limits<double>::max() ||
                   std::fabs(rounded) == std::numeric_limits<double>::max()
               ? 1
               : kInf;
  }
  if (got == 0 && rounded == 0) return std::signbit(got) == std::signbit(rounded) ? 0 : kInf;
  const int exponent = std::max(std::ilogb(rounded == 0 ? 0x1p-1074 : rounded), -1022);
  return static_cast<double>(std::fabs(got - exact) / std::ldexp(1.0L, exponent - 52));
}

struct Case {
  const char* name;
  VectorFunction function;
  long double (*exact)(long double);
  double low, high;  // the range where most arguments are drawn
};

const Case kCases[] = {
    {"sin", VectorFunction::kSin, sinl, -100, 100},
    {"cos", VectorFunction::kCos, cosl, -100, 100},
    {"tan", VectorFunction::kTan, tanl, -100, 100},
    {"tanh", VectorFunction::kTanh, tanhl, -25, 25},
    {"exp", VectorFunction::kExp, expl, -750, 715},
    {"exp2", VectorFunction::kExp2, exp2l, -1080, 1030},
    {"expm1", VectorFunction::kExpm1, expm1l, -40, 715},
    {"log", VectorFunction::kLog, logl, 0, 10},
    {"log2", VectorFunction::kLog2, log2l, 0, 10},
    {"log10", VectorFunction::kLog10, log10l, 0, 10},
    {"log1p", VectorFunction::kLog1p, log1pl, -1, 10},
};

std::vector<double> arguments(const Case& c, uint64_t seed) {
  std::vector<double> x = {0.0,
                           -0.0,
                           1.0,
                           -1.0,
                           0.5,
                           2.0,
                           8.0,
                           1000.0,
                           kInf,
                           -kInf,
                           kNan,
                           0x1p-1074,
                           -0x1p-1074,
                           0x1p-1022,
                           0x1.fffffffffffffp1023,
                           -0x1.fffffffffffffp1023,
                           0x1p30,
                           0x1p31,
                           0x1.0000000000001p30,
                           0x1p1000,
                           0x1.921fb54442d18p0,
                           0x1.921fb54442d18p1,
                           0x1.921fb54442d18p2,
                           0x1.2d97c7f3321d2p1,
                           0x1.6ac5b262ca1ffp849,  // nearest double to a multiple of pi/2
                           -0x1.6ac5b262ca1ffp849,
                           709.782712893384,
                           709.78271289338409,
                           -745.13321910194122,
                           -708.4,
                           1024.0,
                           1023.9999999999999,
                           -1074.0,
                           -1075.0,
                           0x1.fffffffffffffp-1,
                           0x1.0000000000001p0,
                           0x1.6a09e667f3bcdp-1,
                           0x1.6a09e667f3bcdp0};
  for (int i = 0; i < 60'000; ++i) x.push_back(uniform(seed, c.low, c.high));
  for (int i = 0; i < 20'000; ++i) x.push_back(uniform(seed, -1, 1));
  for (int i = 0; i < 20'000; ++i) x.push_back(1 + uniform(seed, -1e-3, 1e-3));
  for (int i = 0; i < 60'000; ++i) x.push_back(std::bit_cast<double>(next_random(seed)));
  for (int i = 0; i < 20'000; ++i)
    x.push_back(static_cast<double>(static_cast<int64_t>(uniform(seed, 0, 1e6))) * M_PI_2);
  return x;
}

std::vector<SimdLevel> levels() {
  std::vector<SimdLevel> result;
  for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2, SimdLevel::kAvx512})
    if (level <= best_simd_level()) result.push_back(level);
  return result;
}

class VmathTest : public testing::Test {
 protected:
  void TearDown() override { set_simd_level(before_); }

  SimdLevel before_ = simd_level();
};

// x87 long double holds 64 bits: the oracle's own error is below 0.001 ulp of double.
TEST_F(VmathTest, StaysInItsBound) {
  for (const Case& c : kCases) {
    const std::vector<double> x = arguments(c, 1);
    std::vector<double> y(x.size());
    unary_function64(c.function)(x.data(), y.data(), static_cast<int64_t>(x.size()));
    double worst = 0;
    double worst_at = 0;
    for (size_t i = 0; i < x.size(); ++i)
      if (const double error = ulp_error(y[i], c.exact(x[i])); error > worst) {
        worst = error;
        worst_at = x[i];
      }
    RecordProperty(c.name, std::to_string(worst));
    EXPECT_LE(worst, vector_function_ulp(c.function)) << c.name << " at " << worst_at;
    if (std::getenv("VMATH_SHOW")) printf("%s %.4f at %.17g\n", c.name, worst, worst_at);
  }
}

TEST_F(VmathTest, PowStaysInItsBound) {
  uint64_t seed = 7;
  std::vector<double> x, y;
  const double special[] = {0.0,    -0.0,   1.0,       -1.0,   2.0,        -2.0, 3.0,
                            -3.0,   0.5,    -0.5,      kInf,   -kInf,      kNan, 1e300,
                            -1e300, 1e-300, 0x1p-1074, 0x1p53, 0x1p53 - 1, 1e19};
  for (const double a : special)
    for (const double b : special) {
      x.push_back(a);
      y.push_back(b);
    }
  for (int i = 0; i < 100'000; ++i) {
    x.push_back(std::exp(uniform(seed, -20, 20)));
    y.push_back(uniform(seed, -40, 40));
    x.push_back(1 + uniform(seed, -1e-6, 1e-6));
    y.push_back(uniform(seed, -1e8, 1e8));
    x.push_back(-uniform(seed, 0, 10));
    y.push_back(std::floor(uniform(seed, -300, 300)));
    x.push_back(std::bit_cast<double>(next_random(seed)));
    y.push_back(uniform(seed, -2, 2));
    x.push_back(std::bit_cast<double>(next_random(seed)));
    y.push_back(std::bit_cast<double>(next_random(seed)));
  }
  std::vector<double> z(x.size());
  vector_pow(x.data(), y.data(), z.data(), static_cast<int64_t>(x.size()));
  double worst = 0;
  size_t worst_at = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (const double error = ulp_error(z[i], powl(x[i], y[i])); error > worst) {
      worst = error;
      worst_at = i;
    }
  EXPECT_LE(worst, vector_function_ulp(VectorFunction::kPow))
      << x[worst_at] << " to the " << y[worst_at] << " gave " << z[worst_at];
  if (std::getenv("VMATH_SHOW"))
    printf("pow %.4f at %.17g %.17g gave %.17g\n", worst, x[worst_at], y[worst_at], z[worst_at]);
}

TEST_F(VmathTest, BitsDependOnTheArgumentAlone) {
  for (const Case& c : kCases) {
    const std::vector<double> x = arguments(c, 2);
    const int64_t n = static_cast<int64_t>(x.size());
    std::vector<double> reference(x.size()), y(x.size());
    set_simd_level(SimdLevel::kBase);
    unary_function64(c.function)(x.data(), reference.data(), n);
    for (const SimdLevel level : levels()) {
      set_simd_level(level);
      const UnaryFunction64 f = unary_function64(c.function);
      f(x.data(), y.data(), n);
      for (int64_t i = 0; i < n; ++i)
        if (!std::isnan(reference[i]) || !std::isnan(y[i])) {
          ASSERT_EQ(std::bit_cast<uint64_t>(reference[i]), std::bit_cast<uint64_t>(y[i]))
              << c.name << " " << x[i] << " " << simd_level_name(level);
        }
      for (int64_t begin = 1; begin < 20; ++begin) {  // other lanes, tails of every length
        f(x.data() + begin, y.data(), 40 - begin);
        for (int64_t i = 0; i < 40 - begin; ++i)
          if (!std::isnan(reference[begin + i])) {
            ASSERT_EQ(std::bit_cast<uint64_t>(reference[begin + i]), std::bit_cast<uint64_t>(y[i]));
          }
      }
    }
  }
}

TEST_F(VmathTest, SinCosEqualsSinAndCos) {
  const std::vector<double> x = arguments(kCases[0], 3);
  const int64_t n = static_cast<int64_t>(x.size());
  std::vector<double> s(x.size()), c(x.size()), s2(x.size()), c2(x.size());
  unary_function64(VectorFunction::kSin)(x.data(), s.data(), n);
  unary_function64(VectorFunction::kCos)(x.data(), c.data(), n);
  vector_sin_cos(x.data(), s2.data(), c2.data(), n);
  EXPECT_EQ(std::memcmp(s.data(), s2.data(), x.size() * 8), 0);
  EXPECT_EQ(std::memcmp(c.data(), c2.data(), x.size() * 8), 0);
}

TEST_F(VmathTest, Float32IsCorrectToTheLastBit) {
  for (const Case& c : kCases) {
    std::vector<float> x;
    for (const double v : arguments(c, 4)) x.push_back(static_cast<float>(v));
    uint64_t seed = 5;
    for (int i = 0; i < 50'000; ++i)
      x.push_back(std::bit_cast<float>(static_cast<uint32_t>(next_random(seed))));
    std::vector<float> y(x.size());
    unary_function32(c.function)(x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      const float exact = static_cast<float>(c.exact(x[i]));
      if (std::isnan(exact) && std::isnan(y[i])) continue;
      if (exact == y[i]) continue;
      // a tie of the exact value between two floats may fall the other way
      ASSERT_TRUE(std::nextafter(exact, y[i]) == y[i]) << c.name << " " << x[i];
      ASSERT_LT(std::fabs(c.exact(x[i]) - y[i]) / std::fabs(c.exact(x[i]) - exact), 1.0001L)
          << c.name << " " << x[i];
    }
  }
}

}  // namespace
}  // namespace hr
