// SPDX-License-Identifier: Apache-2.0
// Interned owner tags.
#include "headrace/memory/tag.h"

#include "headrace/memory/buffer_rep.h"
#include "headrace/memory/trace.h"

#include <deque>
#include <map>
#include <mutex>

namespace hr {

namespace {

struct TagTable {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, Tag> numbers;
  std::deque<TagInfo> infos{TagInfo{}};

  TagTable() { lock_over_fork(mutex, true); }
};

TagTable& table() {
  static TagTable* const leaked = new TagTable;  // lives to the very end: buffers may outlive main
  return *leaked;
}

thread_local Tag tag_in_force = 0;

}  // namespace

Tag intern_tag(std::string_view op, std::string_view line) {
  if (!memory_trace()) return 0;
  TagTable& tags = table();
  const std::lock_guard lock(tags.mutex);
  auto [it, added] = tags.numbers.try_emplace({std::string(op), std::string(line)},
                                              static_cast<Tag>(tags.infos.size()));
  if (added) tags.infos.push_back({std::string(op), std::string(line)});
  return it->second;
}

TagInfo tag_info(Tag tag) {
  TagTable& tags = table();
  const std::lock_guard lock(tags.mutex);
  return tags.infos[tag];
}

Tag current_tag() {
  return memory_trace() ? tag_in_force : 0;
}

ScopedTag::ScopedTag(Tag tag) : previous_(tag_in_force) {
  tag_in_force = tag;
}

ScopedTag::ScopedTag(std::string_view op)
    : ScopedTag(current_tag() == 0 ? intern_tag(op) : intern_tag(op, tag_info(tag_in_force).line)) {
}

ScopedTag::~ScopedTag() {
  tag_in_force = previous_;
}

}  // namespace hr
