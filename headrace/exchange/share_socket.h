// SPDX-License-Identifier: Apache-2.0
// Messages with descriptors between two processes of one user, over a socket with message borders.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/buffer/shared_memory.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

using ShareToken = std::array<uint8_t, 16>;

inline constexpr uint64_t kShareMagic = 0x3145524148535248;  // "HRSHARE1" in memory
/// Descriptors in one message; the kernel takes 253.
inline constexpr size_t kMostDescriptors = 200;

struct ShareRequest {
  uint64_t magic = kShareMagic;
  ShareToken token{};
};

enum class ShareStatus : uint32_t { kOk, kUnknown };

/// The reply's first message brings a sealed file with the value's description and the first
/// segments, further ones the rest.
struct ShareReply {
  uint64_t magic = kShareMagic;
  ShareStatus status = ShareStatus::kOk;
  uint32_t num_descriptors = 0;  ///< of the whole reply, with the file
};

/// A random name and token; throws InputError when the system refuses random bytes.
ShareToken new_share_token();

/// "headrace:1:<address>:<token>", and back; throws InvalidArgumentError for anything else.
std::string share_token_text(std::string_view address, const ShareToken& token);
struct ShareAddress {
  std::string address{};
  ShareToken token{};
};
HR_API ShareAddress parse_share_token(std::string_view text);

/// A socket that listens at `address` in the abstract namespace, and does not block.
Descriptor listen_at(std::string_view address);
/// A connection to a process of this user; it waits at most 10 seconds, here and in each message.
HR_API Descriptor connect_to(std::string_view address);

/// The process at the other end runs as this user.
HR_API bool is_same_user(const Descriptor& socket);

/// False when the other end is gone or takes nothing more. `message` is one datagram.
HR_API bool send_message(const Descriptor& socket, std::string_view message,
                         const std::vector<int>& descriptors);
/// One datagram of `size` bytes with the descriptors that came with it, at most kMostDescriptors.
/// Throws InputError for another size, a timeout, an end, or descriptors that were cut off.
HR_API void receive_message(const Descriptor& socket, void* message, size_t size,
                            std::vector<Descriptor>& descriptors);

}  // namespace hr
