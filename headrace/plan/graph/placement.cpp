// SPDX-License-Identifier: Apache-2.0
// Where work runs, and what has to move for it.
#include "headrace/plan/graph/placement.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/data/device.h"
#include "headrace/exec/device_profile.h"
#include "headrace/exec/device_stream.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/device/by_device.h"
#include "headrace/memory/device/device_allocator.h"
#include "headrace/memory/device/lent_copies.h"
#include "headrace/memory/device/simulated_device.h"
#include "headrace/memory/sync/fork_mutex.h"
#include "headrace/plan/graph/device_copies.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/slices.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace hr {

namespace {

std::string_view first_device() {
  const char* const word = std::getenv("HEADRACE_DEVICE");
  const std::string_view name(word ? word : "");
  return name.substr(0, name.find(':'));
}

Place first_place() {
  if (first_device() == "cuda") return cuda_place();
  return first_device() == "sim" ? simulated : host;
}

Place first_auto_place() {
  return first_device() == "auto" && why_no_cuda().empty() ? cuda_place() : host;
}

struct State {
  ForkMutex mutex;
  Place place = first_place();
  Place auto_place = first_auto_place();
  std::vector<Place> shards;
  std::vector<Fallback> fallbacks;
  std::atomic<bool> strict{false};
};

State& state() {
  return process_global<State>();
}

// Copies of a simulated device go through one stream, made at first use.
Stream stream_of(Place place) {
  if (place.is_gpu()) return current_stream(place);
  check_simulated("device", place.index);
  struct Known : ByDevice<Stream> {};
  return process_global<Known>().get(place.index, [&] { return new_stream(place); });
}

// The value over other buffers of the same size.
template <class F>
Value over(const Value& value, const F& change) {
  const auto changed = [&](const Buffer& buffer) { return buffer ? change(buffer) : buffer; };
  const auto column = [&](const Column& from, const auto& self) -> Column {
    Buffer validity = from.null_count() > 0 ? changed(from.validity_buffer()) : Buffer();
    if (from.dtype().is_category())
      return Column::categories(from.num_rows(), changed(from.values_buffer()), from.dictionary(),
                                std::move(validity), from.null_count(), from.offset());
    if (from.dtype().has_items()) {
      const auto make = from.dtype().is_map() ? Column::maps : Column::lists;
      return make(from.num_rows(), changed(from.values_buffer()), self(*from.items(), self),
                  std::move(validity), from.null_count(), from.offset());
    }
    if (from.dtype().is_struct()) {
      std::vector<Column> fields;
      for (const Column& field : *from.fields()) fields.push_back(self(field, self));
      return Column::structs_at(from.dtype(), from.num_rows(), changed(from.values_buffer()),
                                std::move(fields), std::move(validity), from.null_count(),
                                from.offset());
    }
    if (!from.dtype().is_string())
      return Column(from.dtype(), from.num_rows(), changed(from.values_buffer()),
                    std::move(validity), from.null_count(), from.offset());
    std::vector<Buffer> text;
    for (const Buffer& part : from.text_buffers()) text.push_back(changed(part));
    return Column::strings(from.num_rows(), changed(from.values_buffer()), std::move(text),
                           std::move(validity), from.null_count(), from.offset());
  };
  if (const auto* tensor = std::get_if<Tensor>(&value))
    return Tensor(tensor->dtype(), tensor->shape(), tensor->strides(), changed(tensor->buffer()),
                  tensor->byte_offset());
  if (const auto* one = std::get_if<Column>(&value)) return column(*one, column);
  if (const auto* table = std::get_if<Table>(&value)) {
    std::vector<Column> columns;
    for (const Column& each : table->columns()) columns.push_back(column(each, column));
    return Table(table->names(), std::move(columns));
  }
  return value;
}

Buffer seen_by_host(std::string_view op, const Buffer& buffer) {
  return Buffer::adopt(simulated_alias(op, buffer.data(), buffer.size_bytes()), buffer.size_bytes(),
                       Owner{nullptr, [](void*) noexcept {}});
}

// A result of work on aliases, on a simulated device.
Buffer made_there(std::string_view op, const Buffer& buffer, Place place) {
  const Buffer there = Buffer::allocate(buffer.size_bytes(), simulated_resource(place.index));
  if (buffer.size_bytes() > 0)
    std::memcpy(simulated_alias(op, there.data(), buffer.size_bytes()), buffer.data(),
                static_cast<size_t>(buffer.size_bytes()));
  return there;
}

bool has_no_dimension(const Value& value) {
  const auto* tensor = std::get_if<Tensor>(&value);
  return std::holds_alternative<Scalar>(value) || (tensor && tensor->shape().empty());
}

// One element, or one that a view repeats: of it no more is copied.
bool is_one_element(const Value& value) {
  const auto* tensor = std::get_if<Tensor>(&value);
  if (!tensor || tensor->num_elements() == 0) return false;
  for (size_t d = 0; d < tensor->shape().size(); ++d)
    if (tensor->shape()[d] > 1 && tensor->strides()[d] != 0) return false;
  return true;
}

// The value at `place`, but for lists and structs.
Value where_it_may_be(const Value& value, Place place) {
  if (const auto* column = std::get_if<Column>(&value))
    return may_be_at(column->dtype(), place) ? to_place(value, place) : value;
  const auto* table = std::get_if<Table>(&value);
  if (!table) return to_place(value, place);
  std::vector<Column> columns;
  for (const Column& each : table->columns())
    columns.push_back(std::get<Column>(where_it_may_be(each, place)));
  return Table(table->names(), std::move(columns));
}

constexpr std::string_view kNoRoom = "the device has no room for it";

// Of what a device may hold, for a slice or a value: work on it needs room too.
constexpr int64_t kShare = 8;

thread_local bool kept = false;

// What a device has no room for stays on the host, whose memory is a tier of it; steps that then
// run there are fallbacks.
void make_where_there_is_room(Place place, const std::function<void(Place)>& make) {
  try {
    return make(place);
  } catch (const OutOfMemoryError&) {
    if (place.is_host()) throw;
  }
  make(host);
  kept = true;
}

// Bytes that a device may hold.
int64_t room_of(Place place) {
  const int64_t limit = memory_limit(place);
  return place.is_gpu() ? std::min(limit, device_memory(place.index).second) : limit;
}

// `share`: of the room, for a value that is left there for later steps. Larger ones are not tried:
// that would drive out what is there.
Value where_there_is_room(const Value& value, Place place, int64_t share = 1) {
  Value made = value;
  if (!place.is_host() && value_bytes(value) > room_of(place) / share)
    kept = true;
  else
    make_where_there_is_room(place, [&](Place where) {
      made = where.is_host() ? value : where_it_may_be(value, where);
    });
  return made;
}

// What `work` makes on the host of more than `place` has room for: small results go there.
std::vector<Value> made_beyond_room(const PlaceWork& work, std::span<const Value> inputs,
                                    Place place) {
  std::vector<Value> made = work(inputs);
  for (Value& value : made) value = where_there_is_room(value, place, kShare);
  return made;
}

std::vector<Value> run_simulated(std::string_view op, Place place, const std::vector<Value>& inputs,
                                 const PlaceWork& work) {
  synchronize(stream_of(place));
  std::vector<DevicePin> pins;
  for (const Value& input : inputs)
    for_each_buffer(input, [&](const Buffer& buffer) { pins.emplace_back(buffer); });
  std::vector<Value> seen;
  for (const Value& input : inputs)
    seen.push_back(place_of(input).is_simulated()
                       ? over(input, [&](const Buffer& buffer) { return seen_by_host(op, buffer); })
                       : input);
  SpanClock clock(stream_of(place), place);
  std::vector<Value> made = work(seen);
  clock.stop(op);
  for (Value& value : made)
    if (!has_no_dimension(value) && place_of(value).is_host())  // a scan puts its rows there
      value = over(value, [&](const Buffer& buffer) { return made_there(op, buffer, place); });
  return made;
}

}  // namespace

void check_is_there(Place place) {
  if (place.is_gpu()) {
    check_cuda_device("device", place.index);
    own_stream(place.index);
  }
  if (place.is_simulated()) check_simulated("device", place.index);
}

Place place_of(const Value& value) {
  Place place = host;
  for_each_buffer(value, [&](const Buffer& buffer) {
    if (!buffer.place().is_host()) place = buffer.place();
  });
  return place;
}

Place place_of(const NodePtr& node) {
  return node->is_ready() ? place_of(node->value()) : node->fields().place;
}

bool may_be_at(Dtype dtype, Place place) {
  return !place.is_gpu() || !dtype.is_nested();
}

Value to_place(const Value& value, Place place) {
  const Place from = place_of(value);
  if (from == place) return value;
  if (has_no_dimension(value) && from.is_host()) return value;
  if (!from.is_host() && !place.is_host() && from.kind != place.kind)
    return to_place(to_place(value, host), place);
  const Stream stream = stream_of(place.is_host() ? from : place);
  if (const auto* tensor = std::get_if<Tensor>(&value)) {
    if (!from.is_host() && !tensor->is_contiguous()) {
      // The whole buffer goes; its strides stay.
      const Tensor bytes(TypeId::kUInt8, {tensor->buffer().size_bytes()}, tensor->buffer());
      return Tensor(tensor->dtype(), tensor->shape(), tensor->strides(),
                    to_place(bytes, place, stream).buffer(), tensor->byte_offset());
    }
    if (is_one_element(value)) {
      const Tensor one(tensor->dtype(), {1}, tensor->buffer(), tensor->byte_offset());
      return Tensor(tensor->dtype(), tensor->shape(), Shape(tensor->shape().size(), 0),
                    to_place(one, place, stream).buffer(), 0);
    }
    return to_place(*tensor, place, stream);
  }
  if (const auto* column = std::get_if<Column>(&value)) return to_place(*column, place, stream);
  if (const auto* table = std::get_if<Table>(&value)) {
    std::vector<Column> columns;
    for (const Column& each : table->columns()) columns.push_back(to_place(each, place, stream));
    return Table(table->names(), std::move(columns));
  }
  return value;
}

namespace {

struct ToPlace final : OperatorOf<ToPlace> {
  Place place = host;
  bool may_stay = false;  // on the host, where the place has no room

  std::string_view name() const override { return "to"; }

  std::string arguments() const override { return place.name(); }

  int passes() const override { return 0; }

  Value execute(std::span<const Value> inputs) const override {
    return may_stay ? where_there_is_room(inputs[0], place) : to_place(inputs[0], place);
  }

  static auto parameters(auto& self) {
    return std::tie(self.place.kind, self.place.index, self.may_stay);
  }
};

NodePtr at_place(const NodePtr& input, Place place, bool may_stay) {
  check_is_there(place);
  if (input->is_ready() && !place.is_host()) {
    const std::lock_guard lock(plan_mutex());
    if (has_copy_at(input, place)) return shared_copy(input, place);
  }
  const NodePtr made =
      apply_operator(ToPlace::make(place.kind, place.index, may_stay), input->signature(), {input});
  made->fields().place = place;
  return made;
}

}  // namespace

NodePtr to_place(const NodePtr& input, Place place) {
  return at_place(input, place, false);
}

NodePtr to_place_with_room(const NodePtr& input, Place place) {
  return at_place(input, place, true);
}

void keep_device_copy(Node& source, const Value& there) {
  const Value& here = source.value();
  const Place place = place_of(there);
  if (place.is_host() || !place_of(here).is_host()) return;
  source.fields().device_copy = there;
  const auto* const tensor = std::get_if<Tensor>(&here);
  if (tensor && !tensor->is_contiguous()) return;           // other bytes
  if (place.is_simulated()) synchronize(stream_of(place));  // it writes when its turn comes
  std::vector<Buffer> copied;
  for_each_buffer(here, [&](const Buffer& buffer) { copied.push_back(buffer); });
  auto from = copied.begin();
  for_each_buffer(there, [&](const Buffer& buffer) { lend_copy(buffer, *from++); });
}

Place default_place() {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  return all.place;
}

void set_default_place(Place place) {
  check_is_there(place);
  State& all = state();
  const std::lock_guard lock(all.mutex);
  all.place = place;
}

void make_at_default_place(const std::function<void(Place)>& make) {
  make_where_there_is_room(default_place(), make);
}

Value at_default_place(const Value& value) {
  return where_there_is_room(value, default_place());
}

std::vector<Place> default_shards() {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  return all.shards;
}

void set_default_shards(std::vector<Place> places) {
  for (const Place place : places) check_is_there(place);
  State& all = state();
  const std::lock_guard lock(all.mutex);
  all.shards = std::move(places);
}

Place auto_place() {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  return all.auto_place;
}

void set_auto_place(Place place) {
  check_is_there(place);
  State& all = state();
  const std::lock_guard lock(all.mutex);
  all.auto_place = place;
}

std::vector<Value> run_on_host(std::string_view op, const std::string& reason, Place place,
                               const std::vector<Value>& inputs, const PlaceWork& work) {
  if (state().strict)
    throw_error<DeviceError>(op, "no kernel does this there, and strict() allows no fallback",
                             {{"reason", reason}, {"place", place.name()}},
                             "move the values first: x.to('cpu')");
  const auto begin = std::chrono::steady_clock::now();
  Fallback fallback{std::string(op), reason, 0, 0};
  std::vector<Value> here;
  for (const Value& input : inputs) {
    if (!place_of(input).is_host()) fallback.bytes += value_bytes(input);
    here.push_back(to_place(input, host));
  }
  std::vector<Value> made = work(here);
  for (Value& value : made) {
    if (!has_no_dimension(value)) fallback.bytes += value_bytes(value);
    value = where_there_is_room(value, place);
  }
  fallback.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  record_fallback(std::move(fallback));
  return made;
}

std::string why_strided(const Value& value) {
  const auto* const tensor = std::get_if<Tensor>(&value);
  return tensor && !tensor->is_contiguous() ? "a strided array has no kernel for CUDA" : "";
}

namespace {

// Has all inputs of work at `place`, and tells whether one must stay on the host.
bool bring_together(std::string_view op, std::vector<Value>& inputs, Place place) {
  bool has_nested = false;
  for (Value& input : inputs) {
    const Place own = place_of(input);
    if (has_no_dimension(input)) input = to_place(input, host);
    if (own == place || has_no_dimension(input) || value_bytes(input) == 0) continue;
    if (!own.is_host())
      throw_error<DeviceError>(op, "the inputs are on different devices",
                               {{"place", place.name()}, {"other", own.name()}},
                               "bring them together with to()");
    input = where_it_may_be(input, place);
    has_nested |= place_of(input).is_host();
  }
  return has_nested;
}

}  // namespace

std::vector<Value> dispatch_to_place(std::string_view op, const KernelLimits& limits,
                                     std::vector<Value> inputs, const PlaceWork& work) {
  return dispatch_or_slice(op, limits, std::move(inputs), work, {});
}

std::vector<Value> dispatch_or_slice(std::string_view op, const KernelLimits& limits,
                                     std::vector<Value> inputs, const PlaceWork& work,
                                     const PlaceWork& in_slices) {
  if (inputs.empty()) {
    std::vector<Value> made = work(inputs);
    const Place place = default_place();
    if (!place.is_host())
      for (Value& value : made) value = where_there_is_room(value, place);
    return made;
  }
  Place place = host;
  for (const Value& input : inputs)
    if (const Place own = place_of(input); !own.is_host()) place = own;
  if (place.is_host()) return work(inputs);
  std::string reason;
  try {
    std::vector<Value> there = inputs;
    if (bring_together(op, there, place)) reason = "lists and structs stay on the host";
    if (place.is_simulated()) return run_simulated(op, place, there, work);
    if (reason.empty()) reason = limits(there);
    if (reason.empty()) return work(there);
    inputs = std::move(there);
  } catch (const OutOfMemoryError&) {
    if (in_slices) {
      std::vector<Value> here;
      for (const Value& input : inputs) here.push_back(to_place(input, host));
      std::vector<Value> made = made_beyond_room(in_slices, here, place);
      if (!made.empty()) return made;
    }
    if (state().strict) throw;
    reason = kNoRoom;
  }
  return run_on_host(op, reason, place, inputs, work);
}

std::vector<Value> run_on_kept(std::string_view op, Place place, std::span<const Value> inputs,
                               const PlaceWork& work, const PlaceWork& in_slices) {
  if (in_slices) {
    std::vector<Value> made = made_beyond_room(in_slices, inputs, place);
    if (!made.empty()) return made;
  }
  if (state().strict)
    throw_error<OutOfMemoryError>(op,
                                  "out of memory on the device, and strict() allows no fallback",
                                  {{"place", place.name()}}, "move the values first: x.to('cpu')");
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Value> made = made_beyond_room(work, inputs, place);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  record_fallback({std::string(op), std::string(kNoRoom), took.count(), 0});
  return made;
}

std::vector<Value> run_slice(std::string_view op, Place place, std::span<const Value> inputs,
                             const PlaceWork& work) {
  std::vector<Value> there;
  for (const Value& input : inputs) there.push_back(to_place(input, place));
  std::vector<Value> made =
      place.is_simulated() ? run_simulated(op, place, there, work) : work(there);
  for (Value& value : made) value = to_place(value, host);
  return made;
}

std::optional<Table> made_in_slices(Place place,
                                    const std::function<std::optional<Table>(int64_t)>& make) {
  constexpr int64_t kLeast = 16 << 10;
  constexpr int kTries = 4;  // each does all again: what still does not fit is mostly one key
  int64_t bytes = room_of(place) / kShare;
  for (int i = 0; i < kTries && bytes >= kLeast; ++i, bytes /= 2) {
    synchronize(stream_of(place));  // copies of what did not fit hold memory until they are done
    try {
      return make(bytes);
    } catch (const OutOfMemoryError&) {
      // with smaller slices again
    }
  }
  return {};
}

bool has_host_memory(const Value& value) {
  bool is_here = false, is_away = false;
  for_each_buffer(value, [&](const Buffer& buffer) {
    if (buffer.size_bytes() > 0) (buffer.place().is_host() ? is_here : is_away) = true;
  });
  return is_here && !is_away;
}

bool is_kept() {
  return kept;
}

void set_kept(bool value) {
  kept = value;
}

bool is_kept_for(Place place, const NodePtr& node) {
  return node->is_ready() && node->fields().kept && node->fields().place == place;
}

void keep_for_default_place(const NodePtr& node) {
  const Place place = default_place();
  if (place.is_host() || !node->is_ready() || !has_host_memory(node->value()) ||
      !may_be_at(node->signature().dtype, place))
    return;
  node->fields().place = place;
  node->fields().kept = true;
}

KernelLimits limits_of(const Operator& op) {
  return [&op](std::span<const Value> inputs) {
    return op.supports(cuda_place()) ? op.why_unsupported(inputs) : kNoKernel;
  };
}

Value execute_at_place(const Operator& op, std::vector<Value> inputs) {
  std::vector<Value> made = dispatch_to_place(
      op.name(), limits_of(op), std::move(inputs),
      [&](std::span<const Value> where) -> std::vector<Value> { return {op.execute(where)}; });
  return std::move(made[0]);
}

void record_fallback(Fallback fallback) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  for (Fallback& known : all.fallbacks)
    if (known.op == fallback.op && known.reason == fallback.reason) {
      known.seconds += fallback.seconds;
      known.bytes += fallback.bytes;
      return;
    }
  all.fallbacks.push_back(std::move(fallback));
}

std::vector<Fallback> fallbacks() {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  return all.fallbacks;
}

void clear_fallbacks() {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  all.fallbacks.clear();
}

void set_strict(bool on) {
  state().strict = on;
}

}  // namespace hr
