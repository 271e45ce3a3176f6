// SPDX-License-Identifier: Apache-2.0
// The type slots and protocol methods by which other libraries read our memory in place.
#pragma once
#include "python/bind/bind.h"

/// Buffer-protocol slots for the bound Column and Tensor.
extern PyType_Slot column_slots[];
extern PyType_Slot tensor_slots[];

/// The text of a value for a message, in UTF-8 whatever it holds.
std::string printed(nb::handle value);

/// The name of a file as the system has it, which need not be UTF-8.
std::string file_name(std::string_view op, nb::handle path);

// "cpu", "cuda", "cuda:1" or "sim".
hr::Place place_from(const std::string& word);
/// Several, as in "cuda:0,1" and "cuda:all", or one.
std::vector<hr::Place> places_from(const std::string& words);
nb::dict array_interface(const hr::Tensor& tensor);
// Throws AttributeError unless the data are on a CUDA device.
nb::dict cuda_array_interface(const hr::Tensor& tensor);

/// DLPack's words for a place: kDLCPU or kDLCUDA, and the number.
inline std::pair<int32_t, int32_t> dlpack_device(hr::Place place) {
  return place.is_gpu() ? std::pair(2, place.index) : std::pair(1, 0);
}

/// `__dlpack__` of a tensor, with the standard's keywords.
nb::object dlpack_capsule(const hr::Tensor& tensor, nb::handle stream, nb::handle max_version,
                          nb::handle dl_device, nb::handle copy);

/// A node's value where it is, for other libraries.
nb::object value_there(const hr::Node& node);

nb::object arrow_schema(const hr::Column& column);
nb::object arrow_schema(const hr::Table& table);
nb::tuple arrow_array(const hr::Column& column);
nb::tuple arrow_array(const hr::Table& table);
nb::tuple arrow_device_array(const hr::Column& column);
nb::tuple arrow_device_array(const hr::Table& table);
nb::object arrow_stream(hr::Dtype dtype, std::vector<hr::Column> chunks);
nb::object arrow_stream(const hr::Table& table);
