// SPDX-License-Identifier: Apache-2.0
// Copies from one CUDA device to another: the driver's functions for peers.
#include "headrace/memory/device/peer_copy.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/base/shared_library.h"
#include "headrace/memory/device/by_device.h"

#include <map>
#include <mutex>
#include <utility>

namespace hr {

namespace {

// `CUmemAccessDesc`
struct PoolAccess {
  CudaLocation location{};
  int flags = 3;  // to read and write
};

/// The functions of CUDA's driver for peers, with its signatures.
struct PeerFunctions {
  int (*can_access)(int*, int, int) = nullptr;                             // canAccessPeer
  int (*set_access)(void*, const PoolAccess*, size_t) = nullptr;           // cuMemPoolSetAccess
  int (*copy)(uint64_t, void*, uint64_t, void*, size_t, void*) = nullptr;  // cuMemcpyPeerAsync
};

const PeerFunctions& peer_functions() {
  static const PeerFunctions found = [] {
    SharedLibrary cuda({"libcuda.so.1"});
    PeerFunctions f;
    cuda.load("cuDeviceCanAccessPeer", f.can_access);
    cuda.load("cuMemPoolSetAccess", f.set_access);
    cuda.load("cuMemcpyPeerAsync", f.copy);
    if (!cuda.missing().empty())
      throw_error<DeviceError>("to", "the CUDA driver has no copies between devices", {},
                               "copy by the host: x.to('cpu')");
    return f;
  }();
  return found;
}

void* context_of(int device) {
  struct Known : ByDevice<void*> {};
  return process_global<Known>().get(device, [&] {
    void* context = nullptr;
    check_cuda("to", cuda_driver()->retain_context(&context, device));
    return context;
  });
}

// Blocks come from the devices' pools, which others reach only when the pool says so.
void open_link(int device, int peer) {
  struct Links {
    std::mutex mutex;
    std::map<std::pair<int, int>, bool> opened;
  };
  auto& [mutex, opened] = process_global<Links>();
  const std::lock_guard lock(mutex);
  const auto [link, is_new] = opened.try_emplace({device, peer}, true);
  if (!is_new || !can_access_peer(device, peer)) return;
  void* pool = nullptr;
  check_cuda("to", cuda_functions()->default_pool(&pool, peer));
  const PoolAccess access{{1, device}};
  check_cuda("to", peer_functions().set_access(pool, &access, 1));
}

}  // namespace

bool can_access_peer(int device, int peer) {
  int can = 0;
  check_cuda("to", peer_functions().can_access(&can, device, peer));
  return can != 0;
}

void copy_from_peer(int peer, const std::byte* from, int device, std::byte* to, int64_t size_bytes,
                    Stream stream) {
  open_link(device, peer);
  const CudaScope on("to", device);
  check_cuda("to", peer_functions().copy(reinterpret_cast<uint64_t>(to), context_of(device),
                                         reinterpret_cast<uint64_t>(from), context_of(peer),
                                         static_cast<size_t>(size_bytes), native_stream(stream)));
}

}  // namespace hr
