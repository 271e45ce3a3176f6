// SPDX-License-Identifier: Apache-2.0
// More rows than a device has room for: they stay on the host, and work on them goes through the
// device in slices that fit.
#pragma once
#include "headrace/plan/graph/placement.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace hr {

/// A table that a device can make in slices of its rows.
class RunsInSlices {
 public:
  virtual ~RunsInSlices() = default;

  /// The wanted columns on the host, of inputs on the host, with the bits that `execute` gives;
  /// none where there is no such way. `slice_bytes`: what a slice may take on the device `place`,
  /// where `run_slice` works on it. Throws OutOfMemoryError when that was too much.
  virtual std::optional<Table> execute_in_slices(const std::vector<bool>& wanted,
                                                 std::span<const Value> inputs, TableState* state,
                                                 Place place, int64_t slice_bytes) const = 0;
};

/// What `work` makes at `place` of inputs on the host, brought back to the host. Throws
/// OutOfMemoryError when it does not fit there.
std::vector<Value> run_slice(std::string_view op, Place place, std::span<const Value> inputs,
                             const PlaceWork& work);

/// Calls `make` with bytes of a slice, of half as many after each OutOfMemoryError; none when
/// `make` gives none, or where even small slices do not fit.
std::optional<Table> made_in_slices(Place place,
                                    const std::function<std::optional<Table>(int64_t)>& make);

/// As `dispatch_to_place`; `in_slices` is tried where the device has no room for all, before the
/// host is.
std::vector<Value> dispatch_or_slice(std::string_view op, const KernelLimits& limits,
                                     std::vector<Value> inputs, const PlaceWork& work,
                                     const PlaceWork& in_slices);

/// As `work` on inputs that are kept on the host: in slices at `place`, where `in_slices` gives
/// something, else on the host, as `fallbacks` tells. Throws OutOfMemoryError instead when strict.
std::vector<Value> run_on_kept(std::string_view op, Place place, std::span<const Value> inputs,
                               const PlaceWork& work, const PlaceWork& in_slices);

/// Whether a value has memory, all of it on the host.
bool has_host_memory(const Value& value);

/// Whether the value of a node is kept on the host, as `place` has no room for it.
bool is_kept_for(Place place, const NodePtr& node);

/// Whether what this thread made last for a device is kept on the host, as that has no room for it.
HR_API bool is_kept();
HR_API void set_kept(bool kept);

/// What is made from here on is kept, or not; as before at the end.
class ScopedKept {
 public:
  explicit ScopedKept(bool kept) : former_(is_kept()) { set_kept(kept); }
  ~ScopedKept() { set_kept(former_); }

  ScopedKept(const ScopedKept&) = delete;
  ScopedKept& operator=(const ScopedKept&) = delete;

 private:
  bool former_;
};

/// As `x.to(place)`, of what other values there are worked on with: kept on the host where there is
/// no room.
NodePtr to_place_with_room(const NodePtr& input, Place place);

/// A value of the host as one that is kept there for the default place.
HR_API void keep_for_default_place(const NodePtr& node);

}  // namespace hr
