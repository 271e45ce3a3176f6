// SPDX-License-Identifier: Apache-2.0
// Any bytes given to the Arrow IPC reader, taken for a file or a stream, end in a table or an
// error, within the budget, and always in the same: from memory and from a pipe, whole and batch by
// batch. Each value of a table can be read.
#include "headrace/io/fuzz_table_testing.h"
#include "headrace/io/ipc/ipc.h"
#include "headrace/plan/graph/node.h"
#include "headrace/plan/graph/node_fields.h"

#include <cstdint>
#include <string>
#include <vector>

namespace hr {
namespace {

using fuzzing::kError;
using fuzzing::outcome;
using fuzzing::told;

IpcFile opened(const Source& source) {
  return IpcFile("read_ipc", "x", [source] { return source.open("read_ipc", Compression::kNone); });
}

// Leaves out what is of a type that Headrace does not have.
std::vector<int64_t> readable_columns(const IpcFile& file) {
  std::vector<int64_t> columns;
  for (int64_t c = 0; c < std::ssize(file.names()); ++c) {
    try {
      file.scan({c});
      columns.push_back(c);
    } catch (const UnsupportedError&) {
    }
  }
  return columns;
}

}  // namespace
}  // namespace hr

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*words*/) {
  return hr::fuzzing::begin();
}

// The first byte says in which steps a pipe gives the others.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hr;
  if (size < 1) return 0;
  const size_t step = size_t{1} << (data[0] & 15);
  ++data;
  --size;
  {
    std::string batches = kError;
    const std::string whole = outcome([&] {
      const IpcFile file = opened(fuzzing::memory_source(data, size));
      const std::vector<int64_t> columns = readable_columns(file);
      batches = outcome([&] {
        // More rows than there are, in batches.
        const NodePtr node = file.scan(columns)->fields().table().limited({}, INT64_MAX);
        return told(std::get<Table>(force(node)));
      });
      return told(file.read(columns));
    });
    fuzzing::expect_same(whole, batches, "batch by batch");
    const std::string piped = outcome([&] {
      const IpcFile file = opened(fuzzing::stream_source(data, size, step));
      return told(file.read(readable_columns(file)));
    });
    fuzzing::expect_same(whole, piped, "a pipe");
  }
  fuzzing::expect_memory_kept();
  return 0;
}
