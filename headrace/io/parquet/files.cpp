// SPDX-License-Identifier: Apache-2.0
// Several Parquet files, opened together.
#include "headrace/exec/workers.h"
#include "headrace/io/parquet/file.h"

#include <optional>

namespace hr {

std::vector<ParquetFile> ParquetFile::open_paths(const std::string& op,
                                                 const std::vector<std::string>& paths) {
  std::vector<std::optional<ParquetFile>> opened(paths.size());
  parallel_for(std::ssize(paths), [&](int64_t task) {
    const auto at = static_cast<size_t>(task);
    const Source source = Source::path(paths[at]);
    opened[at].emplace(
        op, source.name(), [op, source] { return source.open(op, Compression::kNone); }, false);
  });
  std::vector<ParquetFile> files;
  for (std::optional<ParquetFile>& file : opened) files.push_back(*std::move(file));
  return files;
}

}  // namespace hr
