// SPDX-License-Identifier: Apache-2.0
// The engine behind the device tier: it moves whole buffers. For this room only.
#pragma once
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/device/device_tier.h"
#include "headrace/memory/spill/residency.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace hr {

/// Less is not worth a move.
inline constexpr int64_t kLeastMoved = int64_t{64} << 10;
inline constexpr size_t kBlockAlignment = 64;

/// A buffer of a device has one chunk, whose pins, uses and rank mean what they do on the host.
/// Only sealed buffers have none of their maker's pin, and those that another library has the
/// address of stay.
class DeviceTier {
 public:
  static DeviceTier& instance();

  void enter(Residency& residency);
  /// Gives the block and the copy back. False: a thread moves it, and will end it with its buffer.
  bool leave(Residency& residency) noexcept;

  void pin(Residency& residency);
  void unpin(Residency& residency) noexcept;

  /// Takes buffers off the device until `bytes` went, what is used last first. False when nothing
  /// went and nothing will.
  bool make_room(Place place, int64_t bytes);

  void plan(Residency& residency, const std::vector<int64_t>& steps);

  bool read_away(Residency& residency, int64_t begin, int64_t bytes, std::byte* to);

  void lend(Residency& residency, const Buffer& copy);
  bool is_away(Residency& residency);

  DeviceTierStatistics statistics(Place place);
  /// Why the host took nothing when it was asked last.
  std::string trouble();

  static void set_moves(const DeviceMoves* moves) { moves_ = moves; }

  /// Of these, those that this thread ends.
  static int64_t& pins_of_thread();
  static int64_t& moves_of_thread();

  int64_t pinned_limit() const { return pinned_limit_; }

  void set_pinned_limit(int64_t bytes) { pinned_limit_ = bytes; }

 private:
  struct Move {
    Move(DeviceTier& owner, std::unique_lock<std::mutex>& held, Residency& of);
    ~Move();
    Move(const Move&) = delete;
    Move& operator=(const Move&) = delete;

    DeviceTier& tier;
    std::unique_lock<std::mutex>& lock;
    Residency& residency;
  };

  DeviceTier();
  void note_change() noexcept;
  void end(Residency& residency) noexcept;
  bool wait_for_others(std::unique_lock<std::mutex>& lock, int64_t pins);
  void bring(Residency& residency);
  bool take_away(Residency& residency);
  void copy_to_host(Residency& residency);
  bool take_pinned_room(const Residency& residency);
  void demote(Residency& residency);
  void forget_copy(Residency& residency) noexcept;
  void drop_copy(Residency& residency) noexcept;
  int64_t drop_copies(int64_t bytes);
  DeviceTierStatistics& statistics_of(Place place);

  static inline constinit std::atomic<const DeviceMoves*> moves_{nullptr};

  pid_t process_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Residency*> all_;
  int64_t pinned_bytes_ = 0;
  int64_t moving_ = 0;
  uint64_t changes_ = 0;  // others may find room after one
  std::atomic<int64_t> pinned_limit_;
  std::map<std::string, DeviceTierStatistics> statistics_;
  std::string trouble_;
};

/// Gives a new buffer its block on a device, evicting what it must.
void lodge(Buffer::Rep& rep, const AnyResource& resource);
/// Why a buffer of a device stays there, or where it is.
const char* device_stays(const Buffer::Rep& rep);
/// Throws the error that names the request, the budget and the largest holders of the place.
/// `more`: further values, ", name=value".
[[noreturn]] void throw_out_of_device_memory(std::string_view op, Place place, int64_t requested,
                                             const MemoryStatistics& now, std::string_view more,
                                             std::string_view fix);

}  // namespace hr
