// SPDX-License-Identifier: Apache-2.0
// Scalar: one value with its dtype, perhaps null; what a reduction returns and a constant is.
#pragma once
#include "headrace/base/dtype.h"

#include <cstdint>
#include <type_traits>

namespace hr {

/// A bool, integer or float. `weak` marks a number that the user wrote as a plain Python or C++
/// literal: it takes the dtype of what it meets (NumPy's NEP 50).
class Scalar {
 public:
  /// Null of float64.
  Scalar() = default;

  template <class T>
    requires std::is_arithmetic_v<T>
  explicit Scalar(T value) : dtype_(dtype_of<T>()), null_(false) {
    if constexpr (std::is_floating_point_v<T>)
      floating_ = value;
    else if constexpr (std::is_signed_v<T>)
      integer_ = value;
    else
      unsigned_ = value;
  }

  template <class T>
  static Scalar weak(T value) {
    Scalar scalar(value);
    scalar.weak_ = true;
    return scalar;
  }

  static Scalar null(Dtype dtype) {
    Scalar scalar;
    scalar.dtype_ = dtype;
    return scalar;
  }

  Dtype dtype() const { return dtype_; }

  bool is_null() const { return null_; }

  bool is_weak() const { return weak_; }

  /// The value as C++ converts it to T (a float outside an integer's range gives no set value);
  /// 0 when null.
  template <class T>
  T as() const {
    if (null_) return T{};
    if (dtype_.is_floating()) return static_cast<T>(floating_);
    if (dtype_.is_signed()) return static_cast<T>(integer_);
    return static_cast<T>(unsigned_);
  }

 private:
  Dtype dtype_;
  bool null_ = true;
  bool weak_ = false;
  union {
    double floating_ = 0;
    int64_t integer_;
    uint64_t unsigned_;  // bool too
  };
};

}  // namespace hr
