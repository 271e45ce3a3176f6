// SPDX-License-Identifier: Apache-2.0
// Blocks of rows: the slots of all are fetched before the first is read.
#include "headrace/data/string_reader.h"
#include "headrace/functions/strings/category_codes.h"
#include "headrace/functions/strings/category_codes_kernels.h"

#include <algorithm>
#include <array>
#include <optional>

namespace hr::cpu {
namespace {

constexpr int64_t kBlock = 16;

}  // namespace

void category_codes_kernel(const Column& values, const DictionaryBuilder& vocabulary,
                           const uint64_t* hashes, int32_t buckets, int64_t begin, int64_t end,
                           int32_t* out) {
  const int32_t first = kFirstBucket + buckets;
  std::optional<StringReader> strings;
  if (values.dtype().is_string()) strings.emplace(values);
  std::array<StringView, kBlock> space{};
  std::array<std::string_view, kBlock> texts{};
  std::array<bool, kBlock> there{};
  std::vector<StringKey> keys(kBlock, StringKey(std::string_view{}));
  for (int64_t from = begin; from < end; from += kBlock) {
    const auto rows = static_cast<size_t>(std::min(kBlock, end - from));
    for (size_t i = 0; i < rows; ++i) {
      const int64_t row = from + static_cast<int64_t>(i);
      there[i] = strings ? !values.is_null(row) : text_of_value(values, row, space[i]);
      if (!there[i]) continue;
      texts[i] = strings ? (*strings)[row] : std::string_view(space[i].inlined, space[i].size);
      keys[i] = StringKey(texts[i]);
      vocabulary.fetch(keys[i]);
    }
    for (size_t i = 0; i < rows; ++i)
      if (there[i]) vocabulary.fetch_text(keys[i]);
    for (size_t i = 0; i < rows; ++i) {
      int32_t code = kMissingCode;
      if (there[i]) {
        const int32_t place = vocabulary.find(keys[i], texts[i]);
        code = place >= 0 ? first + place : kFirstBucket;
        if (place < 0 && hashes)
          code += static_cast<int32_t>(hashes[from + static_cast<int64_t>(i)] %
                                       static_cast<uint64_t>(buckets));
      }
      out[from + static_cast<int64_t>(i)] = code;
    }
  }
}

}  // namespace hr::cpu
