// SPDX-License-Identifier: Apache-2.0
// The window of a spectrum in the precision of the signal.
#include "headrace/signal/spectral_window.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"

#include <algorithm>
#include <utility>

namespace hr {

Tensor spectral_window(std::string_view op, const Tensor& window, bool is_single) {
  if (window.num_dimensions() != 1 || !window.dtype().is_floating())
    throw_error<TypeMismatchError>(
        op, "the window must be float32 or float64 of one dimension",
        {{"dtype", window.dtype().name()}, {"dimensions", window.num_dimensions()}},
        "use astype('float64')");
  const Tensor from = contiguous(window, op);
  const Dtype wanted = is_single ? TypeId::kFloat32 : TypeId::kFloat64;
  if (window.dtype() == wanted) return from;
  check_on_host(op, window.place());
  const int64_t count = window.num_elements();
  Buffer values = Buffer::allocate(checked_multiply(op, count, wanted.size_bytes()));
  const auto convert = [&]<class S, class T>(const S* source, T* to) {
    std::transform(source, source + count, to, [](S value) { return static_cast<T>(value); });
  };
  if (is_single)
    convert(from.as<double>(), values.mutable_as<float>());
  else
    convert(from.as<float>(), values.mutable_as<double>());
  return Tensor(wanted, {count}, std::move(values));
}

}  // namespace hr
