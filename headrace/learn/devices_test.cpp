// SPDX-License-Identifier: Apache-2.0
// The operators of this room have the host's bits on every device.
#include "headrace/base/error.h"
#include "headrace/data/device_testing.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/learn/dbscan.h"
#include "headrace/learn/forest.h"
#include "headrace/learn/kmeans.h"
#include "headrace/learn/linear_loss_kernels.h"
#include "headrace/learn/neighbors.h"
#include "headrace/learn/pca.h"
#include "headrace/learn/tsne.h"
#include "headrace/learn/umap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>
#include <vector>

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

namespace {

/// Rows around a few places, many of them equal.
template <class T>
Tensor grouped_rows(int64_t rows, int64_t columns, int64_t groups) {
  std::mt19937 random(2);
  std::vector<T> values;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      values.push_back(static_cast<T>(100 + (i * 7 + j * 3) % (5 * groups) +
                                      static_cast<int64_t>(random() % 4)));
  return Tensor(dtype_of<T>(), {rows, columns}, tensor_of(values).buffer());
}

Tensor weights_for(int64_t rows) {
  std::vector<double> values;
  for (int64_t i = 0; i < rows; ++i) values.push_back(0.1 + static_cast<double>(i % 13));
  return tensor_of(values);
}

}  // namespace

TEST_P(LearnDevices, KMeansFits) {
  const auto each = [&]<class T>(T, int64_t rows, int64_t columns, int64_t clusters, bool equal) {
    const Tensor x = equal ? grouped_rows<T>(rows, columns, clusters) : rows_of<T>(rows, columns);
    const Tensor init(x.dtype(), {clusters, columns}, x.buffer());
    for (const bool weighted : {false, true}) {
      const std::vector<Tensor> inputs{x, init, weights_for(rows)};
      const auto fit = [weighted](std::span<const Tensor> in) {
        return kmeans_fit(in[0], weighted ? in[2] : Tensor(), in[1], 5, 0);
      };
      expect_same(inputs, [=](std::span<const Tensor> in) { return fit(in).labels; });
      expect_same(inputs, [=](std::span<const Tensor> in) { return fit(in).centers; });
      expect_same(inputs, [=](std::span<const Tensor> in) {
        const KMeans found = fit(in);
        return tensor_of<double>({found.inertia, static_cast<double>(found.iterations)});
      });
      expect_same(inputs, [=](std::span<const Tensor> in) {
        return kmeans_plus_plus(in[0], weighted ? in[2] : Tensor(), clusters, {3, 1});
      });
      expect_same({x, init, weights_for(rows), weights_for(clusters)},
                  [=](std::span<const Tensor> in) {
                    return kmeans_step(in[0], weighted ? in[2] : Tensor(), in[1], in[3]).centers;
                  });
    }
    expect_same({init, x}, [](std::span<const Tensor> in) { return kmeans_predict(in[0], in[1]); });
    expect_same({init, x},
                [](std::span<const Tensor> in) { return kmeans_transform(in[0], in[1]); });
  };
  for (const bool equal : {false, true}) {
    for (const int64_t columns : {1, 3, 4, 16, 33, 130}) {
      each(float{}, 2000, columns, 9, equal);
      each(double{}, 700, columns, 9, equal);
    }
    for (const int64_t clusters : {1, 2, 127, 128, 129, 300})
      each(float{}, 9000, 8, clusters, equal);
    each(float{}, 20'000, 32, 20, equal);
  }
  if (!GetParam().is_gpu()) return;
  const Tensor wide = transposed(rows_of<float>(7, 3000));
  expect_same({wide, rows_of<double>(4, 7)}, [](std::span<const Tensor> in) {
    return kmeans_fit(in[0], Tensor(), in[1], 4, 0).centers;
  });
}

TEST_P(LearnDevices, NearestNeighborsAreTheHosts) {
  const auto same = [&](const Tensor& rows, const Tensor& queries, int64_t count, bool others) {
    for (const Metric metric : {Metric::kEuclidean, Metric::kSquaredEuclidean}) {
      const auto find = [=](std::span<const Tensor> in) {
        return nearest_neighbors(in[0], others ? in[0] : in[1], count, metric, others);
      };
      expect_same({rows, queries}, [=](std::span<const Tensor> in) { return find(in).indices; });
      expect_same({rows, queries}, [=](std::span<const Tensor> in) { return find(in).distances; });
    }
  };
  for (const int64_t columns : {1, 2, 16, 17, 64, 100}) {
    same(rows_of<float>(3000, columns), rows_of<float>(131, columns), 10, false);
    same(rows_of<double>(1500, columns), rows_of<double>(5, columns), 3, false);
  }
  same(rows_of<float>(2000, 8), rows_of<double>(40, 8), 5, false);
  same(rows_of<double>(2000, 8), rows_of<float>(40, 8), 5, false);
  for (const int64_t count : {1, 2, 64, 129, 256}) {
    same(grouped_rows<float>(5000, 4, 9), grouped_rows<float>(90, 4, 9), count, false);
    same(rows_of<float>(5000, 6), rows_of<float>(90, 6), count, false);
  }
  same(rows_of<float>(130, 5), rows_of<float>(1, 5), 130, false);
  same(rows_of<float>(700, 5), rows_of<float>(1, 5), 9, true);
  same(grouped_rows<double>(700, 2, 2), rows_of<double>(1, 2), 9, true);
  // All as near as each other: no list has room for them.
  same(Tensor(dtype_of<float>(), {20'000, 1}, tensor_of(std::vector<float>(20'000, 7)).buffer()),
       rows_of<float>(30, 1), 10, false);
}

TEST_P(LearnDevices, NearestNeighborsWithoutADistanceComeLast) {
  constexpr int64_t kColumns = 3;
  const auto with_holes = [](int64_t rows, size_t step, double hole) {
    std::vector<double> values = testing::values_of<double>(rows_of<double>(rows, kColumns));
    for (size_t i = 0; i < values.size(); i += step) values[i] = hole;
    return Tensor(dtype_of<double>(), {rows, kColumns}, tensor_of(values).buffer());
  };
  for (const size_t step : {1, 2, 7, 100})
    for (const double hole : {std::nan(""), HUGE_VAL})
      for (const int64_t count : {1, 10, 200}) {
        const Tensor rows = with_holes(900, step, hole), queries = with_holes(40, 20, hole);
        std::vector<int64_t> wanted;
        for (int64_t q = 0; q < queries.shape()[0]; ++q) {
          std::vector<std::tuple<bool, double, int64_t>> all;
          for (int64_t r = 0; r < rows.shape()[0]; ++r) {
            double square = 0;
            for (int64_t j = 0; j < kColumns; ++j) {
              const double apart =
                  queries.as<double>()[q * kColumns + j] - rows.as<double>()[r * kColumns + j];
              square += apart * apart;
            }
            const bool is_nan = std::isnan(square);
            all.emplace_back(is_nan, is_nan ? 0 : square, r);
          }
          std::sort(all.begin(), all.end());
          for (int64_t i = 0; i < count; ++i)
            wanted.push_back(std::get<2>(all[static_cast<size_t>(i)]));
        }
        const auto find = [=](std::span<const Tensor> in) {
          return nearest_neighbors(in[0], in[1], count, Metric::kEuclidean, false).indices;
        };
        const Tensor found = find(std::vector<Tensor>{rows, queries});
        EXPECT_EQ(testing::values_of<int64_t>(found), wanted)
            << "every " << step << "th value " << hole << ", " << count << " neighbours";
        expect_same({rows, queries}, find);
      }
}

TEST_P(LearnDevices, DbscanFindsTheHostsClusters) {
  const auto same = [&](const Tensor& x, double epsilon, double least) {
    for (const Metric metric : {Metric::kEuclidean, Metric::kSquaredEuclidean})
      for (const bool weighted : {false, true}) {
        const auto find = [=](std::span<const Tensor> in) {
          return dbscan(in[0], weighted ? in[1] : Tensor(), epsilon, least, metric);
        };
        const std::vector<Tensor> inputs{x, weights_for(x.shape()[0])};
        expect_same(inputs, [=](std::span<const Tensor> in) { return find(in).labels; });
        expect_same(inputs, [=](std::span<const Tensor> in) { return find(in).core; });
      }
  };
  for (const int64_t columns : {1, 2, 3, 4, 5, 16, 33})
    for (const double epsilon : {0.3, 2.0, 5.0}) {
      same(rows_of<float>(1500, columns), epsilon, 6);
      same(rows_of<double>(900, columns), epsilon, 3);
      same(grouped_rows<float>(1500, columns, 20), epsilon, 9);
    }
  same(grouped_rows<double>(4000, 2, 400), 3, 12);
  same(rows_of<double>(200, 2), 1e-12, 2);  // too many cells for a grid
  same(rows_of<float>(1, 2), 1, 1);
}

TEST_P(LearnDevices, ForestBinsAreTheHosts) {
  if (!GetParam().is_gpu()) GTEST_SKIP();
  const auto compare = [&](const Tensor& x) {
    const Tensor sent = testing::sent(x, GetParam());
    std::vector<int64_t> places;
    for (int64_t i = 0; i < x.shape()[0]; i += 3) places.push_back(x.shape()[0] - 1 - i);
    const auto same = [&](const ForestBins& here, const ForestBins& there) {
      const auto parts = [](const ForestBins& bins) {
        const int64_t borders = bins.features * kForestBins;
        return std::vector<Tensor>{
            Tensor(dtype_of<uint8_t>(), {bins.features * bins.rows}, bins.codes),
            Tensor(dtype_of<double>(), {borders}, bins.low),
            Tensor(dtype_of<double>(), {borders}, bins.high)};
      };
      for (size_t i = 0; i < 3; ++i)
        EXPECT_TRUE(testing::same_bits(parts(here)[i], testing::fetched(parts(there)[i])))
            << "part " << i << " of " << x.shape()[0] << " rows";
    };
    const ForestBins here = forest_bins(x), there = forest_bins(sent);
    same(here, there);
    same(take_rows(here, tensor_of(places)), take_rows(there, tensor_of(places)));
  };
  for (const int64_t rows : {1, 2, 254, 255, 256, 257, 3000, 300'000}) {
    compare(rows_of<double>(rows, 4));
    std::vector<float> mixed = testing::values_of<float>(rows_of<float>(rows, 5));
    for (size_t i = 0; i < mixed.size(); ++i) {
      if (i % 5 == 1) mixed[i] = i % 2 == 0 ? 0.0F : -0.0F;
      if (i % 5 == 2) mixed[i] = static_cast<float>(i / 5 % 255);  // as many values as bins
      if (i % 5 == 3) mixed[i] = static_cast<float>(i / 5 % 256);
      if (i % 5 == 4 && mixed[i] > 0) mixed[i] = std::nanf("");
      if (i % 5 == 0 && mixed[i] > 2) mixed[i] = 2;  // half of them equal
    }
    compare(Tensor(dtype_of<float>(), {rows, 5}, tensor_of(mixed).buffer()));
    std::vector<double> none(static_cast<size_t>(rows), std::nan(""));
    compare(Tensor(dtype_of<double>(), {rows, 1}, tensor_of(none).buffer()));
  }
  compare(transposed(rows_of<double>(3, 500)));
}

TEST(LinearRoom, FitsTheSharedMemoryOfEachGeneration) {
  for (const int64_t shared : {99 << 10, 163 << 10, 227 << 10})
    for (const int64_t tile : {16, 64, 256})
      for (const int64_t size : {4, 8})
        for (const int64_t outputs : {1, 10, 40, 100, 1000}) {
          const auto [columns, bytes] = cuda::linear_room(shared, tile, 2000, outputs, size);
          const int64_t scores = (outputs + 2) * tile * 8;
          const int64_t wanted = scores + tile * (columns + 1) * size + columns * 64;
          if (columns == 0) {
            EXPECT_GT(scores + 2 * tile * size + 64, shared);
          } else {
            EXPECT_EQ(bytes, wanted);
            EXPECT_LE(bytes, shared);
          }
        }
  EXPECT_EQ(cuda::linear_room(227 << 10, 256, 64, 1, 4).columns, 64);
}

TEST_P(LearnDevices, ForestsGrow) {
  if (!GetParam().is_gpu()) GTEST_SKIP();
  const auto compare = [&](const Tensor& x, int64_t classes, ForestOptions options) {
    std::vector<double> y;
    for (int64_t i = 0; i < x.shape()[0]; ++i) {
      const float own = x.as<float>()[i * x.shape()[1]];
      y.push_back(classes > 0 ? static_cast<double>((static_cast<int64_t>(own) + i % 3) % classes)
                              : static_cast<double>(own) + static_cast<double>(i % 5));
      if (classes > 0) y.back() = std::fabs(y.back());
    }
    options.num_classes = classes;
    options.num_trees = 3;
    options.seed = 7;
    if (classes == 0) options.criterion = ForestCriterion::kSquaredError;
    const Forest here = forest_fit(forest_bins(x), tensor_of(y), nullptr, options);
    const Tensor sent = testing::sent(x, GetParam());
    const Forest there = forest_fit(forest_bins(sent), tensor_of(y), nullptr, options);
    for (Tensor Forest::* part : {&Forest::offsets, &Forest::link, &Forest::threshold,
                                  &Forest::value, &Forest::samples, &Forest::importances})
      EXPECT_TRUE(testing::same_bits(here.*part, there.*part))
          << x.shape()[0] << " rows, " << classes << " classes";
    EXPECT_TRUE(testing::same_bits(forest_predict(here, x.shape()[1], x),
                                   testing::fetched(forest_predict(here, x.shape()[1], sent))));
  };
  for (const int64_t rows : {1, 2, 33, 700, 20'000}) {
    Tensor x = rows_of<float>(rows, 9);
    std::vector<float> holes = testing::values_of<float>(x);
    for (size_t i = 0; i < holes.size(); i += 7) holes[i] = std::nanf("");
    for (size_t i = 0; i < holes.size(); i += 9) holes[i] = static_cast<float>(i % 4);  // column 0
    x = Tensor(dtype_of<float>(), {rows, 9}, tensor_of(holes).buffer());
    for (const int64_t classes : {0, 1, 2, 5}) {
      compare(x, classes, {.max_features = 3, .bootstrap = rows});
      compare(x, classes, {.max_depth = 4, .max_features = 9});
      compare(x, classes,
              {.min_samples_split = 5,
               .min_samples_leaf = 3,
               .min_weight_fraction_leaf = 0.01,
               .min_impurity_decrease = 1e-4,
               .max_features = 1,
               .bootstrap = rows / 2 + 1});
    }
  }
}

TEST_P(LearnDevices, EmbeddingsAreTheHosts) {
  for (const int64_t rows : {70, 2500}) {
    const Tensor x = rows_of<float>(rows, 9);
    const Neighbors near = nearest_neighbors(x, x, 20, Metric::kEuclidean, true);
    const Sparse graph = umap_graph(near.indices, near.distances, 1, 1);
    for (const int64_t dimensions : {1, 2, 3}) {
      const Tensor init = rows_of<float>(rows, dimensions);
      for (const double angle : {0.0, 0.5}) {
        const auto fit = [=](std::span<const Tensor> in) {
          return tsne_fit(in[0], in[1], 6, in[2], {4, 20, 301, 300, 1e-7, angle});
        };
        if (angle == 0 && rows > 1000) continue;
        const std::vector<Tensor> inputs{near.indices, near.distances, init};
        expect_same(inputs, [=](std::span<const Tensor> in) { return fit(in).embedding; });
        expect_same(inputs, [=](std::span<const Tensor> in) {
          const Tsne found = fit(in);
          return tensor_of<double>({found.divergence, static_cast<double>(found.last)});
        });
      }
      expect_same({init}, [=](std::span<const Tensor> in) {
        return umap_fit(graph, in[0], {.epochs = 30, .seed = 7});
      });
    }
  }
}

}  // namespace hr
