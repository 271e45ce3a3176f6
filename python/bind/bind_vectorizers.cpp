// SPDX-License-Identifier: Apache-2.0
// Texts to sparse matrices.
#include "python/bind/bind.h"

#include "headrace/base/error.h"
#include "headrace/learn/text_counts.h"
#include "headrace/learn/tfidf.h"

namespace {

using hr::Column;
using hr::NodePtr;
using hr::Sparse;

const Column& column_of(const NodePtr& node) {
  const hr::Value& value = hr::force(node);
  if (!std::holds_alternative<Column>(value))
    hr::throw_error<hr::TypeMismatchError>("vectorizer", "expected a column of strings");
  return std::get<Column>(value);
}

/// Unit, lowercase, shortest word, least and most n, stop words.
using Options = std::tuple<std::string, bool, int64_t, int64_t, int64_t, std::optional<NodePtr>>;

hr::TextOptions options_from(const Options& from) {
  hr::TextOptions options;
  const auto& [unit, lowercase, shortest, least, most, stop_words] = from;
  options.unit = hr::text_unit_from_name(unit);
  options.lowercase = lowercase;
  options.shortest_word = shortest;
  options.least = least;
  options.most = most;
  if (stop_words) options.stop_words = column_of(*stop_words);
  return options;
}

hr::Dtype dtype_from(std::string_view name) {
  for (const hr::Dtype dtype :
       {hr::dtype_of<float>(), hr::dtype_of<double>(), hr::dtype_of<int64_t>()})
    if (dtype.name() == name) return dtype;
  hr::throw_error<hr::TypeMismatchError>("vectorizer", "no dtype of counts", {{"dtype", name}},
                                         "use int64, float32 or float64");
}

std::tuple<Sparse, NodePtr, int64_t> fit_terms(const NodePtr& texts, const Options& options,
                                               double least, double most,
                                               std::optional<int64_t> terms, bool binary,
                                               std::string_view dtype) {
  hr::VocabularyLimits limits{least, most};
  if (terms) limits.most_terms = *terms;
  hr::CountedTerms made =
      hr::count_terms(column_of(texts), options_from(options), limits, binary, dtype_from(dtype));
  return {std::move(made.counts), hr::lazy_value(std::move(made.terms)), made.found};
}

}  // namespace

void bind_vectorizers(nb::module_& m) {
  m.def("text_fit", fit_terms, "texts"_a, "options"_a, "least"_a, "most"_a, "terms"_a.none(),
        "binary"_a, "dtype"_a, Unlocked());
  m.def(
      "text_count",
      [](const NodePtr& texts, const Options& options, const NodePtr& vocabulary, bool binary,
         std::string_view dtype) {
        return hr::count_terms(column_of(texts), options_from(options), column_of(vocabulary),
                               binary, dtype_from(dtype));
      },
      "texts"_a, "options"_a, "vocabulary"_a, "binary"_a, "dtype"_a, Unlocked());
  m.def(
      "text_hash",
      [](const NodePtr& texts, const Options& options, int64_t columns, bool signs, bool binary,
         std::string_view dtype) {
        return hr::hash_terms(column_of(texts), options_from(options), columns, signs, binary,
                              dtype_from(dtype));
      },
      "texts"_a, "options"_a, "columns"_a, "signs"_a, "binary"_a, "dtype"_a, Unlocked());
  m.def(
      "text_terms",
      [](const NodePtr& texts, const Options& options) {
        return hr::find_terms(column_of(texts), options_from(options));
      },
      "texts"_a, "options"_a, Unlocked());
  m.def(
      "weigh_terms",
      [](const Sparse& counts, bool sublinear, const std::optional<NodePtr>& weights,
         std::optional<std::string> norm) {
        std::optional<hr::Tensor> factors;
        if (weights) factors = std::get<hr::Tensor>(hr::force(*weights));
        return hr::weigh_terms(counts, sublinear, factors,
                               norm ? hr::row_norm_from_name(*norm) : hr::RowNorm::kNone);
      },
      "counts"_a, "sublinear"_a, "weights"_a.none(), "norm"_a.none(), Unlocked());
}
