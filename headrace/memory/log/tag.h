// SPDX-License-Identifier: Apache-2.0
// Owner tags: which operator, made by which Python line, an allocation or a copy belongs to.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace hr {

/// A small number that stands for an operator and a source line; 0 means untagged.
using Tag = uint32_t;

struct TagInfo {
  std::string op;    ///< the operator's public word, "read_csv"
  std::string line;  ///< the user's line, "etl.py:12", or empty
};

/// The number of this pair; equal pairs get equal numbers. Thread-safe; never forgotten. 0 while
/// the memory trace is off.
HR_API Tag intern_tag(std::string_view op, std::string_view line = {});
HR_API TagInfo tag_info(Tag tag);

/// The tag of the work that this thread does now. Workers take over the tag of the thread that
/// started the job.
HR_API Tag current_tag();

/// Sets the calling thread's tag until the end of the scope.
class HR_API ScopedTag {
 public:
  explicit ScopedTag(Tag tag);
  /// Tags with `op` and the line of the tag in force, so an eager C++ call keeps the Python line.
  explicit ScopedTag(std::string_view op);
  ~ScopedTag();
  ScopedTag(const ScopedTag&) = delete;
  ScopedTag& operator=(const ScopedTag&) = delete;

 private:
  Tag previous_;
};

}  // namespace hr
