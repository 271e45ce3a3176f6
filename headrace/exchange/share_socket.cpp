// SPDX-License-Identifier: Apache-2.0
// Messages with descriptors.
#include "headrace/exchange/share_socket.h"

#include "headrace/base/error.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace hr {

namespace {

constexpr std::string_view kPrefix = "headrace:1:";
constexpr size_t kAddressDigits = 16;

[[noreturn]] void refuse(std::string_view what, int code) {
  throw InputError(error_message("share", what, {{"reason", std::strerror(code)}}), {}, 0, 0, code);
}

[[noreturn]] void refuse(std::string_view what, std::string_view fix = {}) {
  throw InputError(error_message("attach", what, {}, fix));
}

struct Address {
  sockaddr_un name{};
  socklen_t size = 0;

  explicit Address(std::string_view address) {
    const std::string text = "headrace-" + std::string(address);
    name.sun_family = AF_UNIX;  // a name that begins with a zero is in no folder
    std::memcpy(name.sun_path + 1, text.data(), std::min(text.size(), sizeof name.sun_path - 1));
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  }

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

Descriptor new_socket(int flags) {
  Descriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
  if (!made) refuse("the system refused a socket", errno);
  return made;
}

bool from_hexadecimal(std::string_view text, uint8_t* bytes) {
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return false;
    bytes[i / 2] = static_cast<uint8_t>(i % 2 ? bytes[i / 2] | digit : digit << 4);
  }
  return true;
}

}  // namespace

ShareToken new_share_token() {
  ShareToken token;
  if (getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size()))
    refuse("the system refused random bytes", errno);
  return token;
}

std::string share_token_text(std::string_view address, const ShareToken& token) {
  std::string text(kPrefix);
  text.append(address).push_back(':');
  for (const uint8_t byte : token) {
    text.push_back("0123456789abcdef"[byte >> 4]);
    text.push_back("0123456789abcdef"[byte & 15]);
  }
  return text;
}

ShareAddress parse_share_token(std::string_view text) {
  ShareAddress result;
  const size_t digits = 2 * result.token.size();
  uint8_t bytes[kAddressDigits / 2];
  if (text.size() == kPrefix.size() + kAddressDigits + 1 + digits && text.starts_with(kPrefix) &&
      text[kPrefix.size() + kAddressDigits] == ':' &&
      from_hexadecimal(text.substr(kPrefix.size(), kAddressDigits), bytes) &&
      from_hexadecimal(text.substr(text.size() - digits), result.token.data())) {
    result.address = text.substr(kPrefix.size(), kAddressDigits);
    return result;
  }
  throw_error<InvalidArgumentError>("attach", "not a token of a shared value",
                                    {{"token", text.substr(0, 80)}},
                                    "pass the result of share(), or its token");
}

Descriptor listen_at(std::string_view address) {
  Descriptor made = new_socket(SOCK_NONBLOCK);
  const Address name(address);
  if (bind(made.get(), name.get(), name.size) != 0 || listen(made.get(), 128) != 0)
    refuse("the system refused a socket", errno);
  return made;
}

Descriptor connect_to(std::string_view address) {
  Descriptor made = new_socket(0);
  const timeval wait{.tv_sec = 10, .tv_usec = 0};
  setsockopt(made.get(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  setsockopt(made.get(), SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
  const Address name(address);
  int failed;
  do failed = connect(made.get(), name.get(), name.size);
  while (failed != 0 && errno == EINTR);
  if (failed != 0) {
    if (errno == ECONNREFUSED)
      refuse("the process that shares the value is gone, or is not on this machine",
             "share it again from a live process");
    throw InputError(error_message("attach", "the process that shares the value does not answer",
                                   {{"reason", std::strerror(errno)}}),
                     {}, 0, 0, errno);
  }
  if (!is_same_user(made)) refuse("the process that shares the value belongs to another user");
  return made;
}

bool is_same_user(const Descriptor& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         size == sizeof peer && peer.uid == geteuid();
}

bool send_message(const Descriptor& socket, std::string_view message,
                  const std::vector<int>& descriptors) {
  iovec part{const_cast<char*>(message.data()), message.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMostDescriptors)] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    const size_t bytes = sizeof(int) * std::min(descriptors.size(), kMostDescriptors);
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* first = CMSG_FIRSTHDR(&header);
    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(first), descriptors.data(), bytes);
  }
  ssize_t sent;
  do sent = sendmsg(socket.get(), &header, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(message.size());
}

void receive_message(const Descriptor& socket, void* message, size_t size,
                     std::vector<Descriptor>& descriptors) {
  iovec part{message, size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMostDescriptors)] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ssize_t got;
  do got = recvmsg(socket.get(), &header, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  const int code = errno;
  // Descriptors are ours from here on, whatever else is wrong.
  for (cmsghdr* each = got < 0 ? nullptr : CMSG_FIRSTHDR(&header); each;
       each = CMSG_NXTHDR(&header, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int number;
      std::memcpy(&number, CMSG_DATA(each) + i * sizeof number, sizeof number);
      descriptors.emplace_back(number);
    }
  }
  if (got < 0)
    throw InputError(error_message("attach", "the process that shares the value does not answer",
                                   {{"reason", std::strerror(code)}}),
                     {}, 0, 0, code);
  if (got == 0) refuse("the process that shares the value closed the connection");
  if (header.msg_flags & MSG_CTRUNC)
    refuse("no room for the descriptors of the shared segments",
           "raise the limit of open files (ulimit -n)");
  if (static_cast<size_t>(got) != size || (header.msg_flags & MSG_TRUNC))
    refuse("the reply has the wrong size");
}

}  // namespace hr
