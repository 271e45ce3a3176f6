// SPDX-License-Identifier: Apache-2.0
// The operators of this room have the host's bits on every device.
#include "headrace/base/error.h"
#include "headrace/data/device_testing.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/learn/pca.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace hr {

namespace {

using testing::tensor_of;

class LearnDevices : public testing::OnDevices {};

INSTANTIATE_TEST_SUITE_P(Device, LearnDevices, ::testing::ValuesIn(testing::device_places()),
                         LearnDevices::name);

template <class T>
Tensor rows_of(int64_t rows, int64_t columns) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0, 1);
  std::vector<T> values(static_cast<size_t>(rows * columns));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(3 + normal(random) * static_cast<double>(1 + i % 7));
  return Tensor(dtype_of<T>(), {rows, columns}, tensor_of(values).buffer());
}

Tensor transposed(const Tensor& x) {
  return Tensor(x.dtype(), {x.shape()[1], x.shape()[0]}, {x.strides()[1], x.strides()[0]},
                x.buffer(), 0);
}

}  // namespace

TEST_P(LearnDevices, PcaFits) {
  const auto each = [&](const Tensor& x) {
    const auto part = [](Tensor Pca::* which) {
      return [which](std::span<const Tensor> in) { return pca_fit(in[0], 1).*which; };
    };
    expect_same({x}, part(&Pca::mean));
    expect_same({x}, part(&Pca::components));
    expect_same({x}, part(&Pca::explained_variance));
  };
  for (const int64_t columns : {1, 3, 16, 47, 48, 49, 97})
    for (const int64_t rows : {2, 31, 32, 33, 63, 64, 65, 129, 1000}) {
      each(rows_of<double>(rows, columns));
      each(rows_of<float>(rows, columns));
    }
  each(rows_of<float>(20'000, 60));
  if (!GetParam().is_gpu()) return;
  each(transposed(rows_of<double>(50, 700)));
}

TEST_P(LearnDevices, PcaProjects) {
  const auto each = [&]<class T>(T) {
    for (const int64_t columns : {1, 15, 16, 17, 187, 700})
      for (const int64_t count : {1, 2, 9}) {
        const Tensor x = rows_of<T>(1003, columns);
        if (count > columns) continue;
        const Pca model = pca_fit(x, count);
        const Tensor latent = pca_transform(model, x);
        const auto model_of = [](std::span<const Tensor> in) {
          Pca given;
          given.mean = in[1];
          given.components = in[2];
          return given;
        };
        const std::vector<Tensor> inputs{x, model.mean, model.components};
        expect_same(inputs,
                    [=](std::span<const Tensor> in) { return pca_transform(model_of(in), in[0]); });
        expect_same(inputs, [=](std::span<const Tensor> in) {
          return pca_reconstruction_error(model_of(in), in[0]);
        });
        expect_same({latent, model.mean, model.components}, [=](std::span<const Tensor> in) {
          return pca_inverse_transform(model_of(in), in[0]);
        });
      }
  };
  each(float{});
  each(double{});
}

TEST_P(LearnDevices, PcaRefusesWhatIsNotFinite) {
  if (!GetParam().is_gpu()) GTEST_SKIP();
  const Tensor x(TypeId::kFloat64, {2, 2},
                 testing::sent(tensor_of<double>({1, NAN, 2, 3}), GetParam()).buffer());
  EXPECT_THROW(pca_fit(x, 1), InvalidArgumentError);
}

}  // namespace hr
