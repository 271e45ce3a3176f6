// SPDX-License-Identifier: Apache-2.0
// Reading and writing of Arrow IPC.
#include "python/bind/bind.h"
#include "python/bind/interpreter.h"
#include "python/bind/protocols.h"
#include "python/bind/sources.h"

#include "headrace/base/error.h"
#include "headrace/io/ipc/ipc.h"
#include "headrace/io/ipc/ipc_write.h"

namespace {

hr::IpcCompression compression_of(std::string_view word) {
  if (word == "none") return hr::IpcCompression::kNone;
  if (word == "lz4") return hr::IpcCompression::kLz4;
  if (word == "zstd") return hr::IpcCompression::kZstd;
  hr::throw_error<hr::InvalidArgumentError>("to_ipc", "invalid value of an option",
                                            {{"compression", word}}, "use 'none', 'lz4' or 'zstd'");
}

}  // namespace

void bind_ipc(nb::module_& m) {
  nb::class_<hr::IpcFile>(m, "IpcFile")
      .def(nb::new_([](const std::string& op, nb::handle source, bool memory_map) {
             if (memory_map) {
               const std::string path = file_name(op, source);
               const GilReleased unlocked;
               const auto mapped = hr::mapped_source(op, path);
               return hr::IpcFile(op, path, [mapped] { return mapped; });
             }
             const hr::Source from = source_of(op, source);
             const GilReleased unlocked;
             return hr::IpcFile(op, from.name(),
                                [op, from] { return from.open(op, hr::Compression::kInfer); });
           }),
           "op"_a, "source"_a, "memory_map"_a)
      .def_prop_ro("names", &hr::IpcFile::names)
      .def("read", &hr::IpcFile::read, "columns"_a, Unlocked())
      .def("scan", &hr::IpcFile::scan, "columns"_a);
  m.def(
      "write_ipc",
      [](const hr::Table& table, const nb::str& path, bool stream, std::string_view compression,
         bool durable) {
        const std::string to = file_name("to_ipc", path);
        const hr::IpcCompression codec = compression_of(compression);
        const GilReleased unlocked;
        hr::write_ipc(table, to, {.stream = stream, .compression = codec, .durable = durable});
      },
      "table"_a, "path"_a, "stream"_a, "compression"_a, "durable"_a);
}
