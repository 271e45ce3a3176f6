// SPDX-License-Identifier: Apache-2.0
// Copies through pinned blocks: all workers copy one block while the device copies those before.
#include "headrace/data/device_copy.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exec/device_stream.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/device/cuda_device.h"
#include "headrace/memory/device/pinned_resource.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

namespace hr {

namespace {

constexpr int64_t kBlockBytes = int64_t{8} << 20;
constexpr int64_t kBlocks = 4;
constexpr int64_t kPartBytes = int64_t{512} << 10;

// One for each device, made at first use.
void* stream_of_copies(int device) {
  static auto* const mutex = new std::mutex;
  static auto* const streams = new std::map<int, void*>;
  const std::lock_guard lock(*mutex);
  void*& stream = (*streams)[device];
  if (!stream) check_cuda("to", cuda_functions()->make_stream(&stream, 1));
  return stream;
}

PinnedRing ring_for(int64_t size_bytes, Stream stream) {
  return PinnedRing("to", std::min(size_bytes, kBlockBytes),
                    std::min(divide_up(size_bytes, kBlockBytes), kBlocks), stream);
}

void copy_on_host(std::byte* to, const std::byte* from, int64_t bytes) {
  parallel_for(divide_up(bytes, kPartBytes), [&](int64_t part) {
    const int64_t begin = part * kPartBytes;
    std::memcpy(to + begin, from + begin, static_cast<size_t>(std::min(kPartBytes, bytes - begin)));
  });
}

}  // namespace

PinnedRing::PinnedRing(std::string_view op, int64_t block_bytes, int64_t count, Stream stream)
    : op_(op),
      stream_(stream),
      scope_(op, stream_place(stream).index),
      copies_(stream_of_copies(stream_place(stream).index)) {
  const CudaFunctions& cuda = *cuda_functions();
  blocks_.resize(static_cast<size_t>(count));
  for (PinnedBlock& block : blocks_) {
    block.buffer = Buffer::allocate(block_bytes, pinned_resource());
    check_cuda(op_, cuda.make_event(&block.sent, 2));  // without a time
    check_cuda(op_, cuda.make_event(&block.done, 2));
  }
  begin_after(op_, copies_, native_stream(stream_));  // in its order memory of the device is new
}

PinnedRing::~PinnedRing() {
  for (const PinnedBlock& block : blocks_)
    for (void* const event : {block.sent, block.done}) {
      if (!event) continue;
      cuda_functions()->synchronize_event(event);
      cuda_functions()->end_event(event);
    }
}

PinnedBlock& PinnedRing::take(int64_t index) {
  PinnedBlock& block = blocks_[static_cast<size_t>(index) % blocks_.size()];
  if (const int status = cuda_functions()->synchronize_event(block.done); status != 0) {
    synchronize(stream_);  // names the operator that failed
    check_cuda(op_, status);
  }
  return block;
}

void PinnedRing::send(const PinnedBlock& block, int64_t begin, int64_t size_bytes,
                      const std::byte* to) const {
  check_cuda(op_, cuda_functions()->copy_to_device(reinterpret_cast<uint64_t>(to),
                                                   block.buffer.data() + begin,
                                                   static_cast<size_t>(size_bytes), copies_));
  check_cuda(op_, cuda_functions()->record_event(block.sent, copies_));
  check_cuda(op_, cuda_functions()->wait_event(native_stream(stream_), block.sent, 0));
}

void PinnedRing::fetch(PinnedBlock& block, const void* from, int64_t size_bytes) const {
  check_cuda(op_, cuda_functions()->copy_to_host(
                      block.buffer.mutable_data(), reinterpret_cast<uint64_t>(from),
                      static_cast<size_t>(size_bytes), native_stream(stream_)));
}

void PinnedRing::give(const PinnedBlock& block) const {
  check_cuda(op_, cuda_functions()->record_event(block.done, native_stream(stream_)));
}

void PinnedRing::give_when_sent(const PinnedBlock& block) const {
  check_cuda(op_, cuda_functions()->record_event(block.done, copies_));
}

void begin_after(std::string_view op, void* later, void* earlier) {
  const CudaFunctions& cuda = *cuda_functions();
  void* now = nullptr;
  check_cuda(op, cuda.make_event(&now, 2));  // without a time
  int status = cuda.record_event(now, earlier);
  if (status == 0) status = cuda.wait_event(later, now, 0);
  cuda.end_event(now);
  check_cuda(op, status);
}

void copy_to_cuda(const Buffer& from, int64_t begin, int64_t size_bytes, std::byte* to,
                  Stream stream) {
  PinnedRing ring = ring_for(size_bytes, stream);
  for (int64_t k = 0; k * kBlockBytes < size_bytes; ++k) {
    const int64_t done = k * kBlockBytes;
    const int64_t bytes = std::min(kBlockBytes, size_bytes - done);
    PinnedBlock& block = ring.take(k);
    {
      const Pin pin{{&from, begin + done, begin + done + bytes}};
      copy_on_host(block.buffer.mutable_data(), from.data() + begin + done, bytes);
    }
    ring.send(block, 0, bytes, to + done);
    ring.give(block);
  }
}

void copy_from_cuda(const std::byte* from, int64_t size_bytes, Buffer& to, Stream stream) {
  PinnedRing ring = ring_for(size_bytes, stream);
  std::byte* const out = to.mutable_data();
  const int64_t blocks = divide_up(size_bytes, kBlockBytes);
  const auto bytes_of = [&](int64_t k) {
    return std::min(kBlockBytes, size_bytes - k * kBlockBytes);
  };
  const auto queue = [&](int64_t k) {
    PinnedBlock& block = ring.take(k);
    ring.fetch(block, from + k * kBlockBytes, bytes_of(k));
    ring.give(block);
  };
  for (int64_t k = 0; k < std::min(blocks, kBlocks); ++k) queue(k);
  for (int64_t k = 0; k < blocks; ++k) {
    {
      const Pin pin{{&to, k * kBlockBytes, k * kBlockBytes + bytes_of(k), true}};
      copy_on_host(out + k * kBlockBytes, ring.take(k).buffer.data(), bytes_of(k));
    }
    if (k + kBlocks < blocks) queue(k + kBlocks);
  }
}

}  // namespace hr
