// SPDX-License-Identifier: Apache-2.0
// The kernel behind window_frame.h.
#pragma once
#include "headrace/data/column.h"
#include "headrace/relational/order/window_frame.h"

namespace hr::cpu {

/// As `hr::window_frame`, of checked columns.
Column window_frame_kernel(FrameFunction function, const Column& begins, const Column& ends,
                           const Column& values);

}  // namespace hr::cpu
