// SPDX-License-Identifier: Apache-2.0
// Files come back as they were written, models predict from them, and changed bytes do no harm.
#include "headrace/learn/model.h"

#include "headrace/base/error.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/learn/model_file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace hr {
namespace {

using testing::tensor_of;

class ModelTest : public ::testing::Test {
 protected:
  ~ModelTest() override { std::filesystem::remove(path); }

  std::string bytes() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  void put(const std::string& bytes) const {
    std::ofstream(path, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  // Prices by area and age: a scaler and a linear model.
  void save_prices() const {
    write_model_file(
        path, R"({"model": {"class": "Pipeline", "attributes": {}, "params": {"steps": [
      {"tuple": ["scale", {"model": {"class": "StandardScaler",
        "params": {"with_mean": true, "with_std": true, "copy": true},
        "attributes": {"n_features_in_": 2, "mean_": {"numpy": 0}, "scale_": {"numpy": 1}}}}]},
      {"tuple": ["ridge", {"model": {"class": "Ridge", "params": {},
        "attributes": {"n_features_in_": {"scalar": ["int64", 2]}, "coef_": {"numpy": 2},
                       "intercept_": {"scalar": ["float64", 100.5]}}}}]}]}}})",
        {tensor_of<double>({80, 30}), tensor_of<double>({20, 10}), tensor_of<double>({40, -8})});
  }

  const std::string path =
      (std::filesystem::temp_directory_path() /
       ("headrace_model_test_" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
        ::testing::UnitTest::GetInstance()->current_test_info()->name()))
          .string();
};

Column column_of(const std::vector<double>& values) {
  return as_column(tensor_of(values));
}

TEST_F(ModelTest, PredictsFromAFile) {
  save_prices();
  // docs: models
  const hr::Model model = hr::load_model(path);
  const hr::Table flats({"area", "age"}, {column_of({100, 60}), column_of({20, 30})});
  const hr::Column prices = model.predict(flats);
  // docs: end
  EXPECT_EQ(model.class_name(), "Pipeline");
  EXPECT_EQ(model.num_features(), 2);
  ASSERT_EQ(prices.num_rows(), 2);
  EXPECT_EQ(prices.values<double>()[0], 1.0 * 40 + -1.0 * -8 + 100.5);
  EXPECT_EQ(prices.values<double>()[1], -1.0 * 40 + 100.5);
  const Tensor matrix(TypeId::kFloat64, {1, 2}, tensor_of<double>({100, 20}).buffer());
  EXPECT_EQ(model.predict(matrix).values<double>()[0], prices.values<double>()[0]);
  EXPECT_EQ(model.predict(flats.slice(0, 0)).num_rows(), 0);
  EXPECT_THROW(model.predict(Table({"area"}, {column_of({1})})), InvalidArgumentError);
  EXPECT_THROW(model.transform(matrix), UnsupportedError);
}

TEST_F(ModelTest, KeepsArrays) {
  Buffer validity = Buffer::allocate_zeroed(8);
  *validity.mutable_as<uint8_t>() = 0b101;
  const std::string_view words[] = {"ab", "", "longer than twelve bytes"};
  Buffer views = Buffer::allocate(48), text = Buffer::allocate(24);
  std::memcpy(text.mutable_data(), words[2].data(), 24);
  auto* const view = views.mutable_as<StringView>();
  std::fill_n(view, 3, StringView{});
  view[0].size = 2;
  std::memcpy(view[0].inlined, "ab", 2);
  view[2].size = 24;
  view[2].indirect = {{'l', 'o', 'n', 'g'}, 0, 0};
  const Column strings =
      Column::strings(3, std::move(views), {std::move(text)}, std::move(validity), 1);
  const Tensor numbers(TypeId::kInt16, {3, 1, 2}, tensor_of<int16_t>({1, 2, 3, 4, 5, 6}).buffer());
  write_model_file(path, "{}", {strings, numbers, Tensor(), tensor_of<double>({1, 2, 3}, -2)});
  const ModelFile file = read_model_file(path);
  ASSERT_EQ(file.arrays.size(), 4u);
  const auto& read = std::get<Column>(file.arrays[0]);
  EXPECT_EQ(read.string(0), "ab");
  EXPECT_TRUE(read.is_null(1));
  EXPECT_EQ(read.string(2), words[2]);
  EXPECT_EQ(std::get<Tensor>(file.arrays[1]).shape(), (Shape{3, 1, 2}));
  EXPECT_EQ(std::get<Tensor>(file.arrays[1]).as<int16_t>()[5], 6);
  EXPECT_EQ(std::get<Tensor>(file.arrays[2]).num_elements(), 0);
  EXPECT_EQ(std::get<Tensor>(file.arrays[3]).as<double>()[1], 2);
  EXPECT_EQ(bytes().size() % 64, 0u);
}

TEST_F(ModelTest, RefusesChangedBytes) {
  save_prices();
  const std::string whole = bytes();
  std::mt19937 random(1);
  for (size_t i = 0; i < whole.size(); i += 3) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1 << random() % 8);
    put(changed);
    EXPECT_THROW(load_model(path), Error) << i;
  }
  for (size_t size = 0; size < whole.size(); size += 7) {
    put(whole.substr(0, size));
    EXPECT_THROW(load_model(path), InputError) << size;
  }
  put(whole);
  EXPECT_NO_THROW(load_model(path));
}

TEST_F(ModelTest, RefusesAttributesThatDoNotFit) {
  const auto file_of = [&](const std::string& attributes) {
    write_model_file(
        path, R"({"model": {"class": "Ridge", "params": {}, "attributes": {)" + attributes + "}}}",
        {tensor_of<double>({1, 2})});
    load_model(path);
  };
  const std::string sizes = R"("n_features_in_": 2, "intercept_": 0.0, "coef_": )";
  EXPECT_NO_THROW(file_of(sizes + R"({"numpy": 0})"));
  for (const char* value : {R"({"numpy": 1})", R"({"numpy": -1})", R"({"numpy": 0.5})", "1", "[]",
                            R"({"numpy": 0, "dtype": "<M8[us]"})", R"({"array": "x"})", "null"})
    EXPECT_THROW(file_of(sizes + value), InputError) << value;
  EXPECT_THROW(file_of(R"("n_features_in_": 3, "intercept_": 0.0, "coef_": {"numpy": 0})"),
               InputError);
  EXPECT_THROW(file_of(R"("n_features_in_": -2, "intercept_": 0.0, "coef_": {"numpy": 0})"),
               InputError);
  EXPECT_THROW(file_of(R"("n_features_in_": 2, "coef_": {"numpy": 0})"), InvalidArgumentError);
  write_model_file(path, R"({"model": {"class": "Unknown", "params": {}, "attributes": {}}})", {});
  EXPECT_THROW(load_model(path), UnsupportedError);
  write_model_file(path, "{}", {});
  EXPECT_THROW(load_model(path), InputError);
}

}  // namespace
}  // namespace hr
