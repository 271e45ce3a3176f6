// SPDX-License-Identifier: Apache-2.0
// Reads the ring of memory events into files before it is overwritten.
#include "headrace/memory/log/log_file.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/memory/log/event_log.h"
#include "headrace/memory/log/tag_stack.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <mutex>
#include <sched.h>
#include <unistd.h>
#include <vector>

namespace hr {

namespace {

constexpr std::string_view kHeader = "Thread,Time,Action,Pointer,Size,Stream,Tag,Tier\n";
constexpr uint64_t kBatch = 4096;
constexpr auto kCapacity = static_cast<uint64_t>(kMemoryEventCapacity);
constexpr int kTurns = 100'000;  // a writer that died in the middle of an event is not waited for

[[noreturn]] void fail(const std::string& path, std::string_view what, int code,
                       std::string_view fix) {
  throw InputError(
      error_message("memory.log", what, {{"path", path}, {"error", std::strerror(code)}}, fix),
      path, 0, 0, code);
}

void append_padded(std::string& text, int64_t number, int digits) {
  char field[20];
  for (int i = digits - 1; i >= 0; --i, number /= 10)
    field[i] = static_cast<char>('0' + number % 10);
  text.append(field, static_cast<size_t>(digits));
}

void append_number(std::string& text, uint64_t number, int base = 10) {
  char field[24];
  text.append(field, std::to_chars(field, field + sizeof field, number, base).ptr);
}

// As a CSV field.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string field = "\"";
  for (const char letter : text) field.append(letter == '"' ? 2 : 1, letter);
  return field + '"';
}

}  // namespace

struct LogFileState {
  std::string path;
  int descriptor = -1;
  pid_t process = getpid();
  int error = 0;
  uint64_t next = 0;  // the first event that is not in the file
  int64_t events = 0;
  int64_t lost = 0;
  off_t good_bytes = 0;  // up to the end of a line
  std::vector<MemoryEvent> batch;
  std::string text;
  std::vector<std::string> tags;  // by number, as CSV fields
  int64_t second = -1;
  std::string clock;

  const std::string& tag_field(Tag tag) {
    static const std::string kNone;
    if (tag == 0) return kNone;
    if (tag >= tags.size()) tags.resize(tag + size_t{64});
    std::string& field = tags[tag];
    if (field.empty()) {
      const TagInfo info = tag_info(tag);
      field = quoted(info.line.empty() ? info.op : info.op + " " + info.line);
    }
    return field;
  }

  void append(const MemoryEvent& event) {
    append_number(text, event.thread);
    text += ',';
    if (event.time_ns / 1'000'000'000 != second) {
      second = event.time_ns / 1'000'000'000;
      const std::time_t seconds = second;
      std::tm local{};
      localtime_r(&seconds, &local);
      clock.clear();
      for (const int part : {local.tm_hour, local.tm_min, local.tm_sec}) {
        append_padded(clock, part, 2);
        clock += ':';
      }
    }
    text += clock;
    append_padded(text, event.time_ns % 1'000'000'000 / 1000, 6);
    text += ',';
    text += memory_action_name(event.action);
    text += ",0x";
    append_number(text, event.pointer, 16);
    text += ',';
    append_number(text, static_cast<uint64_t>(event.bytes));
    text += ",0,";
    text += tag_field(event.tag);
    text += ',';
    text += event.place.name();
    text += '\n';
  }

  void write_text() {
    size_t done = 0;
    while (done < text.size()) {
      const ssize_t wrote = write(descriptor, text.data() + done, text.size() - done);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) {
        error = wrote < 0 ? errno : ENOSPC;
        break;
      }
      done += static_cast<size_t>(wrote);
    }
    const size_t whole = error == 0 ? text.size() : text.rfind('\n', done) + 1;
    good_bytes += static_cast<off_t>(done == 0 ? 0 : whole);
    if (error != 0) static_cast<void>(!ftruncate(descriptor, good_bytes));  // no half line
    text.clear();
  }

  // Writes what the ring holds. Waits for an event in the making only where the ring is nearly full
  // or `all` are needed.
  void read_ring(bool all) {
    const uint64_t end = next_memory_event();
    for (int turn = 0; error == 0 && next < end;) {
      batch.clear();
      uint64_t reached = take_memory_events(next, kBatch, batch);
      const auto taken = static_cast<int64_t>(batch.size());
      for (const MemoryEvent& event : batch) append(event);
      write_text();
      if (error == 0) events += taken;
      if (reached == next) {
        if (!all && next_memory_event() - next < kCapacity / 4 * 3) return;
        sched_yield();
        if (++turn < kTurns) continue;
        ++reached;
      }
      lost += static_cast<int64_t>(reached - next) - taken;
      next = reached;
      turn = 0;
    }
  }
};

namespace {

struct OpenFiles {
  std::mutex mutex;
  std::vector<LogFileState*> files;

  OpenFiles() {
    tag_count();  // its lock is taken under this one, so it is known first
    lock_over_fork(mutex, true);
  }

  void read_all() noexcept;
};

OpenFiles& open_files() {
  return process_global<OpenFiles>();
}

constinit std::atomic<uint64_t> read_from{UINT64_MAX};

// What writers call; one reads, the others find that it is done.
void read_in_time() noexcept {
  OpenFiles& open = open_files();
  const std::lock_guard lock(open.mutex);
  if (next_memory_event() > read_from) open.read_all();
}

// The lock is held.
void OpenFiles::read_all() noexcept {
  const pid_t process = getpid();
  uint64_t least = UINT64_MAX;
  for (LogFileState* file : files) {
    if (file->error != 0 || file->process != process) continue;
    try {
      file->read_ring(false);
    } catch (const std::exception&) {
      file->error = ENOMEM;
    }
    if (file->error == 0) least = std::min(least, file->next);
  }
  read_from = least == UINT64_MAX ? least : least + kCapacity / 2;
  set_event_reader(read_from, read_in_time);
}

}  // namespace

MemoryLogFile::MemoryLogFile(const std::string& path, uint64_t first)
    : state_(std::make_unique<LogFileState>()) {
  state_->path = path;
  state_->descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (state_->descriptor < 0)
    fail(path, "the file cannot be written", errno, "pass a path in a writable folder");
  state_->text = kHeader;
  state_->write_text();
  if (state_->error != 0) {
    ::close(state_->descriptor);
    fail(path, "the file cannot be written", state_->error, "free disk space there");
  }
  OpenFiles& open = open_files();
  const std::lock_guard lock(open.mutex);
  const uint64_t end = next_memory_event();
  state_->next = std::max(first, end > kCapacity ? end - kCapacity : 0);
  state_->lost = static_cast<int64_t>(state_->next - first);
  open.files.push_back(state_.get());
  open.read_all();
}

MemoryLogFile::~MemoryLogFile() {
  try {
    close();
  } catch (const Error&) {
    return;  // who wants to know calls close
  }
}

void MemoryLogFile::close() {
  LogFileState& file = *state_;
  if (file.descriptor < 0) return;
  {
    OpenFiles& open = open_files();
    const std::lock_guard lock(open.mutex);
    if (file.error == 0 && file.process == getpid()) file.read_ring(true);
    std::erase(open.files, &file);
    open.read_all();
  }
  const bool closed = ::close(file.descriptor) == 0;
  file.descriptor = -1;
  if (file.process != getpid()) return;
  if (!closed && file.error == 0) file.error = errno;
  if (file.error != 0)
    fail(file.path, "the log could not be written completely", file.error,
         "free disk space there; the file holds the first " + std::to_string(file.events) +
             " events");
}

int64_t MemoryLogFile::events() const {
  const std::lock_guard lock(open_files().mutex);
  return state_->events;
}

int64_t MemoryLogFile::lost() const {
  const std::lock_guard lock(open_files().mutex);
  return state_->lost;
}

}  // namespace hr
