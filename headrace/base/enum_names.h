// SPDX-License-Identifier: Apache-2.0
// Enumerations by the names that users write.
#pragma once
#include "headrace/base/api.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace hr {

/// Returns at which place `name` stands in `names`. Otherwise throws InvalidArgumentError with
/// `fix`, or with all names.
HR_API size_t find_name(std::string_view op, std::string_view key, std::string_view name,
                        std::span<const std::string_view> names, std::string_view fix = {});

/// The same as an enumeration whose values stand in the order of `names`.
template <class E>
E enum_from_name(std::string_view op, std::string_view key, std::string_view name,
                 std::span<const std::string_view> names, std::string_view fix = {}) {
  return static_cast<E>(find_name(op, key, name, names, fix));
}

}  // namespace hr
