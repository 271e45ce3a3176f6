// SPDX-License-Identifier: Apache-2.0
// Columns and tables through the Arrow C device data interface.
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/exchange/arrow.h"
#include "headrace/memory/device/simulated_device.h"

#include <memory>

namespace hr {

namespace {

// What stands behind an exported array of a device: the array itself, and the event.
struct Exported {
  ArrowArray array{};
  void* event = nullptr;

  Exported() = default;
  Exported(const Exported&) = delete;
  Exported& operator=(const Exported&) = delete;

  ~Exported() {
    if (array.release) array.release(&array);
    if (event) cuda_functions()->end_event(event);
  }
};

// Every column of a table is where the first is.
void check_column(const Column& column, Place place) {
  if (column.place() != place && column.num_rows() > 0)
    throw_error<DeviceError>("to_arrow", "the columns are in different places",
                             {{"place", place.name()}, {"other", column.place().name()}},
                             "bring them together with to()");
  if (!place.is_host() && (column.dtype().is_category() || column.dtype().is_string()))
    throw_error<UnsupportedError>("to_arrow", "strings cannot be exported from a device",
                                  {{"dtype", column.dtype().name()}}, "move it with to('cpu')");
}

template <class T>
void export_array(const T& data, const std::vector<Column>& columns, Place place,
                  ArrowDeviceArray* out) {
  std::vector<DevicePin> pins;  // until the array has noted that others see the buffers
  for (const Column& column : columns) {
    check_column(column, place);
    pins.emplace_back(column.values_buffer());
    pins.emplace_back(column.validity_buffer());
  }
  ArrowDeviceArray made{};
  made.device_id = place.is_host() ? -1 : place.index;
  made.device_type = place.is_host()  ? ARROW_DEVICE_CPU
                     : place.is_gpu() ? ARROW_DEVICE_CUDA
                                      : ARROW_DEVICE_EXT_DEV;
  if (!place.is_gpu()) {
    to_arrow_array_there(data, &made.array);
    *out = made;
    return;
  }
  auto exported = std::make_unique<Exported>();
  to_arrow_array_there(data, &exported->array);
  DeviceCall call("to_arrow", place);
  for (const Column& column : columns) {
    call.reads(column.values_buffer());
    call.reads(column.validity_buffer());
  }
  check_cuda("to_arrow", cuda_functions()->make_event(&exported->event, 2));  // without a time
  check_cuda("to_arrow", cuda_functions()->record_event(exported->event, call.stream()));
  made.array = exported->array;
  made.sync_event = &exported->event;
  made.array.private_data = exported.release();
  made.array.release = [](ArrowArray* self) {
    delete static_cast<Exported*>(self->private_data);
    self->release = nullptr;
  };
  *out = made;
}

Place place_of(std::string_view op, const ArrowDeviceArray& array) {
  if (array.device_type == ARROW_DEVICE_CPU || array.device_type == ARROW_DEVICE_CUDA_HOST)
    return host;
  const bool on_cuda =
      array.device_type == ARROW_DEVICE_CUDA || array.device_type == ARROW_DEVICE_CUDA_MANAGED;
  if (on_cuda && why_no_cuda().empty()) return cuda_place(static_cast<int32_t>(array.device_id));
  if (array.device_type == ARROW_DEVICE_EXT_DEV && is_simulated_open()) return simulated;
  throw_error<DeviceError>(op, "the memory of this device cannot be used",
                           {{"device_type", array.device_type}, {"device", array.device_id}},
                           "move it to the host first");
}

}  // namespace

void to_arrow_device_array(const Column& column, ArrowDeviceArray* array) {
  export_array(column, {column}, column.place(), array);
}

void to_arrow_device_array(const Table& table, ArrowDeviceArray* array) {
  Place place = host;
  for (const Column& column : table.columns())
    if (!column.place().is_host()) place = column.place();
  export_array(table, table.columns(), place, array);
}

ArrowColumns from_arrow_device(std::string_view op, const ArrowSchema& schema,
                               ArrowDeviceArray* array, bool as_column) {
  struct Release {
    ArrowArray& array;

    ~Release() {
      if (array.release) array.release(&array);
    }
  } const release{array->array};

  const Place place = place_of(op, *array);
  if (place.is_gpu() && array->sync_event) {
    const DeviceCall call(op, place);
    check_cuda(op, cuda_functions()->wait_event(call.stream(),
                                                *static_cast<void**>(array->sync_event), 0));
  }
  return from_arrow_at(op, schema, &array->array, place, as_column);
}

}  // namespace hr
