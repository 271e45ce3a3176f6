// SPDX-License-Identifier: Apache-2.0
// Work runs where its data are: on the host, on a simulated device, on a CUDA device.
#pragma once
#include "headrace/plan/graph/node.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace hr {

/// The place of a value's buffers; the host for none.
HR_API Place place_of(const Value& value);

/// Throws DeviceError, naming how many devices exist, unless this one does.
void check_is_there(Place place);

/// The place of a node's value, or where it is to be made.
HR_API Place place_of(const NodePtr& node);

/// Whether values of a dtype can lie there: lists and structs stay on the host.
bool may_be_at(Dtype dtype, Place place);

/// The value at `place`, by one copy that the ledger shows; itself when it is there. Arrays without
/// dimensions stay on the host, where the next kernel takes them from.
HR_API Value to_place(const Value& value, Place place);

/// The same, lazily: `x.to("cuda")`. Throws DeviceError when there is no such device.
HR_API NodePtr to_place(const NodePtr& input, Place place);

/// Where values go that come from no input: files, generated arrays. First value: HEADRACE_DEVICE
/// ("cuda" or "sim"), else the host.
HR_API Place default_place();
HR_API void set_default_place(Place place);

/// Calls `make` for the default place; for the host, where what it makes is kept for that place
/// (slices.h), if the device there has no room for it.
HR_API void make_at_default_place(const std::function<void(Place)>& make);

/// What `make` gives so.
template <class Make>
auto made_at_default_place(const Make& make) {
  decltype(make(host)) made{};
  make_at_default_place([&](Place place) { made = make(place); });
  return made;
}

/// A value of the host, brought so.
HR_API Value at_default_place(const Value& value);

/// Devices over which such values are cut, read on the host: `device("cuda:0,1")`; else none.
HR_API std::vector<Place> default_shards();
HR_API void set_default_shards(std::vector<Place> places);

/// A device on which steps over the host's data run where that makes a plan faster; the host: none.
/// First value: a GPU with HEADRACE_DEVICE=auto, where there is one.
HR_API Place auto_place();
HR_API void set_auto_place(Place place);

using PlaceWork = std::function<std::vector<Value>(std::span<const Value> inputs)>;
/// Why work has no kernel for inputs that are on a CUDA device; empty: it has one.
using KernelLimits = std::function<std::string(std::span<const Value> inputs)>;

inline const std::string kNoKernel = "no kernel for CUDA";
/// Of work that takes contiguous arrays: the limit that this one does not keep, or nothing.
std::string why_strided(const Value& value);

/// Runs `work` where the inputs are and gives what it makes there. On the simulated device it sees
/// the inputs as the host's. On a CUDA device it gets them as they are; where `limits` has a reason
/// against that, it runs on the host between two copies, and `fallbacks` tells. Inputs on the host
/// are copied to the device of the others; lists and structs, which stay there, are such a reason,
/// and so is a device without room for the work; what it makes stays on the host if that has none
/// for it. Throws DeviceError, naming `op`, for inputs on two devices, and instead of falling back
/// when strict.
std::vector<Value> dispatch_to_place(std::string_view op, const KernelLimits& limits,
                                     std::vector<Value> inputs, const PlaceWork& work);

/// The limits of an operator.
KernelLimits limits_of(const Operator& op);

/// Runs an operator where its inputs are.
Value execute_at_place(const Operator& op, std::vector<Value> inputs);

/// Runs `work` on the host, though its results belong at `place` and perhaps its inputs are there:
/// between two copies, and `fallbacks` tells. Throws DeviceError when strict.
HR_API std::vector<Value> run_on_host(std::string_view op, const std::string& reason, Place place,
                                      const std::vector<Value>& inputs, const PlaceWork& work);

/// What ran in a slower way than asked: on the host though its data are on a device, or a Python
/// function row by row.
struct Fallback {
  std::string op;
  std::string reason;
  double seconds = 0;
  int64_t bytes = 0;  ///< that were copied for it
};

/// Adds to what is known of this operator and reason.
HR_API void record_fallback(Fallback fallback);
HR_API std::vector<Fallback> fallbacks();
HR_API void clear_fallbacks();
/// Whether falling back is an error.
HR_API void set_strict(bool on);

}  // namespace hr
