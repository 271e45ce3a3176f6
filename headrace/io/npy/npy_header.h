// SPDX-License-Identifier: Apache-2.0
// The header of a .npy file: the literal of a Python dict, read by hand.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hr::npy {

struct Header {
  std::string descr{};  ///< "<f8"; "[" for records
  bool is_fortran = false;
  std::vector<int64_t> shape{};
};

/// Parses "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }" with its keys in any order.
/// Gives what is wrong, or null.
HR_API const char* parse_header(std::string_view text, Header& header);

}  // namespace hr::npy
