// SPDX-License-Identifier: Apache-2.0
// Filters between two sampling rates: checks, memory, dispatch.
#include "headrace/signal/polyphase_filter.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/signal/polyphase_filter_kernels.h"

#include <algorithm>

namespace hr {

Tensor polyphase_filter(const Tensor& x, const std::vector<double>& taps, int64_t up, int64_t down,
                        int64_t shift, int64_t count, bool single) {
  constexpr const char* kOp = "polyphase_filter";
  const ScopedTag tag(kOp);
  if (!x.dtype().is_floating() || x.num_dimensions() == 0)
    throw_error<TypeMismatchError>(kOp, "expected float32 or float64 and an axis",
                                   {{"dtype", x.dtype().name()}}, "use astype first");
  if (taps.empty() || up < 1 || down < 1 || shift < 0 || count < 0)
    throw_error<InvalidArgumentError>(kOp, "a number is out of range",
                                      {{"taps", static_cast<int64_t>(taps.size())},
                                       {"up", up},
                                       {"down", down},
                                       {"shift", shift},
                                       {"count", count}},
                                      "pass positive numbers");
  checked_multiply(kOp, checked_multiply(kOp, checked_add(kOp, count, 1), down), up);
  const Dtype result =
      single && x.dtype() == Dtype(TypeId::kFloat32) ? TypeId::kFloat32 : TypeId::kFloat64;
  Shape shape = x.shape();
  shape.back() = count;
  const int64_t elements = num_elements(shape);
  Buffer out = Buffer::allocate(checked_multiply(kOp, elements, result.size_bytes()));
  if (elements > 0) {
    if (x.shape().back() > 0)
      cpu::polyphase_filter({taps, up, down, shift, count}, x, result, out);
    else
      std::fill_n(out.mutable_data(), out.size_bytes(), std::byte{0});
  }
  return Tensor(result, std::move(shape), std::move(out));
}

}  // namespace hr
