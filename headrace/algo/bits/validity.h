// SPDX-License-Identifier: Apache-2.0
// Validity bitmaps.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/column.h"

namespace hr {

/// The validity of a column with row 0 in bit 0; empty without nulls.
HR_API Buffer realigned_validity(const Column& column);

}  // namespace hr
