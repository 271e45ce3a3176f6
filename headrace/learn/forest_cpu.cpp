// SPDX-License-Identifier: Apache-2.0
// Trees grow depth first, so a node's rows lie side by side in ascending order, and a histogram is
// of one feature at a time. All that is summed is integer.
#include "headrace/algo/random/philox.h"
#include "headrace/exec/interrupt.h"
#include "headrace/exec/workers.h"
#include "headrace/learn/forest_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace hr::cpu {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int64_t kCodes = kForestBins + 1;
constexpr double kNone = -std::numeric_limits<double>::infinity();

/// Weight and number of rows in one integer, which one addition adds.
template <class Packed>
struct Pack {
  static constexpr int kHalf = static_cast<int>(sizeof(Packed)) * 4;

  static Packed of(int64_t weight, int64_t count) {
    return static_cast<Packed>(weight) << kHalf | static_cast<Packed>(count);
  }

  static double weight(Packed packed) {
    return static_cast<double>(static_cast<int64_t>(packed >> kHalf));
  }

  static int64_t count(Packed packed) {
    return static_cast<int64_t>(packed & ((Packed{1} << kHalf) - 1));
  }
};

/// A random number below `bound`, by multiplication: biased by bound / 2^64 at most.
uint64_t below(uint64_t word, uint64_t bound) {
  return static_cast<uint64_t>(Wide{word} * bound >> 64);
}

struct Split {
  double score = kNone;
  int64_t feature = std::numeric_limits<int64_t>::max();
  int64_t bin = 0;                                             // the last that goes left
  double threshold = std::numeric_limits<double>::infinity();  // of that bin and the next
  bool has_missing = false;
  bool missing_left = false;

  void take(const Split& other) {
    if (other.score > score || (other.score == score && other.feature < feature)) *this = other;
  }
};

template <class Packed, ForestCriterion kCriterion>
class Grower {
  static constexpr bool kTargets = kCriterion == ForestCriterion::kSquaredError;
  using Detail = std::conditional_t<kTargets, int64_t, uint32_t>;  // a deviation, or a class
  using P = Pack<Packed>;

 public:
  Grower(const ForestRows& in, const ForestOptions& options, int64_t number)
      : in_(in),
        options_(options),
        number_(number),
        classes_(kTargets ? 1 : options.num_classes),
        weights_(static_cast<size_t>(classes_)) {
    rows_ = keep<uint32_t>(in.rows);
    others_ = keep<uint32_t>(in.rows);
    counts_ = keep<uint32_t>(in.rows);
    packed_ = keep<Packed>(in.rows);
    detail_ = keep<Detail>(in.rows);
    cells_ = keep<Packed>(kCodes * classes_);
    sums_ = keep<int64_t>(kCodes);
    std::fill_n(cells_, kCodes * classes_, Packed{0});
    std::fill_n(sums_, kCodes, int64_t{0});
    features_.resize(static_cast<size_t>(in.features));
    std::iota(features_.begin(), features_.end(), int64_t{0});
    tree_.gain.assign(features_.size(), 0);
  }

  ForestTree grow() {
    struct Open {
      int64_t begin, end, depth, parent;  // parent: of a right child, else -1
      uint64_t key;                       // of its draws: 1 at the root, then a bit for each turn
    };

    std::vector<Open> open = {{0, choose_rows(), 0, -1, 1}};
    while (!open.empty()) {
      look_for_interrupt();
      const Open node = open.back();
      open.pop_back();
      const auto id = static_cast<int64_t>(tree_.link.size());
      if (node.parent >= 0) tree_.link[static_cast<size_t>(node.parent)] |= id << 32;
      gather(node.begin, node.end);
      if (id == 0) {
        root_weight_ = weight_;
        min_weight_ = options_.min_weight_fraction_leaf * root_weight_;
      }
      tree_.link.push_back(-1);
      tree_.threshold.push_back(0);
      tree_.samples.push_back(node.end - node.begin);
      Split split;
      if (node.depth != options_.max_depth && may_split()) split = best_split(node.key);
      const double gain = split.score - (split.score > kNone ? node_score() : 0);
      if (!(gain * in_.unit * in_.unit / root_weight_ + 1e-15 >= options_.min_impurity_decrease)) {
        add_value(node.begin, node.end, /*leaf=*/true);
        continue;
      }
      add_value(node.begin, node.end, /*leaf=*/false);
      const int64_t middle = divide(split, node.begin, node.end);
      if (!split.has_missing) split.missing_left = middle - node.begin > node.end - middle;
      tree_.link.back() = forest_link(0, split.feature, split.missing_left);
      tree_.threshold.back() = split.threshold;
      tree_.gain[static_cast<size_t>(split.feature)] += std::max(gain, 0.0);
      open.push_back({middle, node.end, node.depth + 1, id, 2 * node.key + 1});
      open.push_back({node.begin, middle, node.depth + 1, -1, 2 * node.key});
    }
    return std::move(tree_);
  }

 private:
  template <class T>
  T* keep(int64_t count) {
    buffers_.push_back(Buffer::allocate(count * static_cast<int64_t>(sizeof(T))));
    return buffers_.back().template mutable_as<T>();
  }

  /// The rows that the tree learns from, ascending; returns how many.
  int64_t choose_rows() {
    forest_draw(in_, options_, number_, counts_);
    int64_t size = 0;
    for (int64_t row = 0; row < in_.rows; ++row) {
      const bool weighs = in_.weights == nullptr || in_.weights[row] > 0;
      if (counts_[row] > 0 && weighs) rows_[size++] = static_cast<uint32_t>(row);
    }
    if (!kTargets && options_.balance_samples) balance(size);
    return size;
  }

  /// Each class of the drawn rows gets the same weight, in fixed point.
  void balance(int64_t size) {
    std::vector<int64_t> drawn(static_cast<size_t>(classes_));
    for (int64_t i = 0; i < size; ++i) drawn[label(rows_[i])] += counts_[rows_[i]];
    const auto present = classes_ - std::count(drawn.begin(), drawn.end(), int64_t{0});
    const double whole = std::ldexp(1, 51) / static_cast<double>(present);
    for (const int64_t each : drawn)
      class_weights_.push_back(each == 0 ? 0
                                         : static_cast<int64_t>(whole / static_cast<double>(each)));
  }

  size_t label(uint32_t row) const { return static_cast<size_t>(in_.y[row]); }

  int64_t weight(uint32_t row) const {
    int64_t weight = counts_[row];
    if (in_.weights != nullptr) weight *= in_.weights[row];
    if (!class_weights_.empty()) weight *= class_weights_[label(row)];
    return weight;
  }

  /// Reads what the features' histograms need of the rows of a node, side by side, and its totals.
  void gather(int64_t begin, int64_t end) {
    begin_ = begin;
    size_ = end - begin;
    least_ = std::numeric_limits<double>::infinity();
    greatest_ = -least_;
    for (int64_t i = 0; i < size_; ++i) {
      const uint32_t row = rows_[begin + i];
      packed_[i] = P::of(weight(row), 1);
      if constexpr (kTargets) {
        detail_[i] = in_.deviation[row] * counts_[row];
        cells_[0] += packed_[i];
        sums_[0] += detail_[i];
        least_ = std::min(least_, in_.y[row]);
        greatest_ = std::max(greatest_, in_.y[row]);
      } else {
        detail_[i] = static_cast<uint32_t>(label(row));
        cells_[detail_[i]] += packed_[i];
      }
    }
    deviation_ = std::exchange(sums_[0], 0);
    weight_ = 0;
    for (int64_t c = 0; c < classes_; ++c) {
      weights_[static_cast<size_t>(c)] = P::weight(std::exchange(cells_[c], Packed{0}));
      weight_ += weights_[static_cast<size_t>(c)];
    }
  }

  /// The term of a class, or of targets, in the score of a side.
  static double term(double sum) {
    if constexpr (kCriterion == ForestCriterion::kEntropy)
      return sum > 0 ? sum * std::log2(sum) : 0;
    return sum * sum;
  }

  /// Less impurity, the greater: both sides by their terms and weights.
  static double score(double left, double left_weight, double right, double right_weight) {
    if constexpr (kCriterion == ForestCriterion::kEntropy)
      return (left - term(left_weight)) + (right - term(right_weight));
    return left / left_weight + right / right_weight;
  }

  double node_score() const {
    double sum = kTargets ? term(static_cast<double>(deviation_)) : 0;
    if constexpr (!kTargets)
      for (const double weight : weights_) sum += term(weight);
    if constexpr (kCriterion == ForestCriterion::kEntropy) return sum - term(weight_);
    return sum / weight_;
  }

  bool may_split() const {
    if (size_ < std::max(options_.min_samples_split, 2 * options_.min_samples_leaf)) return false;
    if (weight_ < 2 * min_weight_) return false;
    if constexpr (kTargets) return least_ < greatest_;
    return *std::max_element(weights_.begin(), weights_.end()) < weight_;
  }

  /// The best of `max_features` drawn features; of more, until one of them varies.
  Split best_split(uint64_t key) {
    Split best;
    const int64_t features = in_.features;
    const bool drawn = options_.max_features < features;
    swapped_.clear();
    PhiloxBlock block{};
    bool varies = false;
    for (int64_t j = 0; j < features && (j < options_.max_features || !varies); ++j) {
      if (drawn) {
        if (j % 4 == 0)
          block = philox_block({options_.seed, static_cast<uint32_t>(2 * number_ + 1)}, key,
                               static_cast<uint32_t>(j / 4));
        const uint64_t word = uint64_t{block.word[j % 4]} << 32;
        const auto other =
            static_cast<size_t>(j) + below(word, static_cast<uint64_t>(features - j));
        std::swap(features_[static_cast<size_t>(j)], features_[other]);
        swapped_.push_back(other);
      }
      const int64_t feature = features_[static_cast<size_t>(j)];
      varies |= scan(key, feature, count_bins(feature), best);
    }
    while (!swapped_.empty()) {
      const size_t other = swapped_.back();
      swapped_.pop_back();
      std::swap(features_[swapped_.size()], features_[other]);
    }
    return best;
  }

  /// Adds the node's rows up by bin; lists the bins that have some in `present_`, ascending.
  int64_t count_bins(int64_t feature) {
    const uint8_t* codes = in_.codes + feature * in_.rows;
    const uint32_t* rows = rows_ + begin_;
    const Packed* packed = packed_;
    const Detail* detail = detail_;
    Packed* cells = cells_;
    int64_t* sums = sums_;
    const int64_t classes = classes_;
    const auto add = [&](int64_t i) {
      const int64_t code = codes[rows[i]];
      if constexpr (kTargets) {
        cells[code] += packed[i];
        sums[code] += detail[i];
      } else {
        cells[code * classes + detail[i]] += packed[i];
      }
      return static_cast<size_t>(code);
    };
    int64_t count = 0;
    if (size_ < kCodes) {  // few rows: only the bins that they are in
      uint64_t seen[4] = {};
      for (int64_t i = 0; i < size_; ++i) {
        const size_t code = add(i);
        seen[code / 64] |= uint64_t{1} << code % 64;
      }
      for (int word = 0; word < 4; ++word)
        for (uint64_t bits = seen[word]; bits != 0; bits &= bits - 1)
          present_[count++] = static_cast<uint8_t>(64 * word + std::countr_zero(bits));
    } else {
      for (int64_t i = 0; i < size_; ++i) add(i);
      for (int64_t code = 0; code < kCodes; ++code) {
        const Packed* cell = cells + code * classes;
        if (std::any_of(cell, cell + classes, [](Packed value) { return value != 0; }))
          present_[count++] = static_cast<uint8_t>(code);
      }
    }
    return count;
  }

  /// What lies left of the first `count` splits, with the rows of NaN or without them.
  void add_left(int64_t count, bool with_missing) {
    const Packed* missing = cells_ + kForestMissing * classes_;
    Packed left = 0;
    if (with_missing)
      for (int64_t c = 0; c < classes_; ++c) left += missing[c];
    for (int64_t k = 0; k < count; ++k) {
      const Packed* cell = cells_ + present_[k] * classes_;
      for (int64_t c = 0; c < classes_; ++c) left += cell[c];
      left_count_[k] = P::count(left);
      left_weight_[k] = P::weight(left);
      left_term_[k] = right_term_[k] = 0;
    }
    if constexpr (kTargets) {
      int64_t sum = with_missing ? sums_[kForestMissing] : 0;
      for (int64_t k = 0; k < count; ++k) {
        sum += sums_[present_[k]];
        left_term_[k] = term(static_cast<double>(sum));
        right_term_[k] = term(static_cast<double>(deviation_ - sum));
      }
    } else {
      for (int64_t c = 0; c < classes_; ++c) {
        const double all = weights_[static_cast<size_t>(c)];
        double sum = with_missing ? P::weight(missing[c]) : 0;
        for (int64_t k = 0; k < count; ++k) {
          sum += P::weight(cells_[present_[k] * classes_ + c]);
          left_term_[k] += term(sum);
          right_term_[k] += term(all - sum);
        }
      }
    }
  }

  /// A value at random between the least and the greatest of the first `bins` that have rows.
  double draw_threshold(uint64_t key, int64_t feature, int64_t bins) const {
    const double low = in_.low[feature * kForestBins + present_[0]];
    const double high = in_.high[feature * kForestBins + present_[bins - 1]];
    // Attempts that the draws of features never reach.
    const PhiloxBlock block = philox_block({options_.seed, static_cast<uint32_t>(2 * number_ + 1)},
                                           key, 1u << 31 | static_cast<uint32_t>(feature));
    const double share = std::ldexp(static_cast<double>(philox_word(block, 0) >> 11), -53);
    return low * (1 - share) + high * share;
  }

  /// Tries the splits between the `count` bins that have rows, all or one, and clears them; returns
  /// whether there is more than one bin.
  bool scan(uint64_t key, int64_t feature, int64_t count, Split& best) {
    const double* low = in_.low + feature * kForestBins;
    const double* high = in_.high + feature * kForestBins;
    const bool missing = present_[count - 1] == kForestMissing;
    const int64_t bins = count - (missing ? 1 : 0);
    Split split;
    split.feature = feature;
    split.has_missing = missing;
    int64_t only = -1;  // the one split that is tried
    double drawn = 0;
    if (options_.random_splits && bins > 1) {
      drawn = draw_threshold(key, feature, bins);
      for (only = 0; only + 2 < bins && high[present_[only + 1]] <= drawn;) ++only;
    }
    for (const bool missing_left : {false, true}) {
      if (count < 2 || (missing_left && !missing)) break;
      const int64_t all = missing && !missing_left ? bins : bins - 1;
      const int64_t splits = only < 0 ? all : only + 1;
      add_left(splits, missing_left);
      for (int64_t k = 0; k < splits; ++k)
        left_term_[k] =
            score(left_term_[k], left_weight_[k], right_term_[k], weight_ - left_weight_[k]);
      for (int64_t k = std::max<int64_t>(only, 0); k < splits; ++k) {
        if (!(left_term_[k] > split.score)) continue;
        const int64_t few = std::min(left_count_[k], size_ - left_count_[k]);
        const double light = std::min(left_weight_[k], weight_ - left_weight_[k]);
        if (few < options_.min_samples_leaf || light < min_weight_) continue;
        split.score = left_term_[k];
        split.bin = present_[k];
        split.threshold = std::numeric_limits<double>::infinity();  // only NaN goes right
        if (k + 1 < bins) {
          const double from = high[present_[k]], to = low[present_[k + 1]];
          const bool between = only >= 0 && drawn >= from && drawn < to;
          split.threshold = between ? drawn : forest_middle(from, to);
        }
        split.missing_left = missing_left;
      }
    }
    best.take(split);
    for (int64_t k = 0; k < count; ++k) {
      std::fill_n(cells_ + present_[k] * classes_, classes_, Packed{0});
      sums_[present_[k]] = 0;
    }
    return count > 1;
  }

  /// Moves the rows that go left before the others, each in order; returns where those begin.
  int64_t divide(const Split& split, int64_t begin, int64_t end) {
    const uint8_t* codes = in_.codes + split.feature * in_.rows;
    uint32_t* rows = rows_;
    uint32_t* others = others_;
    // As bytes, the code of NaN plus one is 0: before all bins, or after them.
    const uint8_t shift = split.missing_left ? 1 : 0;
    const auto last = static_cast<uint8_t>(split.bin + shift);
    int64_t middle = begin, kept = 0;
    for (int64_t i = begin; i < end; ++i) {
      const uint32_t row = rows[i];
      const bool left = static_cast<uint8_t>(codes[row] + shift) <= last;
      rows[middle] = row;
      others[kept] = row;
      middle += left ? 1 : 0;
      kept += left ? 0 : 1;
    }
    std::copy_n(others, kept, rows + middle);
    return middle;
  }

  /// Shares of the classes, or the mean; that of a leaf by the targets themselves, in order.
  void add_value(int64_t begin, int64_t end, bool leaf) {
    if constexpr (!kTargets) {
      for (const double weight : weights_) tree_.value.push_back(weight / weight_);
    } else if (!leaf) {
      tree_.value.push_back(in_.center + static_cast<double>(deviation_) * in_.unit / weight_);
    } else if (least_ == greatest_) {
      tree_.value.push_back(least_);
    } else {
      double sum = 0;
      for (int64_t i = begin; i < end; ++i)
        sum += static_cast<double>(weight(rows_[i])) * (in_.y[rows_[i]] - in_.center);
      tree_.value.push_back(in_.center + sum / weight_);
    }
  }

  const ForestRows& in_;
  const ForestOptions& options_;
  const int64_t number_;
  const int64_t classes_;
  std::vector<Buffer> buffers_;
  uint32_t* rows_;    // of the tree, those of a node side by side
  uint32_t* others_;  // while a node is divided
  uint32_t* counts_;  // how often each row was drawn
  Packed* packed_;    // of the rows of the node at hand
  Detail* detail_;    // the same
  Packed* cells_;     // of the feature at hand, [kCodes, classes]
  int64_t* sums_;     // the same, of targets
  std::vector<int64_t> class_weights_, features_;
  std::vector<size_t> swapped_;
  uint8_t present_[kCodes] = {};
  ForestTree tree_;
  // Of the node at hand.
  int64_t begin_ = 0, size_ = 0;
  double least_ = 0, greatest_ = 0, root_weight_ = 0, min_weight_ = 0;
  double weight_ = 0;
  std::vector<double> weights_;  // by class
  int64_t deviation_ = 0;
  // Of the splits of a feature: what lies left of each, and how well it parts the node.
  int64_t left_count_[kCodes] = {};
  double left_weight_[kCodes] = {}, left_term_[kCodes] = {}, right_term_[kCodes] = {};
};

template <class Packed>
ForestTree grow(const ForestRows& rows, const ForestOptions& options, int64_t number) {
  switch (options.criterion) {
    case ForestCriterion::kGini:
      return Grower<Packed, ForestCriterion::kGini>(rows, options, number).grow();
    case ForestCriterion::kEntropy:
      return Grower<Packed, ForestCriterion::kEntropy>(rows, options, number).grow();
    default:
      return Grower<Packed, ForestCriterion::kSquaredError>(rows, options, number).grow();
  }
}

/// Runs `body(first, count, values, leaves)` for blocks of rows, `values` being theirs as float64,
/// with room for their leaves.
template <class F>
void for_blocks(const Tensor& x, F body) {
  constexpr int64_t kRows =
      8192;  // of 1024, the walk takes 1.6 times as long: trees leave the cache
  const int64_t rows = x.shape()[0], columns = x.shape()[1];
  parallel_for((rows + kRows - 1) / kRows, [&](int64_t block) {
    const int64_t first = block * kRows, count = std::min(kRows, rows - first);
    Buffer scratch = Buffer::allocate(count * columns * static_cast<int64_t>(sizeof(double)));
    Buffer leaves =
        Buffer::allocate((2 * count + kForestTogether) * static_cast<int64_t>(sizeof(int64_t)));
    auto* values = scratch.mutable_as<double>();
    visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
      for (int64_t i = 0; i < count; ++i) {
        const T* row = x.as<T>() + (first + i) * x.strides()[0];
        for (int64_t j = 0; j < columns; ++j)
          values[i * columns + j] = static_cast<double>(row[j * x.strides()[1]]);
      }
    });
    body(first, count, values, leaves.mutable_as<int64_t>());
  });
}

}  // namespace

void forest_draw(const ForestRows& rows, const ForestOptions& options, int64_t number,
                 uint32_t* counts) {
  std::fill_n(counts, rows.rows, options.bootstrap == 0 ? 1 : 0);
  const RandomKey key{options.seed, static_cast<uint32_t>(2 * number)};
  PhiloxBlock block{};
  for (int64_t i = 0; i < options.bootstrap; ++i) {
    if (i % 2 == 0) block = philox_block(key, static_cast<uint64_t>(i / 2));
    const uint64_t word = philox_word(block, static_cast<int>(i % 2));
    if (rows.cumulative == nullptr) {
      ++counts[below(word, static_cast<uint64_t>(rows.rows))];
    } else {
      const auto* end = rows.cumulative + rows.rows;
      const auto total = static_cast<uint64_t>(end[-1]);
      ++counts[std::upper_bound(rows.cumulative, end, static_cast<int64_t>(below(word, total))) -
               rows.cumulative];
    }
  }
}

ForestTree forest_grow(const ForestRows& rows, const ForestOptions& options, int64_t number) {
  if (rows.weights != nullptr || options.balance_samples) return grow<Wide>(rows, options, number);
  return grow<uint64_t>(rows, options, number);
}

void forest_take(const Tensor& x, const int64_t* rows, int64_t count, double* out) {
  const int64_t columns = x.shape()[1];
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < columns; ++j)
        out[i * columns + j] =
            static_cast<double>(x.as<T>()[rows[i] * x.strides()[0] + j * x.strides()[1]]);
  });
}

void forest_measure_paths(ForestTree& tree) {
  BudgetedVector<double> depth(tree.link.size());
  for (size_t node = 0; node < depth.size(); ++node) {
    tree.value[node] = depth[node] + isolation_path(static_cast<double>(tree.samples[node]));
    if (tree.link[node] < 0) continue;
    depth[node + 1] = depth[static_cast<size_t>(tree.link[node] >> 32)] = depth[node] + 1;
  }
}

void forest_predict(const Forest& model, const Tensor& x, double* out) {
  const int64_t trees = model.offsets.num_elements() - 1, columns = x.shape()[1];
  const int64_t outputs = model.value.shape()[1];
  for_blocks(x, [&](int64_t first, int64_t count, const double* values, int64_t* leaves) {
    double* sums = out + first * outputs;
    std::fill_n(sums, count * outputs, 0.0);
    for (int64_t tree = 0; tree < trees; ++tree) {
      const ForestNodes nodes(model, tree);
      forest_leaves(nodes, values, count, columns, leaves);
      const double* value = model.value.as<double>() + nodes.begin * outputs;
      for (int64_t i = 0; i < count; ++i)
        for (int64_t k = 0; k < outputs; ++k)
          sums[i * outputs + k] += value[leaves[i] * outputs + k];
    }
    for (int64_t i = 0; i < count * outputs; ++i) sums[i] /= static_cast<double>(trees);
  });
}

void forest_apply(const Forest& model, const Tensor& x, int64_t* out) {
  const int64_t trees = model.offsets.num_elements() - 1, columns = x.shape()[1];
  for_blocks(x, [&](int64_t first, int64_t count, const double* values, int64_t* leaves) {
    for (int64_t tree = 0; tree < trees; ++tree) {
      forest_leaves(ForestNodes(model, tree), values, count, columns, leaves);
      for (int64_t i = 0; i < count; ++i) out[(first + i) * trees + tree] = leaves[i];
    }
  });
}

void forest_add_unseen(const Forest& model, int64_t tree, const Tensor& x, const uint32_t* counts,
                       double* sums, int64_t* trees) {
  const ForestNodes nodes(model, tree);
  const int64_t outputs = model.value.shape()[1], columns = x.shape()[1];
  const double* value = model.value.as<double>() + nodes.begin * outputs;
  for_blocks(x, [&](int64_t first, int64_t count, const double* values, int64_t* leaves) {
    forest_leaves(nodes, values, count, columns, leaves);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = first + i;
      if (counts[row] != 0) continue;
      for (int64_t k = 0; k < outputs; ++k)
        sums[row * outputs + k] += value[leaves[i] * outputs + k];
      ++trees[row];
    }
  });
}

}  // namespace hr::cpu
