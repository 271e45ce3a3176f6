// SPDX-License-Identifier: Apache-2.0
// The parameters of operators as bytes: what tells two of one class apart, and what another
// process makes them of.
#pragma once
#include "headrace/algo/math/decimal_math.h"
#include "headrace/base/error.h"
#include "headrace/data/scalar.h"

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace hr {

/// A class that lists its members: `static auto parameters(auto& self) { return std::tie(...); }`.
template <class T>
concept HasParameters = requires(T& value) { T::parameters(value); };

/// A value that its own bytes tell.
template <class T>
concept PlainParameter = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, Int128>;

/// Equal bytes for equal values. Floats are compared by their bits.
class ParameterWriter {
 public:
  /// With room for an operator's name and some numbers: it is asked of each node that is made.
  ParameterWriter() { bytes_.reserve(192); }

  template <class T>
  void write(const T& value) {
    if constexpr (PlainParameter<T>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else if constexpr (HasParameters<T>) {
      std::apply([this](const auto&... each) { (write(each), ...); }, T::parameters(value));
    } else {
      add(value);
    }
  }

  std::string take() { return std::move(bytes_); }

 private:
  void add(std::string_view text) {
    write(text.size());
    bytes_.append(text);
  }

  void add(Dtype dtype) { add(dtype.name()); }

  void add(const Scalar& scalar) {
    add(scalar.dtype());
    write(scalar.is_weak());
    write(scalar.is_null());
    if (scalar.dtype().is_floating())
      write(scalar.as<double>());
    else if (scalar.dtype().is_signed())
      write(scalar.as<int64_t>());
    else
      write(scalar.as<uint64_t>());
  }

  template <class T>
  void add(const std::vector<T>& values) {
    write(values.size());
    for (const T& each : values) write(each);
  }

  template <class T>
  void add(const std::optional<T>& value) {
    write(value.has_value());
    if (value) write(*value);
  }

  template <class A, class B>
  void add(const std::pair<A, B>& pair) {
    write(pair.first);
    write(pair.second);
  }

  template <class... T>
  void add(const std::variant<T...>& value) {
    write(static_cast<uint8_t>(value.index()));
    std::visit([this](const auto& each) { write(each); }, value);
  }

  std::string bytes_{};
};

/// Reads what ParameterWriter wrote. Throws InvalidArgumentError for bytes that end too early.
class ParameterReader {
 public:
  explicit ParameterReader(std::string_view bytes) : bytes_(bytes) {}

  bool is_at_end() const { return bytes_.empty(); }

  template <class T>
  void read(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = *take(1) != 0;
    } else if constexpr (PlainParameter<T>) {
      std::memcpy(&value, take(sizeof value), sizeof value);
    } else if constexpr (HasParameters<T>) {
      std::apply([this](auto&... each) { (read(each), ...); }, T::parameters(value));
    } else {
      get(value);
    }
  }

  template <class T>
  T read() {
    T value{};
    read(value);
    return value;
  }

 private:
  const char* take(size_t count) {
    if (count > bytes_.size())
      throw_error<InvalidArgumentError>("plan", "the bytes of an operator end too early",
                                        {{"expected", count}, {"found", bytes_.size()}});
    const char* const begin = bytes_.data();
    bytes_.remove_prefix(count);
    return begin;
  }

  // Each element has a byte at least: a wrong count allocates nothing.
  size_t read_count() {
    const auto count = read<size_t>();
    if (count > bytes_.size()) take(count);
    return count;
  }

  void get(std::string& text) {
    const auto count = read_count();
    text.assign(take(count), count);
  }

  void get(Dtype& dtype) { dtype = dtype_from_name(read<std::string>()); }

  void get(Scalar& scalar) {
    const auto dtype = read<Dtype>();
    const bool is_weak = read<bool>(), is_null = read<bool>();
    const auto bits = read<uint64_t>();
    if (is_null) {
      scalar = Scalar::null(dtype);
      return;
    }
    if (!dtype.is_number())
      throw_error<InvalidArgumentError>("plan", "a constant is not a number",
                                        {{"dtype", dtype.name()}});
    const auto number = [&]<class T>(std::type_identity<T>) {
      T value;
      if constexpr (std::is_floating_point_v<T>)
        value = static_cast<T>(std::bit_cast<double>(bits));
      else
        value = static_cast<T>(bits);
      scalar = is_weak ? Scalar::weak(value) : Scalar(value);
    };
    if (dtype.is_bool())
      number(std::type_identity<bool>{});
    else
      visit_real(dtype, number);
  }

  template <class T>
  void get(std::vector<T>& values) {
    values.clear();
    const size_t count = read_count();
    for (size_t i = 0; i < count; ++i) values.push_back(read<T>());
  }

  template <class T>
  void get(std::optional<T>& value) {
    value.reset();
    if (read<bool>()) value = read<T>();
  }

  template <class A, class B>
  void get(std::pair<A, B>& pair) {
    read(pair.first);
    read(pair.second);
  }

  template <class... T>
  void get(std::variant<T...>& value) {
    const auto index = read<uint8_t>();
    size_t i = 0;
    ((index == i++ ? void(value = read<T>()) : void()), ...);
    if (index >= i)
      throw_error<InvalidArgumentError>("plan", "an operator has an unknown alternative",
                                        {{"index", index}});
  }

  std::string_view bytes_;
};

}  // namespace hr
