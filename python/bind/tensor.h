// SPDX-License-Identifier: Apache-2.0
// Arrays of any rank.
#pragma once
#include "python/bind/bind.h"

void bind_tensor(nb::module_& m);
