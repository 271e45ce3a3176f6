// SPDX-License-Identifier: Apache-2.0
// Copies to and from devices, and work on them, with a check of what is ready for whom.
#include "headrace/data/device.h"

#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/device_copy.h"
#include "headrace/data/device_kernels.h"
#include "headrace/data/device_write_tracking.h"
#include "headrace/exec/device_stream.h"
#include "headrace/memory/device/peer_copy.h"
#include "headrace/memory/device/pinned_resource.h"
#include "headrace/memory/device/simulated_device.h"
#include "headrace/memory/external/external_allocator_device.h"
#include "headrace/memory/log/ledger.h"

#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

namespace hr {

namespace {

std::byte* written_bytes(const Buffer& buffer) {
  return const_cast<std::byte*>(buffer.data());
}

void note_write(const Buffer& buffer, const StreamEvent& event, std::string_view op) {
  note_write(buffer.data(), event, op);
}

void check_ready(std::string_view op, const Buffer& buffer, Stream stream) {
  if (buffer.place() != stream_place(stream))
    throw_error<DeviceError>(op, "the values are not on the device",
                             {{"place", buffer.place().name()}}, "move them with to_place first");
  const auto write = last_write(buffer.data());
  if (!write || is_ordered(stream, write->event)) return;
  throw_error<DeviceError>(
      op, "the values are used before they are ready",
      {{"written_by", write->op}, {"stream", write->event.stream}, {"used_on", stream.id}},
      "let the stream wait for an event after the write, or synchronize");
}

Buffer send(const Buffer& from, int64_t begin, int64_t bytes, Stream stream) {
  if (bytes == 0) return {};
  const Place place = stream_place(stream);
  record_copy("to", "host to device", bytes, true, host, place);
  if (place.is_gpu()) {
    const ScopedStream scope(place, stream);
    Buffer to = Buffer::allocate(bytes, current_resource(place));
    SpanClock clock(stream, place);
    copy_to_cuda(from, begin, bytes, written_bytes(to), stream);
    clock.stop("to " + place.name(), bytes);
    note_write(to, mark_work(stream, "to"), "to");
    return to;
  }
  Buffer to = Buffer::allocate(bytes, simulated_resource(place.index));
  const double pace = simulated_settings().to_device;
  const StreamEvent done = enqueue(stream, [stream, from, to, begin, bytes, pace, place] {
    SpanClock clock(stream, place);
    take_time(bytes, pace);
    std::memcpy(simulated_alias("to", to.data(), bytes), from.data() + begin,
                static_cast<size_t>(bytes));
    clock.stop("to " + place.name(), bytes);
  });
  note_write(to, done, "to");
  return to;
}

// From another device of the kind, in the order of what writes the bytes there and of `stream`.
Buffer pass_on(const Buffer& from, int64_t begin, int64_t bytes, Stream stream) {
  if (bytes == 0) return {};
  const Place place = stream_place(stream);
  record_copy("to", "device to device", bytes, true, from.place(), place);
  auto pin = std::make_shared<DevicePin>(from, true);
  wait_for_write(from.data(), stream);
  if (place.is_gpu()) {
    const ScopedStream scope(place, stream);
    Buffer to = Buffer::allocate(bytes, current_resource(place));
    SpanClock clock(stream, place);
    copy_from_peer(from.place().index, from.data() + begin, place.index, written_bytes(to), bytes,
                   stream);
    clock.stop("to " + place.name(), bytes);
    const StreamEvent done = mark_work(stream, "to");
    note_write(to, done, "to");
    wait_event(current_stream(from.place()), done);  // its memory goes in the order of that stream
    return to;
  }
  Buffer to = Buffer::allocate(bytes, simulated_resource(place.index));
  const double pace = simulated_settings().to_device;
  const StreamEvent done = enqueue(stream, [stream, pin, from, to, begin, bytes, pace, place] {
    SpanClock clock(stream, place);
    take_time(bytes, pace);
    std::memcpy(simulated_alias("to", to.data(), bytes),
                simulated_alias("to", from.data() + begin, bytes), static_cast<size_t>(bytes));
    clock.stop("to " + place.name(), bytes);
  });
  note_write(to, done, "to");
  return to;
}

// Queues the copy; the bytes are there after the stream was synchronised.
Buffer fetch(const Buffer& from, int64_t begin, int64_t bytes, Stream stream) {
  if (bytes == 0) return {};
  record_copy("to", "device to host", bytes, true, from.place(), host);
  Buffer to = Buffer::allocate(bytes);
  std::byte* const out = to.mutable_data();  // while it is this function's alone
  if (read_away(from, begin, bytes, out)) return to;
  const auto pin = std::make_shared<DevicePin>(from, true);
  check_ready("to", from, stream);
  if (from.place().is_gpu()) {
    SpanClock clock(stream, from.place());
    copy_from_cuda(from.data() + begin, bytes, to, stream);
    clock.stop("to host", bytes);
    return to;
  }
  const double pace = simulated_settings().to_host;
  enqueue(stream, [stream, pin, from, to, out, begin, bytes, pace] {
    SpanClock clock(stream, from.place());
    take_time(bytes, pace);
    std::memcpy(out, simulated_alias("to", from.data() + begin, bytes), static_cast<size_t>(bytes));
    clock.stop("to host", bytes);
  });
  return to;
}

// How bytes get from one place to another.
auto mover(Place from, Place to) {
  return to.is_host() ? fetch : from.is_host() ? send : pass_on;
}

void check_contiguous(std::string_view op, const Tensor& tensor) {
  if (!tensor.is_contiguous())
    throw_error<DeviceError>(op, "an input on the device is not contiguous");
}

void check_promise(std::string_view op, const Tensor& made, Dtype dtype, const Shape& shape) {
  if (made.dtype() != dtype || made.shape() != shape || !made.is_contiguous())
    throw_error<DeviceError>(op, "the kernel returned values of another dtype or shape",
                             {{"dtype", made.dtype().name()}});
}

// The values that the work queued; after an error of it, undefined values.
Tensor run_on_cuda(std::string_view op, Stream stream, std::vector<Tensor> inputs, Dtype dtype,
                   Shape shape, const DeviceWork& work) {
  const Place place = stream_place(stream);
  Tensor result;
  const StreamEvent done = enqueue(stream, [&] {
    Tensor made = work(inputs);
    check_promise(op, made, dtype, shape);
    result = std::move(made);
  });
  if (result.dtype() != dtype || result.shape() != shape) {
    const ScopedStream scope(place, stream);
    result = Tensor(dtype, shape, allocate_result(num_elements(shape) * dtype.size_bytes(), place));
  }
  if (result.num_elements() > 0) note_write(result.buffer(), done, op);
  return result;
}

// Without memory, which would be in its place.
Column no_rows(const Column& like) {
  const Dtype dtype = like.dtype();
  if (dtype.is_string()) return Column::strings(0, {}, {});
  if (dtype.is_category()) return Column::categories(0, {}, like.dictionary());
  if (dtype.has_items())
    return (dtype.is_map() ? Column::maps : Column::lists)(0, {}, no_rows(*like.items()), {}, 0, 0);
  if (dtype.is_struct()) {
    std::vector<Column> fields;
    for (const Column& field : *like.fields()) fields.push_back(no_rows(field));
    return Column::structs_at(dtype, 0, {}, std::move(fields), {}, 0, 0);
  }
  return Column(dtype, 0, {});
}

// A tensor of the device as work on it sees it.
Tensor seen_there(std::string_view op, const Tensor& tensor) {
  const int64_t bytes = tensor.num_elements() * tensor.dtype().size_bytes();
  if (bytes == 0) return tensor;
  return Tensor(tensor.dtype(), tensor.shape(),
                Buffer::adopt(simulated_alias(op, tensor.data(), bytes), bytes,
                              Owner{nullptr, [](void*) noexcept {}}));
}

}  // namespace

void take_time(int64_t bytes, double bytes_a_second) {
  std::this_thread::sleep_for(
      std::chrono::duration<double>(static_cast<double>(bytes) / bytes_a_second));
}

Buffer allocate_result(int64_t size_bytes, Place place) {
  if (place.is_host()) return Buffer::allocate_spillable(size_bytes);
  return size_bytes == 0 ? Buffer() : Buffer::allocate(size_bytes, current_resource(place));
}

void hand_over(std::string_view op, const Buffer& buffer, void* stream) {
  const Place place = buffer.place();
  DeviceCall call(op, place);
  call.reads(buffer);
  if (stream == call.stream()) return;
  const CudaFunctions& cuda = *cuda_functions();
  void* event = nullptr;
  check_cuda(op, cuda.make_event(&event, 2));  // without a time
  int status = cuda.record_event(event, call.stream());
  if (status == 0) status = cuda.wait_event(stream, event, 0);
  cuda.end_event(event);
  check_cuda(op, status);
  note_device_use(buffer.data(), stream);
}

Tensor output_at(std::string_view op, const Tensor& made, Place place) {
  if (!place.is_gpu() || made.num_elements() == 0) return made;
  const int64_t bytes = made.num_elements() * made.dtype().size_bytes();
  const Stream stream = current_stream(place);
  const Buffer there = allocate_result(bytes, place);
  copy_to_cuda(made.buffer(), made.byte_offset(), bytes, written_bytes(there), stream);
  note_write(there, mark_work(stream, op), op);
  return Tensor(made.dtype(), made.shape(), there);
}

int64_t count_bits_of(const Buffer& bitmap, int64_t offset, int64_t count) {
  if (bitmap.place().is_host()) return count_bits(bitmap.as<uint8_t>(), offset, count);
  if (count == 0) return 0;
  if constexpr (built_with_cuda)
    if (bitmap.place().is_gpu()) return cuda::count_bits(bitmap, offset, count);
  const int64_t first = offset / 8;
  const int64_t bytes = (offset + count + 7) / 8 - first;
  if (bitmap.place().is_gpu()) {
    std::vector<uint8_t> here(static_cast<size_t>(bytes));
    DeviceCall call("null_count", bitmap.place());
    call.reads(bitmap);
    call.fetch(here.data(), bitmap.data() + first, bytes);
    return count_bits(here.data(), offset % 8, count);
  }
  const DevicePin pin(bitmap);
  if (const auto write = last_write(bitmap.data()); write && write->event.number > 0)
    synchronize({write->event.stream});
  const void* const here = simulated_alias("null_count", bitmap.data() + first, bytes);
  return count_bits(static_cast<const uint8_t*>(here), offset % 8, count);
}

void check_on_host(std::string_view op, Place place) {
  if (!place.is_host())
    throw_error<UnsupportedError>(op, "this operator has no kernel on this device",
                                  {{"place", place.name()}}, "move the values with to_place first");
}

Tensor to_place(const Tensor& tensor, Place place, Stream stream) {
  if (tensor.place() == place) return tensor;
  if (tensor.num_elements() == 0) return Tensor(tensor.dtype(), tensor.shape(), Buffer());
  const int64_t bytes = tensor.num_elements() * tensor.dtype().size_bytes();
  if (!tensor.place().is_host()) check_contiguous("to", tensor);
  const Tensor whole = contiguous(tensor, "to");
  Tensor there(tensor.dtype(), tensor.shape(),
               mover(tensor.place(), place)(whole.buffer(), whole.byte_offset(), bytes, stream));
  if (place.is_host()) synchronize(stream);
  return there;
}

Column to_place(const Column& column, Place place, Stream stream) {
  if (column.place() == place) return column;
  if (column.num_rows() == 0) return no_rows(column);
  const auto move = mover(column.place(), place);
  if (column.dtype().is_nested() && place.is_gpu())
    throw_error<UnsupportedError>("to", "lists and structs stay on the host",
                                  {{"dtype", column.dtype().name()}},
                                  "use explode() or struct.field(name), or leave the column out");
  // Whole bytes of the bitmaps.
  const int64_t first = column.offset() / 8 * 8;
  const int64_t rows = column.offset() - first + column.num_rows();
  const int64_t width = column.dtype().size_bytes();
  const auto bits = [&](const Buffer& buffer) {
    return move(buffer, first / 8, bitmap_bytes(rows), stream);
  };
  Buffer values = column.dtype().is_bool()
                      ? bits(column.values_buffer())
                      : move(column.values_buffer(), first * width, rows * width, stream);
  Buffer validity = column.null_count() > 0 ? bits(column.validity_buffer()) : Buffer();
  std::vector<Buffer> text;
  for (const Buffer& part : column.text_buffers())
    text.push_back(move(part, 0, part.size_bytes(), stream));
  if (place.is_host()) synchronize(stream);
  const int64_t offset = column.offset() - first;
  if (column.dtype().is_string())
    return Column::strings(column.num_rows(), std::move(values), std::move(text),
                           std::move(validity), column.null_count(), offset);
  if (column.dtype().has_items()) {
    const auto make = column.dtype().is_map() ? Column::maps : Column::lists;
    return make(column.num_rows(), std::move(values), to_place(*column.items(), place, stream),
                std::move(validity), column.null_count(), offset);
  }
  if (column.dtype().is_struct()) {
    std::vector<Column> fields;
    for (const Column& field : *column.fields()) fields.push_back(to_place(field, place, stream));
    return Column::structs_at(column.dtype(), column.num_rows(), std::move(values),
                              std::move(fields), std::move(validity), column.null_count(), offset);
  }
  if (column.dtype().is_category())
    return Column::categories(column.num_rows(), std::move(values), column.dictionary(),
                              std::move(validity), column.null_count(), offset);
  return Column(column.dtype(), column.num_rows(), std::move(values), std::move(validity),
                column.null_count(), offset);
}

Tensor run_on_device(std::string_view op, Stream stream, std::vector<Tensor> inputs, Dtype dtype,
                     Shape shape, DeviceWork work) {
  const auto pins = std::make_shared<std::vector<DevicePin>>();  // to the end of the work
  for (const Tensor& input : inputs) {
    if (input.num_elements() == 0) continue;
    pins->emplace_back(input.buffer(), true);
    check_ready(op, input.buffer(), stream);
    check_contiguous(op, input);
  }
  const int64_t bytes = checked_multiply(op, num_elements(shape), dtype.size_bytes());
  if (stream_place(stream).is_gpu())
    return run_on_cuda(op, stream, std::move(inputs), dtype, std::move(shape), work);
  const Place place = stream_place(stream);
  Buffer result = bytes == 0 ? Buffer() : Buffer::allocate(bytes, simulated_resource(place.index));
  const StreamEvent done =
      enqueue(stream, [stream, name = std::string(op), pins, inputs = std::move(inputs), result,
                       dtype, shape, work = std::move(work), bytes, place] {
        SpanClock clock(stream, place);
        std::vector<Tensor> there;
        for (const Tensor& input : inputs) there.push_back(seen_there(name, input));
        const Tensor made = work(there);
        check_promise(name, made, dtype, shape);
        if (bytes > 0)
          std::memcpy(simulated_alias(name, result.data(), bytes), made.data(),
                      static_cast<size_t>(bytes));
        clock.stop(name);
      });
  if (bytes > 0) note_write(result, done, op);
  return Tensor(dtype, std::move(shape), std::move(result));
}

DeviceCall::DeviceCall(std::string_view op, Place place)
    : op_(op),
      place_(place),
      stream_(current_stream(place)),
      scope_(op, place.index),
      clock_(stream_, place) {}

void DeviceCall::reads(const Buffer& buffer) {
  if (!buffer) return;
  if (buffer.place() != place_)
    throw_error<DeviceError>(op_, "the inputs are in different places",
                             {{"place", place_.name()}, {"other", buffer.place().name()}},
                             "bring them together with to()");
  pins_.emplace_back(buffer);
  note_device_use(buffer.data(), stream());
  wait_for_write(buffer.data(), stream_);
}

std::byte* DeviceCall::writes(const Buffer& buffer) {
  if (!buffer) return nullptr;
  if (buffer.place() != place_)
    throw_error<InternalError>(op_, "the result is in another place",
                               {{"place", place_.name()}, {"other", buffer.place().name()}});
  written_.push_back(buffer);
  return written_bytes(buffer);
}

Buffer DeviceCall::scratch(int64_t size_bytes) const {
  return size_bytes == 0 ? Buffer() : Buffer::allocate(size_bytes, current_resource(place_));
}

Buffer DeviceCall::table(const void* values, int64_t size_bytes) const {
  Buffer made = scratch(size_bytes);
  if (size_bytes > 0)
    check_cuda(op_,
               cuda_functions()->copy_to_device(reinterpret_cast<uint64_t>(made.data()), values,
                                                static_cast<size_t>(size_bytes), stream()));
  return made;
}

void DeviceCall::fill(std::byte* where, unsigned char byte, int64_t size_bytes) const {
  if (size_bytes > 0)
    check_cuda(op_, cuda_functions()->fill(reinterpret_cast<uint64_t>(where), byte,
                                           static_cast<size_t>(size_bytes), stream()));
}

void DeviceCall::fetch(void* to, const void* from, int64_t size_bytes) const {
  mark_work(stream_, op_);
  Buffer pinned = Buffer::allocate(size_bytes, pinned_resource());
  check_cuda(op_,
             cuda_functions()->copy_to_host(pinned.mutable_data(), reinterpret_cast<uint64_t>(from),
                                            static_cast<size_t>(size_bytes), stream()));
  synchronize(stream_);
  std::memcpy(to, pinned.data(), static_cast<size_t>(size_bytes));
}

void DeviceCall::finish(int status) {
  check_cuda(op_, status);
  const StreamEvent done = mark_work(stream_, op_);
  clock_.stop(op_);
  for (const Buffer& buffer : written_) note_write(buffer, done, op_);
  written_.clear();
}

}  // namespace hr
