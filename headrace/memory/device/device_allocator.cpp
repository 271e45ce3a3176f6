// SPDX-License-Identifier: Apache-2.0
// Device memory, our own and for other libraries.
#include "headrace/memory/device/device_allocator.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/memory/buffer/buffer_rep.h"
#include "headrace/memory/device/device_blocks.h"
#include "headrace/memory/device/device_evictor.h"
#include "headrace/memory/log/event_log.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

namespace hr {

namespace {

struct Account {
  MemoryStatistics external{};  // used and peak bytes and allocations of other libraries
  MemoryStatistics all{.limit_bytes = std::numeric_limits<int64_t>::max()};
  bool is_open = false;  // the driver's pool keeps what is freed
};

constexpr int kOutOfMemory = 2;  // CUDA_ERROR_OUT_OF_MEMORY
// CUmemPool_attribute
constexpr int kReleaseThreshold = 4;
constexpr int kReservedBytes = 5;
constexpr int kUsedBytes = 7;

struct Devices {
  std::mutex mutex;
  DeviceBlocks blocks;
  FreeDeviceBlocks free;
  std::map<int, Account> accounts;

  Devices() { lock_over_fork(mutex); }
};

Devices& devices() {
  return process_global<Devices>();  // arrays outlive main
}

[[maybe_unused]] const bool entered = [] {
  set_device_budget(
      PlaceKind::kCuda,
      {.statistics = [](Place place) { return device_memory_statistics(place.index); },
       .limit = [](Place place) { return device_memory_statistics(place.index).limit_bytes; },
       .set_limit = [](Place place, int64_t bytes) { set_device_limit(place.index, bytes); },
       .trim = trim_devices,
       .holders = device_holders});
  return true;
}();

// Makes the device's primary context current, unless one of the device is; never throws.
class OnDevice {
 public:
  OnDevice(const CudaDriver& driver, int device) : driver_(driver) {
    int now = -1;
    if (driver.current_device(&now) == 0 && now == device) return;
    void* context = nullptr;
    status_ = driver.retain_context(&context, device);
    if (status_ == 0) status_ = driver.push_context(context);
    pushed_ = status_ == 0;
  }

  ~OnDevice() {
    void* context = nullptr;
    if (pushed_) driver_.pop_context(&context);
  }

  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  int status() const { return status_; }

 private:
  const CudaDriver& driver_;
  int status_ = 0;
  bool pushed_ = false;
};

const CudaDriver& driver_or_throw(const char* op) {
  const CudaDriver* const driver = cuda_driver();
  if (!driver) throw_error<DeviceError>(op, "no CUDA driver found", {}, "install NVIDIA's driver");
  return *driver;
}

// What the driver's pool of a device keeps beyond what is in use.
int64_t pooled_bytes(int device) {
  const CudaFunctions* const cuda = cuda_functions();
  void* pool = nullptr;
  uint64_t reserved = 0;
  uint64_t used = 0;
  if (!cuda || cuda->default_pool(&pool, device) != 0 ||
      cuda->get_pool_attribute(pool, kReservedBytes, &reserved) != 0 ||
      cuda->get_pool_attribute(pool, kUsedBytes, &used) != 0)
    return 0;
  return static_cast<int64_t>(reserved - std::min(reserved, used));
}

void open_pool(int device, int64_t limit) {
  const CudaFunctions& cuda = *cuda_functions();
  void* pool = nullptr;
  auto keep = static_cast<uint64_t>(limit);
  check_cuda("memory.limit", cuda.default_pool(&pool, device));
  check_cuda("memory.limit", cuda.set_pool_attribute(pool, kReleaseThreshold, &keep));
}

void charge_block(Account& account, int64_t bytes, bool own) {
  account.all.used_bytes += bytes;
  if (own) return;
  account.all.external_bytes += bytes;
  account.external.used_bytes += bytes;
}

// It has an owner from here on.
void* enter_block(Devices& all, Account& account, DeviceBlockNode node) {
  void* const pointer = const_cast<void*>(node.key());
  const DeviceBlock& block = node.mapped();
  const auto bytes = static_cast<int64_t>(block.bytes);
  ++account.all.allocations;
  account.all.allocated_bytes += bytes;
  account.all.peak_bytes = std::max(account.all.peak_bytes, account.all.used_bytes);
  if (!block.own) {
    ++account.external.allocations;
    account.external.peak_bytes =
        std::max(account.external.peak_bytes, account.external.used_bytes);
  }
  all.blocks.insert(std::move(node));
  return pointer;
}

// Free blocks go back to the driver's pool; their bytes.
int64_t give_back(int device, const std::vector<DeviceBlockNode>& blocks) noexcept {
  const CudaDriver* const driver = blocks.empty() ? nullptr : cuda_driver();
  if (!driver) return 0;
  const OnDevice on(*driver, device);
  if (on.status() != 0) return 0;
  int64_t bytes = 0;
  for (const DeviceBlockNode& block : blocks) {
    driver->free(reinterpret_cast<uintptr_t>(block.key()), block.mapped().stream);
    bytes += static_cast<int64_t>(device_block_size(block.mapped().bytes));
  }
  return bytes;
}

// `waits`: the memory is the pool's when this returns, and can be trimmed.
int64_t give_back_all(int device, bool waits = false) noexcept {
  Devices& all = devices();
  std::vector<DeviceBlockNode> blocks;
  {
    const std::lock_guard lock(all.mutex);
    blocks = all.free.take_all(device);
  }
  const int64_t bytes = give_back(device, blocks);
  const CudaFunctions* const cuda = waits && bytes > 0 ? cuda_functions() : nullptr;
  if (!cuda) return bytes;
  const OnDevice on(*cuda_driver(), device);
  void* last = nullptr;
  for (size_t i = 0; i < blocks.size(); ++i)  // in the order of their streams
    if (void* const stream = blocks[i].mapped().stream; i == 0 || stream != last)
      cuda->synchronize_stream(last = stream);
  return bytes;
}

struct BlockRequest {
  size_t bytes;
  int device;
  void* stream;
  Tag tag;
  bool own;
  const DeviceAllocate* how = nullptr;  // if not from the driver's pool

  int64_t counted() const { return static_cast<int64_t>(bytes); }

  Place place() const { return {PlaceKind::kCuda, device}; }

  // For errors: the words of a tag cost more than an allocation.
  std::string op() const {
    const TagInfo info = tag_info(tag);
    return info.op.empty() ? std::string("allocate") : info.op;
  }

  void check_status(int status) const {
    if (status != 0) check_cuda(op(), status);
  }

  void fill(DeviceBlock& block, bool rounded) const {
    block.bytes = bytes;
    block.device = device;
    block.stream = stream;
    block.tag = tag;
    block.serial = present_serial();
    block.own = own;
    block.managed = how != nullptr;
    block.rounded = rounded;
  }

  [[noreturn]] void refuse(const MemoryStatistics& now, const std::string& fix) const {
    throw_out_of_device_memory(op(), place(), counted(), now, "",
                               fix + " or drop what you no longer need");
  }
};

// The account of a device with a request, or without room for it.
struct Charge {
  void* pointer = nullptr;    // a kept block of this size
  bool is_kept_size = false;  // such blocks are kept when they are freed
  bool is_first = false;      // of the device: the driver's pool is not open yet
  MemoryStatistics now{};
  std::vector<DeviceBlockNode> gone{};  // kept blocks that are over the limit
};

// Whether the limit has room for the request, which is charged then.
bool try_charge(const BlockRequest& request, Charge& charge) {
  Devices& all = devices();
  const std::lock_guard lock(all.mutex);
  Account& account = all.accounts[request.device];
  if (request.counted() > account.all.limit_bytes - account.all.used_bytes) {
    charge.now = account.all;
    return false;
  }
  charge_block(account, request.counted(), request.own);
  charge.is_kept_size = !request.how && all.free.takes(request.stream, request.bytes);
  if (DeviceBlockNode block = charge.is_kept_size
                                  ? all.free.take(request.device, request.stream, request.bytes)
                                  : DeviceBlockNode()) {
    request.fill(block.mapped(), charge.is_kept_size);
    charge.pointer = enter_block(all, account, std::move(block));
    return true;
  }
  charge.now = account.all;
  // What is kept is within the limit too.
  if (charge.now.used_bytes > charge.now.limit_bytes - all.free.bytes(request.device))
    charge.gone = all.free.take_all(request.device);
  charge.is_first = !std::exchange(account.is_open, cuda_functions() != nullptr);
  return true;
}

// Charges a request, and evicts what can leave the device until there is room for it.
Charge charge_or_throw(const BlockRequest& request) {
  Charge charge;
  // Charged before it is allocated: the limit holds at every instant.
  while (!try_charge(request, charge)) {
    const int64_t used = charge.now.used_bytes;
    if (!DeviceTier::instance().make_room(request.place(),
                                          used - charge.now.limit_bytes + request.counted()))
      request.refuse(charge.now, "raise hr.memory.limit(..., device='cuda') to at least " +
                                     format_bytes(used + request.counted()) + ",");
  }
  return charge;
}

// The memory of a request that is charged.
void* make_block(const CudaDriver& driver, const BlockRequest& request, const Charge& charge) {
  unsigned long long address = 0;
  give_back(request.device, charge.gone);
  const OnDevice on(driver, request.device);
  request.check_status(on.status());
  if (charge.is_first && cuda_functions())
    open_pool(request.device, device_memory_statistics(request.device).limit_bytes);
  const size_t asked = charge.is_kept_size ? device_block_size(request.bytes) : request.bytes;
  const auto ask = [&] {
    return request.how ? (*request.how)(&address)
                       : driver.allocate(&address, asked, request.stream);
  };
  int status = ask();
  while (status == kOutOfMemory &&
         (give_back_all(request.device) > 0 ||
          DeviceTier::instance().make_room(request.place(), request.counted())))
    status = ask();
  if (status == kOutOfMemory)
    request.refuse(charge.now, "the card is full: stop other processes on it,");
  request.check_status(status);
  DeviceBlocks made;
  request.fill(made[reinterpret_cast<const void*>(address)], charge.is_kept_size);
  Devices& all = devices();
  const std::lock_guard lock(all.mutex);
  return enter_block(all, all.accounts[request.device], made.extract(made.begin()));
}

void* charge_and_make_block(const BlockRequest& request) {
  const CudaDriver* const found = cuda_driver();
  const CudaDriver& driver = found ? *found : driver_or_throw(request.op().c_str());
  const Charge charge = charge_or_throw(request);
  if (charge.pointer) return charge.pointer;
  try {
    return make_block(driver, request, charge);
  } catch (...) {
    Devices& all = devices();
    const std::lock_guard lock(all.mutex);
    charge_block(all.accounts[request.device], -request.counted(), request.own);
    throw;
  }
}

void* allocate_block(const BlockRequest& request) {
  void* pointer = nullptr;
  try {
    pointer = charge_and_make_block(request);
  } catch (...) {
    log_memory_event(MemoryAction::kAllocateFailure, nullptr, request.counted(), request.tag,
                     request.place());
    throw;
  }
  log_memory_event(MemoryAction::kAllocate, pointer, request.counted(), request.tag,
                   request.place());
  return pointer;
}

}  // namespace

void set_cuda_driver(const CudaDriver* driver) {
  if (cuda_driver())
    for (int device = 0; device < cuda_device_count(); ++device) give_back_all(device);
  override_cuda_driver(driver);
}

std::pair<int64_t, int64_t> device_memory(int device) {
  const CudaDriver& driver = driver_or_throw("device_memory");
  const OnDevice on(driver, device);
  check_cuda("device_memory", on.status());
  size_t free = 0;
  size_t total = 0;
  check_cuda("device_memory", driver.memory(&free, &total));
  return {static_cast<int64_t>(free), static_cast<int64_t>(total)};
}

void* device_allocate_own(size_t bytes, int device, void* stream) {
  return allocate_block({bytes, device, stream, current_tag(), true});
}

void* device_allocate_external(size_t bytes, int device, void* stream, Tag tag) {
  return allocate_block({bytes, device, stream, tag, false});
}

void* device_allocate_by(const DeviceAllocate& allocate, size_t bytes, int device) {
  return allocate_block({bytes, device, nullptr, current_tag(), true, &allocate});
}

bool is_managed_block(const void* pointer) noexcept {
  Devices& all = devices();
  const std::lock_guard lock(all.mutex);
  const auto found = all.blocks.find(pointer);
  return found != all.blocks.end() && found->second.managed;
}

void note_device_use(const void* pointer, void* stream) {
  Devices& all = devices();
  const std::lock_guard lock(all.mutex);
  auto block = all.blocks.upper_bound(pointer);
  if (block == all.blocks.begin()) return;
  DeviceBlock& found = (--block)->second;
  const auto end = static_cast<const std::byte*>(block->first) + found.bytes;
  if (pointer >= end || found.stream == stream) return;
  if (std::find(found.used_on.begin(), found.used_on.end(), stream) == found.used_on.end())
    found.used_on.push_back(stream);
}

void device_free(void* pointer, void* stream) noexcept {
  Devices& all = devices();
  DeviceBlockNode node;
  {
    const std::lock_guard lock(all.mutex);
    node = all.blocks.extract(pointer);
    if (!node) return;
    const DeviceBlock& block = node.mapped();
    charge_block(all.accounts[block.device], -static_cast<int64_t>(block.bytes), block.own);
  }
  DeviceBlock& block = node.mapped();
  // Before the bytes go: else another thread's event of the same address could come first.
  log_memory_event(MemoryAction::kFree, pointer, static_cast<int64_t>(block.bytes), block.tag,
                   {PlaceKind::kCuda, block.device});
  if (stream) block.stream = stream;
  // At the end of the process the driver may be gone: then the memory is, too.
  const CudaDriver* const driver = cuda_driver();
  if (!driver) return;
  if (const CudaFunctions* const cuda = block.used_on.empty() ? nullptr : cuda_functions()) {
    const OnDevice on(*driver, block.device);
    if (on.status() != 0) return;
    for (void* const other : block.used_on) {
      void* event = nullptr;
      if (cuda->make_event(&event, 2) != 0) continue;  // without a time
      cuda->record_event(event, other);
      cuda->wait_event(block.stream, event, 0);
      cuda->end_event(event);
    }
  }
  block.used_on.clear();
  if (block.managed) {
    const OnDevice on(*driver, block.device);
    if (on.status() == 0)
      managed_functions()->free(reinterpret_cast<uintptr_t>(pointer));  // waits for all work
    return;
  }
  const int device = block.device;
  std::vector<DeviceBlockNode> gone;
  try {
    const std::lock_guard lock(all.mutex);
    if (block.rounded && all.free.takes(block.stream, block.bytes))
      all.free.keep(std::move(node), gone);
    else
      gone.push_back(std::move(node));
  } catch (const std::bad_alloc&) {  // then it is unused to the end
  }
  give_back(device, gone);
}

size_t device_block_bytes(const void* pointer) noexcept {
  Devices& all = devices();
  const std::lock_guard lock(all.mutex);
  const auto found = all.blocks.find(pointer);
  return found == all.blocks.end() ? 0 : found->second.bytes;
}

MemoryStatistics device_external_statistics(int device) {
  Devices& all = devices();
  const std::lock_guard lock(all.mutex);
  const auto found = all.accounts.find(device);
  return found == all.accounts.end() ? MemoryStatistics{} : found->second.external;
}

MemoryStatistics device_memory_statistics(int device) {
  Devices& all = devices();
  MemoryStatistics statistics;
  {
    const std::lock_guard lock(all.mutex);
    statistics = all.accounts[device].all;
    statistics.cached_bytes = all.free.bytes(device);  // which the pool counts as used
  }
  statistics.cached_bytes += pooled_bytes(device);
  return statistics;
}

std::vector<int> devices_in_use() {
  Devices& all = devices();
  const std::lock_guard lock(all.mutex);
  std::vector<int> used;
  for (const auto& [device, account] : all.accounts)
    if (account.all.allocations > 0) used.push_back(device);
  return used;
}

void set_device_limit(int device, int64_t bytes) {
  driver_or_throw("memory.limit");
  Devices& all = devices();
  {
    const std::lock_guard lock(all.mutex);
    all.accounts[device].all.limit_bytes = bytes;
  }
  give_back_all(device);
  if (cuda_functions()) open_pool(device, bytes);
  const int64_t over = device_memory_statistics(device).used_bytes - bytes;
  if (over > 0) DeviceTier::instance().make_room({PlaceKind::kCuda, device}, over);
}

int64_t trim_devices() noexcept {
  Devices& all = devices();
  std::vector<std::pair<int, bool>> found;
  {
    const std::lock_guard lock(all.mutex);
    for (const auto& [device, account] : all.accounts) found.emplace_back(device, account.is_open);
  }
  int64_t freed = 0;
  for (const auto& [device, is_open] : found) {
    const int64_t before = is_open ? pooled_bytes(device) : 0;
    freed += before + give_back_all(device, is_open);
    if (!is_open) continue;
    const OnDevice on(*cuda_driver(), device);
    void* pool = nullptr;
    if (on.status() == 0 && cuda_functions()->default_pool(&pool, device) == 0)
      cuda_functions()->trim_pool(pool, 0);
    freed -= pooled_bytes(device);
  }
  return freed;
}

void note_lasting_stream(void* stream) {
  Devices& all = devices();
  const std::lock_guard lock(all.mutex);
  all.free.add_lasting_stream(stream);
}

std::vector<Holder> device_holders(uint64_t serial) {
  std::vector<DeviceBlock> blocks;
  {
    Devices& all = devices();
    const std::lock_guard lock(all.mutex);
    for (const auto& [pointer, block] : all.blocks)
      if (!block.own && (serial == 0 || block.serial > serial)) blocks.push_back(block);
  }
  std::vector<Holder> holders;
  for (const DeviceBlock& block : blocks) {
    Holder& holder = holders.emplace_back();
    holder.serial = block.serial;
    holder.bytes = static_cast<int64_t>(block.bytes);
    holder.tag = tag_info(block.tag);
    holder.place = {PlaceKind::kCuda, block.device};
    holder.external = true;
    holder.stays = "allocated by another library";
  }
  return holders;
}

}  // namespace hr
