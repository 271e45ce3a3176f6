// SPDX-License-Identifier: Apache-2.0
// What tells an operator from others, for NodeTraits::same.
#pragma once
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace hr {

/// Bytes that are equal for equal arguments in the same order.
class SameWords {
 public:
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  SameWords& add(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }

  SameWords& add(std::string_view word) {
    add(word.size());
    bytes_.append(word);
    return *this;
  }

  template <class T>
  SameWords& add_all(const std::vector<T>& values) {
    add(values.size());
    for (const T& each : values) add(each);
    return *this;
  }

  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_ = "=";
};

}  // namespace hr
