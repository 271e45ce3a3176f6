// SPDX-License-Identifier: Apache-2.0
// Scalers, linear models, GaussianNB, KMeans, PCA, forests and neighbours of a file, with Python's
// bits.
#include "headrace/learn/model_parts.h"

#include "headrace/algo/linalg/matmul.h"
#include "headrace/algo/select/gather.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/learn/class_moments.h"
#include "headrace/learn/forest.h"
#include "headrace/learn/kmeans.h"
#include "headrace/learn/neighbors.h"
#include "headrace/learn/pca.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

namespace hr {

ModelRows ModelPart::transform(ModelRows) const {
  throw_error<UnsupportedError>("transform", "the model does not transform", {{"class", name}},
                                "use predict");
}

Column ModelPart::predict(ModelRows) const {
  throw_error<UnsupportedError>("predict", "the model does not predict", {{"class", name}},
                                "use transform");
}

namespace {

constexpr int64_t kFewElements = 1 << 14;  // less work than waking other threads

constexpr int64_t kMostFeatures = int64_t{1} << 26;  // what a file says takes no more memory

/// Runs `body(begin, end)` over all rows at once or in morsels.
template <class F>
void for_rows(int64_t rows, int64_t width, F body) {
  if (rows * width <= kFewElements) return body(int64_t{0}, rows);
  parallel_morsels(rows, [&](Morsel morsel) { body(morsel.begin, morsel.end); });
}

ModelRows rows_of(const Tensor& given) {
  const Tensor made = contiguous(given, "transform");
  if (made.byte_offset() != 0)
    throw_error<InternalError>("transform", "rows begin within a buffer");
  return {made.dtype(), made.shape()[0], made.shape()[1], made.buffer()};
}

/// The place of the largest value, the first of equal ones, as NumPy's argmax: NaN is the largest.
template <class T>
int64_t place_of_largest(const T* values, int64_t count) {
  int64_t best = 0;
  for (int64_t j = 1; j < count && !std::isnan(values[best]); ++j)
    if (values[j] > values[best] || std::isnan(values[j])) best = j;
  return best;
}

/// Labels by their places.
class Labels {
 public:
  explicit Labels(Column labels) : labels_(std::move(labels)) {}

  int64_t count() const { return labels_.num_rows(); }

  /// `place(row)` says which label each row has.
  template <class F>
  Column take(int64_t rows, int64_t work, F place) const {
    const Dtype dtype = labels_.dtype();
    const bool plain = labels_.null_count() == 0 && dtype.is_real();
    const int64_t size = dtype.size_bytes();
    Buffer made = Buffer::allocate(rows * (plain ? size : 8));
    auto* const out = made.mutable_data();
    const auto* const from = labels_.values_buffer().data() + labels_.offset() * size;
    for_rows(rows, work, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t code = place(row);
        if (plain)
          std::memcpy(out + row * size, from + code * size, static_cast<size_t>(size));
        else
          std::memcpy(out + row * 8, &code, 8);
      }
    });
    if (plain) return Column(dtype, rows, std::move(made));
    return gather(labels_, Tensor(TypeId::kInt64, {rows}, std::move(made)));
  }

 private:
  Column labels_;
};

// ---- scalers ---------------------------------------------------------------------------------

class Scaler final : public ModelPart {
 public:
  enum class Form { kCentred, kRanged, kDivided };

  Scaler(Form form, std::vector<double> first, std::vector<double> second)
      : form_(form), first_(std::move(first)), second_(std::move(second)) {}

  int64_t num_features() const override { return static_cast<int64_t>(first_.size()); }

  void clip(double low, double high) { low_ = low, high_ = high, clips_ = true; }

  ModelRows transform(ModelRows rows) const override {
    visit_floating(rows.dtype, [&]<class T>(std::type_identity<T>) {
      if (rows.rows == 0) return;
      T* const values = rows.values.mutable_as<T>();
      const std::vector<T> a(first_.begin(), first_.end()), b(second_.begin(), second_.end());
      for_rows(rows.rows, rows.columns, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row)
          scale(values + row * rows.columns, a.data(), b.data());
      });
    });
    return rows;
  }

 private:
  template <class T>
  void scale(T* x, const T* a, const T* b) const {
    const auto count = static_cast<int64_t>(first_.size());
    switch (form_) {
      case Form::kCentred:
        for (int64_t j = 0; j < count; ++j) x[j] = (x[j] - a[j]) / b[j];
        break;
      case Form::kRanged:
        for (int64_t j = 0; j < count; ++j) x[j] = x[j] * a[j] + b[j];
        break;
      case Form::kDivided:
        for (int64_t j = 0; j < count; ++j) x[j] = x[j] / a[j];
    }
    if (!clips_) return;
    const T low = static_cast<T>(low_), high = static_cast<T>(high_);
    for (int64_t j = 0; j < count; ++j) x[j] = x[j] < low ? low : x[j] > high ? high : x[j];
  }

  Form form_;
  std::vector<double> first_;
  std::vector<double> second_;
  double low_ = 0;
  double high_ = 0;
  bool clips_ = false;
};

std::shared_ptr<Scaler> make_scaler(const SavedModel& saved, int64_t features) {
  const std::string& name = saved.class_name();
  const auto parts = [&](std::string_view attribute, double otherwise) {
    if (saved.is_none(attribute))
      return std::vector<double>(static_cast<size_t>(features), otherwise);
    return saved.doubles(attribute, features);
  };
  if (name == "StandardScaler" || name == "RobustScaler") {
    const bool standard = name == "StandardScaler";
    const bool moves = saved.flag(standard ? "with_mean" : "with_centering");
    return std::make_shared<Scaler>(Scaler::Form::kCentred,
                                    moves ? parts(standard ? "mean_" : "center_", 0)
                                          : std::vector<double>(static_cast<size_t>(features), 0),
                                    parts("scale_", 1));
  }
  const bool ranged = name == "MinMaxScaler";
  auto made = std::make_shared<Scaler>(
      ranged ? Scaler::Form::kRanged : Scaler::Form::kDivided, saved.doubles("scale_", features),
      ranged ? saved.doubles("min_", features) : std::vector<double>());
  if (!saved.flag("clip")) return made;
  if (!ranged) {
    made->clip(-1, 1);
    return made;
  }
  const std::vector<Json> range = saved.items(saved.param("feature_range"), "feature_range");
  if (range.size() != 2) saved.refuse("feature_range");
  made->clip(saved.number(range[0], "feature_range"), saved.number(range[1], "feature_range"));
  return made;
}

// ---- linear models ---------------------------------------------------------------------------

/// Sums of the columns by coefficients, [outputs, features], in the order of `matmul`.
class LinearScores {
 public:
  LinearScores(const SavedModel& saved, int64_t features) {
    Tensor coefficients = saved.tensor("coef_");
    const Shape& shape = coefficients.shape();
    if (!coefficients.dtype().is_floating() || shape.empty() || shape.size() > 2 ||
        shape.back() != features || features == 0)
      saved.refuse("coef_");
    outputs = shape.size() == 1 ? 1 : shape[0];
    own = coefficients.dtype();
    fill(wide_, coefficients);
    fill(narrow_, coefficients);
    const std::vector<double> constants = saved.doubles("intercept_", outputs);
    wide_.constants.assign(constants.begin(), constants.end());
    narrow_.constants.assign(constants.begin(), constants.end());
  }

  /// `out`: T [rows, outputs].
  template <class T>
  void compute(const ModelRows& rows, T* out) const {
    const Weights<T>& weights = weights_of<T>();
    if (rows.rows * rows.columns * outputs <= kFewElements)
      visit_floating(rows.dtype, [&]<class From>(std::type_identity<From>) {
        for (int64_t row = 0; row < rows.rows; ++row)
          for (int64_t j = 0; j < outputs; ++j)
            out[row * outputs + j] = chain(rows.values.as<From>() + row * rows.columns,
                                           weights.values.data() + j * rows.columns, rows.columns);
      });
    else
      multiply<T>(
          AnyMatrix(rows.tensor()),
          MatrixView<const T>{weights.values.data(), rows.columns, outputs, 1, rows.columns},
          MatrixView<T>{out, rows.rows, outputs, outputs});
    for_rows(rows.rows, outputs, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        for (int64_t j = 0; j < outputs; ++j)
          out[row * outputs + j] += weights.constants[static_cast<size_t>(j)];
    });
  }

  int64_t outputs = 0;
  Dtype own{};  ///< of the coefficients

 private:
  template <class T>
  struct Weights {
    std::vector<T> values{};
    std::vector<T> constants{};
  };

  template <class T>
  static void fill(Weights<T>& weights, const Tensor& from) {
    visit_floating(from.dtype(), [&]<class From>(std::type_identity<From>) {
      for (int64_t i = 0; i < from.num_elements(); ++i)
        weights.values.push_back(static_cast<T>(from.as<From>()[i]));
    });
  }

  template <class T>
  const Weights<T>& weights_of() const {
    if constexpr (std::is_same_v<T, float>)
      return narrow_;
    else
      return wide_;
  }

  /// One sum of `matmul`: too little work for its panels.
  template <class From, class T>
  static T chain(const From* x, const T* w, int64_t count) {
    T total = 0;
    for (int64_t begin = 0; begin < count; begin += kSumBlock) {
      const int64_t end = std::min(count, begin + kSumBlock);
      T sum = 0;
      for (int64_t k = begin; k < end; ++k) sum = std::fma(static_cast<T>(x[k]), w[k], sum);
      total = begin == 0 ? sum : total + sum;
    }
    return total;
  }

  Weights<double> wide_{};
  Weights<float> narrow_{};
};

class LinearRegressor final : public ModelPart {
 public:
  LinearRegressor(const SavedModel& saved, int64_t features)
      : scores_(saved, features), features_(features) {}

  int64_t num_features() const override { return features_; }

  Column predict(ModelRows rows) const override {
    if (scores_.outputs != 1)
      throw_error<UnsupportedError>("predict", "a column holds one number a row",
                                    {{"class", name}, {"outputs", scores_.outputs}},
                                    "use the model in Python");
    const bool narrow = rows.dtype.id() == TypeId::kFloat32 && scores_.own == rows.dtype;
    const Dtype dtype = narrow ? TypeId::kFloat32 : TypeId::kFloat64;
    Buffer made = Buffer::allocate(rows.rows * dtype.size_bytes());
    visit_floating(dtype, [&]<class T>(std::type_identity<T>) {
      if (rows.rows > 0) scores_.compute<T>(rows, made.mutable_as<T>());
    });
    return Column(dtype, rows.rows, std::move(made));
  }

 private:
  LinearScores scores_;
  int64_t features_;
};

class LinearClassifier final : public ModelPart {
 public:
  LinearClassifier(const SavedModel& saved, int64_t features)
      : scores_(saved, features), labels_(saved.labels("classes_")), features_(features) {
    if (labels_.count() != (scores_.outputs == 1 ? 2 : scores_.outputs)) saved.refuse("classes_");
  }

  int64_t num_features() const override { return features_; }

  Column predict(ModelRows rows) const override {
    const int64_t outputs = scores_.outputs;
    Buffer scores = Buffer::allocate(rows.rows * outputs * rows.dtype.size_bytes());
    return visit_floating(rows.dtype, [&]<class T>(std::type_identity<T>) {
      if (rows.rows > 0) scores_.compute<T>(rows, scores.mutable_as<T>());
      const T* const values = scores.as<T>();
      return labels_.take(rows.rows, outputs, [&](int64_t row) -> int64_t {
        if (outputs == 1) return values[row] > 0 ? 1 : 0;
        return place_of_largest(values + row * outputs, outputs);
      });
    });
  }

 private:
  LinearScores scores_;
  Labels labels_;
  int64_t features_;
};

class GaussianPart final : public ModelPart {
 public:
  GaussianPart(const SavedModel& saved, int64_t features)
      : labels_(saved.labels("classes_")),
        means_(saved.floats("theta_", {labels_.count(), features})),
        terms_(gaussian_terms(saved.floats("var_", {labels_.count(), features}),
                              saved.floats("class_prior_", {labels_.count()}))) {}

  int64_t num_features() const override { return means_.shape()[1]; }

  Column predict(ModelRows rows) const override {
    const Tensor found = gaussian_scores(rows.tensor(), means_, terms_.scale, terms_.constant);
    return labels_.take(rows.rows, labels_.count(), [&](int64_t row) {
      return place_of_largest(found.as<double>() + row * labels_.count(), labels_.count());
    });
  }

 private:
  Labels labels_;
  Tensor means_;
  GaussianTerms terms_;
};

// ---- clusters and components -----------------------------------------------------------------

class KMeansPart final : public ModelPart {
 public:
  KMeansPart(const SavedModel& saved, int64_t features)
      : centers_(saved.floats("cluster_centers_", {-1, features})) {
    if (centers_.shape()[0] == 0) saved.refuse("cluster_centers_");
  }

  int64_t num_features() const override { return centers_.shape()[1]; }

  int64_t num_outputs() const override { return centers_.shape()[0]; }

  ModelRows transform(ModelRows rows) const override {
    return rows_of(kmeans_transform(centers_, rows.tensor()));
  }

  Column predict(ModelRows rows) const override {
    return as_column(kmeans_predict(centers_, rows.tensor()));
  }

 private:
  Tensor centers_;
};

class PcaPart final : public ModelPart {
 public:
  PcaPart(const SavedModel& saved, int64_t features) {
    model_.mean = saved.floats("mean_", {features});
    model_.components = saved.floats("components_", {-1, features});
    if (!saved.flag("whiten")) return;
    const int64_t count = model_.components.shape()[0];
    const Tensor variance = saved.floats("explained_variance_", {count});
    visit_floating(variance.dtype(), [&]<class T>(std::type_identity<T>) {
      for (int64_t i = 0; i < count; ++i)
        scale_.push_back(static_cast<double>(
            std::max(std::sqrt(variance.as<T>()[i]), std::numeric_limits<T>::epsilon())));
    });
    scale_dtype_ = variance.dtype();
  }

  int64_t num_features() const override { return model_.components.shape()[1]; }

  int64_t num_outputs() const override { return model_.components.shape()[0]; }

  ModelRows transform(ModelRows rows) const override {
    const ModelRows made = rows_of(pca_transform(model_, rows.tensor()));
    if (scale_.empty()) return made;
    const bool narrow = made.dtype.id() == TypeId::kFloat32 && scale_dtype_ == made.dtype;
    ModelRows scaled{narrow ? TypeId::kFloat32 : TypeId::kFloat64, made.rows, made.columns, {}};
    scaled.values = Buffer::allocate(made.rows * made.columns * scaled.dtype.size_bytes());
    if (made.rows == 0) return scaled;
    visit_floating(scaled.dtype, [&]<class T>(std::type_identity<T>) {
      T* const out = scaled.values.mutable_as<T>();
      visit_floating(made.dtype, [&]<class From>(std::type_identity<From>) {
        const From* const from = made.values.as<From>();
        for_rows(made.rows, made.columns, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin * made.columns; i < end * made.columns; ++i)
            out[i] = static_cast<T>(from[i]) /
                     static_cast<T>(scale_[static_cast<size_t>(i % made.columns)]);
        });
      });
    });
    return scaled;
  }

 private:
  Pca model_{};
  std::vector<double> scale_{};
  Dtype scale_dtype_{};
};

// ---- forests ---------------------------------------------------------------------------------

class ForestPart final : public ModelPart {
 public:
  ForestPart(const SavedModel& saved, int64_t features) : features_(features) {
    const std::vector<Json> parts = saved.items(saved.attribute("_forest"), "_forest");
    if (parts.size() != 6) saved.refuse("_forest");
    const auto part = [&](size_t place) { return saved.tensor(parts[place], "_forest"); };
    model_ = {part(0), part(1), part(2), part(3), part(4), part(5)};
    check_forest(model_, features);
    if (saved.has("classes_")) {
      labels_.emplace(saved.labels("classes_"));
      if (labels_->count() != model_.value.shape()[1]) saved.refuse("classes_");
    } else if (model_.value.shape()[1] != 1) {
      saved.refuse("_forest");
    }
  }

  int64_t num_features() const override { return features_; }

  Column predict(ModelRows rows) const override {
    const Tensor found = forest_predict(model_, features_, rows.tensor());
    const int64_t outputs = found.shape()[1];
    if (!labels_) return Column(found.dtype(), rows.rows, found.buffer());
    return labels_->take(rows.rows, outputs, [&](int64_t row) {
      return place_of_largest(found.as<double>() + row * outputs, outputs);
    });
  }

 private:
  Forest model_{};
  std::optional<Labels> labels_{};
  int64_t features_;
};

// ---- neighbours ------------------------------------------------------------------------------

/// The sum in the order of NumPy: eight interleaved sums, and halves of more than 128 values apart.
double pairwise_sum(const double* values, int64_t count) {
  if (count < 8) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum = i == 0 ? values[0] : sum + values[i];
    return sum;
  }
  if (count > 128) {
    const int64_t half = count / 2 - count / 2 % 8;
    return pairwise_sum(values, half) + pairwise_sum(values + half, count - half);
  }
  double lanes[8];
  std::copy_n(values, 8, lanes);
  int64_t i = 8;
  for (; i < count - count % 8; i += 8)
    for (int64_t lane = 0; lane < 8; ++lane) lanes[lane] += values[i + lane];
  double sum = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
               ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  for (; i < count; ++i) sum += values[i];
  return sum;
}

class NeighborsPart final : public ModelPart {
 public:
  NeighborsPart(const SavedModel& saved, int64_t features)
      : rows_(saved.floats("_fit_X", {-1, features})),
        count_(saved.integer(saved.param("n_neighbors"), "n_neighbors")),
        metric_(
            metric_named(saved.text(saved.attribute("effective_metric_"), "effective_metric_"))) {
    const Json weights = saved.param("weights");
    const std::string word =
        weights.kind() == Json::Kind::kNull ? "uniform" : saved.text(weights, "weights");
    if (word != "uniform" && word != "distance") saved.refuse("weights");
    by_distance_ = word == "distance";
    const Tensor given = saved.tensor("_y");
    if (given.shape() != Shape{rows_.shape()[0]}) {
      if (given.num_dimensions() == 2) saved.refuse_param("y with several columns");
      saved.refuse("_y");
    }
    if (!saved.has("classes_")) {
      targets_ = saved.doubles("_y", rows_.shape()[0]);
      return;
    }
    labels_.emplace(saved.labels("classes_"));
    if (given.dtype().id() != TypeId::kInt64) saved.refuse("_y");
    codes_.assign(given.as<int64_t>(), given.as<int64_t>() + given.num_elements());
    for (const int64_t code : codes_)
      if (code < 0 || code >= labels_->count()) saved.refuse("_y");
  }

  int64_t num_features() const override { return rows_.shape()[1]; }

  Column predict(ModelRows rows) const override {
    const Neighbors near = nearest_neighbors(rows_, rows.tensor(), count_, metric_, false);
    const auto* const indices = near.indices.as<int64_t>();
    const auto* const distances = near.distances.as<double>();
    if (labels_)
      return labels_->take(rows.rows, count_, [&](int64_t row) {
        return vote(indices + row * count_, distances + row * count_);
      });
    Buffer made = Buffer::allocate(rows.rows * 8);
    if (rows.rows > 0) {
      auto* const out = made.mutable_as<double>();
      for_rows(rows.rows, count_, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row)
          out[row] = mean(indices + row * count_, distances + row * count_);
      });
    }
    return Column(TypeId::kFloat64, rows.rows, std::move(made));
  }

 private:
  /// Rows at the query itself are the only ones to vote by distance.
  std::vector<double> weights_of(const double* distances) const {
    std::vector<double> weights(static_cast<size_t>(count_), 1.0);
    if (!by_distance_) return weights;
    const double* const end = distances + count_;
    const auto is_same = [](double distance) { return std::isinf(1 / distance); };
    const bool same = std::any_of(distances, end, is_same);
    std::transform(distances, end, weights.begin(), [&](double distance) {
      return same ? (is_same(distance) ? 1.0 : 0.0) : 1 / distance;
    });
    return weights;
  }

  int64_t vote(const int64_t* indices, const double* distances) const {
    const std::vector<double> weights = weights_of(distances);
    std::vector<double> shares(static_cast<size_t>(labels_->count()), 0.0);
    for (int64_t k = 0; k < count_; ++k)
      shares[static_cast<size_t>(codes_[static_cast<size_t>(indices[k])])] +=
          weights[static_cast<size_t>(k)];
    const double total = pairwise_sum(shares.data(), labels_->count());
    for (double& share : shares) share /= total == 0 ? 1.0 : total;
    return place_of_largest(shares.data(), labels_->count());
  }

  double mean(const int64_t* indices, const double* distances) const {
    const std::vector<double> weights = weights_of(distances);
    std::vector<double> products(weights.size());
    for (size_t k = 0; k < products.size(); ++k)
      products[k] = targets_[static_cast<size_t>(indices[k])] * weights[k];
    return pairwise_sum(products.data(), count_) / pairwise_sum(weights.data(), count_);
  }

  Tensor rows_;
  int64_t count_;
  Metric metric_;
  bool by_distance_ = false;
  std::vector<double> targets_{};
  std::vector<int64_t> codes_{};
  std::optional<Labels> labels_{};
};

// ---- models of models ------------------------------------------------------------------------

class PipelinePart final : public ModelPart {
 public:
  explicit PipelinePart(const SavedModel& saved) {
    for (const Json& entry : saved.items(saved.param("steps"), "steps")) {
      const std::vector<Json> step = saved.items(entry, "steps");
      if (step.size() != 2) saved.refuse("steps");
      const bool skipped =
          step[1].kind() == Json::Kind::kNull ||
          (step[1].kind() == Json::Kind::kString && step[1].string() == "passthrough");
      if (skipped) continue;
      ModelPartPtr part = make_part(saved.inside(step[1], "steps"));
      if (!steps_.empty() && steps_.back()->num_outputs() != part->num_features())
        saved.refuse("steps");
      steps_.push_back(std::move(part));
    }
    if (steps_.empty()) saved.refuse("steps");
    feature_names = steps_[0]->feature_names;
  }

  int64_t num_features() const override { return steps_[0]->num_features(); }

  int64_t num_outputs() const override { return steps_.back()->num_outputs(); }

  ModelRows transform(ModelRows rows) const override {
    return steps_.back()->transform(before(std::move(rows)));
  }

  Column predict(ModelRows rows) const override {
    return steps_.back()->predict(before(std::move(rows)));
  }

 private:
  ModelRows before(ModelRows rows) const {
    for (size_t i = 0; i + 1 < steps_.size(); ++i) rows = steps_[i]->transform(std::move(rows));
    return rows;
  }

  std::vector<ModelPartPtr> steps_{};
};

std::shared_ptr<ModelPart> make_single(const SavedModel& saved, int64_t features) {
  const std::string& name = saved.class_name();
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (is({"StandardScaler", "RobustScaler", "MinMaxScaler", "MaxAbsScaler"}))
    return make_scaler(saved, features);
  if (is({"LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV",
          "LinearSVR"}))
    return std::make_shared<LinearRegressor>(saved, features);
  if (is({"LogisticRegression", "LinearSVC"}))
    return std::make_shared<LinearClassifier>(saved, features);
  if (is({"GaussianNB"})) return std::make_shared<GaussianPart>(saved, features);
  if (is({"KMeans"})) return std::make_shared<KMeansPart>(saved, features);
  if (is({"PCA", "IncrementalPCA"})) return std::make_shared<PcaPart>(saved, features);
  if (is({"RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier",
          "ExtraTreesRegressor"}))
    return std::make_shared<ForestPart>(saved, features);
  if (is({"KNeighborsClassifier", "KNeighborsRegressor"}))
    return std::make_shared<NeighborsPart>(saved, features);
  throw_error<UnsupportedError>("load_model", "this class has no form in C++", {{"class", name}},
                                "use the model in Python");
}

}  // namespace

ModelPartPtr make_part(const SavedModel& saved) {
  const std::string& name = saved.class_name();
  if (name.ends_with("SearchCV"))
    return make_part(saved.inside(saved.attribute("best_estimator_"), "best_estimator_"));
  std::shared_ptr<ModelPart> made;
  if (name == "Pipeline") {
    made = std::make_shared<PipelinePart>(saved);
  } else {
    // First, so that the class is named where it is none of ours.
    const int64_t features =
        saved.has("n_features_in_")
            ? saved.integer(saved.attribute("n_features_in_"), "n_features_in_")
            : 0;
    if (features < 0 || features > kMostFeatures) saved.refuse("n_features_in_");
    made = make_single(saved, features);
    if (features == 0) saved.refuse("n_features_in_");
    if (saved.has("feature_names_in_")) {
      const Column names = saved.labels("feature_names_in_");
      if (!names.dtype().is_string() || names.num_rows() != features || names.null_count() > 0)
        saved.refuse("feature_names_in_");
      for (int64_t i = 0; i < features; ++i) made->feature_names.emplace_back(names.string(i));
    }
  }
  made->name = name;
  return made;
}

}  // namespace hr
