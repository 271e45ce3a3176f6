// SPDX-License-Identifier: Apache-2.0
// What one row costs, behind a scaler and a logistic model of twenty columns.
#include "headrace/learn/model.h"
#include "headrace/learn/model_file.h"

#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>
#include <vector>

namespace hr {
namespace {

constexpr int64_t kFeatures = 20;

template <class T>
Tensor filled(Shape shape, T value) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  Buffer values = Buffer::allocate(count * static_cast<int64_t>(sizeof(T)));
  std::fill_n(values.mutable_as<T>(), count, value);
  return Tensor(dtype_of<T>(), std::move(shape), std::move(values));
}

Model scaled_logistic() {
  const std::string path =
      (std::filesystem::temp_directory_path() / "headrace_model_bench").string();
  Buffer classes = Buffer::allocate(2 * sizeof(int64_t));
  classes.mutable_as<int64_t>()[0] = 0;
  classes.mutable_as<int64_t>()[1] = 1;
  write_model_file(path, R"({"model": {"class": "Pipeline", "attributes": {}, "params": {"steps": [
    {"tuple": ["scale", {"model": {"class": "StandardScaler",
      "params": {"with_mean": true, "with_std": true, "copy": true},
      "attributes": {"n_features_in_": 20, "mean_": {"numpy": 0}, "scale_": {"numpy": 1}}}}]},
    {"tuple": ["model", {"model": {"class": "LogisticRegression", "params": {},
      "attributes": {"n_features_in_": 20, "classes_": {"numpy": 2}, "coef_": {"numpy": 3},
                     "intercept_": {"numpy": 4}}}}]}]}}})",
                   {filled<double>({kFeatures}, 0.5), filled<double>({kFeatures}, 2),
                    Tensor(dtype_of<int64_t>(), {2}, std::move(classes)),
                    filled<double>({1, kFeatures}, 0.25), filled<double>({1}, -1)});
  const Model model = load_model(path);
  std::filesystem::remove(path);
  return model;
}

void predict_rows(benchmark::State& state) {
  const Model model = scaled_logistic();
  const std::vector<double> rows(static_cast<size_t>(state.range(0) * kFeatures), 1.5);
  for (auto _ : state) benchmark::DoNotOptimize(model.predict(rows.data(), state.range(0)));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(predict_rows)->Arg(1)->Arg(100);

}  // namespace
}  // namespace hr
