// SPDX-License-Identifier: Apache-2.0
// Any bytes of a model's file end in a model that answers or in an error: sizes and checksum are
// made right first, so that what the file says is reached. Each model answers twice, the same.
#include "headrace/algo/keys/hash.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/learn/model.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/log/ledger.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

namespace hr {
namespace {

constexpr int64_t kLimit = int64_t{1} << 26;
constexpr size_t kHead = 40;
constexpr int64_t kMostValues = 1 << 16;  // of rows to ask about

const std::string kPath = "/dev/shm/headrace_fuzz_model_" + std::to_string(getpid());

/// As the writer computes it.
uint64_t checksum(const std::string& bytes) {
  uint64_t state = 0;
  for (size_t at = 0; at < bytes.size(); at += 8) {
    if (at == 32) continue;
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min<size_t>(8, bytes.size() - at));
    state = hash_key(state + word) + word;
  }
  return hash_key(state ^ (bytes.size() - 8));
}

void put(std::string& bytes, size_t at, uint64_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// The input as the bytes of a file; where the last bit of the first byte is set, with a header
/// that has the right end, and sums that fit.
std::string file_of(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (!(data[0] & 1) || bytes.size() < kHead) return bytes;
  std::memcpy(bytes.data(), "\x89HRMODL\n\1\0\0\0\0\0\0", 16);
  uint64_t header = 0;
  std::memcpy(&header, bytes.data() + 16, 8);
  if (header > bytes.size() - kHead || (header + kHead) % 64 != 0)
    put(bytes, 16, bytes.size() / 64 * 64 - kHead);
  put(bytes, 24, bytes.size());
  put(bytes, 32, checksum(bytes));
  return bytes;
}

void write(const std::string& bytes) {
  std::FILE* const file = std::fopen(kPath.c_str(), "wb");
  if (!file || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() ||
      std::fclose(file) != 0)
    std::abort();
}

/// What a model says of some rows: bits of a number column, or the words.
std::string answer(const Model& model, int64_t count, int step) {
  const int64_t features = model.num_features();
  std::vector<double> rows(static_cast<size_t>(count * features));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<double>(i % 7) * step - 3.0;
  std::string text;
  try {
    const Column made = model.predict(rows.data(), count);
    for (int64_t row = 0; row < made.num_rows(); ++row) {
      if (made.is_null(row))
        text += "null";
      else if (made.dtype().is_string())
        text += made.string(row);
      else if (made.dtype().is_bool())
        text += made.bit(row) ? '1' : '0';
      else {
        const auto size = static_cast<size_t>(made.dtype().size_bytes());
        text.append(reinterpret_cast<const char*>(made.values_buffer().data()) +
                        static_cast<size_t>(made.offset() + row) * size,
                    size);
      }
    }
  } catch (const UnsupportedError& error) {
    return error.what();
  } catch (const InvalidArgumentError& error) {
    return error.what();
  } catch (const OutOfMemoryError&) {
    return "too large";
  }
  return text;
}

void fuzz(const uint8_t* data, size_t size) {
  write(file_of(data, size));
  Model model;
  try {
    model = load_model(kPath);
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    return;
  }
  const int64_t features = model.num_features();
  if (features < 1) std::abort();
  for (const int64_t count : {0, 1, 9}) {
    if (count * features > kMostValues) break;
    const std::string once = answer(model, count, 1 + (data[0] >> 4));
    if (answer(model, count, 1 + (data[0] >> 4)) != once) {
      std::fprintf(stderr, "broken: another answer\n");
      std::abort();
    }
  }
  try {
    const std::vector<double> rows(static_cast<size_t>(std::min(features, kMostValues)), 0.5);
    if (features <= kMostValues) {
      Buffer buffer = Buffer::allocate(features * 8);
      std::memcpy(buffer.mutable_data(), rows.data(), static_cast<size_t>(features) * 8);
      model.transform(Tensor(TypeId::kFloat64, {1, features}, std::move(buffer)));
    }
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
  }
}

}  // namespace
}  // namespace hr

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*words*/) {
  hr::set_threads(1);
  hr::set_memory_limit(hr::kLimit);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1) hr::fuzz(data, size);
  hr::clear_ledger();
  return 0;
}
