// SPDX-License-Identifier: Apache-2.0
// Sharing: the server that hands segments out, and the side that attaches.
#include "headrace/exchange/share.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exchange/protocol.h"
#include "headrace/exchange/share_socket.h"
#include "headrace/exec/fd_watcher.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/buffer/shared_memory.h"
#include "headrace/memory/log/ledger.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace hr {

namespace {

constexpr int64_t kMostDescription = int64_t{1} << 28;
constexpr uint32_t kMostSegments = 1 << 16;
constexpr int64_t kCopyBytes = int64_t{4} << 20;  // of one task

// What the other side needs in addition to the segments: ranges, then the header of the packed
// value.
struct Description {
  uint64_t magic = kShareMagic;
  uint64_t num_ranges = 0;
};

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

void copy_piece(const SerializedBuffer& piece, std::byte* to) {
  parallel_for(divide_up(piece.size_bytes, kCopyBytes), [&](int64_t task) {
    const int64_t begin = task * kCopyBytes;
    std::memcpy(to + begin, piece.data() + begin,
                static_cast<size_t>(std::min(kCopyBytes, piece.size_bytes - begin)));
  });
}

// What lies elsewhere goes into one new segment.
void move_to_segments(std::vector<SerializedBuffer>& pieces) {
  const auto is_shared = [](const SerializedBuffer& piece) {
    return find_shared(piece.data(), piece.size_bytes).has_value();
  };
  int64_t room = 0, bytes = 0;
  std::vector<SerializedBuffer*> moved;
  for (SerializedBuffer& piece : pieces) {
    if (is_shared(piece)) continue;
    moved.push_back(&piece);
    bytes += piece.size_bytes;
    room = checked_add("share", room, round_up(piece.size_bytes, 64));
  }
  if (moved.empty()) return;
  record_copy("share", "into a shared segment", bytes, true);
  Buffer segment = Buffer::allocate(room, shared_resource());
  std::byte* to = segment.mutable_data();
  for (SerializedBuffer* piece : moved) {
    copy_piece(*piece, to);
    to += round_up(piece->size_bytes, 64);
  }
  int64_t begin = 0;
  for (SerializedBuffer* piece : moved) {
    piece->buffer = segment;
    piece->begin = std::exchange(begin, begin + round_up(piece->size_bytes, 64));
  }
}

}  // namespace

struct SharedValue::Published {
  std::vector<SerializedBuffer> pieces{};
  std::vector<ExportNote> notes{};
  std::vector<int> segments{};  // descriptors that live as long as the pieces
  std::string description{};
  std::atomic<int64_t> leases{0};
  std::atomic<bool> was_attached{false};
};

// Answers those who ask for a value; one a process, made at the first share.
class SharedValue::Server {
 public:
  static Server& get();

  std::string publish(const std::shared_ptr<Published>& value) {
    const ShareToken token = new_share_token();
    const std::lock_guard lock(mutex_);
    published_[token] = value;
    return share_token_text(address_, token);
  }

  void withdraw(const std::string& token) {
    const std::lock_guard lock(mutex_);
    published_.erase(parse_share_token(token).token);
  }

  // False in a forked child, where the server is still the parent's.
  bool is_in_use() const { return in_use == this; }

 private:
  struct Connection {
    Descriptor socket;
    std::shared_ptr<Published> lease;

    ~Connection() {
      socket.release();  // the watcher closes it
      if (lease) --lease->leases;
    }
  };

  Server() {
    const ShareToken random = new_share_token();
    address_ = share_token_text("", random).substr(12, 16);
    const int listening = listen_at(address_).release();
    watch_descriptor(listening, [this, listening] {
      accept_all(listening);
      return true;
    });
  }

  void accept_all(int listening) {
    for (;;) {
      const int number = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (number < 0) {
        // Without free descriptors the one who waits would wake us again at once.
        if (errno == EMFILE || errno == ENFILE) usleep(10'000);
        return;
      }
      Descriptor socket(number);
      if (!is_same_user(socket)) continue;
      try {
        auto connection = std::make_shared<Connection>();
        connection->socket = Descriptor(number);
        watch_descriptor(socket.release(), [this, connection] { return answer(*connection); });
      } catch (...) {  // it was closed, so the other side sees an end
      }
    }
  }

  // False ends the connection: at a wrong request, and when the other side releases its lease.
  bool answer(Connection& connection) noexcept {
    ShareRequest request;
    char more;
    iovec parts[] = {{&request, sizeof request}, {&more, 1}};
    msghdr header{};
    header.msg_iov = parts;
    header.msg_iovlen = 2;
    const ssize_t got = recvmsg(connection.socket.get(), &header, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (got != sizeof request || connection.lease || request.magic != kShareMagic) return false;
    try {
      {
        const std::lock_guard lock(mutex_);
        const auto found = published_.find(request.token);
        if (found != published_.end()) connection.lease = found->second.lock();
      }
      if (!connection.lease) {
        ShareReply unknown;
        unknown.status = ShareStatus::kUnknown;
        send_message(connection.socket, bytes_of(unknown), {});
        return false;
      }
      ++connection.lease->leases;
      if (!send_value(connection.socket, *connection.lease)) return false;
      connection.lease->was_attached = true;
      return true;
    } catch (...) {  // no memory for the description: the other side sees an end
      return false;
    }
  }

  static bool send_value(const Descriptor& socket, const Published& value) {
    const Descriptor description = sealed_copy(value.description);
    std::vector<int> all{description.get()};
    all.insert(all.end(), value.segments.begin(), value.segments.end());
    ShareReply reply;
    reply.num_descriptors = static_cast<uint32_t>(all.size());
    for (size_t begin = 0; begin < all.size(); begin += kMostDescriptors) {
      const size_t end = std::min(begin + kMostDescriptors, all.size());
      if (!send_message(socket, bytes_of(reply),
                        {all.begin() + static_cast<std::ptrdiff_t>(begin),
                         all.begin() + static_cast<std::ptrdiff_t>(end)}))
        return false;
    }
    return true;
  }

  static inline std::atomic<Server*> in_use{nullptr};
  static inline std::atomic<std::mutex*> making{nullptr};

  std::string address_;
  std::mutex mutex_;
  std::map<ShareToken, std::weak_ptr<Published>> published_;
};

// Never destroyed. A forked child leaves its parent's alone and makes one when it needs it.
SharedValue::Server& SharedValue::Server::get() {
  static const bool once = [] {
    making = new std::mutex;
    pthread_atfork(nullptr, nullptr, [] {
      in_use = nullptr;
      making = new std::mutex;  // another thread may have held the old one
    });
    return true;
  }();
  (void)once;
  const std::lock_guard lock(*making.load());
  if (!in_use) in_use = new Server;
  return *in_use;
}

SharedValue::SharedValue(const Serializable& value, const std::optional<std::string>& label)
    : published_(std::make_shared<Published>()) {
  Serialized packed = serialize("share", value, label);
  move_to_segments(packed.pieces);
  Published& made = *published_;
  made.description = bytes_of(Description{.num_ranges = packed.pieces.size()});
  for (const SerializedBuffer& piece : packed.pieces) {
    const SharedRange range = *find_shared(piece.data(), piece.size_bytes);
    const auto at = std::find(made.segments.begin(), made.segments.end(), range.descriptor);
    const ReceivedRange entry{.segment = static_cast<uint32_t>(at - made.segments.begin()),
                              .offset = range.offset,
                              .size_bytes = piece.size_bytes};
    if (at == made.segments.end()) made.segments.push_back(range.descriptor);
    made.description += bytes_of(entry.segment);
    made.description += bytes_of(entry.offset);
    made.description += bytes_of(entry.size_bytes);
    made.notes.emplace_back(piece.buffer);
  }
  made.description += packed.header;
  made.pieces = std::move(packed.pieces);
  server_ = &Server::get();
  token_ = server_->publish(published_);
}

SharedValue::~SharedValue() {
  if (server_->is_in_use()) server_->withdraw(token_);
}

int64_t SharedValue::size_bytes() const {
  int64_t bytes = 0;
  for (const SerializedBuffer& piece : published_->pieces) bytes += piece.size_bytes;
  return bytes;
}

int64_t SharedValue::num_leases() const {
  return published_->leases;
}

bool SharedValue::was_attached() const {
  return published_->was_attached;
}

namespace {

[[noreturn]] void refuse_answer(std::string_view what) {
  throw_error<InvalidArgumentError>("attach", what, {}, "the reply is corrupt");
}

template <class T>
T take(std::string_view& bytes) {
  T value;
  if (bytes.size() < sizeof value) refuse_answer("the description is too short");
  std::memcpy(static_cast<void*>(&value), bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return value;
}

std::vector<Descriptor> receive_all(const Descriptor& socket) {
  std::vector<Descriptor> descriptors;
  uint32_t expected = 1;
  while (descriptors.size() < expected) {
    ShareReply reply;
    const size_t before = descriptors.size();
    receive_message(socket, &reply, sizeof reply, descriptors);
    if (reply.magic != kShareMagic) refuse_answer("the reply is not from Headrace");
    if (reply.status != ShareStatus::kOk)
      throw_error<InvalidArgumentError>(
          "attach", "the value is no longer shared", {},
          "keep the result of share() until all processes have attached");
    if (descriptors.size() == before || reply.num_descriptors == 0 ||
        reply.num_descriptors > kMostSegments || (before > 0 && reply.num_descriptors != expected))
      refuse_answer("the number of segments is wrong");
    expected = reply.num_descriptors;
  }
  if (descriptors.size() != expected) refuse_answer("the number of segments is wrong");
  return descriptors;
}

}  // namespace

Deserialized attach(std::string_view token) {
  const ShareAddress address = parse_share_token(token);
  Descriptor socket = connect_to(address.address);
  ShareRequest request;
  request.token = address.token;
  if (!send_message(socket, bytes_of(request), {}))
    throw InputError(error_message("attach", "the process that shares the value is gone"));
  std::vector<Descriptor> segments = receive_all(socket);
  const std::string description = sealed_bytes("attach", segments.front(), kMostDescription);
  segments.erase(segments.begin());
  std::string_view rest = description;
  const auto head = take<Description>(rest);
  if (head.magic != kShareMagic) refuse_answer("the reply is not from Headrace");
  if (head.num_ranges > rest.size()) refuse_answer("the description is too short");
  std::vector<ReceivedRange> ranges(head.num_ranges);
  for (ReceivedRange& range : ranges) {
    range.segment = take<uint32_t>(rest);
    range.offset = take<int64_t>(rest);
    range.size_bytes = take<int64_t>(rest);
  }
  return deserialize("attach", rest,
                     map_segments("attach", std::move(segments), ranges, std::move(socket)));
}

}  // namespace hr
