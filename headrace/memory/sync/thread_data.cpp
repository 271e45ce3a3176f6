// SPDX-License-Identifier: Apache-2.0
// Asks for more than thread-local data need, since what they need itself cannot be refused.
#include "headrace/memory/sync/thread_data.h"

#include "headrace/memory/sync/thread_number.h"

#include <cstdlib>
#include <exception>

namespace hr {

bool take_thread_data() noexcept {
  constexpr size_t kRoom = size_t{64} << 10;
  auto* const room = static_cast<volatile char*>(std::malloc(kRoom));
  if (!room) return false;
  room[0] = 0;  // a compiler may leave out what is not used
  std::free(const_cast<char*>(room));
  thread_number();                              // those of the engine are one block
  static_cast<void>(std::current_exception());  // those of the C++ library
  return true;
}

}  // namespace hr
