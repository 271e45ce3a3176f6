// SPDX-License-Identifier: Apache-2.0
// Where data lives: the host or one device.
#pragma once
#include <cstdint>
#include <string>

namespace hr {

/// The simulated device is memory of this process that the host cannot touch: for tests of what a
/// GPU needs.
enum class PlaceKind : uint8_t { kHost, kCuda, kSimulated };

/// A memory place. Execution follows the place of the data, never a global switch.
struct Place {
  PlaceKind kind = PlaceKind::kHost;
  int32_t index = 0;

  constexpr bool is_host() const { return kind == PlaceKind::kHost; }

  constexpr bool is_gpu() const { return kind == PlaceKind::kCuda; }

  constexpr bool is_simulated() const { return kind == PlaceKind::kSimulated; }

  std::string name() const {
    return is_host() ? "host" : (is_gpu() ? "cuda:" : "sim:") + std::to_string(index);
  }

  friend constexpr bool operator==(const Place&, const Place&) = default;
};

inline constexpr Place host{};

}  // namespace hr
