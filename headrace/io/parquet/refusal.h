// SPDX-License-Identifier: Apache-2.0
// What stops the reading of a Parquet file, before the file's and the column's name are known.
#pragma once
#include <exception>
#include <string>
#include <utility>

namespace hr::parquet {

/// Bytes that contradict the format, or that the format allows and Headrace does not read. Whoever
/// knows the file turns it into an InputError or an UnsupportedError with its name.
class Refusal : public std::exception {
 public:
  Refusal(std::string what, bool is_damage) : what_(std::move(what)), is_damage_(is_damage) {}

  const char* what() const noexcept override { return what_.c_str(); }

  bool is_damage() const { return is_damage_; }

 private:
  std::string what_;
  bool is_damage_;
};

[[noreturn]] inline void damaged(std::string what) {
  throw Refusal(std::move(what), true);
}

[[noreturn]] inline void unsupported(std::string what) {
  throw Refusal(std::move(what), false);
}

}  // namespace hr::parquet
