// SPDX-License-Identifier: Apache-2.0
// A table as text for people.
#pragma once
#include "headrace/data/table.h"

#include <string>

namespace hr {

/// A box of all rows and columns below the shape, as Python prints a frame: floats of six digits,
/// strings cut to 30 characters, control characters escaped, times of a zone whose rules are not
/// known in UTC. Every character counts as one column wide.
std::string table_text(const Table& table);

}  // namespace hr
