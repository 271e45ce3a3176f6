// SPDX-License-Identifier: Apache-2.0
// Free blocks of devices.
#include "headrace/memory/device/device_blocks.h"

#include "headrace/memory/sync/fork_mutex.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace hr {

namespace {

bool first_keeps() {
  const char* const debug = std::getenv("HEADRACE_DEBUG_MEMORY");
  return !debug || std::string_view(debug) == "0";
}

}  // namespace

FreeDeviceBlocks::FreeDeviceBlocks() : forks_(fork_count()), process_(getpid()) {}

bool FreeDeviceBlocks::takes(void* stream, size_t bytes) const {
  static const bool keeps = first_keeps();
  return keeps && bytes <= kMostBlockBytes &&
         std::find(lasting_.begin(), lasting_.end(), stream) != lasting_.end();
}

void FreeDeviceBlocks::add_lasting_stream(void* stream) {
  lasting_.push_back(stream);
}

// A device is of no use in a child of the process that opened it, and neither are its blocks.
bool FreeDeviceBlocks::is_child() {
  const uint64_t forks = fork_count();
  if (forks == forks_) return false;
  forks_ = forks;
  const pid_t before = std::exchange(process_, getpid());
  return process_ != before;
}

DeviceBlockNode FreeDeviceBlocks::take(int device, void* stream, size_t bytes) {
  if (is_child()) devices_.clear();
  const auto free = devices_.find(device);
  if (free == devices_.end()) return {};
  const auto found = free->second.blocks.find({stream, device_block_size(bytes)});
  if (found == free->second.blocks.end() || found->second.empty()) return {};
  DeviceBlockNode block = std::move(found->second.back());
  found->second.pop_back();
  --free->second.count;
  free->second.bytes -= static_cast<int64_t>(found->first.bytes);
  return block;
}

void FreeDeviceBlocks::keep(DeviceBlockNode block, std::vector<DeviceBlockNode>& gone) {
  const int device = block.mapped().device;
  const Key key{block.mapped().stream, device_block_size(block.mapped().bytes)};
  const auto bytes = static_cast<int64_t>(key.bytes);
  const Free& now = devices_[device];
  if (now.count >= kMostBlocks || now.bytes + bytes > kMostBytes) gone = take_all(device);
  Free& free = devices_[device];
  free.blocks[key].push_back(std::move(block));
  ++free.count;
  free.bytes += bytes;
}

std::vector<DeviceBlockNode> FreeDeviceBlocks::take_all(int device) {
  std::vector<DeviceBlockNode> all;
  Free& free = devices_[device];
  for (auto& [key, blocks] : std::exchange(free, {}).blocks)
    for (DeviceBlockNode& block : blocks) all.push_back(std::move(block));
  return all;
}

int64_t FreeDeviceBlocks::bytes(int device) const {
  const auto found = devices_.find(device);
  return found == devices_.end() ? 0 : found->second.bytes;
}

}  // namespace hr
