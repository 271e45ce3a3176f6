// SPDX-License-Identifier: Apache-2.0
// Sharing between processes: no copies, leases, dead owners, other users, damaged answers.
#include "headrace/exchange/share.h"

#include "headrace/base/error.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/exchange/serialize_testing.h"
#include "headrace/exchange/share_socket.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/buffer/shared_memory.h"
#include "headrace/memory/log/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace hr {

namespace {

using testing::column_of_kind;
using ::testing::HasSubstr;
using testing::kColumnKinds;
using testing::same;

template <class F>
bool soon(F&& holds) {
  for (int turn = 0; turn < 1000 && !holds(); ++turn)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return holds();
}

// Runs `body` in a forked child; true when it returned true.
template <class F>
bool in_child(F&& body) {
  const pid_t child = fork();
  if (child == 0) {
    bool good = false;
    try {
      good = body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    _exit(good ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status == 0;
}

std::string refusal(std::string_view token) {
  try {
    attach(token);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

int open_descriptors() {
  int count = 0;
  for (int number = 0; number < 4096; ++number) count += fcntl(number, F_GETFD) >= 0;
  return count;
}

// A column whose values lie in a shared segment.
Column shared_column(int64_t rows) {
  const ScopedResource scope(shared_resource());
  return column_of_kind(10, rows, true);
}

// Own bytes made after `serial` that live. What earlier tests release late does not count.
int64_t held_since(uint64_t serial) {
  int64_t bytes = 0;
  for (const Holder& holder : holders_since(serial)) bytes += holder.bytes;
  return bytes;
}

// A server that answers wrongly: it sends `reply` with `files` to the first who asks.
class WrongServer {
 public:
  WrongServer(ShareReply reply, std::vector<Descriptor> files)
      : listening_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path + 1, "headrace-00112233445566ff", 25);
    const auto size = static_cast<socklen_t>(sizeof name.sun_family + 26);
    EXPECT_EQ(bind(listening_.get(), reinterpret_cast<sockaddr*>(&name), size), 0);
    EXPECT_EQ(listen(listening_.get(), 1), 0);
    thread_ = std::thread([this, reply, held = std::move(files)] {
      const Descriptor peer(accept(listening_.get(), nullptr, nullptr));
      ShareRequest request;
      std::vector<Descriptor> none;
      receive_message(peer, &request, sizeof request, none);
      std::vector<int> numbers;
      for (const Descriptor& file : held) numbers.push_back(file.get());
      send_message(peer, {reinterpret_cast<const char*>(&reply), sizeof reply}, numbers);
    });
  }

  ~WrongServer() { thread_.join(); }

  static constexpr const char* kToken =
      "headrace:1:00112233445566ff:00000000000000000000000000000000";

 private:
  Descriptor listening_;
  std::thread thread_;
};

std::vector<Descriptor> files_of(std::string_view description) {
  std::vector<Descriptor> files;
  files.push_back(sealed_copy(description));
  return files;
}

std::string answered(ShareReply reply, std::vector<Descriptor> files) {
  const WrongServer server(reply, std::move(files));
  return refusal(WrongServer::kToken);
}

}  // namespace

TEST(Share, EveryDtypeInAnotherProcess) {
  for (const int kind : kColumnKinds)
    for (const int64_t rows : {0, 1, 65, 5000}) {
      const Column column = column_of_kind(kind, rows + 7, true).slice(7, rows);
      const SharedValue shared(column, "name");
      ASSERT_TRUE(in_child([&] {
        const int64_t copied = ledger_bytes();
        const Deserialized there = attach(shared.token());
        return same(std::get<Column>(there.value), column) && there.label == "name" &&
               ledger_bytes() == copied;
      })) << column.dtype().name()
          << " rows=" << rows;
    }
  clear_ledger();
}

TEST(Share, FramesAndArraysInAnotherProcess) {
  const Table table({"x", "s"}, {column_of_kind(4, 1000, false), column_of_kind(18, 1000, true)});
  const SharedValue shared(table);
  EXPECT_TRUE(in_child([&] {
    const Deserialized there = attach(shared.token());
    const Table& got = std::get<Table>(there.value);
    return got.names() == table.names() && same(got.column(1), table.column(1));
  }));
  const Tensor tensor(TypeId::kFloat64, {2, 3},
                      testing::tensor_of(std::vector<double>{1, 2, 3, 4, 5, 6}).buffer());
  const SharedValue array(tensor);
  EXPECT_TRUE(in_child(
      [&] { return testing::same_bits(std::get<Tensor>(attach(array.token()).value), tensor); }));
  clear_ledger();
}

TEST(Share, CopiesOnlyWhatLiesElsewhere) {
  clear_ledger();
  const SharedValue copied(column_of_kind(10, 1000, false));
  EXPECT_EQ(ledger_bytes(), 8000);
  EXPECT_TRUE(ledger_entries().back().asked);
  clear_ledger();
  const uint64_t serial = last_serial();
  const Column own = shared_column(200'000);
  const int64_t held = held_since(serial);
  const SharedValue shared(own.slice(1000, 100'000));
  EXPECT_EQ(held_since(serial), held);  // charged once
  const Deserialized there = attach(shared.token());
  EXPECT_TRUE(same(std::get<Column>(there.value), own.slice(1000, 100'000)));
  EXPECT_EQ(held_since(serial), held);
  EXPECT_GE(memory_statistics().foreign_bytes, 100'000 * 8);
  const SharedValue on(there.value);  // what came can go on
  EXPECT_TRUE(same(std::get<Column>(attach(on.token()).value), own.slice(1000, 100'000)));
  EXPECT_EQ(ledger_bytes(), 0);
}

TEST(Share, TheOwnersMemoryWaitsForTheLease) {
  const uint64_t serial = last_serial();
  Deserialized there;
  {
    const SharedValue shared(shared_column(100'000));
    EXPECT_EQ(shared.num_leases(), 0);
    EXPECT_FALSE(shared.was_attached());
    there = attach(shared.token());
    EXPECT_EQ(shared.num_leases(), 1);
    EXPECT_TRUE(soon([&] { return shared.was_attached(); }));
  }
  // The handle and the column are gone; the memory is used until the other side lets go.
  EXPECT_GE(held_since(serial), 800'000);
  const Column more = shared_column(100'000);
  EXPECT_TRUE(same(std::get<Column>(there.value), column_of_kind(10, 100'000, true)));
  there = {};
  EXPECT_TRUE(soon([&] { return held_since(serial) < 1'000'000; }));
}

TEST(Share, ADeadOwnersValueStays) {
  int tokens[2], stop[2];
  ASSERT_EQ(pipe2(tokens, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(stop, O_CLOEXEC), 0);
  const pid_t owner = fork();
  if (owner == 0) {
    const SharedValue shared(column_of_kind(4, 300'000, true));
    const std::string token = shared.token() + "\n";
    if (write(tokens[1], token.data(), token.size()) < 0) _exit(1);
    for (;;) pause();
  }
  char token[200] = {};
  ASSERT_GT(read(tokens[0], token, sizeof token - 1), 0);
  *std::strchr(token, '\n') = '\0';
  const Deserialized there = attach(token);
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  EXPECT_TRUE(same(std::get<Column>(there.value), column_of_kind(4, 300'000, true)));
  EXPECT_THAT(refusal(token), HasSubstr("is gone"));
  for (const int end : {tokens[0], tokens[1], stop[0], stop[1]}) close(end);
}

TEST(Share, RefusesBadTokensAndOldOnes) {
  std::string token;
  {
    const SharedValue shared(column_of_kind(4, 10, false));
    token = shared.token();
    std::string other = token;
    other.back() = other.back() == '0' ? '1' : '0';
    EXPECT_THAT(refusal(other), HasSubstr("no longer shared"));
    EXPECT_EQ(refusal(token), "");
  }
  EXPECT_THAT(refusal(token), HasSubstr("no longer shared"));
  for (const std::string& bad :
       {std::string(), std::string("headrace"), token + "0", token.substr(1), "x" + token.substr(1),
        token.substr(0, token.size() - 1) + "g", token.substr(0, 12) + "/" + token.substr(13)})
    EXPECT_THAT(refusal(bad), HasSubstr("not a token")) << bad;
  EXPECT_THAT(refusal(WrongServer::kToken), HasSubstr("is gone"));
}

TEST(Share, RefusesDamagedAnswers) {
  ShareReply reply;
  reply.num_descriptors = 1;
  EXPECT_THAT(answered({.magic = 1, .num_descriptors = 1}, files_of("")),
              HasSubstr("not from Headrace"));
  EXPECT_THAT(answered(reply, {}), HasSubstr("the number of segments is wrong"));
  EXPECT_THAT(answered({.num_descriptors = 0}, files_of("")),
              HasSubstr("the number of segments is wrong"));
  EXPECT_THAT(answered({.num_descriptors = 7}, files_of("")), HasSubstr("closed the connection"));
  EXPECT_THAT(answered({.num_descriptors = 0xFFFFFFFF}, files_of("")),
              HasSubstr("the number of segments is wrong"));
  std::vector<Descriptor> more = files_of("");
  more.push_back(sealed_copy(""));
  EXPECT_THAT(answered(reply, std::move(more)), HasSubstr("the number of segments is wrong"));
  EXPECT_THAT(answered(reply, files_of("")), HasSubstr("too short"));
  EXPECT_THAT(answered(reply, files_of(std::string(16, 'x'))), HasSubstr("not from Headrace"));
  std::string many(16, '\xFF');
  std::memcpy(many.data(), &kShareMagic, sizeof kShareMagic);
  EXPECT_THAT(answered(reply, files_of(many)), HasSubstr("too short"));
  std::string none(16, '\0');
  std::memcpy(none.data(), &kShareMagic, sizeof kShareMagic);
  EXPECT_THAT(answered(reply, files_of(none)), HasSubstr("the header is too short"));
  std::vector<Descriptor> device;
  device.emplace_back(open("/dev/zero", O_RDONLY | O_CLOEXEC));
  EXPECT_THAT(answered(reply, std::move(device)), HasSubstr("not a memory file"));
  Descriptor changing(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  std::vector<Descriptor> unsealed;
  unsealed.push_back(std::move(changing));
  EXPECT_THAT(answered(reply, std::move(unsealed)), HasSubstr("not sealed"));
}

TEST(Share, EndsConnectionsThatAskWrongly) {
  const SharedValue shared(column_of_kind(4, 10, false));
  const ShareAddress address = parse_share_token(shared.token());
  for (const std::string& request :
       {std::string("x"), std::string(24, 'x'), std::string(100, '\0')}) {
    const Descriptor socket = connect_to(address.address);
    ASSERT_TRUE(send_message(socket, request, {}));
    char byte;
    EXPECT_EQ(recv(socket.get(), &byte, 1, 0), 0);
  }
  EXPECT_EQ(refusal(shared.token()), "");
}

TEST(Share, RefusesOtherUsers) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const SharedValue shared(column_of_kind(4, 10, false));
  const ShareAddress address = parse_share_token(shared.token());
  EXPECT_TRUE(in_child([&] {
    if (setuid(65534) != 0) return false;
    if (refusal(shared.token()).find("belongs to another user") == std::string::npos) return false;
    // The owner checks as well: past our own check it closes the connection.
    const Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET, 0));
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const std::string text = "headrace-" + address.address;
    std::memcpy(name.sun_path + 1, text.data(), text.size());
    if (connect(socket.get(), reinterpret_cast<sockaddr*>(&name),
                static_cast<socklen_t>(sizeof name.sun_family + 1 + text.size())) != 0)
      return false;
    ShareRequest request;
    request.token = address.token;
    send_message(socket, {reinterpret_cast<const char*>(&request), sizeof request}, {});
    char byte;
    return recv(socket.get(), &byte, 1, 0) <= 0;
  }));
}

TEST(Share, AThousandTimesWithoutALeak) {
  const Column column = shared_column(2000);
  {
    const SharedValue warm(column);
    attach(warm.token());
  }
  const int descriptors = open_descriptors();
  const int64_t foreign = memory_statistics().foreign_bytes;
  const uint64_t serial = last_serial();
  const SharedValue shared(column);
  for (int turn = 0; turn < 1000; ++turn) {
    const SharedValue again(column);
    ASSERT_TRUE(same(std::get<Column>(attach(again.token()).value), column));
    attach(shared.token());
  }
  EXPECT_TRUE(soon([&] { return shared.num_leases() == 0; }));
  EXPECT_TRUE(shared.was_attached());
  EXPECT_TRUE(soon([&] { return open_descriptors() <= descriptors; })) << open_descriptors();
  EXPECT_EQ(held_since(serial), 0);
  EXPECT_TRUE(soon([&] { return memory_statistics().foreign_bytes <= foreign; }));
}

TEST(Share, MoreSegmentsThanOneMessageTakes) {
  std::vector<Column> columns;
  std::vector<std::string> names;
  {
    const ScopedResource scope(shared_resource());
    for (int i = 0; i < 450; ++i) {
      columns.push_back(column_of_kind(2, 200'000, false));  // a segment each
      names.push_back(std::to_string(i));
    }
  }
  const SharedValue shared(Table(names, columns));
  const Deserialized there = attach(shared.token());
  EXPECT_TRUE(same(std::get<Table>(there.value).column(449), columns[449]));
}

TEST(Share, AFewDescriptorsAreAnErrorNotAHang) {
  const SharedValue shared(shared_column(100'000));
  EXPECT_TRUE(in_child([&] {
    std::vector<Descriptor> all;
    for (int number; (number = dup(0)) >= 0;) all.emplace_back(number);
    if (refusal(shared.token()).find("socket") == std::string::npos) return false;
    all.pop_back();
    if (refusal(shared.token()).find("descriptors") == std::string::npos) return false;
    all.clear();
    return refusal(shared.token()).empty();
  }));
}

TEST(Share, ManyThreadsAndProcessesAtOnce) {
  const Column column = shared_column(10'000);
  const SharedValue shared(column);
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      bool good = true;
      for (int turn = 0; turn < 50; ++turn)
        good &= same(std::get<Column>(attach(shared.token()).value), column);
      _exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 50; ++turn) {
        const SharedValue own(column);
        EXPECT_TRUE(same(std::get<Column>(attach(own.token()).value), column));
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST(Share, AForkedChildSharesOnItsOwn) {
  const SharedValue parents(column_of_kind(4, 1000, true));
  EXPECT_TRUE(in_child([&] {
    const SharedValue own(column_of_kind(4, 500, true));
    return own.token().substr(0, 27) != parents.token().substr(0, 27) &&
           same(std::get<Column>(attach(own.token()).value), column_of_kind(4, 500, true)) &&
           same(std::get<Column>(attach(parents.token()).value), column_of_kind(4, 1000, true));
  }));
  EXPECT_EQ(refusal(parents.token()), "");
}

}  // namespace hr
