// SPDX-License-Identifier: Apache-2.0
// Copies to and from the simulated device, and work on it, with a check of what is ready for whom.
#include "headrace/data/device.h"

#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exec/device_stream.h"
#include "headrace/memory/ledger.h"
#include "headrace/memory/simulated.h"

#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace hr {

namespace {

// Which work writes a block of the device. Blocks that were freed leave a mark behind; it means
// nothing to the next one at that address, which is written before it is read.
struct Writes {
  struct Write {
    StreamEvent event;
    std::string op;
  };

  std::mutex mutex;
  std::map<const std::byte*, Write> last;
};

Writes& writes() {
  static auto* const leaked = new Writes;
  return *leaked;
}

void note_write(const Buffer& buffer, const StreamEvent& event, std::string_view op) {
  Writes& all = writes();
  const std::lock_guard lock(all.mutex);
  all.last[buffer.data()] = {event, std::string(op)};
}

void check_ready(std::string_view op, const Buffer& buffer, Stream stream) {
  if (buffer.place() != simulated)
    throw_error<DeviceError>(op, "the values are not on the device",
                             {{"place", buffer.place().name()}}, "move them with to_place first");
  Writes& all = writes();
  const std::lock_guard lock(all.mutex);
  const auto write = all.last.find(buffer.data());
  if (write == all.last.end() || is_ordered(stream, write->second.event)) return;
  throw_error<DeviceError>(op, "the values are used before they are ready",
                           {{"written_by", write->second.op},
                            {"stream", write->second.event.stream},
                            {"used_on", stream.id}},
                           "let the stream wait for an event behind the write, or synchronize");
}

void take_time(int64_t bytes, double bytes_a_second) {
  std::this_thread::sleep_for(
      std::chrono::duration<double>(static_cast<double>(bytes) / bytes_a_second));
}

Buffer send(const Buffer& from, int64_t begin, int64_t bytes, Stream stream) {
  if (bytes == 0) return {};
  record_copy("to", "host to device", bytes, true, host, simulated);
  Buffer to = Buffer::allocate(bytes, simulated_resource());
  const double pace = simulated_settings().to_device;
  const StreamEvent done = enqueue(stream, [from, to, begin, bytes, pace] {
    take_time(bytes, pace);
    std::memcpy(simulated_alias("to", to.data(), bytes), from.data() + begin,
                static_cast<size_t>(bytes));
  });
  note_write(to, done, "to");
  return to;
}

// Queues the copy; the bytes are there after the stream was synchronised.
Buffer fetch(const Buffer& from, int64_t begin, int64_t bytes, Stream stream) {
  if (bytes == 0) return {};
  check_ready("to", from, stream);
  record_copy("to", "device to host", bytes, true, simulated, host);
  Buffer to = Buffer::allocate(bytes);
  std::byte* const out = to.mutable_data();  // while it is this function's alone
  const double pace = simulated_settings().to_host;
  enqueue(stream, [from, to, out, begin, bytes, pace] {
    take_time(bytes, pace);
    std::memcpy(out, simulated_alias("to", from.data() + begin, bytes), static_cast<size_t>(bytes));
  });
  return to;
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

Tensor to_place(const Tensor& tensor, Place place, Stream stream) {
  if (tensor.place() == place || tensor.num_elements() == 0) return tensor;
  const int64_t bytes = tensor.num_elements() * tensor.dtype().size_bytes();
  if (place == simulated) {
    const Tensor whole = contiguous(tensor, "to");
    return Tensor(tensor.dtype(), tensor.shape(),
                  send(whole.buffer(), whole.byte_offset(), bytes, stream));
  }
  Tensor there(tensor.dtype(), tensor.shape(),
               fetch(tensor.buffer(), tensor.byte_offset(), bytes, stream));
  synchronize(stream);
  return there;
}

Column to_place(const Column& column, Place place, Stream stream) {
  if (column.place() == place || column.num_rows() == 0) return column;
  const auto move = place == simulated ? send : fetch;
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
  if (column.dtype().is_category())
    return Column::categories(column.num_rows(), std::move(values), column.dictionary(),
                              std::move(validity), column.null_count(), offset);
  return Column(column.dtype(), column.num_rows(), std::move(values), std::move(validity),
                column.null_count(), offset);
}

Tensor run_on_device(std::string_view op, Stream stream, std::vector<Tensor> inputs, Dtype dtype,
                     Shape shape, DeviceWork work) {
  for (const Tensor& input : inputs) {
    if (input.num_elements() == 0) continue;
    check_ready(op, input.buffer(), stream);
    if (!input.is_contiguous())
      throw_error<DeviceError>(op, "an input on the device is not contiguous");
  }
  const int64_t bytes = checked_multiply(op, num_elements(shape), dtype.size_bytes());
  Buffer result = bytes == 0 ? Buffer() : Buffer::allocate(bytes, simulated_resource());
  const StreamEvent done = enqueue(stream, [name = std::string(op), inputs = std::move(inputs),
                                            result, dtype, shape, work = std::move(work), bytes] {
    std::vector<Tensor> there;
    for (const Tensor& input : inputs) there.push_back(seen_there(name, input));
    const Tensor made = work(there);
    if (made.dtype() != dtype || made.shape() != shape || !made.is_contiguous())
      throw_error<DeviceError>(name, "the work returned other values than it promised",
                               {{"dtype", made.dtype().name()}});
    if (bytes > 0)
      std::memcpy(simulated_alias(name, result.data(), bytes), made.data(),
                  static_cast<size_t>(bytes));
  });
  if (bytes > 0) note_write(result, done, op);
  return Tensor(dtype, std::move(shape), std::move(result));
}

}  // namespace hr
