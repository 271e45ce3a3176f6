// SPDX-License-Identifier: Apache-2.0
// Interned owner tags.
#include "headrace/memory/log/tag.h"

#include "headrace/base/process_global.h"
#include "headrace/memory/log/tag_stack.h"
#include "headrace/memory/log/trace.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <array>
#include <deque>
#include <map>
#include <mutex>

namespace hr {

namespace {

struct TagTable {
  std::mutex mutex;
  std::map<std::array<std::string, 3>, Tag> numbers;
  std::deque<TagInfo> infos{TagInfo{}};
  std::deque<std::string> stacks{""};

  TagTable() { lock_over_fork(mutex, true); }
};

TagTable& table() {
  return process_global<TagTable>();  // lives to the very end: buffers may outlive main
}

thread_local Tag tag_in_force = 0;

}  // namespace

Tag intern_tag(std::string_view op, std::string_view line) {
  return intern_tag(op, line, {});
}

Tag intern_tag(std::string_view op, std::string_view line, std::string_view stack) {
  if (!memory_trace()) return 0;
  TagTable& tags = table();
  const std::lock_guard lock(tags.mutex);
  auto [it, added] =
      tags.numbers.try_emplace({std::string(op), std::string(line), std::string(stack)},
                               static_cast<Tag>(tags.infos.size()));
  if (added) {
    tags.infos.push_back({std::string(op), std::string(line)});
    tags.stacks.emplace_back(stack);
  }
  return it->second;
}

std::string tag_stack(Tag tag) {
  TagTable& tags = table();
  const std::lock_guard lock(tags.mutex);
  return tags.stacks[tag];
}

TagInfo tag_info(Tag tag) {
  TagTable& tags = table();
  const std::lock_guard lock(tags.mutex);
  return tags.infos[tag];
}

Tag tag_count() {
  TagTable& tags = table();
  const std::lock_guard lock(tags.mutex);
  return static_cast<Tag>(tags.infos.size());
}

Tag current_tag() {
  return memory_trace() ? tag_in_force : 0;
}

ScopedTag::ScopedTag(Tag tag) : previous_(tag_in_force) {
  tag_in_force = tag;
}

Tag operator_tag(std::string_view op) {
  if (current_tag() == 0) return intern_tag(op);
  return intern_tag(op, tag_info(tag_in_force).line, tag_stack(tag_in_force));
}

ScopedTag::ScopedTag(std::string_view op) : ScopedTag(operator_tag(op)) {}

ScopedTag::~ScopedTag() {
  tag_in_force = previous_;
}

}  // namespace hr
