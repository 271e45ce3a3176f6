// SPDX-License-Identifier: Apache-2.0
// For tests: the devices of this machine, and operators on them.
#pragma once
#include "headrace/data/device.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/exec/device_stream.h"
#include "headrace/memory/device/simulated_device.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace hr::testing {

/// The simulated device, and a CUDA device where there is one.
inline std::vector<Place> device_places() {
  std::vector<Place> places{simulated};
  if (why_no_cuda().empty()) places.push_back(cuda_place());
  return places;
}

/// A new stream of the device; the simulated one is opened with a small memory.
inline Stream stream_at(Place place) {
  if (place.is_simulated()) open_simulated({.limit_bytes = int64_t{256} << 20, .latency_ns = 0});
  return new_stream(place);
}

/// A tensor with the strides of `tensor`, on a CUDA device.
inline Tensor sent(const Tensor& tensor, Place place) {
  const Stream stream = current_stream(place);
  const Tensor bytes(TypeId::kUInt8, {tensor.buffer().size_bytes()}, tensor.buffer());
  return Tensor(tensor.dtype(), tensor.shape(), tensor.strides(),
                to_place(bytes, place, stream).buffer(), tensor.byte_offset());
}

/// The same on the host.
inline Tensor fetched(const Tensor& tensor) {
  return tensor.place().is_host() ? tensor : to_place(tensor, host, current_stream(tensor.place()));
}

/// What `work` makes of inputs on a device, back on the host. `like`: what it makes on the host.
inline Tensor made_at(Place place, const std::vector<Tensor>& inputs, const Tensor& like,
                      const DeviceWork& work) {
  std::vector<Tensor> there;
  if (place.is_gpu()) {
    for (const Tensor& input : inputs) there.push_back(sent(input, place));
    return fetched(work(there));
  }
  static const Stream stream = stream_at(simulated);
  for (const Tensor& input : inputs)
    there.push_back(to_place(contiguous(input, "test"), place, stream));
  return to_place(run_on_device("test", stream, there, like.dtype(), like.shape(), work), host,
                  stream);
}

/// Operators of a room on each device, which the room's tests instantiate.
class OnDevices : public ::testing::TestWithParam<Place> {
 public:
  static std::string name(const ::testing::TestParamInfo<Place>& at) {
    return at.param.is_gpu() ? "Cuda" : "Simulated";
  }

 protected:
  /// `work` gives the same bits as on the host.
  static void expect_same(const std::vector<Tensor>& inputs, const DeviceWork& work) {
    const Tensor like = work(inputs);
    std::string shape;
    for (const int64_t length : inputs[0].shape()) shape += " " + std::to_string(length);
    EXPECT_TRUE(same_bits(made_at(GetParam(), inputs, like, work), like))
        << "dtype " << inputs[0].dtype().name() << ", shape" << shape;
  }
};

}  // namespace hr::testing
