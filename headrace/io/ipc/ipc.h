// SPDX-License-Identifier: Apache-2.0
// Arrow IPC files and streams to tables.
#pragma once
#include "headrace/data/table.h"
#include "headrace/io/source.h"
#include "headrace/plan/graph/node.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hr {

/// An Arrow IPC file (Feather 2) or stream whose messages are read and whose bodies are not. Copies
/// share the state; functions may be called again and again, from any thread.
class HR_API IpcFile {
 public:
  using Open = std::function<std::shared_ptr<ByteSource>()>;

  /// `open` gives the bytes anew for each reading. Throws InputError for bytes that are no Arrow
  /// IPC or contradict it, UnsupportedError for big-endian data, versions before 1.0, Feather 1.
  IpcFile(std::string op, std::string name, Open open);

  const std::vector<std::string>& names() const;

  /// The columns at these places, from bodies plain or compressed by lz4 or zstd, by all workers.
  /// Numbers and times of batches that are not compressed are read straight to their place; strings
  /// get views there and keep text that does not fit in them, dictionaries become categories, lists
  /// spans. Nothing in the file is believed: sizes, offsets, views, codes, digits and text are
  /// checked. Throws InputError naming column and batch for what is damaged, UnsupportedError for a
  /// type that Headrace does not have, OutOfMemoryError.
  Table read(const std::vector<int64_t>& columns) const;

  /// The table of these columns as a plan node: a plan reads only those that it needs, and only the
  /// batches that its first rows are in.
  NodePtr scan(const std::vector<int64_t>& columns) const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace hr
