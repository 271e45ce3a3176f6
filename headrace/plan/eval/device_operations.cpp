// SPDX-License-Identifier: Apache-2.0
// What types and operations are called in the text of a kernel.
#include "headrace/plan/eval/device_operations.h"

#include <algorithm>
#include <iterator>

namespace hr::cuda {

const char* type_of(Dtype dtype) {
  switch (dtype.id()) {
    case TypeId::kInt8:
      return "int8_t";
    case TypeId::kInt16:
      return "int16_t";
    case TypeId::kInt32:
      return "int32_t";
    case TypeId::kInt64:
      return "int64_t";
    case TypeId::kBool:
    case TypeId::kUInt8:
      return "uint8_t";
    case TypeId::kUInt16:
      return "uint16_t";
    case TypeId::kUInt32:
      return "uint32_t";
    case TypeId::kUInt64:
      return "uint64_t";
    case TypeId::kFloat32:
      return "float";
    case TypeId::kFloat64:
      return "double";
    default:
      return nullptr;
  }
}

const char* struct_of(Op op, Dtype dtype) {
  const bool floating = dtype.is_floating();
  switch (op) {
    case Op::kAdd:
      return dtype.is_bool() ? "Maximum" : "Add";
    case Op::kSubtract:
      return "Subtract";
    case Op::kMultiply:
      return "Multiply";
    case Op::kDivide:
      return "Divide";
    case Op::kMinimum:
      return "Minimum";
    case Op::kMaximum:
      return "Maximum";
    case Op::kFmin:
      return floating ? "Fmin" : "Minimum";
    case Op::kFmax:
      return floating ? "Fmax" : "Maximum";
    case Op::kCopysign:
      return "Copysign";
    case Op::kNegative:
      return "Negative";
    case Op::kAbsolute:
      return "Absolute";
    case Op::kSquare:
      return "Square";
    case Op::kSign:
      return "Sign";
    case Op::kReciprocal:
      return "Reciprocal";
    case Op::kSqrt:
      return "Sqrt";
    case Op::kFloor:
      return "Floor";
    case Op::kCeil:
      return "Ceil";
    case Op::kRint:
      return "Rint";
    case Op::kTrunc:
      return "Trunc";
    case Op::kEqual:
      return "Equal";
    case Op::kNotEqual:
      return "NotEqual";
    case Op::kLess:
      return "Less";
    case Op::kLessEqual:
      return "LessEqual";
    case Op::kGreater:
      return "Greater";
    case Op::kGreaterEqual:
      return "GreaterEqual";
    case Op::kIsNan:
      return "IsNan";
    case Op::kIsInf:
      return "IsInf";
    case Op::kIsFinite:
      return "IsFinite";
    case Op::kLogicalAnd:
    case Op::kBitwiseAnd:
      return "And";
    case Op::kLogicalOr:
    case Op::kBitwiseOr:
      return "Or";
    case Op::kLogicalXor:
    case Op::kBitwiseXor:
      return "Xor";
    default:
      return nullptr;
  }
}

const char* template_of(Op op) {
  switch (op) {
    case Op::kFloorDivide:
      return "floor_divide";
    case Op::kRemainder:
      return "hr::remainder";
    case Op::kLeftShift:
      return "left_shift";
    case Op::kRightShift:
      return "right_shift";
    default:
      return nullptr;
  }
}

bool is_compiled_divisor(int64_t divisor) {
  static constexpr int64_t kKnown[] = {2,
                                       3,
                                       4,
                                       5,
                                       7,
                                       10,
                                       12,
                                       24,
                                       60,
                                       100,
                                       1'000,
                                       1'440,
                                       1'461,
                                       2'141,
                                       3'600,
                                       60'000,
                                       65'536,
                                       86'400,
                                       146'097,
                                       1'000'000,
                                       3'600'000,
                                       60'000'000,
                                       86'400'000,
                                       1'000'000'000,
                                       3'600'000'000,
                                       60'000'000'000,
                                       86'400'000'000,
                                       3'600'000'000'000,
                                       86'400'000'000'000};
  return std::ranges::find(kKnown, divisor) != std::end(kKnown);
}

const char* function_of(Op op, bool& shared) {
  shared = true;
  switch (op) {
    case Op::kSin:
      return "sin";
    case Op::kCos:
      return "cos";
    case Op::kTan:
      return "tan";
    case Op::kTanh:
      return "tanh";
    case Op::kExp:
      return "exp";
    case Op::kExp2:
      return "exp2";
    case Op::kExpm1:
      return "expm1";
    case Op::kLog:
      return "log";
    case Op::kLog2:
      return "log2";
    case Op::kLog10:
      return "log10";
    case Op::kLog1p:
      return "log1p";
    case Op::kPower:
      return "pow";
    default:
      shared = false;
  }
  switch (op) {
    case Op::kCbrt:
      return "cbrt";
    case Op::kArcsin:
      return "asin";
    case Op::kArccos:
      return "acos";
    case Op::kArctan:
      return "atan";
    case Op::kSinh:
      return "sinh";
    case Op::kCosh:
      return "cosh";
    case Op::kHypot:
      return "hypot";
    case Op::kArctan2:
      return "atan2";
    default:
      return nullptr;
  }
}

}  // namespace hr::cuda
