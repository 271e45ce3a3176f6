// SPDX-License-Identifier: Apache-2.0
// The watching thread: calls when something comes, closes when told, stays with the parent.
#include "headrace/exec/fd_watcher.h"

#include "headrace/base/error.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fcntl.h>
#include <memory>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace hr {

namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) == 0) {
      out = ends[0];
      in = ends[1];
    }
  }

  int out = -1;
  int in = -1;
};

template <class F>
bool soon(F&& holds) {
  for (int turn = 0; turn < 1000 && !holds(); ++turn)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return holds();
}

}  // namespace

TEST(FdWatcher, CallsUntilItIsToldToStop) {
  const Pipe pipe;
  std::atomic<int> calls{0};
  auto held = std::make_shared<int>(0);
  watch_descriptor(pipe.out, [&calls, held, out = pipe.out] {
    char byte;
    if (read(out, &byte, 1) == 1) ++calls;
    return byte != 'x';
  });
  EXPECT_EQ(held.use_count(), 2);
  for (const char byte : {'a', 'b', 'x'}) {
    const int before = calls;
    ASSERT_EQ(write(pipe.in, &byte, 1), 1);
    EXPECT_TRUE(soon([&] { return calls == before + 1; }));
  }
  EXPECT_TRUE(soon([&] { return held.use_count() == 1 && fcntl(pipe.out, F_GETFD) < 0; }));
  close(pipe.in);
}

TEST(FdWatcher, SeesTheEndOfThePeer) {
  const Pipe pipe;
  std::atomic<bool> ended{false};
  watch_descriptor(pipe.out, [&ended, out = pipe.out] {
    char byte;
    ended = read(out, &byte, 1) == 0;
    return false;
  });
  close(pipe.in);
  EXPECT_TRUE(soon([&] { return ended && fcntl(pipe.out, F_GETFD) < 0; }));
}

TEST(FdWatcher, AddsFromItsOwnThread) {
  const Pipe first, second;
  std::atomic<bool> called{false};
  watch_descriptor(first.out, [&called, other = second.out] {
    watch_descriptor(other, [&called] {
      called = true;
      return false;
    });
    return false;
  });
  close(first.in);
  close(second.in);
  EXPECT_TRUE(soon([&] { return called.load(); }));
}

TEST(FdWatcher, RefusesWhatCannotBeWatched) {
  EXPECT_THROW(watch_descriptor(-1, [] { return false; }), InputError);
  EXPECT_THROW(watch_descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC), [] { return false; }),
               InputError);  // always ready, so the system has nothing to wait for
}

TEST(FdWatcher, AForkedChildWatchesAnew) {
  const Pipe parents;
  std::atomic<int> calls{0};
  watch_descriptor(parents.out, [&calls, out = parents.out] {
    char byte;
    calls += read(out, &byte, 1) == 1;
    return true;
  });
  const pid_t child = fork();
  if (child == 0) {
    bool good = fcntl(parents.out, F_GETFD) < 0;
    const Pipe own;
    std::atomic<bool> called{false};
    watch_descriptor(own.out, [&called] {
      called = true;
      return false;
    });
    close(own.in);
    good &= soon([&] { return called.load(); });
    _exit(good ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ASSERT_EQ(write(parents.in, "a", 1), 1);
  EXPECT_TRUE(soon([&] { return calls == 1; }));
}

}  // namespace hr
