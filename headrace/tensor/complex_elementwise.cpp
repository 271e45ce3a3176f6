// SPDX-License-Identifier: Apache-2.0
// Complex operations over parts. Quotients: R. L. Smith, CACM 5, 1962.
#include "headrace/tensor/complex_elementwise.h"

#include "headrace/base/error.h"
#include "headrace/plan/graph/array.h"
#include "headrace/tensor/complex_function.h"
#include "headrace/tensor/complex_parts.h"

#include <limits>
#include <optional>

namespace hr {

namespace {

Array call(Op op, const Array& a) {
  return Array::elementwise(op, {a});
}

Array call(Op op, const Array& a, const Array& b) {
  return Array::elementwise(op, {a, b});
}

Array choose(const Array& condition, const Array& a, const Array& b) {
  return Array::elementwise(Op::kWhere, {condition, a, b});
}

/// A number; without `im` a real one.
struct Complex {
  Array re;
  std::optional<Array> im = {};

  /// The imaginary part, zero of a real number.
  Array imaginary() const {
    if (im) return *im;
    const NodePtr zero = literal(Scalar::weak(0.0));
    return re.dtype().is_floating() ? cast(zero, re.dtype()) : zero;
  }
};

Complex parts_of(const NodePtr& node) {
  if (node->signature().dtype.is_complex()) return {real_part(node), Array(imaginary_part(node))};
  return {node};
}

Array is_not_zero(const Complex& z) {
  const Array re = z.re != 0.0;
  return z.im ? re | (*z.im != 0.0) : re;
}

Array modulus(const Complex& z) {
  return z.im ? call(Op::kHypot, z.re, *z.im) : call(Op::kAbsolute, z.re);
}

Complex add(const Complex& a, const Complex& b) {
  Complex sum{a.re + b.re};
  if (a.im && b.im)
    sum.im = *a.im + *b.im;
  else
    sum.im = a.im ? *a.im : *b.im;
  return sum;
}

Complex negative(const Complex& a) {
  return {-a.re, -a.imaginary()};
}

Complex subtract(const Complex& a, const Complex& b) {
  Complex rest{a.re - b.re};
  if (a.im && b.im)
    rest.im = *a.im - *b.im;
  else
    rest.im = a.im ? *a.im : -*b.im;
  return rest;
}

Complex multiply(const Complex& a, const Complex& b) {
  if (!b.im) return {a.re * b.re, a.imaginary() * b.re};
  if (!a.im) return multiply(b, a);
  return {a.re * b.re - *a.im * *b.im, a.re * *b.im + *a.im * b.re};
}

// By a zero of any sign as by the positive one, as NumPy divides.
Complex divide(const Complex& a, const Complex& b) {
  const Array im = a.imaginary();
  if (!b.im) {
    const Array by = b.re + 0.0;
    return {a.re / by, im / by};
  }
  const Array first = call(Op::kAbsolute, b.re) >= call(Op::kAbsolute, *b.im);
  const Array larger = choose(first, b.re, *b.im), smaller = choose(first, *b.im, b.re);
  const Array by_zero = larger == 0.0, ratio = smaller / larger;
  const Array scale = call(Op::kReciprocal, larger + smaller * ratio);
  const Array none = call(Op::kAbsolute, larger);
  return {choose(by_zero, a.re / none, choose(first, a.re + im * ratio, a.re * ratio + im) * scale),
          choose(by_zero, im / none, choose(first, im - a.re * ratio, im * ratio - a.re) * scale)};
}

// A factor of zero counts more than one that is not finite.
Array times(const Array& a, const Array& b) {
  const Array nothing = call(Op::kCopysign, 0.0, a) * call(Op::kCopysign, 1.0, b);
  return choose((a == 0.0) | (b == 0.0), nothing, a * b);
}

Complex exponential(const Complex& z) {
  const Array scale = call(Op::kExp, z.re), im = z.imaginary();
  return {times(scale, call(Op::kCos, im)),
          choose(im == 0.0, im, times(scale, call(Op::kSin, im)))};
}

Complex logarithm(const Complex& z) {
  return {call(Op::kLog, modulus(z)), call(Op::kArctan2, z.imaginary(), z.re)};
}

Complex scaled(const Complex& z, double factor) {
  return {z.re * factor, z.imaginary() * factor};
}

Complex log_of_one_more(const Complex& z) {
  const Array im = z.imaginary(), more = z.re + 1.0;
  const Array near = call(Op::kLog1p, z.re * (z.re + 2.0) + im * im) * 0.5;
  return {choose(modulus(z) < 0.5, near, call(Op::kLog, call(Op::kHypot, more, im))),
          call(Op::kArctan2, im, more)};
}

Complex exponential_less_one(const Complex& z) {
  const Array im = z.imaginary(), half = call(Op::kSin, im * 0.5);
  const Array scale = call(Op::kExp, z.re);
  // Of an infinity the angle decides nothing where it is not finite.
  const Array no_angle = call(Op::kIsInf, z.re) & !call(Op::kIsFinite, im);
  const Array left = z.re < 0.0;
  return {choose(no_angle, choose(left, -1.0 - scale, scale),
                 0.0 + call(Op::kExpm1, z.re) * call(Op::kCos, im) - half * half * 2.0),
          choose(no_angle, choose(left, scale, im - im),
                 choose(im == 0.0, im, scale * call(Op::kSin, im)))};
}

Complex one() {
  return {Array(1.0)};
}

Complex conjugated(const Complex& z) {
  return {z.re, -z.imaginary()};
}

Complex power(const Complex& base_or_integer, const Complex& exponent) {
  // In the dtype of the result: a logarithm of small integers would be one of float32.
  const NodePtr product = multiply(base_or_integer, exponent).re;
  const Dtype real = product->signature().dtype;
  Complex base{cast(base_or_integer.re, real)};
  if (base_or_integer.im) base.im = cast(*base_or_integer.im, real);
  const Complex made = exponential(multiply(exponent, logarithm(base)));
  const Array nothing = !is_not_zero(base), unit = !is_not_zero(exponent);
  const auto part = [&](const Array& value, double of_unit) {
    // A power of zero is zero or has no value.
    const Array defined = choose(nothing, std::numeric_limits<double>::quiet_NaN(), value);
    return choose(unit, of_unit, choose(nothing & (exponent.re > 0.0), 0.0, defined));
  };
  return {part(made.re, 1.0), part(*made.im, 0.0)};
}

std::optional<ComplexFunction> function_of_libm(Op op) {
  switch (op) {
    case Op::kSqrt:
    case Op::kExp:
    case Op::kLog:
    case Op::kSin:
    case Op::kCos:
    case Op::kTan:
    case Op::kArcsin:
    case Op::kArccos:
    case Op::kArctan:
    case Op::kSinh:
    case Op::kCosh:
    case Op::kTanh:
      return complex_function_from_name(op_row(op).name);
    default:
      return {};
  }
}

std::optional<Complex> function_of(Op op, const Complex& z) {
  switch (op) {
    case Op::kNegative:
      return negative(z);
    case Op::kSquare:
      return multiply(z, z);
    case Op::kReciprocal:
      return divide(one(), z);
    case Op::kSign: {
      const Array size = modulus(z);
      const auto part = [&](const Array& x) { return choose(size == 0.0, size, x / size); };
      return Complex{part(z.re), part(z.imaginary())};
    }
    case Op::kExp2:
      return exponential(scaled(z, 0.69314718055994530942));
    case Op::kExpm1:
      return exponential_less_one(z);
    case Op::kLog2:
      return scaled(logarithm(z), 1.44269504088896340736);
    case Op::kLog10:
      return scaled(logarithm(z), 0.43429448190325182765);
    case Op::kLog1p:
      return log_of_one_more(z);
    case Op::kRint:
      return Complex{call(op, z.re), call(op, z.imaginary())};
    default:
      return {};
  }
}

std::optional<Complex> function_of(Op op, const Complex& a, const Complex& b) {
  switch (op) {
    case Op::kAdd:
      return add(a, b);
    case Op::kSubtract:
      return subtract(a, b);
    case Op::kMultiply:
      return multiply(a, b);
    case Op::kDivide:
      return divide(a, b);
    case Op::kPower:
      return power(a, b);
    default:
      return {};
  }
}

bool is_literal_two(const NodePtr& node) {
  const auto* scalar = node->is_ready() ? std::get_if<Scalar>(&node->value()) : nullptr;
  return scalar && scalar->as<double>() == 2;
}

/// Of operations whose result is real or bool.
std::optional<Array> test_of(Op op, const std::vector<Complex>& z) {
  const auto both = [&](Op join) {
    const Array re = call(op, z[0].re);
    return z[0].im ? call(join, re, call(op, *z[0].im)) : re;
  };
  switch (op) {
    case Op::kAbsolute:
      return modulus(z[0]);
    case Op::kIsNan:
    case Op::kIsInf:
      return both(Op::kLogicalOr);
    case Op::kIsFinite:
      return both(Op::kLogicalAnd);
    case Op::kLogicalNot:
      return !is_not_zero(z[0]);
    case Op::kLogicalAnd:
    case Op::kLogicalOr:
    case Op::kLogicalXor:
      return call(op, is_not_zero(z[0]), is_not_zero(z[1]));
    case Op::kEqual:
      return (z[0].re == z[1].re) & (z[0].imaginary() == z[1].imaginary());
    case Op::kNotEqual:
      return (z[0].re != z[1].re) | (z[0].imaginary() != z[1].imaginary());
    default:
      return {};
  }
}

}  // namespace

NodePtr complex_elementwise(Op op, const std::vector<NodePtr>& operands) {
  if (static_cast<int>(operands.size()) != op_row(op).operands)
    throw_error<InvalidArgumentError>(
        op_row(op).name, "wrong number of operands",
        {{"operands", operands.size()}, {"expected", op_row(op).operands}});
  std::vector<Complex> z;
  for (const NodePtr& operand : operands) z.push_back(parts_of(operand));
  if (op == Op::kPower && is_literal_two(operands[1]))
    return complex_elementwise(Op::kSquare, {operands[0]});
  if (const auto made = test_of(op, z)) return *made;
  if (const auto function = function_of_libm(op)) return complex_function(*function, operands[0]);
  std::optional<Complex> made;
  if (op == Op::kWhere)
    made = Complex{choose(is_not_zero(z[0]), z[1].re, z[2].re),
                   choose(is_not_zero(z[0]), z[1].imaginary(), z[2].imaginary())};
  else
    made = z.size() == 1 ? function_of(op, z[0]) : function_of(op, z[0], z[1]);
  if (!made)
    throw_error<TypeMismatchError>(
        op_row(op).name, "complex numbers are not supported by the operation",
        {{"dtype", operands.back()->signature().dtype.name()}}, "use .real, .imag or abs first");
  return complex_from_parts(made->re, made->imaginary());
}

NodePtr complex_cast(const NodePtr& input, Dtype dtype) {
  const Dtype from = input->signature().dtype;
  if (from == dtype) return input;
  const Complex z = parts_of(input);
  if (dtype.is_bool()) return is_not_zero(z);
  if (!dtype.is_complex())
    throw_error<TypeMismatchError>("astype", "the imaginary parts would be lost",
                                   {{"from", from.name()}, {"to", dtype.name()}},
                                   "use .real first");
  const Dtype part = part_dtype(dtype);
  const NodePtr re = cast(z.re, part);
  return complex_from_parts(re, cast(z.imaginary(), part));
}

NodePtr conjugate(const NodePtr& array) {
  if (!array->signature().dtype.is_complex()) return array;
  const Complex made = conjugated(parts_of(array));
  return complex_from_parts(made.re, made.imaginary());
}

}  // namespace hr
