// SPDX-License-Identifier: Apache-2.0
// Libraries by the system's loader.
#include "headrace/base/shared_library.h"

#include <dlfcn.h>

namespace hr {

SharedLibrary::SharedLibrary(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if ((handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))) return;
  if (!names.empty()) missing_ = names.front();
}

void* SharedLibrary::find(const char* name) {
  void* const found = handle_ ? dlsym(handle_, name) : nullptr;
  if (!found && missing_.empty()) missing_ = name;
  return found;
}

}  // namespace hr
