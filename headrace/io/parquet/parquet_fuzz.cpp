// SPDX-License-Identifier: Apache-2.0
// Any bytes given to the Parquet reader end in a table or an error, within the budget, and always
// the same one: whole or in batches, at any SIMD level. Each value of a table can be read.
#include "headrace/base/error.h"
#include "headrace/base/simd.h"
#include "headrace/base/utf8.h"
#include "headrace/data/column.h"
#include "headrace/data/dictionary.h"
#include "headrace/data/struct_fields.h"
#include "headrace/io/fuzz_testing.h"
#include "headrace/io/parquet/file.h"
#include "headrace/plan/graph/node.h"
#include "headrace/plan/graph/node_fields.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>

namespace hr {
namespace {

using fuzzing::expect_same;
using fuzzing::kTooLarge;

constexpr size_t kOptionBytes = 1;
const std::string kError = "error";

void broken(const char* what) {
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

void append(const Column& column, int64_t rows, std::string& text) {
  for (int64_t row = 0; row < rows; ++row) {
    if (column.is_null(row)) {
      text += "null";
    } else if (column.dtype().has_items()) {
      const Column items = column.list(row);
      text += '[';
      append(items, items.num_rows(), text);
    } else if (column.dtype().is_struct()) {
      text += '{';
      for (const Column& field : struct_fields("fuzz", column.slice(row, 1)))
        append(field, 1, text);
    } else if (column.dtype().has_text()) {
      const std::string_view cell = column.string(row);
      if (!is_valid_utf8(cell)) broken("a string is not UTF-8");
      text.append(std::to_string(cell.size())).append(cell);
    } else if (column.dtype().is_bool()) {
      text += column.bit(row) ? '1' : '0';
    } else {
      const auto size = static_cast<size_t>(column.dtype().size_bytes());
      const auto at = static_cast<size_t>(column.offset() + row) * size;
      text.append(reinterpret_cast<const char*>(column.values_buffer().data()) + at, size);
    }
    text += '\n';
  }
}

std::string told(const Table& table) {
  std::string text;
  for (const Column& column : table.columns()) append(column, column.num_rows(), text);
  return text;
}

template <class Work>
std::string outcome(const Work& work) {
  try {
    return work();
  } catch (const OutOfMemoryError&) {
    return kTooLarge;
  } catch (const Error&) {
    return kError;  // which of several comes first may differ too
  }
}

}  // namespace
}  // namespace hr

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*words*/) {
  return hr::fuzzing::begin();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hr;
  if (size < kOptionBytes) return 0;
  const uint8_t option = data[0];
  set_simd_level(best_simd_level());
  {
    Buffer bytes = Buffer::allocate(static_cast<int64_t>(size - kOptionBytes));
    if (size > kOptionBytes)
      std::memcpy(bytes.mutable_data(), data + kOptionBytes, size - kOptionBytes);
    const Source source = Source::bytes(std::move(bytes));
    std::string other = kError;
    const std::string whole = outcome([&] {
      const ParquetFile file("read_parquet", "x",
                             [&] { return source.open("read_parquet", Compression::kNone); });
      std::vector<int64_t> columns;
      for (size_t c = 0; c < file.names().size(); ++c) {
        const auto place = static_cast<int64_t>(c);
        try {
          file.scan({place});  // leaves out what cannot be read
        } catch (const UnsupportedError&) {
          continue;
        }
        columns.push_back(place);
      }
      other = outcome([&] {
        set_simd_level(std::min(best_simd_level(), static_cast<SimdLevel>(option % 3)));
        const NodePtr scan = file.scan(columns);
        // More rows than there are, in batches.
        const NodePtr batches = scan->fields().table().limited({}, INT64_MAX);
        return told(std::get<Table>(force(batches)));
      });
      set_simd_level(best_simd_level());
      return told(file.read(columns));
    });
    expect_same(whole, other, "batches at another SIMD level");
  }
  fuzzing::expect_memory_kept();
  return 0;
}
