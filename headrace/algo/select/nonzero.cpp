// SPDX-License-Identifier: Apache-2.0
// Positions of the true elements of a gate: checks and dispatch.
#include "headrace/algo/select/nonzero.h"

#include "headrace/algo/bits/strided_view.h"
#include "headrace/algo/select/nonzero_kernels.h"
#include "headrace/base/error.h"

namespace hr {

namespace {

void check_bool(Dtype dtype) {
  if (!dtype.is_bool())
    throw_error<TypeMismatchError>("nonzero", "the gate must be bool", {{"dtype", dtype.name()}},
                                   "compare it with something first");
}

}  // namespace

Tensor nonzero(const Tensor& gate) {
  const ScopedTag tag("nonzero");
  check_one_dimension("nonzero", gate);
  check_bool(gate.dtype());
  if constexpr (built_with_cuda)
    if (gate.place().is_gpu()) return cuda::nonzero(gate);
  return cpu::nonzero(gate);
}

Tensor nonzero(const Column& gate) {
  const ScopedTag tag("nonzero");
  check_bool(gate.dtype());
  if (gate.null_count() > 0)
    throw_error<InvalidArgumentError>("nonzero", "the gate has nulls",
                                      {{"nulls", gate.null_count()}}, "use fillna(False) first");
  if constexpr (built_with_cuda)
    if (gate.place().is_gpu()) return cuda::nonzero(gate);
  return cpu::nonzero(gate);
}

}  // namespace hr
