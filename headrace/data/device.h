// SPDX-License-Identifier: Apache-2.0
// Values on the simulated device: there, back, and the operators of the host run on them there.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"
#include "headrace/memory/resource.h"

#include <functional>
#include <span>
#include <string_view>

namespace hr {

/// The values at `place`: themselves when they are there, else a copy at the device's pace, shown
/// in the ledger as asked under "to". To the device the call returns at once, and the values are
/// ready on `stream`; to the host it waits. Of a column only its rows go; a dictionary stays on the
/// host. Throws DeviceError when the values are not ready for `stream`, OutOfMemoryError.
HR_API Tensor to_place(const Tensor& tensor, Place place, Stream stream);
HR_API Column to_place(const Column& column, Place place, Stream stream);

/// Work of one operator: gets its inputs where it can read them, and returns a contiguous tensor of
/// the promised dtype and shape.
using DeviceWork = std::function<Tensor(std::span<const Tensor> inputs)>;

/// Runs an operator of the host on the device, in the order of `stream`; the call returns at once.
/// Throws DeviceError, naming `op`, for an input that is not on the device and for one that other
/// work may still write: wait_event or synchronize are missing. Errors of the work come with the
/// next synchronize.
HR_API Tensor run_on_device(std::string_view op, Stream stream, std::vector<Tensor> inputs,
                            Dtype dtype, Shape shape, DeviceWork work);

}  // namespace hr
