// SPDX-License-Identifier: Apache-2.0
// Integers from floats, exact or an error.
#include "headrace/functions/cast/float_to_int.h"

#include "headrace/functions/cast/checked_cast.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace hr {

namespace {

template <class From, class To>
Column cast(const Column& column, Dtype dtype) {
  // Both are powers of two (or 0), which floats hold; the greatest integer may not be.
  const auto least = static_cast<From>(std::numeric_limits<To>::min());
  const From beyond = std::ldexp(From{1}, std::numeric_limits<To>::digits);
  const auto in = column.values<From>();
  return checked_cast<To>(
      column, dtype,
      [&](int64_t row, To* out) {
        const From whole = std::trunc(in[static_cast<size_t>(row)]);
        const bool fits = whole >= least && whole < beyond;
        *out = fits ? static_cast<To>(whole) : To{0};
        return fits;
      },
      [&](int64_t row) {
        char text[32];
        const auto [end, error] =
            std::to_chars(text, text + sizeof text, in[static_cast<size_t>(row)]);
        return std::string(text, end);
      });
}

}  // namespace

Column float_to_int(const Column& column, Dtype dtype) {
  return visit_real(dtype, [&]<class To>(std::type_identity<To>) -> Column {
    if constexpr (std::is_integral_v<To>)
      return column.dtype() == Dtype(TypeId::kFloat32) ? cast<float, To>(column, dtype)
                                                       : cast<double, To>(column, dtype);
    throw_error<TypeMismatchError>("astype", "not an integer dtype", {{"dtype", dtype.name()}},
                                   "use int8 to int64 or uint8 to uint64");
  });
}

namespace {

struct IntegersOfFloats final : OperatorOf<IntegersOfFloats> {
  Dtype dtype{};

  std::string_view name() const override { return "astype"; }

  std::string arguments() const override { return std::string(dtype.name()); }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  Value execute(std::span<const Value> inputs) const override {
    return float_to_int(std::get<Column>(inputs[0]), dtype);
  }

  static auto parameters(auto& self) { return std::tie(self.dtype); }
};

}  // namespace

NodePtr float_to_int(const NodePtr& column, Dtype dtype) {
  Signature signature = column->signature();
  signature.dtype = dtype;
  return apply_operator(IntegersOfFloats::make(dtype), std::move(signature), {column});
}

}  // namespace hr
