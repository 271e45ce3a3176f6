// SPDX-License-Identifier: Apache-2.0
// Elementary functions over an abstract vector of doubles: one text for SIMD lanes, scalars and
// CUDA.
//
// `V` has + - * / and unary -, `V(double)` broadcasts, and by argument-dependent look-up: fma,
// sqrt, abs, rint, select(mask, a, b), less, less_equal, equal (false for NaN), mask_and, mask_or,
// any; its bits as `V::Bits` with + - & |, shift_left<k>, shift_right<k> (logical), is_zero,
// bits_of, from_bits. fma rounds once at every level and all else is IEEE, so f(x) has the same
// bits in every lane at every level and on every device. Methods: reduction by Cody and Waite
// (Software Manual for the Elementary Functions, 1980), Payne and Hanek (1983) beyond 2^30; the
// forms of sin, cos and log that keep the correction terms apart are those of Tang and Ng (fdlibm);
// polynomials by interpolation at Chebyshev nodes with mpmath. vmath.h states the bounds.
//
// Include it inside the namespace of a SIMD level (or of a device), after <bit>, <cmath>, <cstdint>
// and <limits> and a definition of HR_RARE, the mark of a function that few values need: its
// templates must be compiled with that level's instructions. No #pragma once.

namespace vmath {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Adding it rounds to an integer that then stands in the low bits.
inline constexpr double kRound = 0x1.8p52;

/// Unevaluated sum hi + lo, |lo| at most half an ulp of hi.
template <class V>
struct Double2 {
  V hi;
  V lo;
};

template <class V>
HR_INLINE Double2<V> fast_two_sum(V a, V b) {
  const V sum = a + b;
  return {sum, b - (sum - a)};
}

template <class V>
HR_INLINE Double2<V> two_sum(V a, V b) {
  const V sum = a + b;
  const V part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

template <class V>
HR_INLINE Double2<V> two_product(V a, V b) {
  const V product = a * b;
  return {product, fma(a, b, -product)};
}

/// c[0] + c[1] x + ... by Horner's rule.
template <class V, int n>
HR_INLINE V polynomial(V x, const double (&c)[n]) {
  V sum(c[n - 1]);
  for (int i = n - 2; i >= 0; --i) sum = fma(sum, x, V(c[i]));
  return sum;
}

/// 2^n for an integral n in [-1022, 1023].
template <class V>
HR_INLINE V power_of_two(V n) {
  return from_bits(shift_left<52>(bits_of(n + V(kRound + 1023))));
}

/// x * 2^n for an integral n in [-2000, 2000], rounded once.
template <class V>
HR_INLINE V scale(V x, V n) {
  const V half = (fma(n, V(0.5), V(kRound))) - V(kRound);
  return x * power_of_two(half) * power_of_two(n - half);
}

/// sign of `from` on the magnitude of `x`.
template <class V>
HR_INLINE V copy_sign(V x, V from) {
  const typename V::Bits sign(uint64_t{1} << 63);
  return from_bits((bits_of(abs(x))) | (bits_of(from) & sign));
}

// ---- sin, cos, tan ---------------------------------------------------------------------------

/// An angle as quadrant * pi/2 + hi + lo with |hi| below about pi/4; only the two low bits of
/// `quadrant` count.
template <class V>
struct Angle {
  V hi;
  V lo;
  typename V::Bits quadrant;
};

struct LargeAngle {
  double hi;
  double lo;
  uint64_t quadrant;
};

inline constexpr double kHalfPi = 0x1.921fb54442d18p+0;
inline constexpr double kHalfPi2 = 0x1.1a62633145c07p-54;
inline constexpr double kHalfPi3 = -0x1.f1976b7ed8fbcp-110;
inline constexpr double kCodyWaiteLimit = 0x1p30;

/// Payne-Hanek for one finite |x| >= 2^30: 192 bits of 2/pi from where x * 2/pi stops being a
/// multiple of 4.
HR_RARE LargeAngle reduce_large_angle(double x) {
  // 64 zero bits, then the bits of 2/pi after the point.
  constexpr uint64_t kTwoOverPi[] = {0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0,
                                     0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
                                     0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
                                     0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
                                     0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
                                     0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea,
                                     0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};
  __extension__ using U128 = unsigned __int128;
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1075;  // x = mantissa * 2^exponent
  const uint64_t mantissa = (bits & ((uint64_t{1} << 52) - 1)) | (uint64_t{1} << 52);
  const int first = exponent - 2 + 64;  // bit of the table with weight 2^(1 - exponent)
  const int word = first >> 6, shift = first & 63;
  uint64_t window[3];
  for (int i = 0; i < 3; ++i)
    window[i] = shift == 0
                    ? kTwoOverPi[word + i]
                    : (kTwoOverPi[word + i] << shift) | (kTwoOverPi[word + i + 1] >> (64 - shift));
  // product modulo 2^192 is x * 2/pi modulo 4 with 190 bits after the point
  const U128 low = U128{mantissa} * window[2];
  const U128 middle = U128{mantissa} * window[1] + static_cast<uint64_t>(low >> 64);
  const uint64_t top = mantissa * window[0] + static_cast<uint64_t>(middle >> 64);
  uint64_t quadrant = top >> 62;
  U128 fraction = (U128{(top << 2) | (static_cast<uint64_t>(middle) >> 62)} << 64) |
                  ((static_cast<uint64_t>(middle) << 2) | (static_cast<uint64_t>(low) >> 62));
  const bool above_half = (fraction >> 127) != 0;
  if (above_half) {
    fraction = ~fraction + 1;
    ++quadrant;
  }
  int zeros = 0;
  while (!(fraction >> 127) && zeros < 127) {
    fraction <<= 1;
    ++zeros;
  }
  const uint64_t high = static_cast<uint64_t>(fraction >> 64);
  const double unit = std::bit_cast<double>(static_cast<uint64_t>(1023 - 53 - zeros) << 52);
  double hi = static_cast<double>(high >> 11) * unit;
  double lo = static_cast<double>((high << 53) | (static_cast<uint64_t>(fraction) >> 11)) *
              (unit * 0x1p-64);
  if (above_half) {
    hi = -hi;
    lo = -lo;
  }
  const double product = hi * kHalfPi;
  const double rest = std::fma(hi, kHalfPi, -product) + (hi * kHalfPi2 + lo * kHalfPi);
  const double sum = product + rest;
  LargeAngle result{sum, rest - (sum - product), quadrant};
  if (bits >> 63) result = {-result.hi, -result.lo, -quadrant};
  return result;
}

template <class V>
HR_INLINE Angle<V> reduce_angle(V x) {
  const V shifted = fma(x, V(0x1.45f306dc9c883p-1), V(kRound));
  const V n = shifted - V(kRound);
  const V first = fma(-n, V(kHalfPi), x);  // exact
  const Double2<V> second = two_product(n, V(kHalfPi2));
  const Double2<V> hi = two_sum(first, -second.hi);  // near a multiple of pi/2 these cancel
  const V lo = fma(-n, V(kHalfPi3), hi.lo - second.lo);
  Angle<V> angle{hi.hi, lo, bits_of(shifted)};
  const auto large = mask_and(less(V(kCodyWaiteLimit), abs(x)), less(abs(x), V(kInf)));
  if (any(large)) {
    double xs[V::kLanes], his[V::kLanes], los[V::kLanes];
    uint64_t quadrants[V::kLanes];
    x.store(xs);
    angle.hi.store(his);
    angle.lo.store(los);
    angle.quadrant.store(quadrants);
    for (int i = 0; i < V::kLanes; ++i)
      if (std::fabs(xs[i]) > kCodyWaiteLimit && std::fabs(xs[i]) < kInf) {
        const LargeAngle one = reduce_large_angle(xs[i]);
        his[i] = one.hi;
        los[i] = one.lo;
        quadrants[i] = one.quadrant;
      }
    angle = {V::load(his), V::load(los), V::Bits::load(quadrants)};
  }
  return angle;
}

template <class V>
HR_INLINE V sin_of_reduced(V hi, V lo) {
  constexpr double c[] = {0x1.1111111110bb2p-7, -0x1.a01a019e83a9dp-13, 0x1.71de379688b0ep-19,
                          -0x1.ae600b014833cp-26, 0x1.5e0b1974de11ep-33};
  const V z = hi * hi;
  const V cube = z * hi;
  const V tail = fma(z, fma(V(0.5), lo, -(cube * polynomial(z, c))), -lo);
  return hi - fma(cube, V(0x1.5555555555555p-3), tail);
}

template <class V>
HR_INLINE V cos_of_reduced(V hi, V lo) {
  constexpr double c[] = {0x1.5555555555555p-5,   -0x1.6c16c16c16967p-10, 0x1.a01a019f4eaf8p-16,
                          -0x1.27e4fa17d95a2p-22, 0x1.1eeb68e8843f9p-29,  -0x1.907da2e3b05cap-37};
  const V z = hi * hi;
  const V half = V(0.5) * z;
  const V one = V(1) - half;
  return one + (((V(1) - one) - half) + fma(z * z, polynomial(z, c), -(hi * lo)));
}

/// Value for a quadrant: odd ones swap sine and cosine, the second bit negates.
template <class V>
HR_INLINE V by_quadrant(V even, V odd, typename V::Bits quadrant) {
  using Bits = typename V::Bits;
  const V value = select(is_zero(quadrant & Bits(1)), even, odd);
  return from_bits(bits_of(value) ^ shift_left<62>(quadrant & Bits(2)));
}

template <class V>
HR_INLINE V sin(V x) {
  const Angle<V> a = reduce_angle(x);
  // keeps -0: the correction terms of zero have either sign
  return select(equal(x, V(0)), x,
                by_quadrant(sin_of_reduced(a.hi, a.lo), cos_of_reduced(a.hi, a.lo), a.quadrant));
}

template <class V>
HR_INLINE V cos(V x) {
  using Bits = typename V::Bits;
  const Angle<V> a = reduce_angle(x);
  return by_quadrant(sin_of_reduced(a.hi, a.lo), cos_of_reduced(a.hi, a.lo), a.quadrant + Bits(1));
}

/// Both, with the bits of `sin` and `cos`.
template <class V>
HR_INLINE void sin_cos(V x, V& sine, V& cosine) {
  using Bits = typename V::Bits;
  const Angle<V> a = reduce_angle(x);
  const V s = sin_of_reduced(a.hi, a.lo), c = cos_of_reduced(a.hi, a.lo);
  sine = select(equal(x, V(0)), x, by_quadrant(s, c, a.quadrant));
  cosine = by_quadrant(s, c, a.quadrant + Bits(1));
}

template <class V>
HR_INLINE V tan(V x) {
  using Bits = typename V::Bits;
  const Angle<V> a = reduce_angle(x);
  const V s = sin_of_reduced(a.hi, a.lo), c = cos_of_reduced(a.hi, a.lo);
  const auto even = is_zero(a.quadrant & Bits(1));
  return select(equal(x, V(0)), x, select(even, s, -c) / select(even, c, s));
}

// ---- exp family ------------------------------------------------------------------------------

inline constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
inline constexpr double kLn2High = 0x1.62e42fefa3800p-1;  // 42 bits: n * it is exact
inline constexpr double kLn2Low = 0x1.ef35793c76730p-45;
inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;
inline constexpr double kLn2Rest = 0x1.abc9e3b39803fp-56;

/// exp(hi + lo) - 1 for |hi| at most ln2 / 2.
template <class V>
HR_INLINE V expm1_of_reduced(V hi, V lo) {
  constexpr double c[] = {0x1.0p-1,
                          0x1.5555555555557p-3,
                          0x1.5555555555556p-5,
                          0x1.11111111100dfp-7,
                          0x1.6c16c16c162d6p-10,
                          0x1.a01a01abe63b3p-13,
                          0x1.a01a01a6d7883p-16,
                          0x1.71de02372bdd3p-19,
                          0x1.27e4db679bec4p-22,
                          0x1.af4ddddcf06d6p-26,
                          0x1.1f72fca58cc92p-29};
  return hi + fma(hi * hi, polynomial(hi, c), lo);
}

/// x = n ln2 + hi + lo for |x| below 2000.
template <class V>
HR_INLINE Double2<V> reduce_exp(V x, V& n) {
  n = fma(x, V(kInverseLn2), V(kRound)) - V(kRound);
  const V first = fma(-n, V(kLn2High), x);
  const V hi = fma(-n, V(kLn2Low), first);
  return {hi, fma(-n, V(kLn2Low), first - hi)};
}

template <class V>
HR_INLINE V clamp(V x, double low, double high) {  // NaN stays
  return select(less(x, V(low)), V(low), select(less(V(high), x), V(high), x));
}

/// exp(hi + lo).
template <class V>
HR_INLINE V exp_of(V hi, V lo) {
  V n;
  const Double2<V> r = reduce_exp(clamp(hi, -750, 715), n);
  const V p = expm1_of_reduced(r.hi, r.lo);
  return scale(V(1) + fma(V(1) + p, lo, p), n);
}

template <class V>
HR_INLINE V exp(V x) {
  V n;
  const Double2<V> r = reduce_exp(clamp(x, -750, 715), n);
  return scale(V(1) + expm1_of_reduced(r.hi, r.lo), n);
}

template <class V>
HR_INLINE V exp2(V x) {
  const V bounded = clamp(x, -1080, 1030);
  const V n = (bounded + V(kRound)) - V(kRound);
  const Double2<V> r = two_product(bounded - n, V(kLn2));
  return scale(V(1) + expm1_of_reduced(r.hi, fma(bounded - n, V(kLn2Rest), r.lo)), n);
}

template <class V>
HR_INLINE V expm1(V x) {
  V n;
  const Double2<V> r = reduce_exp(clamp(x, -50, 715), n);
  const V p = expm1_of_reduced(r.hi, r.lo);
  const V half = power_of_two(select(less(V(1024), n), V(1024), n) - V(1));
  const V result = V(2) * fma(half, p, half - V(0.5));
  return select(equal(x, V(0)), x, select(less(V(709.79), x), V(kInf), result));
}

template <class V>
HR_INLINE V tanh(V x) {
  const V bounded = select(less(V(22), abs(x)), V(22), abs(x));
  const V t = expm1(V(2) * bounded);
  return copy_sign(t / (t + V(2)), x);
}

// ---- log family ------------------------------------------------------------------------------

inline constexpr uint64_t kRootHalfBits = 0x3fe6a09e667f3bcd;

/// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for positive finite x.
template <class V>
HR_INLINE void split_log(V x, V& k, V& f) {
  using Bits = typename V::Bits;
  const auto small = less(x, V(0x1p-1022));
  const Bits bits = bits_of(select(small, x * V(0x1p54), x));
  const Bits moved = bits + Bits(0x3ff0000000000000 - kRootHalfBits);
  const Bits exponent = shift_right<52>(moved);
  k = (from_bits(exponent | Bits(0x4330000000000000)) - V(0x1p52 + 1023)) -
      select(small, V(54), V(0));
  f = from_bits((moved & Bits(0x000fffffffffffff)) + Bits(kRootHalfBits)) - V(1);
}

/// The limits of a logarithm: 0, negative, infinite and NaN arguments.
template <class V>
HR_INLINE V log_limits(V x, V result) {
  const V at_end = select(equal(x, V(0)), V(-kInf), select(less(x, V(0)), V(kNan), x));
  return select(mask_and(less(V(0), x), less(x, V(kInf))), result, at_end);
}

/// log(1 + f) + k ln2 + extra.
template <class V>
HR_INLINE V log_of_split(V k, V f, V extra) {
  constexpr double c[] = {0x1.5555555555558p-1, 0x1.99999999952ccp-2, 0x1.2492492df3ba9p-2,
                          0x1.c71c62e26208bp-3, 0x1.7462b58e46ebfp-3, 0x1.39fe42e974098p-3,
                          0x1.2b59b7136176dp-3};
  const V s = f / (V(2) + f);
  const V z = s * s;
  const V r = z * polynomial(z, c);
  const V half = V(0.5) * f * f;
  const V low = fma(k, V(kLn2Low), fma(s, half + r, extra));
  return fma(k, V(kLn2High), f - (half - low));
}

template <class V>
HR_INLINE V log(V x) {
  V k, f;
  split_log(x, k, f);
  return log_limits(x, log_of_split(k, f, V(0)));
}

template <class V>
HR_INLINE V log1p(V x) {
  V k, f;
  const Double2<V> u = two_sum(V(1), x);
  split_log(u.hi, k, f);
  const V result = log_of_split(k, f, u.lo / u.hi);
  const V limited = log_limits(V(1) + x, result);
  return select(equal(x, V(0)), x, limited);
}

/// log(1 + f) to about 2^-65.
template <class V>
HR_INLINE Double2<V> log_double2(V f) {
  constexpr double c[] = {0x1.999999999999ap-2, 0x1.2492492492522p-2, 0x1.c71c71c6ea994p-3,
                          0x1.745d177a9cebap-3, 0x1.3b1395cf37e45p-3, 0x1.1118c8814a0b1p-3,
                          0x1.df7ca8236e9bfp-4, 0x1.e02fc68c38328p-4};
  // s = f / (2 + f)
  const Double2<V> d = fast_two_sum(V(2), f);
  const V inverse = V(1) / d.hi;
  const V s = f * inverse;
  const V s_low = inverse * (fma(-s, d.hi, f) - s * d.lo);
  // z = s^2; 2 s + s z (2/3 + z p(z))
  const Double2<V> z = two_product(s, s);
  const V z_low = fma(V(2) * s, s_low, z.lo);
  const V p = z.hi * polynomial(z.hi, c);
  const Double2<V> t = fast_two_sum(V(0x1.5555555555555p-1), p);
  const V t_low = t.lo + V(0x1.5555555555555p-55);
  const Double2<V> cube = two_product(s, z.hi);
  const V cube_low = fma(s, z_low, fma(s_low, z.hi, cube.lo));
  const Double2<V> product = two_product(cube.hi, t.hi);
  const V product_low = fma(cube.hi, t_low, fma(cube_low, t.hi, product.lo));
  const Double2<V> sum = fast_two_sum(V(2) * s, product.hi);
  return fast_two_sum(sum.hi, sum.lo + fma(V(2), s_low, product_low));
}

/// factor * log(1 + f) + k * unit, `factor` as hi + lo, k * unit exact in hi.
template <class V>
HR_INLINE V scaled_log(V f, double factor, double factor_low, V k_high, V k_low) {
  const Double2<V> l = log_double2(f);
  const Double2<V> p = two_product(l.hi, V(factor));
  const V low = fma(l.hi, V(factor_low), fma(l.lo, V(factor), p.lo));
  const Double2<V> sum = two_sum(k_high, p.hi);
  return sum.hi + (sum.lo + (low + k_low));
}

template <class V>
HR_INLINE V log2(V x) {
  V k, f;
  split_log(x, k, f);
  return log_limits(x, scaled_log(f, kInverseLn2, 0x1.777d0ffda0d24p-56, k, V(0)));
}

template <class V>
HR_INLINE V log10(V x) {
  V k, f;
  split_log(x, k, f);
  const Double2<V> unit = two_product(k, V(0x1.34413509f79ffp-2));
  return log_limits(x, scaled_log(f, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57, unit.hi,
                                  fma(k, V(-0x1.9dc1da994fd21p-59), unit.lo)));
}

// ---- power -----------------------------------------------------------------------------------

template <class V>
HR_INLINE V pow(V x, V y) {
  const V magnitude = abs(x);
  V k, f;
  split_log(magnitude, k, f);
  const Double2<V> l = log_double2(f);
  // log|x| = k ln2 + l
  const Double2<V> sum = two_sum(k * V(kLn2High), l.hi);
  const Double2<V> log_x = fast_two_sum(sum.hi, sum.lo + fma(k, V(kLn2Low), l.lo));
  // y log|x|; beyond 2^10 the result is 0 or infinite anyway, and y need not overflow the product
  const V bounded = clamp(y, -0x1p70, 0x1p70);
  const V product = bounded * log_x.hi;
  const V rest = fma(bounded, log_x.lo, fma(bounded, log_x.hi, -product));
  const auto ordinary = less(abs(product), V(1100));
  V result = exp_of(product, select(ordinary, rest, V(0)));

  const V half_y = V(0.5) * y;
  const auto integral = equal(rint(y), y);
  const auto odd = mask_and(integral, less(V(0), abs(rint(half_y) - half_y)));
  const V huge_or_zero = select(less(y, V(0)), V(kInf), V(0));  // of magnitude 0
  result = select(equal(magnitude, V(0)), huge_or_zero, result);
  result = select(equal(magnitude, V(kInf)), select(less(y, V(0)), V(0), V(kInf)), result);
  using Bits = typename V::Bits;
  const V signed_result = from_bits(bits_of(result) ^ (bits_of(x) & Bits(uint64_t{1} << 63)));
  result = select(odd, signed_result, result);
  const auto finite_negative = mask_and(less(x, V(0)), less(V(-kInf), x));
  result = select(integral, result, select(finite_negative, V(kNan), result));
  result = select(equal(x, x), select(equal(y, y), result, y), x);
  return select(mask_or(equal(y, V(0)), equal(x, V(1))), V(1), result);
}

}  // namespace vmath
