// SPDX-License-Identifier: Apache-2.0
// One value in several processes of one user on one machine, without a copy.
#pragma once
#include "headrace/base/api.h"
#include "headrace/exchange/serialize.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hr {

/// A value that other processes of this user can attach while this lives. What lies in shared
/// segments (buffers made under `shared_resource()`, attached ones) is shared as it is; all else is
/// copied into one segment, which the ledger shows as asked under "share". A process that attached
/// keeps the memory as long as it needs it, also beyond this and beyond this process; until then it
/// is charged here. The request comes over a socket in the abstract namespace and is answered on
/// the watching thread for any process with the token and the same user id.
class HR_API SharedValue {
 public:
  /// Throws OutOfMemoryError, and InputError when the system refuses a socket or a thread.
  explicit SharedValue(const Serializable& value, const std::optional<std::string>& label = {});
  ~SharedValue();
  SharedValue(const SharedValue&) = delete;
  SharedValue& operator=(const SharedValue&) = delete;

  /// What `attach` takes: a line of ASCII. Whoever knows it and runs as this user can attach.
  const std::string& token() const { return token_; }

  int64_t size_bytes() const;

  /// Connections that hold the value now.
  int64_t num_leases() const;

  /// Whether a process has attached the value, now or before.
  bool was_attached() const;

 private:
  struct Published;
  class Server;

  std::shared_ptr<Published> published_;
  Server* server_ = nullptr;
  std::string token_;
};

/// The value behind a token, read-only over the owner's memory: 0 bytes are copied. It stays valid
/// when the owner releases it or dies. Throws InvalidArgumentError for a bad token, for a value
/// that is not shared any more and for a message that contradicts itself; InputError when the owner
/// is gone, belongs to another user or does not answer.
HR_API Deserialized attach(std::string_view token);

}  // namespace hr
