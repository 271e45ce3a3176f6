// SPDX-License-Identifier: Apache-2.0
// Sums of decimals in limbs of 32 bits, of which 2^31 fit into 64.
#include "headrace/relational/aggregate/decimal_aggregate.h"

#include "headrace/algo/select/bitmap_builder.h"
#include "headrace/base/error.h"
#include "headrace/functions/decimal/decimal_arithmetic.h"

namespace hr {

namespace {

constexpr int kLimbBits = 32;

// The limbs of all rows, from the lowest; the last one keeps the sign.
std::vector<Column> limbs_of(const Column& column) {
  constexpr int kDigitsOfInt64 = 18;
  const size_t limbs = column.dtype().precision() <= kDigitsOfInt64 ? 2 : 4;
  const int64_t rows = column.num_rows();
  const Nulls null(column);
  const Buffer validity = null.bitmap(rows);
  std::vector<Column> result;
  for (size_t limb = 0; limb < limbs; ++limb) {
    const bool last = limb + 1 == limbs;
    Buffer buffer = Buffer::allocate_temporary(8 * rows);
    if (rows > 0) {
      const Int128* const in = column.values<Int128>().data();
      auto* const out = buffer.mutable_as<uint64_t>();
      const int shift = kLimbBits * static_cast<int>(limb);
      parallel_morsels(rows, {reads(column), writes(buffer, 8)}, [&](Morsel morsel) {
        for (int64_t row = morsel.begin; row < morsel.end; ++row) {
          const Int128 word = null(row) ? 0 : in[row] >> shift;
          out[row] = last ? static_cast<uint64_t>(word) : static_cast<uint32_t>(word);
        }
      });
    }
    buffer.seal();
    result.emplace_back(last ? TypeId::kInt64 : TypeId::kUInt64, rows, std::move(buffer), validity,
                        validity ? -1 : 0);
  }
  return result;
}

}  // namespace

int64_t DecimalRequests::float_place(int64_t column, std::vector<Column>& values) {
  const Column& decimals = values[static_cast<size_t>(column)];
  if (!decimals.dtype().is_decimal()) return column;
  for (const auto& [known, place] : floats_)
    if (known == column) return place;
  floats_.emplace_back(column, static_cast<int64_t>(values.size()));
  Column made = decimal_cast(decimals, TypeId::kFloat64);
  values.push_back(std::move(made));
  return floats_.back().second;
}

void DecimalRequests::add_sum(size_t request, std::vector<Column>& values,
                              std::vector<AggregateRequest>& requests) {
  const Column decimals = values[static_cast<size_t>(requests[request].column)];
  const std::vector<Column> limbs = limbs_of(decimals);
  sums_.push_back({request, requests.size(), limbs.size(),
                   aggregate_dtype(Aggregate::kSum, decimals.dtype(), AggregateForm::kGroup)});
  for (size_t limb = 0; limb < limbs.size(); ++limb) {
    AggregateRequest made = requests[request];
    made.column = static_cast<int64_t>(values.size());
    values.push_back(limbs[limb]);
    if (limb == 0)
      requests[request] = made;
    else
      requests.push_back(made);
  }
}

void DecimalRequests::finish(Grouped& grouped, size_t count) const {
  for (const Sum& sum : sums_) {
    const Column& lowest = grouped.values[sum.request];
    const int64_t groups = lowest.num_rows();
    std::vector<const Column*> limbs{&lowest};
    for (size_t limb = 1; limb < sum.limbs; ++limb)
      limbs.push_back(&grouped.values[sum.first_more + limb - 1]);
    const Nulls null(lowest);
    Buffer buffer = Buffer::allocate_spillable(16 * groups);
    if (groups > 0) {
      Int128* const out = buffer.mutable_as<Int128>();
      std::vector<BufferAccess> accesses{writes(buffer, 16)};
      for (const Column* limb : limbs) accesses.push_back(reads(*limb));
      parallel_morsels(groups, accesses, [&](Morsel morsel) {
        for (int64_t group = morsel.begin; group < morsel.end; ++group) {
          Int128 total = limbs.back()->values<int64_t>().data()[group];
          bool fits = true;
          for (size_t limb = limbs.size() - 1; limb-- > 0;)
            fits = fits && !__builtin_mul_overflow(total, Int128{1} << kLimbBits, &total) &&
                   !__builtin_add_overflow(
                       total, Int128{limbs[limb]->values<uint64_t>().data()[group]}, &total);
          if (null(group)) total = 0;
          if (!null(group) && !(fits && has_digits(total, kMostDigits)))
            throw_error<InvalidArgumentError>("sum", "a group's sum has more than 38 digits",
                                              {{"group", group}, {"dtype", sum.dtype.name()}},
                                              "use astype('float64') first");
          out[group] = total;
        }
      });
    }
    Column made(sum.dtype, groups, std::move(buffer), null.bitmap(groups), null.any() ? -1 : 0);
    grouped.values[sum.request] = std::move(made);
  }
  grouped.values.resize(count);
}

}  // namespace hr
