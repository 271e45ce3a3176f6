// SPDX-License-Identifier: Apache-2.0
// A library of others that the process opens when it is first needed, and its functions.
#pragma once
#include "headrace/base/api.h"

#include <string>
#include <vector>

namespace hr {

/// Opened once and never closed, since what it started may run until the process ends.
class HR_API SharedLibrary {
 public:
  /// The first of these files, or names that the system looks up, that opens.
  explicit SharedLibrary(const std::vector<std::string>& names);

  /// Points `function` at the library's function, or at null; whether it is there.
  template <class F>
  bool load(const char* name, F*& function) {
    function = reinterpret_cast<F*>(find(name));
    return function != nullptr;
  }

  /// The first function that was asked for and is not there, or the name of a library that does
  /// not open; empty when nothing is missing.
  const std::string& missing() const { return missing_; }

 private:
  void* find(const char* name);

  void* handle_ = nullptr;
  std::string missing_;
};

}  // namespace hr
