// SPDX-License-Identifier: Apache-2.0
// The hook through which foreign memory is released.
#include "headrace/exchange/protocol.h"

#include <atomic>

namespace hr {

namespace {

std::atomic<ReleaseHook> release_hook{nullptr};

}  // namespace

void set_release_hook(ReleaseHook hook) {
  release_hook = hook;
}

void release_foreign(Owner owner) noexcept {
  if (const ReleaseHook hook = release_hook)
    hook(owner);
  else
    owner.release(owner.context);
}

}  // namespace hr
