// SPDX-License-Identifier: Apache-2.0
// The one error family. A message reads `operator: what is wrong: name=value, ...; the fix`.
#pragma once
#include "headrace/base/api.h"

#include <concepts>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>

namespace hr {

/// A named value in an error message.
struct Detail {
  std::string_view name;
  std::string value;

  Detail(std::string_view n, std::string_view v) : name(n), value("'" + std::string(v) + "'") {}

  Detail(std::string_view n, const std::string& v) : Detail(n, std::string_view(v)) {}

  Detail(std::string_view n, const char* v) : Detail(n, std::string_view(v)) {}

  Detail(std::string_view n, std::integral auto v) : name(n), value(std::to_string(v)) {}

  HR_API Detail(std::string_view n, double v);
};

/// Root of all errors of the engine; Python sees it as `hr.Error`.
class HR_API Error : public std::exception {
 public:
  explicit Error(std::string message) : message_(std::move(message)) {}

  const char* what() const noexcept override { return message_.c_str(); }

  /// Adds a line below the message, for example the Python line that made the failing node.
  void add_note(std::string_view note) { message_.append("\n").append(note); }

 private:
  std::string message_;
};

/// A value that the operator cannot take (Python: also ValueError).
class HR_API InvalidArgumentError : public Error {
  using Error::Error;
};

/// A dtype, kind or shape class that the operator cannot take (Python: also TypeError).
class HR_API TypeMismatchError : public Error {
  using Error::Error;
};

/// A column name that the frame does not have (Python: also KeyError).
class HR_API ColumnNotFoundError : public Error {
  using Error::Error;
};

/// A request that the budget or the machine cannot meet (Python: also MemoryError).
class HR_API OutOfMemoryError : public Error {
 public:
  explicit OutOfMemoryError(std::string message, int64_t requested = 0, int64_t limit = 0,
                            int64_t used = 0)
      : Error(std::move(message)),
        requested_bytes(requested),
        limit_bytes(limit),
        used_bytes(used) {}

  int64_t requested_bytes;
  int64_t limit_bytes;
  int64_t used_bytes;
};

/// Bad bytes in an input, or a file that cannot be read or written (Python: also OSError).
class HR_API InputError : public Error {
 public:
  /// `line` and `column` count from 1; 0 means that none is known. `code` is an errno or 0.
  explicit InputError(std::string message, std::string path_ = {}, int64_t line_ = 0,
                      int64_t column_ = 0, int code_ = 0)
      : Error(std::move(message)),
        path(std::move(path_)),
        line(line_),
        column(column_),
        code(code_) {}

  std::string path;
  int64_t line;
  int64_t column;
  int code;
};

/// A device that fails (Python: also RuntimeError).
class HR_API DeviceError : public Error {
  using Error::Error;
};

/// Something that Headrace does not do (Python: also NotImplementedError).
class HR_API UnsupportedError : public Error {
  using Error::Error;
};

/// Our own bug (Python: also RuntimeError).
class HR_API InternalError : public Error {
  using Error::Error;
};

/// The user asked to stop (Ctrl-C). Python sees KeyboardInterrupt.
class HR_API Interrupted : public Error {
  using Error::Error;
};

/// `operator: what: name=value, ...; fix`.
HR_API std::string error_message(std::string_view op, std::string_view what,
                                 std::initializer_list<Detail> details = {},
                                 std::string_view fix = {});

template <class E>
[[noreturn]] void throw_error(std::string_view op, std::string_view what,
                              std::initializer_list<Detail> details = {},
                              std::string_view fix = {}) {
  throw E(error_message(op, what, details, fix));
}

}  // namespace hr
