// SPDX-License-Identifier: Apache-2.0
// Normalized keys on a CUDA device as numbers without gaps, and strings by numbers.
#include "headrace/algo/keys/normalized_keys.h"
#include "headrace/algo/keys/normalized_keys_kernels.h"
#include "headrace/algo/keys/short_text_kernels.h"
#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/filter_kernels.h"
#include "headrace/algo/sort/string_codes.h"
#include "headrace/base/error.h"

#include <algorithm>

namespace hr {

// Strings as int32 numbers that `restored` knows; `top` is the host's. None if they are too many.
std::optional<NormalizedKeys::Field> NormalizedKeys::device_strings(const Column& column,
                                                                    NormalizeOptions options) {
  Field field;
  if constexpr (built_with_cuda) {
    if (take_short_texts(field, cuda::text_range(column))) {
      field.text_least = field.least;
      field.least = 0;
      field.column =
          cuda::text_numbers(column, field.texts.bytes, field.texts.size_bits, field.text_least);
    } else {
      if (column.num_rows() >= kTooManyRows) return {};
      RowCodes codes = encode_strings(column, options.ordered);
      field.entries = cuda::take_rows("groupby", column, codes.first_rows);
      field.column = std::move(codes.codes);
      field.top = static_cast<uint64_t>(std::max<int64_t>(codes.first_rows.num_elements(), 1) - 1);
    }
  }
  field.kind = Kind::kInteger;
  field.dtype = TypeId::kInt32;
  field.can_miss = column.null_count() > 0;
  return field;
}

bool NormalizedKeys::are_in_order_of_rows() const {
  return fields_.size() == 1 && fields_[0].entries.dtype().is_string() && !options_.ordered &&
         (!fields_[0].can_miss || options_.drop_missing);
}

RowCodes NormalizedKeys::to_codes(bool ordered) const {
  if constexpr (built_with_cuda) return cuda::encode_keys(*this, ordered);
  throw_error<InternalError>("groupby", "built without CUDA");
}

Column NormalizedKeys::restored(int64_t index, const Column& key) const {
  if (!given_[static_cast<size_t>(index)].dtype.is_string()) return key;
  const Field& field = fields_[static_cast<size_t>(index)];
  const int64_t rows = key.num_rows();
  if constexpr (built_with_cuda) {
    if (!field.entries.dtype().is_string())
      return cuda::texts_of_numbers(key, field.texts.bytes, field.texts.size_bits,
                                    field.text_least);
    if (field.entries.num_rows() == 0) return null_rows("groupby", field.entries, rows);
    const Column texts = cuda::take_rows("groupby", field.entries,
                                         Tensor(TypeId::kUInt32, {rows}, key.values_buffer()));
    return texts.with_rows(rows, texts.values_buffer(), key.validity_buffer(), key.null_count());
  }
  return key;
}

}  // namespace hr
