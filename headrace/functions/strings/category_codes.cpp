// SPDX-License-Identifier: Apache-2.0
// Of categories the values are looked up once each, and rows take the codes of theirs.
#include "headrace/functions/strings/category_codes.h"

#include "headrace/algo/keys/hash_rows.h"
#include "headrace/algo/select/map_rows.h"
#include "headrace/base/error.h"
#include "headrace/functions/strings/category_codes_kernels.h"
#include "headrace/memory/log/tag.h"

#include <limits>

namespace hr {
namespace {

constexpr std::string_view kOp = "category_codes";

void check(Dtype values, Dtype vocabulary, int64_t buckets) {
  const Dtype dtype = values.is_category() ? values.item() : values;
  if (dtype.is_nested() || dtype.is_complex() || dtype.is_decimal())
    throw_error<UnsupportedError>(kOp, "values of this dtype have no codes",
                                  {{"dtype", dtype.name()}}, "convert them with astype()");
  if (dtype != vocabulary)
    throw_error<TypeMismatchError>(kOp, "the vocabulary is of another dtype than the values",
                                   {{"values", dtype.name()}, {"vocabulary", vocabulary.name()}},
                                   "convert one of them with astype()");
  if (buckets < 1 || buckets > std::numeric_limits<int32_t>::max() - kFirstBucket)
    throw_error<InvalidArgumentError>(kOp, "expected at least one bucket, and codes of 32 bits",
                                      {{"buckets", buckets}});
}

// Of one bucket none are needed.
Column hashes_of(const Column& values, int64_t buckets) {
  return buckets == 1 ? Column() : hash_rows(std::span(&values, 1));
}

const uint64_t* numbers(const Column& hashes) {
  return hashes.num_rows() == 0 ? nullptr : hashes.values<uint64_t>().data();
}

struct CategoryCodes final : OperatorOf<CategoryCodes> {
  int64_t buckets = 1;

  std::string_view name() const override { return kOp; }

  std::string arguments() const override { return "buckets=" + std::to_string(buckets); }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  Value execute(std::span<const Value> inputs) const override {
    return category_codes(std::get<Column>(inputs[0]), std::get<Column>(inputs[1]), buckets);
  }

  static auto parameters(auto& self) { return std::tie(self.buckets); }
};

}  // namespace

Column category_codes(const Column& values, const Column& vocabulary, int64_t buckets) {
  const ScopedTag tag(kOp);
  check(values.dtype(), vocabulary.dtype(), buckets);
  if (vocabulary.null_count() > 0)
    throw_error<InvalidArgumentError>(kOp, "a value of the vocabulary is missing",
                                      {{"missing", vocabulary.null_count()}});
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (vocabulary.num_rows() > kMost - kFirstBucket - buckets)
    throw_error<InvalidArgumentError>(kOp, "more codes than 32 bits have",
                                      {{"values", vocabulary.num_rows()}, {"buckets", buckets}});
  DictionaryBuilder table;
  if (table.add_all(vocabulary))
    throw_error<InvalidArgumentError>(
        kOp, "a value comes twice in the vocabulary",
        {{"values", vocabulary.num_rows()}, {"distinct", table.size()}});
  const auto shared = static_cast<int32_t>(buckets);
  constexpr int64_t kWidth = sizeof(int32_t);
  const int64_t rows = values.num_rows();
  Buffer made = Buffer::allocate_spillable(kWidth * rows);
  if (rows == 0) return Column(TypeId::kInt32, 0, std::move(made));
  auto* const out = made.mutable_as<int32_t>();
  if (values.dtype().is_category()) {
    const Column& known = values.dictionary()->values();
    std::vector<int32_t> of_known(static_cast<size_t>(known.num_rows()));
    const Column hashes = hashes_of(known, buckets);
    cpu::category_codes_kernel(known, table, numbers(hashes), shared, 0, known.num_rows(),
                               of_known.data());
    parallel_morsels(rows, {reads(values), writes(made, kWidth)}, [&](Morsel morsel) {
      const auto codes = values.values<int32_t>();
      for (int64_t row = morsel.begin; row < morsel.end; ++row)
        out[row] = values.is_null(row)
                       ? kMissingCode
                       : of_known[static_cast<size_t>(codes[static_cast<size_t>(row)])];
    });
  } else {
    const Column hashes = hashes_of(values, buckets);
    parallel_morsels(rows, {reads(values), writes(made, kWidth)}, [&](Morsel morsel) {
      cpu::category_codes_kernel(values, table, numbers(hashes), shared, morsel.begin, morsel.end,
                                 out);
    });
  }
  return Column(TypeId::kInt32, rows, std::move(made));
}

NodePtr category_codes(const NodePtr& values, const NodePtr& vocabulary, int64_t buckets) {
  Signature signature = values->signature();
  check(signature.dtype, vocabulary->signature().dtype, buckets);
  signature.dtype = TypeId::kInt32;
  signature.nullable = false;
  return apply_operator(CategoryCodes::make(buckets), std::move(signature), {values, vocabulary});
}

}  // namespace hr
