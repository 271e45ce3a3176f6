// SPDX-License-Identifier: Apache-2.0
// Filters of signals.
#pragma once
#include "python/bind/bind.h"

void bind_filters(nb::module_& m);
