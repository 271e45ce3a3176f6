// SPDX-License-Identifier: Apache-2.0
// Names: the names of one column or of several, as an argument.
#pragma once
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace hr {

/// "city", or {"city", "member"}, or a vector of names.
class Names {
 public:
  Names() = default;
  Names(const char* name) : names_{name} {}                            // NOLINT: implicit
  Names(std::string name) : names_{std::move(name)} {}                 // NOLINT
  Names(std::initializer_list<std::string> names) : names_(names) {}   // NOLINT
  Names(std::vector<std::string> names) : names_(std::move(names)) {}  // NOLINT
  operator const std::vector<std::string>&() const { return names_; }  // NOLINT

  auto begin() const { return names_.begin(); }

  auto end() const { return names_.end(); }

  bool empty() const { return names_.empty(); }

  size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_{};
};

}  // namespace hr
