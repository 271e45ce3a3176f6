// SPDX-License-Identifier: Apache-2.0
// The error of positions, indices and masks that the axes they index do not have.
#pragma once
#include "headrace/base/error.h"

namespace hr {

/// A position, an index or a mask that an axis does not have (Python: also IndexError).
class HR_API OutOfBoundsError : public InvalidArgumentError {
  using InvalidArgumentError::InvalidArgumentError;
};

}  // namespace hr
