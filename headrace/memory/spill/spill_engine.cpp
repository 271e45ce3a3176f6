// SPDX-License-Identifier: Apache-2.0
// Moving chunks between memory and disk.
#include "headrace/memory/spill/spill_engine.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/log/advice.h"
#include "headrace/memory/log/event_log.h"
#include "headrace/memory/log/ledger.h"
#include "headrace/memory/resource/pool.h"
#include "headrace/memory/spill/write_guard.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <new>
#include <optional>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <utility>

namespace hr {

namespace {

constexpr int64_t kHugePageBytes = int64_t{2} << 20;
constexpr int64_t kMostChunkBytes = kHugePageBytes;
constexpr int64_t kMostTogether = int64_t{16} << 20;

thread_local int64_t written_together = 1;

// What moves together: large enough for the disk, small compared with what the limit lets stay.
int64_t batch_bytes() {
  return std::clamp(memory_limit() / 64 / kSlotBytes * kSlotBytes, kSlotBytes, kMostTogether);
}

// Fresh pages, aligned for huge ones.
std::byte* map_fresh(int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  const auto slack = static_cast<size_t>(kMostChunkBytes);
  void* base = spill_calls().map(nullptr, size + slack, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  auto* begin = static_cast<std::byte*>(base);
  const size_t before = (slack - reinterpret_cast<uintptr_t>(base) % slack) % slack;
  if (before > 0) munmap(begin, before);
  if (slack > before) munmap(begin + before + size, slack - before);
  madvise(begin + before, size, MADV_HUGEPAGE);
  return begin + before;
}

// Plain memory again in the place of a chunk that is on the disk.
void make_plain(const Residency& residency, int64_t chunk) {
  const auto bytes = static_cast<size_t>(residency.mapped(chunk));
  mmap(residency.address(chunk), bytes, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  madvise(residency.address(chunk), bytes, MADV_HUGEPAGE);
}

// A chunk that comes by its first touch, and is charged then, must not bring its neighbours: no
// huge page may reach beyond it.
void keep_pages_within(const Residency& residency, int64_t first, int64_t last) {
  if (residency.chunk_bytes % kHugePageBytes == 0) return;
  const int64_t bytes = (last - first) * residency.chunk_bytes + residency.mapped(last);
  madvise(residency.address(first), static_cast<size_t>(bytes), MADV_NOHUGEPAGE);
}

[[noreturn]] void throw_no_mapping(int64_t bytes) {
  throw OutOfMemoryError(error_message("spill", "the system cannot map more memory",
                                       {{"bytes", bytes}}, "raise vm.max_map_count"),
                         bytes);
}

}  // namespace

int64_t chunk_bytes_of(int64_t buffer_bytes) {
  constexpr int64_t kShareOfBuffer = 16, kShareOfLimit = 128, kShareTogether = 8;
  const auto share = static_cast<uint64_t>(buffer_bytes / kShareOfBuffer);
  const auto most = static_cast<uint64_t>(
      memory_limit() / std::max(kShareOfLimit, kShareTogether * written_together));
  const auto wanted = static_cast<int64_t>(std::min(std::bit_ceil(share), std::bit_floor(most)));
  return std::clamp(wanted, kSlotBytes, kMostChunkBytes);
}

WrittenTogether::WrittenTogether(int64_t buffers) noexcept
    : before_(std::exchange(written_together, buffers)) {}

WrittenTogether::~WrittenTogether() {
  written_together = before_;
}

Residency::Residency(Buffer::Rep& of)
    : rep(of),
      chunk_bytes(of.place.is_host() ? chunk_bytes_of(of.block_bytes) : of.block_bytes),
      chunks(static_cast<size_t>((of.block_bytes + chunk_bytes - 1) / chunk_bytes)) {}

int64_t Residency::charge(int64_t chunk) const {
  return std::clamp<int64_t>(rep.capacity_bytes - chunk * chunk_bytes, 0, chunk_bytes);
}

int64_t Residency::mapped(int64_t chunk) const {
  const int64_t rest = (rep.block_bytes + 4095) / 4096 * 4096 - chunk * chunk_bytes;
  return std::min(rest, chunk_bytes);
}

SpillEngine& SpillEngine::instance() {
  return process_global([] {
    memory_statistics();  // accounts and pool come first: their locks are taken later at a fork
    default_pool();
    pthread_atfork([] { instance().before_fork(); }, [] { instance().after_fork(false); },
                   [] { instance().after_fork(true); });
    return SpillEngine();
  });
}

SpillEngine::SpillEngine() {
  const char* directory = std::getenv("HEADRACE_SPILL_DIRECTORY");
  if (!directory || !*directory) directory = std::getenv("TMPDIR");
  directory_ = directory && *directory ? directory : "/tmp";
  if (const char* text = std::getenv("HEADRACE_SPILL_LIMIT")) limit_ = parse_bytes(text);
}

// Nothing may be on its way while the process is copied. Slots in use belong to both processes from
// then on, so neither writes to them again: each begins a new file.
void SpillEngine::before_fork() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return moving_ == 0; });
  file_.reset();
  lock.release();
}

void SpillEngine::after_fork(bool child) {
  if (child) {
    new (&changed_) std::condition_variable;  // its waiters stayed with the parent
    forget_other_threads();
    cleaning_ = false;
  }
  mutex_.unlock();
}

void SpillEngine::enter(Residency& residency) {
  if (residency.chunks[0].state == ChunkState::kEmpty)
    keep_pages_within(residency, 0, residency.size() - 1);
  const std::lock_guard lock(mutex_);
  residency.place = all_.size();
  all_.push_back(&residency);
}

void SpillEngine::wait_for_moves(std::unique_lock<std::mutex>& lock, const Residency& residency) {
  changed_.wait(lock, [&] {
    return std::none_of(residency.chunks.begin(), residency.chunks.end(),
                        [](const Chunk& chunk) { return chunk.pins == Chunk::kClaimed; });
  });
}

int64_t SpillEngine::leave(Residency& residency) noexcept {
  {
    std::unique_lock lock(mutex_);
    wait_for_moves(lock, residency);
    all_[residency.place] = all_.back();
    all_[residency.place]->place = residency.place;
    all_.pop_back();
  }
  int64_t charged = 0;
  for (int64_t i = 0; i < residency.size(); ++i) {
    Chunk& chunk = residency.chunks[static_cast<size_t>(i)];
    if (chunk.state == ChunkState::kResident) charged += residency.charge(i);
    if (chunk.state == ChunkState::kOnDisk) make_plain(residency, i);
    if (!chunk.file) continue;
    chunk.file->give(chunk.slot, residency.slots());
    chunk.file.reset();
  }
  end_guard(residency);
  if (residency.small_pages)  // the block's next owner may have huge ones
    madvise(residency.address(0), static_cast<size_t>(residency.rep.block_bytes), MADV_HUGEPAGE);
  retire_empty_file();
  return charged;
}

// To give 100 MB of a file back takes the system 40 ms, so no thread waits for it.
void SpillEngine::retire_empty_file() noexcept {
  std::shared_ptr<SpillFile> empty;
  {
    const std::lock_guard lock(mutex_);
    if (!file_ || !file_->is_used_up()) return;
    empty = std::move(file_);
  }
  const auto runner = runner_.load(std::memory_order_relaxed);
  if (!runner) return;
  try {
    runner([file = std::move(empty)] {});
  } catch (...) {  // there is no mover
  }
}

int64_t SpillEngine::cut(Residency& residency, int64_t capacity) {
  std::unique_lock lock(mutex_);
  wait_for_moves(lock, residency);
  int64_t freed = 0;
  for (int64_t i = residency.chunk_at(capacity); i < residency.size(); ++i) {
    Chunk& chunk = residency.chunks[static_cast<size_t>(i)];
    const int64_t rest = std::max<int64_t>(capacity - i * residency.chunk_bytes, 0);
    if (chunk.state == ChunkState::kResident) freed += residency.charge(i) - rest;
    if (rest > 0 || chunk.state != ChunkState::kOnDisk) continue;
    make_plain(residency, i);
    chunk.file->give(chunk.slot, residency.slots());
    chunk.file.reset();
    chunk.state = ChunkState::kEmpty;
  }
  // Before another thread claims the chunk that is left, or its old charge would be given back.
  residency.rep.capacity_bytes = capacity;
  return freed;
}

// ---- pins ---------------------------------------------------------------------------------------

void SpillEngine::note_use(Residency& residency, int64_t chunk, bool write) {
  Chunk& used = residency.chunks[static_cast<size_t>(chunk)];
  if (write) {
    if (!used.dirty.load(std::memory_order_relaxed)) used.dirty = true;
    if (!used.touched.load(std::memory_order_relaxed)) used.touched = true;
  }
  const int64_t before = residency.position.load(std::memory_order_relaxed);
  if (before != chunk) {
    residency.position.store(chunk, std::memory_order_relaxed);
    clock_.fetch_add(1, std::memory_order_relaxed);
    if (chunk < before - residency.size() / 2)
      residency.passes.fetch_add(1, std::memory_order_relaxed);
    if (chunk > before && chunk <= before + 3 && residency.keep != EvictionHint::kAlways)
      prefetch(residency, chunk);
  }
  used.last_use.store(clock_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  used.last_step.store(step_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void SpillEngine::stamp(Chunk& chunk) {
  chunk.last_use = ++clock_;
  chunk.last_step = step_.load();
}

bool SpillEngine::pin_chunk(Residency& residency, int64_t index, bool write) {
  Chunk& chunk = residency.chunks[static_cast<size_t>(index)];
  int32_t pins = chunk.pins.load(std::memory_order_relaxed);
  while (pins >= 0 &&
         !chunk.pins.compare_exchange_weak(pins, pins + 1, std::memory_order_acquire)) {
  }
  if (pins >= 0) {
    if (chunk.state.load(std::memory_order_relaxed) == ChunkState::kResident) {
      note_use(residency, index, write);
      return true;
    }
    chunk.pins.fetch_sub(1, std::memory_order_release);
  }
  return bring(residency, index, write);
}

// The slow way: another thread moves the chunk, or this one does.
bool SpillEngine::bring(Residency& residency, int64_t index, bool write) {
  Chunk& chunk = residency.chunks[static_cast<size_t>(index)];
  std::vector<Claim> run{{&residency, index}};
  {
    std::unique_lock lock(mutex_);
    for (;;) {
      int32_t pins = chunk.pins;
      if (pins == Chunk::kClaimed) {
        const DiskWait wait(waited_ns_);
        changed_.wait(lock);
      } else if (chunk.state == ChunkState::kResident) {
        if (!chunk.pins.compare_exchange_strong(pins, pins + 1)) continue;
        lock.unlock();
        note_use(residency, index, write);
        return true;
      } else if (pins == 0 && chunk.pins.compare_exchange_strong(pins, Chunk::kClaimed)) {
        break;
      } else {  // another one is just looking
        lock.unlock();
        std::this_thread::yield();
        lock.lock();
      }
    }
    ++moving_;
  }
  try {
    if (!charge(residency.charge(index))) {
      release(run);
      return false;
    }
    std::optional<DiskWait> wait;
    if (chunk.state == ChunkState::kOnDisk) wait.emplace(waited_ns_);
    fetch(run);
  } catch (...) {
    release(run);
    throw;
  }
  release(run, 1);
  note_use(residency, index, write);
  return true;
}

// Chunks after the one in use, by another thread, where there is room.
void SpillEngine::prefetch(Residency& residency, int64_t chunk) {
  const auto runner = runner_.load(std::memory_order_relaxed);
  if (!runner) return;
  const int64_t together = std::max<int64_t>(batch_bytes() / residency.chunk_bytes, 1);
  const int64_t end = std::min(chunk + 1 + 2 * together, residency.size());
  int64_t first = chunk + 1;
  const auto on_disk = [&](int64_t i) {
    return residency.chunks[static_cast<size_t>(i)].state.load(std::memory_order_relaxed) ==
           ChunkState::kOnDisk;
  };
  while (first < end && !on_disk(first)) ++first;
  if (first == end) return;
  std::vector<Claim> run;
  run.reserve(static_cast<size_t>(together));
  {
    const std::lock_guard lock(mutex_);
    for (int64_t i = first; i < std::min(first + together, residency.size()) && on_disk(i); ++i) {
      Chunk& next = residency.chunks[static_cast<size_t>(i)];
      const Chunk& begin = residency.chunks[static_cast<size_t>(first)];
      if (i > first &&
          (next.file != begin.file || next.slot != begin.slot + (i - first) * residency.slots()))
        break;
      int32_t pins = 0;
      if (!next.pins.compare_exchange_strong(pins, Chunk::kClaimed)) break;
      run.push_back({&residency, i});
    }
    moving_ += static_cast<int>(run.size());
  }
  if (run.empty()) return;
  try {
    runner([this, run, tag = current_tag()] {
      const ScopedTag scope(tag);
      int64_t bytes = 0;
      for (const Claim& claim : run) bytes += claim.residency->charge(claim.chunk);
      try {
        if (try_charge(bytes)) fetch(run);
      } catch (...) {
        // Whoever pins the chunk meets the same fault and tells it.
      }
      release(run);
      keep_headroom();
    });
  } catch (...) {  // no mover: the thread that pins the chunk fetches it
    release(run);
  }
}

// Claimed and charged chunks with neighbouring slots, or one empty one. Throws and discharges when
// they cannot be read.
void SpillEngine::fetch(const std::vector<Claim>& run) {
  Residency& residency = *run.front().residency;
  const int64_t first = run.front().chunk;
  Chunk& begin = residency.chunks[static_cast<size_t>(first)];
  if (begin.state == ChunkState::kEmpty) {
#ifdef MADV_POPULATE_WRITE
    // All of its pages at once: its maker's first touches would cost a fault each.
    madvise(residency.address(first), static_cast<size_t>(residency.mapped(first)),
            MADV_POPULATE_WRITE);
#endif
    begin.state = ChunkState::kResident;
    log_memory_event(MemoryAction::kFetch, residency.address(first), residency.charge(first),
                     residency.rep.tag);
    return;
  }
  int64_t bytes = 0, charged = 0;
  for (const Claim& claim : run) {
    bytes += residency.mapped(claim.chunk);
    charged += residency.charge(claim.chunk);
  }
  std::byte* fresh = nullptr;
  try {
    fresh = map_fresh(bytes);
    if (!fresh) throw_no_mapping(bytes);
    begin.file->read(begin.slot, fresh, bytes);
    // One step for all who look at this address meanwhile.
    if (spill_calls().move(fresh, static_cast<size_t>(bytes), static_cast<size_t>(bytes),
                           MREMAP_MAYMOVE | MREMAP_FIXED, residency.address(first)) == MAP_FAILED)
      throw_no_mapping(bytes);
    guard_again(residency, first, run.back().chunk);
  } catch (...) {
    if (fresh) munmap(fresh, static_cast<size_t>(bytes));
    discharge(charged);
    throw;
  }
  for (const Claim& claim : run) {
    Chunk& chunk = residency.chunks[static_cast<size_t>(claim.chunk)];
    chunk.dirty = false;
    chunk.state = ChunkState::kResident;
  }
  fetched_ += bytes;
  record_move(residency.rep.tag, bytes, disk, host);
  advise_if_thrashing(bytes);
  log_memory_event(MemoryAction::kFetch, residency.address(first), charged, residency.rep.tag);
}

// One line when more than twice of all that can move came back since the last one.
void SpillEngine::advise_if_thrashing(int64_t fetched) {
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    int64_t movable = 0;
    for (const Residency* residency : all_) movable += residency->rep.capacity_bytes;
    returned_ += fetched;
    if (returned_ <= 2 * movable) return;
    const MemoryStatistics now = memory_statistics();
    text = "evicted and fetched again " + format_bytes(returned_) + ", more than twice the " +
           format_bytes(movable) + " in use under a limit of " + format_bytes(now.limit_bytes) +
           "; work on pieces of at most " + format_bytes(now.limit_bytes / 4) +
           ", or raise hr.memory.limit to " + format_bytes(now.used_bytes + movable);
    returned_ = 0;
  }
  give_advice(current_tag(), std::move(text));
}

// ---- moves out ----------------------------------------------------------------------------------

// Moves chunks out while others compute, so that who needs room finds it.
void SpillEngine::keep_headroom() {
  const auto runner = runner_.load(std::memory_order_relaxed);
  const auto lacks = [] {
    const int64_t limit = memory_limit();
    if (limit == std::numeric_limits<int64_t>::max()) return int64_t{0};
    return memory_statistics().used_bytes + 2 * batch_bytes() - limit;
  };
  if (!runner || lacks() <= 0 || cleaning_.exchange(true)) return;
  try {
    runner([this, lacks] {
      int64_t lack = 0;
      while ((lack = lacks()) > 0 && evict(std::min(lack, batch_bytes()))) {
      }
      cleaning_ = false;
    });
  } catch (...) {  // no mover: the thread that needs room makes it
    cleaning_ = false;
  }
}

bool SpillEngine::evict(int64_t bytes) {
  if (bytes <= 0) return true;  // others made room since: nothing may be on its way
  std::vector<Claim> claims;
  int64_t leaving = 0;
  {
    std::unique_lock lock(mutex_);
    const uint64_t seen = changes_;
    const auto wait_for_others = [&] {
      changed_.wait(lock, [&] { return changes_ != seen; });
      return true;
    };
    if (leaving_bytes_ >= bytes) return wait_for_others();
    claims = choose(std::max(bytes, batch_bytes()));
    if (claims.empty()) {
      stuck_ = false;
      return leaving_bytes_ > 0 && wait_for_others();
    }
    for (const Claim& claim : claims) leaving += claim.residency->charge(claim.chunk);
    leaving_bytes_ += leaving;
    moving_ += static_cast<int>(claims.size());
  }
  const int64_t freed = move_out(std::move(claims), leaving);
  stuck_ = freed == 0;
  return freed > 0;
}

// Stores, maps and releases the claims; the bytes freed.
int64_t SpillEngine::move_out(std::vector<Claim> claims, int64_t leaving) {
  std::sort(claims.begin(), claims.end(), [](const Claim& a, const Claim& b) {
    return a.residency != b.residency ? a.residency < b.residency : a.chunk < b.chunk;
  });
  const auto needs_writing = [](const Claim& claim) {
    const Chunk& chunk = claim.residency->chunks[static_cast<size_t>(claim.chunk)];
    return chunk.touched && chunk.dirty;
  };
  int64_t freed = 0;
  for (size_t i = 0; i < claims.size();) {
    size_t end = i + 1;
    while (end < claims.size() && claims[end].residency == claims[i].residency &&
           claims[end].chunk == claims[end - 1].chunk + 1 &&
           needs_writing(claims[end]) == needs_writing(claims[i]))
      ++end;
    const std::span<const Claim> run(claims.data() + i, end - i);
    i = end;
    try {
      if (needs_writing(run[0]) && !store(run)) continue;
    } catch (const std::exception& error) {
      const std::lock_guard lock(mutex_);
      trouble_ = error.what();
      continue;
    }
    for (const Claim& claim : run) freed += drop(claim);
  }
  const std::lock_guard lock(mutex_);
  leaving_bytes_ -= leaving;
  release_locked(claims, 0);
  return freed;
}

// Neighbours that have no copy on the disk get one.
bool SpillEngine::store(std::span<const Claim> run) {
  Residency& residency = *run[0].residency;
  const std::shared_ptr<SpillFile> target = file();
  const int64_t most = limit();
  const auto count = static_cast<int64_t>(run.size());
  const int64_t slot = target->take(count * residency.slots(), most);
  if (slot < 0) {
    if (run.size() > 1) {
      bool all = true;
      for (size_t i = 0; i < run.size(); ++i) all &= store(run.subspan(i, 1));
      return all;
    }
    const std::lock_guard lock(mutex_);
    trouble_ = most == 0 ? "spilling is off"
                         : "the disk has no room: limit=" + format_bytes(most) + ", directory='" +
                               directory_ + "'";
    return false;
  }
  int64_t bytes = 0;
  for (const Claim& claim : run) bytes += residency.mapped(claim.chunk);
  try {
    target->write(slot, residency.address(run[0].chunk), bytes);
  } catch (...) {
    target->give(slot, count * residency.slots());
    throw;
  }
  for (size_t i = 0; i < run.size(); ++i) {
    Chunk& chunk = residency.chunks[static_cast<size_t>(run[i].chunk)];
    if (chunk.file) chunk.file->give(chunk.slot, residency.slots());
    chunk.file = target;
    chunk.slot = slot + static_cast<int64_t>(i) * residency.slots();
    chunk.dirty = false;
  }
  written_ += bytes;
  record_move(residency.rep.tag, bytes, host, disk);
  return true;
}

// A claimed chunk that has a copy, or that was never written, leaves memory; the bytes freed.
int64_t SpillEngine::drop(const Claim& claim) {
  Residency& residency = *claim.residency;
  Chunk& chunk = residency.chunks[static_cast<size_t>(claim.chunk)];
  const int64_t bytes = residency.mapped(claim.chunk);
  if (!chunk.touched) {
    madvise(residency.address(claim.chunk), static_cast<size_t>(bytes), MADV_DONTNEED);
    keep_pages_within(residency, claim.chunk, claim.chunk);
    residency.small_pages = true;
    chunk.state = ChunkState::kEmpty;
  } else if (!chunk.dirty && chunk.file &&
             chunk.file->map(chunk.slot, residency.address(claim.chunk), bytes)) {
    chunk.state = ChunkState::kOnDisk;
    evicted_ += bytes;
  } else {
    return 0;
  }
  const int64_t freed = residency.charge(claim.chunk);
  log_memory_event(MemoryAction::kEvict, residency.address(claim.chunk), freed, residency.rep.tag);
  discharge(freed);
  return freed;
}

void SpillEngine::release(const std::vector<Claim>& claims, int32_t pins) {
  const std::lock_guard lock(mutex_);
  release_locked(claims, pins);
}

void SpillEngine::release_locked(const std::vector<Claim>& claims, int32_t pins) {
  for (const Claim& claim : claims)
    claim.residency->chunks[static_cast<size_t>(claim.chunk)].pins.store(pins,
                                                                         std::memory_order_release);
  moving_ -= static_cast<int>(claims.size());
  ++changes_;
  changed_.notify_all();
}

// ---- settings and statistics --------------------------------------------------------------------

std::shared_ptr<SpillFile> SpillEngine::file() {
  const std::lock_guard lock(mutex_);
  if (!file_) file_ = SpillFile::open(directory_);
  return file_;
}

std::string SpillEngine::directory() {
  const std::lock_guard lock(mutex_);
  return directory_;
}

void SpillEngine::set_directory(std::string directory) {
  std::shared_ptr<SpillFile> opened = SpillFile::open(directory);
  const std::lock_guard lock(mutex_);
  file_ = std::move(opened);
  directory_ = std::move(directory);
}

int64_t SpillEngine::limit() {
  const std::lock_guard lock(mutex_);
  if (limit_ >= 0) return limit_;
  struct statvfs space{};
  if (statvfs(directory_.c_str(), &space) != 0) return 0;
  const auto free = static_cast<int64_t>(space.f_bavail) * static_cast<int64_t>(space.f_frsize);
  return limit_ = free / 10 * 9;
}

void SpillEngine::set_limit(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
}

int64_t SpillEngine::add_callback(PressureCallback free) {
  const std::lock_guard lock(mutex_);
  callbacks_.emplace_back(next_callback_, std::move(free));
  return next_callback_++;
}

void SpillEngine::remove_callback(int64_t id) {
  const std::lock_guard lock(mutex_);
  std::erase_if(callbacks_, [&](const auto& each) { return each.first == id; });
}

SpillStatistics SpillEngine::statistics() {
  SpillStatistics result{.disk_bytes = 0,
                         .evicted_bytes = evicted_,
                         .written_bytes = written_,
                         .fetched_bytes = fetched_,
                         .waited_ns = waited_ns_};
  const std::lock_guard lock(mutex_);
  for (const Residency* residency : all_)
    for (int64_t i = 0; i < residency->size(); ++i)
      if (residency->chunks[static_cast<size_t>(i)].state == ChunkState::kOnDisk)
        result.disk_bytes += residency->charge(i);
  return result;
}

std::string SpillEngine::trouble() {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

}  // namespace hr
