// SPDX-License-Identifier: Apache-2.0
// Copies through pinned blocks: all workers copy one block while the device copies those before.
#include "headrace/data/device_copy.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exec/device_stream.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/cuda_device.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace hr {

namespace {

constexpr int64_t kBlockBytes = int64_t{8} << 20;
constexpr int64_t kPartBytes = int64_t{512} << 10;

// A pinned block and the copy that uses it.
struct Block {
  Buffer buffer;
  void* event = nullptr;
};

// A few blocks that copies take in turn.
class Ring {
 public:
  Ring(int64_t size_bytes, Stream stream)
      : stream_(native_stream(stream)), scope_("to", stream_place(stream).index) {
    const int64_t bytes = std::min(size_bytes, kBlockBytes);
    for (Block& block : blocks_) {
      if (&block > blocks_.data() && bytes == size_bytes) break;  // one is enough
      block.buffer = Buffer::allocate(bytes, pinned_resource());
      check_cuda("to", cuda_functions()->make_event(&block.event, 2));  // without a time
    }
  }

  ~Ring() {
    for (const Block& block : blocks_)
      if (block.event) {
        cuda_functions()->synchronize_event(block.event);
        cuda_functions()->end_event(block.event);
      }
  }

  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  Block& at(int64_t index) { return blocks_[static_cast<size_t>(index) % blocks_.size()]; }

  void wait(const Block& block) const {
    check_cuda("to", cuda_functions()->synchronize_event(block.event));
  }

  void record(const Block& block) const {
    check_cuda("to", cuda_functions()->record_event(block.event, stream_));
  }

  void* stream() const { return stream_; }

 private:
  void* stream_;
  CudaScope scope_;
  std::array<Block, 4> blocks_;
};

void copy_on_host(std::byte* to, const std::byte* from, int64_t bytes) {
  parallel_for(divide_up(bytes, kPartBytes), [&](int64_t part) {
    const int64_t begin = part * kPartBytes;
    std::memcpy(to + begin, from + begin, static_cast<size_t>(std::min(kPartBytes, bytes - begin)));
  });
}

}  // namespace

void copy_to_cuda(const Buffer& from, int64_t begin, int64_t size_bytes, const Buffer& to,
                  Stream stream) {
  Ring ring(size_bytes, stream);
  for (int64_t k = 0; k * kBlockBytes < size_bytes; ++k) {
    const int64_t done = k * kBlockBytes;
    const int64_t bytes = std::min(kBlockBytes, size_bytes - done);
    Block& block = ring.at(k);
    ring.wait(block);
    {
      const Pin pin{{&from, begin + done, begin + done + bytes}};
      copy_on_host(block.buffer.mutable_data(), from.data() + begin + done, bytes);
    }
    check_cuda("to", cuda_functions()->copy_to_device(reinterpret_cast<uint64_t>(to.data() + done),
                                                      block.buffer.data(),
                                                      static_cast<size_t>(bytes), ring.stream()));
    ring.record(block);
  }
}

void copy_from_cuda(const Buffer& from, int64_t begin, int64_t size_bytes, Buffer& to,
                    Stream stream) {
  Ring ring(size_bytes, stream);
  std::byte* const out = to.mutable_data();
  const int64_t blocks = divide_up(size_bytes, kBlockBytes);
  const auto bytes_of = [&](int64_t k) {
    return std::min(kBlockBytes, size_bytes - k * kBlockBytes);
  };
  const auto queue = [&](int64_t k) {
    Block& block = ring.at(k);
    check_cuda("to", cuda_functions()->copy_to_host(
                         block.buffer.mutable_data(),
                         reinterpret_cast<uint64_t>(from.data() + begin + k * kBlockBytes),
                         static_cast<size_t>(bytes_of(k)), ring.stream()));
    ring.record(block);
  };
  for (int64_t k = 0; k < std::min<int64_t>(blocks, 4); ++k) queue(k);
  for (int64_t k = 0; k < blocks; ++k) {
    const Block& block = ring.at(k);
    if (const int status = cuda_functions()->synchronize_event(block.event); status != 0) {
      synchronize(stream);  // names the operator that failed
      check_cuda("to", status);
    }
    copy_on_host(out + k * kBlockBytes, block.buffer.data(), bytes_of(k));
    if (k + 4 < blocks) queue(k + 4);
  }
}

}  // namespace hr
