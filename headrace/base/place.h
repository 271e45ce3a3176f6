// SPDX-License-Identifier: Apache-2.0
// Where data lives: the host, one device, or, under a memory limit, pinned memory and the disk.
#pragma once
#include <cstdint>
#include <string>

namespace hr {

/// The simulated device is memory of this process that the host cannot touch: for tests of what a
/// GPU needs. Nothing is made on the disk or, for a device, in pinned memory of the host: values go
/// there and come back.
enum class PlaceKind : uint8_t { kHost, kCuda, kSimulated, kDisk, kPinned };
inline constexpr int kPlaceKinds = 5;

/// A memory place. Execution follows the place of the data, never a global switch.
struct Place {
  PlaceKind kind = PlaceKind::kHost;
  int32_t index = 0;

  constexpr bool is_host() const { return kind == PlaceKind::kHost; }

  constexpr bool is_gpu() const { return kind == PlaceKind::kCuda; }

  constexpr bool is_simulated() const { return kind == PlaceKind::kSimulated; }

  std::string name() const {
    if (is_host()) return "host";
    if (kind == PlaceKind::kDisk) return "disk";
    if (kind == PlaceKind::kPinned) return "pinned";
    return (is_gpu() ? "cuda:" : "sim:") + std::to_string(index);
  }

  friend constexpr bool operator==(const Place&, const Place&) = default;
};

inline constexpr Place host{};
inline constexpr Place disk{PlaceKind::kDisk, 0};
inline constexpr Place pinned_host{PlaceKind::kPinned, 0};

}  // namespace hr
