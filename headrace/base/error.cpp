// SPDX-License-Identifier: Apache-2.0
// Error messages.
#include "headrace/base/error.h"

#include <cstdio>

namespace hr {

Detail::Detail(std::string_view n, double v) : name(n) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", v);
  value = text;
}

std::string error_message(std::string_view op, std::string_view what,
                          std::initializer_list<Detail> details, std::string_view fix) {
  std::string message;
  message.append(op).append(": ").append(what);
  const char* separator = ": ";
  for (const Detail& detail : details) {
    message.append(separator).append(detail.name).append("=").append(detail.value);
    separator = ", ";
  }
  if (!fix.empty()) message.append("; ").append(fix);
  return message;
}

}  // namespace hr
