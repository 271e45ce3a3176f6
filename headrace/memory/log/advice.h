// SPDX-License-Identifier: Apache-2.0
// Advice: what the engine saw while it ran that a user could do better.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/log/tag.h"

#include <string>
#include <vector>

namespace hr {

struct Advice {
  std::string op;    ///< the operator that it is about
  std::string line;  ///< the user's line, or empty
  std::string text;  ///< what was seen, and what to do
};

/// Takes advice about the work with this tag; it replaces what was said of the same tag before. At
/// most 1,000 are kept, the latest.
HR_API void give_advice(Tag tag, std::string text);

/// Since the process began or the last clear, oldest first.
HR_API std::vector<Advice> advice();
HR_API void clear_advice();

}  // namespace hr
