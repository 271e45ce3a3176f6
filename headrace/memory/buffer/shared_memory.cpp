// SPDX-License-Identifier: Apache-2.0
// Shared segments: sealed memory files, pooled by their owner, mapped read-only by others.
#include "headrace/memory/buffer/shared_memory.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <memory>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010  // Linux 5.1
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U  // Linux 6.3
#endif

namespace hr {

namespace {

constexpr int64_t kPage = 4096;
constexpr int64_t kHugePage = int64_t{2} << 20;
constexpr int64_t kSlab = int64_t{2} << 20;
constexpr int64_t kSmall = int64_t{256} << 10;  // below it blocks lie in slabs
constexpr int64_t kMostWaiting = int64_t{1} << 30;

[[noreturn]] void refuse_memory(std::string_view what, int64_t bytes) {
  const int code = errno;
  const bool descriptors = code == EMFILE || code == ENFILE;
  throw OutOfMemoryError(
      error_message("allocate", what, {{"bytes", bytes}, {"reason", std::strerror(code)}},
                    descriptors ? "raise the limit of open files (ulimit -n)"
                                : "free memory or set hr.memory.limit below the machine's memory"),
      bytes);
}

Descriptor new_memory_file(int64_t bytes) {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  Descriptor file(memfd_create("headrace", kFlags | MFD_NOEXEC_SEAL));
  if (!file && errno == EINVAL) file = Descriptor(memfd_create("headrace", kFlags));
  if (!file || ftruncate(file.get(), bytes) != 0)
    refuse_memory("the system refused shared memory", bytes);
  return file;
}

// One memory file and its mapping here.
struct Segment {
  std::byte* base = nullptr;
  int64_t size_bytes = 0;
  Descriptor file;
  uint64_t forks = 0;  // when it was made
  bool is_slab = false;
  int64_t end = 0;      // of the blocks handed out
  int64_t live = 0;     // bytes of blocks in use
  int64_t touched = 0;  // bytes that were ever handed out

  Segment() = default;
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  ~Segment() {
    if (base) munmap(base, static_cast<size_t>(size_bytes));
  }
};

std::unique_ptr<Segment> new_segment(int64_t size_bytes) {
  auto segment = std::make_unique<Segment>();
  const int64_t size = round_up(size_bytes, kPage);
  segment->file = new_memory_file(size);
  // Room for an aligned mapping; what is over goes back.
  void* room = mmap(nullptr, static_cast<size_t>(size + kHugePage), PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) refuse_memory("the system refused address space", size);
  const auto begin = reinterpret_cast<uintptr_t>(room);
  const uintptr_t aligned = (begin + kHugePage - 1) / static_cast<uintptr_t>(kHugePage) * kHugePage;
  if (aligned > begin) munmap(room, aligned - begin);
  const uintptr_t end = begin + static_cast<uintptr_t>(size + kHugePage);
  const uintptr_t last = aligned + static_cast<uintptr_t>(size);
  if (end > last) munmap(reinterpret_cast<void*>(last), end - last);
  void* mapped =
      mmap(reinterpret_cast<void*>(aligned), static_cast<size_t>(size), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_FIXED | MAP_NORESERVE, segment->file.get(), 0);
  if (mapped == MAP_FAILED) {
    munmap(reinterpret_cast<void*>(aligned), static_cast<size_t>(size));
    refuse_memory("the system cannot map shared memory", size);
  }
  segment->base = static_cast<std::byte*>(mapped);
  segment->size_bytes = size;
  madvise(mapped, static_cast<size_t>(size), MADV_HUGEPAGE);
  // The mapping above may go on writing; later ones may not. Kernels before 5.1 lack that seal, and
  // there a reader keeps to its read-only mapping.
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;
  if (fcntl(segment->file.get(), F_ADD_SEALS, kSeals | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0 &&
      fcntl(segment->file.get(), F_ADD_SEALS, kSeals | F_SEAL_SEAL) != 0)
    refuse_memory("the system cannot seal shared memory", size);
  return segment;
}

class Segments {
 public:
  Segments() { lock_over_fork(mutex_); }

  void* allocate(int64_t bytes, int64_t alignment) {
    const std::lock_guard lock(mutex_);
    look_for_fork();
    if (bytes >= kSmall || alignment > kPage) {
      Segment& segment = take(bytes);
      use(segment, bytes, bytes);
      segment.end = bytes;
      return segment.base;
    }
    int64_t begin = slab_ ? round_up(slab_->end, alignment) : 0;
    if (!slab_ || begin + bytes > slab_->size_bytes) {
      slab_ = nullptr;
      slab_ = &take(kSlab);
      slab_->is_slab = true;
      begin = 0;
    }
    slab_->end = begin + bytes;
    use(*slab_, slab_->live + bytes, slab_->end);
    return slab_->base + begin;
  }

  void deallocate(void* pointer, int64_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    look_for_fork();
    const auto at = find(pointer);
    Segment& segment = *at->second;
    use(segment, segment.live - bytes, 0);
    if (segment.live > 0) return;
    segment.end = 0;
    if (&segment == slab_) return;
    segment.is_slab = false;
    if (segment.forks == forks_ && segment.touched <= kMostWaiting)
      wait(segment);
    else
      drop(at);
  }

  int64_t trim() noexcept {
    const std::lock_guard lock(mutex_);
    look_for_fork();
    int64_t freed = 0;
    while (!waiting_.empty()) freed += drop_waiting();
    if (slab_ && slab_->live == 0) {
      freed += slab_->touched;
      drop(find(slab_->base));
    }
    return freed;
  }

  int64_t cached_bytes() const { return cached_; }

  std::optional<SharedRange> range(const void* data, int64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto at = find(data);
    if (at == segments_.end()) return {};
    const Segment& segment = *at->second;
    const int64_t offset = static_cast<const std::byte*>(data) - segment.base;
    if (bytes > segment.size_bytes - offset) return {};
    return SharedRange{segment.file.get(), offset, segment.size_bytes};
  }

  // Segments of another process: known, so that they can be shared on.
  std::byte* enter(std::unique_ptr<Segment> segment) {
    const std::lock_guard lock(mutex_);
    std::byte* const base = segment->base;
    segments_.emplace(reinterpret_cast<uintptr_t>(base), std::move(segment));
    return base;
  }

  void leave(std::byte* base) noexcept {
    std::unique_ptr<Segment> gone;
    const std::lock_guard lock(mutex_);
    const auto at = segments_.find(reinterpret_cast<uintptr_t>(base));
    gone = std::move(at->second);
    segments_.erase(at);
  }

 private:
  using Map = std::map<uintptr_t, std::unique_ptr<Segment>>;

  Map::iterator find(const void* pointer) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    auto at = segments_.upper_bound(address);
    if (at == segments_.begin()) return segments_.end();
    --at;
    return address - at->first < static_cast<uintptr_t>(at->second->size_bytes) ? at
                                                                                : segments_.end();
  }

  void use(Segment& segment, int64_t live, int64_t end) {
    const int64_t before = segment.touched - segment.live;
    segment.live = live;
    segment.touched = std::max(segment.touched, end);
    cached_ += segment.touched - segment.live - before;
  }

  // A waiting segment of nearly this size, or a new one.
  Segment& take(int64_t bytes) {
    auto best = waiting_.end();
    for (auto it = waiting_.begin(); it != waiting_.end(); ++it)
      if ((*it)->size_bytes >= bytes && (*it)->size_bytes - bytes <= std::max(bytes / 16, kPage) &&
          (best == waiting_.end() || (*it)->size_bytes < (*best)->size_bytes))
        best = it;
    if (best != waiting_.end()) {
      Segment& segment = **best;
      waiting_bytes_ -= segment.touched;
      waiting_.erase(best);
      return segment;
    }
    auto made = new_segment(bytes);
    made->forks = forks_;
    Segment& segment = *made;
    segments_.emplace(reinterpret_cast<uintptr_t>(segment.base), std::move(made));
    return segment;
  }

  void wait(Segment& segment) noexcept {
    try {
      waiting_.push_back(&segment);
    } catch (...) {  // no room for the list itself
      drop(find(segment.base));
      return;
    }
    waiting_bytes_ += segment.touched;
    while (waiting_bytes_ > kMostWaiting) drop_waiting();
  }

  int64_t drop_waiting() noexcept {
    Segment& segment = *waiting_.front();  // the one that waits longest
    const int64_t bytes = segment.touched;
    waiting_.erase(waiting_.begin());
    waiting_bytes_ -= bytes;
    drop(find(segment.base));
    return bytes;
  }

  void drop(Map::iterator at) noexcept {
    Segment& segment = *at->second;
    cached_ -= segment.touched - segment.live;
    if (slab_ == &segment) slab_ = nullptr;
    segments_.erase(at);
  }

  // The other process reads what lay in the segments, so neither writes to them again.
  void look_for_fork() noexcept {
    const uint64_t now = fork_count();
    if (now == forks_) return;
    forks_ = now;
    while (!waiting_.empty()) drop_waiting();
    if (slab_ && slab_->live == 0) drop(find(slab_->base));
    slab_ = nullptr;
  }

  std::mutex mutex_;
  Map segments_;  // by address
  std::vector<Segment*> waiting_;
  int64_t waiting_bytes_ = 0;
  Segment* slab_ = nullptr;  // where small blocks come from
  uint64_t forks_ = fork_count();
  std::atomic<int64_t> cached_{0};  // what was touched and is not in use
};

Segments& segments() {
  return process_global<Segments>();  // buffers may outlive main
}

class SharedResource {
 public:
  void* allocate(Stream, size_t bytes, size_t alignment) {
    check_request(bytes, alignment);
    if (alignment > kHugePage)
      throw_error<UnsupportedError>("allocate", "shared segments are aligned to 2 MiB at most",
                                    {{"alignment", alignment}});
    return segments().allocate(counted(bytes), static_cast<int64_t>(alignment));
  }

  void deallocate(Stream, void* pointer, size_t bytes, size_t) noexcept {
    segments().deallocate(pointer, counted(bytes));
  }

  MemoryProperties properties() const {
    MemoryProperties properties;
    properties.shared = true;
    return properties;
  }

  std::string describe() const { return "shared segments"; }

  int64_t cached_bytes() const { return segments().cached_bytes(); }

  int64_t trim() { return segments().trim(); }

 private:
  // A block of 0 bytes has an address of its own too.
  static int64_t counted(size_t bytes) { return std::max<int64_t>(static_cast<int64_t>(bytes), 1); }
};

// What map_segments made: gone with its last buffer.
struct Mapped {
  std::vector<std::byte*> bases;
  Descriptor lease;
  std::atomic<int64_t> references{1};

  ~Mapped() {
    for (std::byte* base : bases)
      if (base) segments().leave(base);
  }

  static void drop(void* context) noexcept {
    auto* mapped = static_cast<Mapped*>(context);
    if (--mapped->references == 0) delete mapped;
  }
};

// The size of a memory file that holds still.
int64_t checked_size(std::string_view op, const Descriptor& file, int seals) {
  struct stat status{};
  const int has = file ? fcntl(file.get(), F_GET_SEALS) : -1;
  if (has < 0 || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    throw_error<InvalidArgumentError>(op, "the received file is not a memory file");
  if (status.st_uid != geteuid())
    throw_error<InvalidArgumentError>(op, "the memory file belongs to another user",
                                      {{"user", status.st_uid}});
  if ((has & seals) != seals)
    throw_error<InvalidArgumentError>(op, "the memory file is not sealed", {{"seals", has}});
  return status.st_size;
}

std::unique_ptr<Segment> map_received(std::string_view op, Descriptor file, int64_t end) {
  const int64_t size = checked_size(op, file, F_SEAL_SHRINK);
  if (end > size)
    throw_error<InvalidArgumentError>(op, "a shared segment is shorter than its values",
                                      {{"bytes", size}, {"needed", end}});
  auto segment = std::make_unique<Segment>();
  const int64_t length = round_up(end, kPage);
  void* mapped = mmap(nullptr, static_cast<size_t>(length), PROT_READ, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) refuse_memory("the system cannot map shared memory", length);
  segment->base = static_cast<std::byte*>(mapped);
  segment->size_bytes = length;
  segment->file = std::move(file);
  return segment;
}

}  // namespace

AnyResource shared_resource() {
  return process_global([] { return AnyResource(std::make_shared<SharedResource>()); });
}

std::optional<SharedRange> find_shared(const void* data, int64_t size_bytes) {
  return segments().range(data, size_bytes);
}

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

std::vector<Buffer> map_segments(std::string_view op, std::vector<Descriptor> files,
                                 const std::vector<ReceivedRange>& ranges, Descriptor lease) {
  std::vector<int64_t> ends(files.size(), 0);
  for (const ReceivedRange& range : ranges) {
    if (range.segment >= files.size() || range.offset < 0 || range.size_bytes < 0)
      throw_error<InvalidArgumentError>(
          op, "a range is out of range of the segments",
          {{"segment", range.segment}, {"offset", range.offset}, {"bytes", range.size_bytes}});
    int64_t& end = ends[range.segment];
    end = std::max(end, checked_add(op, range.offset, range.size_bytes));
  }
  auto* mapped = new Mapped;
  mapped->lease = std::move(lease);
  const std::unique_ptr<Mapped, void (*)(Mapped*)> hold(mapped, [](Mapped* m) { Mapped::drop(m); });
  mapped->bases.resize(files.size(), nullptr);
  for (size_t i = 0; i < files.size(); ++i)
    if (ends[i] > 0)
      mapped->bases[i] = segments().enter(map_received(op, std::move(files[i]), ends[i]));
  std::vector<Buffer> buffers;
  for (const ReceivedRange& range : ranges) {
    if (range.size_bytes == 0) {
      buffers.emplace_back();
      continue;
    }
    ++mapped->references;
    try {
      buffers.push_back(Buffer::adopt(mapped->bases[range.segment] + range.offset, range.size_bytes,
                                      Owner{mapped, Mapped::drop}));
    } catch (...) {
      Mapped::drop(mapped);
      throw;
    }
  }
  return buffers;
}

Descriptor sealed_copy(std::string_view bytes) {
  Descriptor file = new_memory_file(static_cast<int64_t>(bytes.size()));
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t wrote =
        pwrite(file.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (wrote <= 0)
      refuse_memory("the system cannot receive shared memory", static_cast<int64_t>(bytes.size()));
    done += static_cast<size_t>(wrote);
  }
  if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    refuse_memory("the system cannot seal shared memory", static_cast<int64_t>(bytes.size()));
  return file;
}

std::string sealed_bytes(std::string_view op, const Descriptor& file, int64_t most) {
  const int64_t size = checked_size(op, file, F_SEAL_SHRINK | F_SEAL_WRITE);
  if (size > most)
    throw_error<InvalidArgumentError>(op, "the message is too long",
                                      {{"bytes", size}, {"most", most}});
  std::string bytes(static_cast<size_t>(size), '\0');
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t got =
        pread(file.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (got <= 0) throw_error<InvalidArgumentError>(op, "the message cannot be read");
    done += static_cast<size_t>(got);
  }
  return bytes;
}

}  // namespace hr
