// SPDX-License-Identifier: Apache-2.0
// Shared segments: sealed, reused by their owner, mapped read-only by others, never after a fork.
#include "headrace/memory/buffer/shared_memory.h"

#include "headrace/base/error.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/resource/cached_blocks.h"
#include "headrace/memory/resource/pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fcntl.h>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace hr {

namespace {

using testing::HasSubstr;

constexpr int64_t kMiB = int64_t{1} << 20;

Buffer filled(int64_t bytes, unsigned char cookie) {
  Buffer buffer = Buffer::allocate(bytes, shared_resource());
  std::memset(buffer.mutable_data(), cookie, static_cast<size_t>(bytes));
  return buffer;
}

Descriptor file_of(const Buffer& buffer) {
  return Descriptor(dup(find_shared(buffer.data(), buffer.size_bytes())->descriptor));
}

std::vector<Buffer> attach(const Buffer& buffer, int64_t skip = 0) {
  std::vector<Descriptor> files;
  files.push_back(file_of(buffer));
  const SharedRange range = *find_shared(buffer.data(), buffer.size_bytes());
  return map_segments("test", std::move(files),
                      {{0, range.offset + skip, buffer.size_bytes() - skip}}, {});
}

std::string refusal(std::vector<Descriptor> files, const std::vector<ReceivedRange>& ranges) {
  try {
    map_segments("attach", std::move(files), ranges, {});
    return "";
  } catch (const InvalidArgumentError& error) {
    return error.what();
  }
}

std::string refusal(Descriptor file, ReceivedRange range) {
  std::vector<Descriptor> files;
  files.push_back(std::move(file));
  return refusal(std::move(files), {range});
}

// The only resource here that keeps blocks.
int64_t shared_cached_bytes() {
  return cached_bytes() - default_pool().cached_bytes();
}

void trim_shared() {
  trim_caches();
}

int open_descriptors() {
  int count = 0;
  for (int number = 0; number < 4096; ++number) count += fcntl(number, F_GETFD) >= 0;
  return count;
}

}  // namespace

TEST(SharedMemory, MappedReadOnlyWithoutACopy) {
  for (const int64_t bytes :
       {int64_t{1}, int64_t{63}, int64_t{4096}, int64_t{255} << 10, kMiB + 7}) {
    const Buffer own = filled(bytes, 0x5A);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(own.data()) % 64, 0u);
    const std::vector<Buffer> other = attach(own);
    ASSERT_EQ(other.size(), 1u);
    EXPECT_NE(other[0].data(), own.data());
    EXPECT_TRUE(other[0].is_foreign());
    EXPECT_EQ(std::memcmp(other[0].data(), own.data(), static_cast<size_t>(bytes)), 0);
  }
}

TEST(SharedMemory, NobodyElseCanWriteOrResize) {
  const Buffer own = filled(kMiB, 1);
  const Descriptor file = file_of(own);
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0), MAP_FAILED);
  EXPECT_NE(ftruncate(file.get(), 10), 0);
  EXPECT_NE(pwrite(file.get(), "x", 1, 0), 1);
  const std::vector<Buffer> other = attach(own);
  EXPECT_NE(mprotect(const_cast<std::byte*>(other[0].data()), 4096, PROT_READ | PROT_WRITE), 0);
}

TEST(SharedMemory, FreeSegmentsWaitAndAreCounted) {
  trim_shared();
  const int64_t before = memory_statistics().used_bytes;
  const std::byte* first = nullptr;
  {
    const Buffer own = filled(8 * kMiB, 1);
    first = own.data();
    EXPECT_EQ(memory_statistics().used_bytes, before + 8 * kMiB);
    EXPECT_EQ(shared_cached_bytes(), 0);
  }
  EXPECT_EQ(shared_cached_bytes(), 8 * kMiB);
  EXPECT_EQ(filled(8 * kMiB - 100, 2).data(), first);  // nearly its size
  EXPECT_NE(filled(4 * kMiB, 3).data(), first);
  EXPECT_GE(trim_caches(), 12 * kMiB);
  EXPECT_EQ(shared_cached_bytes(), 0);
  EXPECT_EQ(memory_statistics().used_bytes, before);
}

TEST(SharedMemory, WaitingSegmentsMakeRoomUnderALimit) {
  trim_shared();
  filled(8 * kMiB, 1);
  const int64_t used = memory_statistics().used_bytes;
  set_memory_limit(used + 10 * kMiB);
  filled(9 * kMiB, 2);  // only when the 8 MiB went back
  EXPECT_LE(shared_cached_bytes(), 9 * kMiB + 4096);
  EXPECT_THROW(filled(11 * kMiB, 3), OutOfMemoryError);
  set_memory_limit(std::numeric_limits<int64_t>::max());
  trim_shared();
}

TEST(SharedMemory, AShrunkBufferStaysCharged) {
  const int64_t before = memory_statistics().used_bytes;
  Buffer own = filled(6 * kMiB, 1);
  own.shrink(100);
  EXPECT_EQ(own.size_bytes(), 100);
  EXPECT_EQ(memory_statistics().used_bytes, before + 6 * kMiB);
  EXPECT_EQ(own.as<uint8_t>()[99], 1);
  for (int i = 100; i < 128; ++i) EXPECT_EQ(own.as<uint8_t>()[i], 0);
}

TEST(SharedMemory, TakesEveryRequestThatAResourceMustTake) {
  const AnyResource resource = shared_resource();
  std::vector<void*> blocks;
  for (size_t alignment = 1; alignment <= size_t{2} << 20; alignment *= 2)
    for (const size_t bytes : {size_t{0}, size_t{1}, size_t{1} << 19}) {
      void* const block = resource.allocate(Stream{}, bytes, alignment);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % alignment, 0u);
      for (void* const other : blocks) EXPECT_NE(other, block);
      blocks.push_back(block);
    }
  size_t at = 0;
  for (size_t alignment = 1; alignment <= size_t{2} << 20; alignment *= 2)
    for (const size_t bytes : {size_t{0}, size_t{1}, size_t{1} << 19})
      resource.deallocate(Stream{}, blocks[at++], bytes, alignment);
  EXPECT_THROW(resource.allocate(Stream{}, 1, size_t{4} << 20), UnsupportedError);
  EXPECT_THROW(resource.allocate(Stream{}, 1, 3), InvalidArgumentError);
  EXPECT_THROW(resource.allocate(Stream{}, SIZE_MAX, 64), OutOfMemoryError);
  trim_shared();
  EXPECT_EQ(shared_cached_bytes(), 0);
}

TEST(SharedMemory, RandomBlocksKeepTheirBytes) {
  std::mt19937 random(7);
  struct Block {
    Buffer buffer;
    unsigned char cookie;
  };

  trim_shared();
  const int descriptors = open_descriptors();
  std::vector<Block> blocks;
  for (int i = 0; i < 4000; ++i) {
    if (blocks.size() > 30 || (!blocks.empty() && random() % 2)) {
      const size_t k = random() % blocks.size();
      const Buffer& buffer = blocks[k].buffer;
      for (int64_t at = 0; at < buffer.size_bytes(); at += 61)
        ASSERT_EQ(buffer.as<unsigned char>()[at], blocks[k].cookie);
      std::swap(blocks[k], blocks.back());
      blocks.pop_back();
      continue;
    }
    const auto cookie = static_cast<unsigned char>(random());
    const int64_t size = int64_t{1} << (random() % 21);
    blocks.push_back({filled(size + static_cast<int64_t>(random()) % size, cookie), cookie});
  }
  blocks.clear();
  trim_shared();
  EXPECT_EQ(shared_cached_bytes(), 0);
  EXPECT_EQ(open_descriptors(), descriptors);
}

TEST(SharedMemory, ThreadsAllocateTogether) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      std::vector<Buffer> held;
      for (int i = 0; i < 300; ++i) {
        held.push_back(filled(int64_t{1} << (i % 20), static_cast<unsigned char>(t)));
        if (held.size() > 8) held.erase(held.begin());
        for (const Buffer& buffer : held)
          ASSERT_EQ(buffer.as<unsigned char>()[buffer.size_bytes() - 1], t);
      }
    });
  for (std::thread& thread : threads) thread.join();
  trim_shared();
  EXPECT_EQ(shared_cached_bytes(), 0);
}

TEST(SharedMemory, AttachedMemoryIsForeignAndGoesWithItsLastBuffer) {
  trim_shared();
  const int64_t foreign = memory_statistics().foreign_bytes;
  const int descriptors = open_descriptors();
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  {
    const Buffer own = filled(kMiB, 9);
    std::vector<Descriptor> files;
    files.push_back(file_of(own));
    std::vector<Buffer> both =
        map_segments("test", std::move(files), {{0, 0, 4096}, {0, 4096, 100}}, Descriptor(ends[1]));
    EXPECT_EQ(memory_statistics().foreign_bytes, foreign + 4196);
    both.erase(both.begin());
    EXPECT_GE(fcntl(ends[1], F_GETFD), 0);
    EXPECT_TRUE(find_shared(both[0].data(), 100).has_value());  // can be shared on
    both.clear();
    EXPECT_LT(fcntl(ends[1], F_GETFD), 0);  // the lease ended
    EXPECT_EQ(memory_statistics().foreign_bytes, foreign);
  }
  close(ends[0]);
  trim_shared();
  EXPECT_EQ(open_descriptors(), descriptors);
}

TEST(SharedMemory, RefusesWhatCannotBeTrusted) {
  const Buffer own = filled(kMiB, 1);
  EXPECT_THAT(refusal(file_of(own), {0, 0, kMiB + 4097}), HasSubstr("shorter than its values"));
  EXPECT_THAT(refusal(file_of(own), {1, 0, 1}),
              HasSubstr("a range is out of range of the segments"));
  EXPECT_THAT(refusal(file_of(own), {0, -64, 1}),
              HasSubstr("a range is out of range of the segments"));
  EXPECT_THAT(refusal(file_of(own), {0, 64, -1}),
              HasSubstr("a range is out of range of the segments"));
  EXPECT_THAT(refusal(file_of(own), {0, INT64_MAX - 10, 64}), HasSubstr("64 bits"));
  EXPECT_THAT(refusal(Descriptor(), {0, 0, 1}), HasSubstr("not a memory file"));
  EXPECT_THAT(refusal(Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)), {0, 0, 1}),
              HasSubstr("not a memory file"));
  EXPECT_THAT(refusal(Descriptor(open("/proc/self/exe", O_RDONLY | O_CLOEXEC)), {0, 0, 1}),
              HasSubstr("not a memory file"));
  Descriptor unsealed(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(unsealed.get(), 4096), 0);
  EXPECT_THAT(refusal(std::move(unsealed), {0, 0, 1}), HasSubstr("not sealed"));
}

TEST(SharedMemory, AForkSharesNoSegmentForWriting) {
  trim_shared();
  filled(2 * kMiB, 1);                // waits
  Buffer kept = filled(3 * kMiB, 7);  // lives in both
  Buffer small = filled(100, 8);
  int gate[2];
  ASSERT_EQ(pipe(gate), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(gate[1]);
    bool good = true;
    char byte;
    good &= read(gate[0], &byte, 1) == 0;  // the parent is done
    for (int64_t i = 0; i < kept.size_bytes(); i += 4096) good &= kept.as<uint8_t>()[i] == 7;
    for (int64_t i = 0; i < 100; ++i) good &= small.as<uint8_t>()[i] == 8;
    good &= shared_cached_bytes() >= 0 && filled(2 * kMiB, 9).data() != nullptr;
    _exit(good ? 0 : 1);
  }
  close(gate[0]);
  kept = {};  // what the child reads is freed here, and much is asked for
  small = {};
  std::vector<Buffer> more;
  for (int i = 0; i < 4; ++i) more.push_back(filled(3 * kMiB, 0xEE));
  for (int i = 0; i < 100; ++i) more.push_back(filled(100, 0xEE));
  close(gate[1]);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  trim_shared();
}

TEST(SharedMemory, SealedCopiesHoldStill) {
  const std::string text(10'000, 'x');
  const Descriptor file = sealed_copy(text);
  EXPECT_EQ(sealed_bytes("test", file, 20'000), text);
  EXPECT_EQ(sealed_bytes("test", sealed_copy(""), 20'000), "");
  EXPECT_THROW(sealed_bytes("test", file, 9'999), InvalidArgumentError);
  EXPECT_NE(pwrite(file.get(), "y", 1, 0), 1);
  const Buffer own = filled(kMiB, 1);  // its owner can still write
  EXPECT_THROW(sealed_bytes("test", file_of(own), 1 << 30), InvalidArgumentError);
}

}  // namespace hr
