// SPDX-License-Identifier: Apache-2.0
// Enumerations by the names that users write.
#include "headrace/base/enum_names.h"

#include "headrace/base/error.h"

#include <algorithm>
#include <string>

namespace hr {

size_t find_name(std::string_view op, std::string_view key, std::string_view name,
                 std::span<const std::string_view> names, std::string_view fix) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  std::string known = "use ";
  for (const std::string_view each : names)
    known.append(each.data() == names[0].data() ? "" : ", ").append(each);
  throw_error<InvalidArgumentError>(op, "no such " + std::string(key), {{key, name}},
                                    fix.empty() ? known : fix);
}

}  // namespace hr
