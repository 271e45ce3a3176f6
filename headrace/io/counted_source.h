// SPDX-License-Identifier: Apache-2.0
// A source that counts what is read of it.
#pragma once
#include "headrace/io/source.h"

#include <atomic>
#include <memory>
#include <utility>

namespace hr {

class CountedSource final : public ByteSource {
 public:
  /// Adds the bytes that are read to `count`, which outlives this.
  CountedSource(std::shared_ptr<ByteSource> source, std::atomic<int64_t>& count)
      : source_(std::move(source)), count_(count) {}

  int64_t load(int64_t end) override { return source_->load(end); }

  void read(int64_t offset, char* into, int64_t size) const override {
    count_ += size;
    source_->read(offset, into, size);
  }

  Buffer share(int64_t offset, int64_t size) const override {
    Buffer shared = source_->share(offset, size);
    if (shared) count_ += size;
    return shared;
  }

  int64_t known_size() const override { return source_->known_size(); }

  int64_t packed_size() const override { return source_->packed_size(); }

  int64_t packed_read() const override { return source_->packed_read(); }

  void check_unchanged() const override { source_->check_unchanged(); }

 private:
  std::shared_ptr<ByteSource> source_;
  std::atomic<int64_t>& count_;
};

}  // namespace hr
