// SPDX-License-Identifier: Apache-2.0
// Any table that is written as Arrow IPC, as a file or a stream, is read back as it was, within the
// budget.
#include "headrace/io/fuzz_draw_testing.h"
#include "headrace/io/fuzz_table_testing.h"
#include "headrace/io/ipc/ipc.h"
#include "headrace/io/ipc/ipc_write.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <unistd.h>

namespace hr {
namespace {

using fuzzing::TableDraw;
using fuzzing::told;

// A file of the process, in memory where there is such a folder. libFuzzer ends without destructors
// of what is static, so each input removes its own.
struct ScratchFile {
  const std::string path = [] {
    const std::filesystem::path memory = "/dev/shm";
    const auto folder =
        std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
    return (folder / ("headrace-fuzz-" + std::to_string(::getpid()) + ".arrow")).string();
  }();
  ~ScratchFile() { std::filesystem::remove(path); }
};

Table read(const std::string& path) {
  const Source source = Source::path(path);
  return fuzzing::read_all(
      IpcFile("read_ipc", "x", [&] { return source.open("read_ipc", Compression::kNone); }));
}

}  // namespace
}  // namespace hr

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*words*/) {
  return hr::fuzzing::begin();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hr;
  try {
    TableDraw draw(data, size);
    const uint8_t option = draw.byte();
    const IpcWriteOptions options{.stream = (option & 1) != 0,
                                  .compression = option & 2   ? IpcCompression::kZstd
                                                 : option & 4 ? IpcCompression::kLz4
                                                              : IpcCompression::kNone,
                                  .durable = false};
    const Table table = draw.table();
    const ScratchFile file;
    write_ipc(table, file.path, options);
    fuzzing::expect_same(told(table), told(read(file.path)), "read back");
  } catch (const OutOfMemoryError&) {
  }
  fuzzing::expect_memory_kept();
  return 0;
}
