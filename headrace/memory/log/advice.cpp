// SPDX-License-Identifier: Apache-2.0
// The list of advice.
#include "headrace/memory/log/advice.h"

#include "headrace/base/process_global.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

namespace hr {

namespace {

constexpr size_t kMost = 1000;

struct AdviceList {
  ForkMutex mutex;
  std::deque<std::pair<Tag, std::string>> items;
};

AdviceList& list() {
  return process_global<AdviceList>();
}

}  // namespace

void give_advice(Tag tag, std::string text) {
  AdviceList& all = list();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.items, [&](const auto& item) { return item.first == tag; });
  if (all.items.size() == kMost) all.items.pop_front();
  all.items.emplace_back(tag, std::move(text));
}

std::vector<Advice> advice() {
  AdviceList& all = list();
  const std::lock_guard lock(all.mutex);
  std::vector<Advice> result;
  for (const auto& [tag, text] : all.items) {
    TagInfo info = tag_info(tag);
    result.push_back({std::move(info.op), std::move(info.line), text});
  }
  return result;
}

void clear_advice() {
  AdviceList& all = list();
  const std::lock_guard lock(all.mutex);
  all.items.clear();
}

}  // namespace hr
