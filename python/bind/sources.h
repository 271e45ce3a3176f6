// SPDX-License-Identifier: Apache-2.0
// Sources of readers, given as Python objects.
#pragma once
#include "python/bind/bind.h"

#include "headrace/io/source.h"

#include <string_view>

/// Of a path, an object with the buffer protocol, or a binary file object, which is read piece by
/// piece. `op`: of messages.
hr::Source source_of(std::string_view op, nb::handle source);

void bind_log(nb::module_& m);
