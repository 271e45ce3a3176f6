// SPDX-License-Identifier: Apache-2.0
// A mutex that a fork does not catch in the hands of another thread.
#pragma once
#include "headrace/base/api.h"

#include <mutex>

namespace hr {

/// fork() waits for it, and the child begins with a free one. Never held while another mutex is
/// taken.
class HR_API ForkMutex : public std::mutex {
 public:
  ForkMutex();
  ~ForkMutex();
};

}  // namespace hr
