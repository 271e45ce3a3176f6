// SPDX-License-Identifier: Apache-2.0
// Interned owner tags.
#include "headrace/memory/log/tag.h"

#include "headrace/base/process_global.h"
#include "headrace/memory/log/tag_stack.h"
#include "headrace/memory/log/trace.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>

namespace hr {

namespace {

struct StringHash : std::hash<std::string_view> {
  using is_transparent = void;
};

struct TagTable {
  std::mutex mutex;
  std::unordered_map<std::string, Tag, StringHash, std::equal_to<>> numbers;  // by all three
  std::deque<TagInfo> infos{TagInfo{}};
  std::deque<std::string> stacks{""};
  std::string key;  // of the tag that is looked up: its memory is used again

  TagTable() { lock_over_fork(mutex, true); }

  /// With the mutex held.
  Tag number(std::string_view op, std::string_view line, std::string_view stack) {
    key = op;
    (key += '\0') += line;
    (key += '\0') += stack;
    const auto found = numbers.find(std::string_view(key));
    if (found != numbers.end()) return found->second;
    const auto tag = static_cast<Tag>(infos.size());
    infos.push_back({std::string(op), std::string(line)});
    stacks.emplace_back(stack);
    numbers.emplace(key, tag);
    return tag;
  }
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
  return tags.number(op, line, stack);
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
  if (!memory_trace()) return 0;
  // The same one for each of thousands of columns.
  struct Last {
    std::string op;
    Tag in_force = 0, tag = 0;
  };
  thread_local Last last;
  if (last.op == op && last.in_force == tag_in_force && last.tag != 0) return last.tag;
  TagTable& tags = table();
  const std::lock_guard lock(tags.mutex);
  const Tag tag = tags.number(op, tags.infos[tag_in_force].line, tags.stacks[tag_in_force]);
  last = {std::string(op), tag_in_force, tag};
  return tag;
}

ScopedTag::ScopedTag(std::string_view op) : ScopedTag(operator_tag(op)) {}

ScopedTag::~ScopedTag() {
  tag_in_force = previous_;
}

}  // namespace hr
