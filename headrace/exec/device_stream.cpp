// SPDX-License-Identifier: Apache-2.0
// Streams of the simulated device.
#include "headrace/exec/device_stream.h"

#include "headrace/base/error.h"
#include "headrace/memory/simulated.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace hr {

namespace {

using Clock = std::chrono::steady_clock;
// How far each stream is known to be done: by number of its work.
using Known = std::map<uint64_t, uint64_t>;

void merge(Known& into, const Known& more) {
  for (const auto& [stream, number] : more) into[stream] = std::max(into[stream], number);
}

struct Work {
  std::function<void()> run;
  Clock::time_point start;
  std::vector<StreamEvent> after;
};

struct Queue {
  std::deque<Work> works;
  std::vector<StreamEvent> after;  // what the next work waits for
  uint64_t queued = 0;
  uint64_t done = 0;
  std::exception_ptr error;
  Known known;                      // what its next work may rely on
  std::map<uint64_t, Known> marks;  // what an event of it stands for, by number
};

class Streams {
 public:
  Stream add() {
    const SimulatedSettings settings = simulated_settings();
    const std::lock_guard lock(mutex_);
    const uint64_t id = queues_.size() + 1;
    Queue& queue = queues_[id];
    try {
      std::thread([this, &queue] { run(queue); }).detach();
    } catch (const std::system_error&) {
      queues_.erase(id);
      throw_error<DeviceError>("device", "the system has no thread for a stream");
    }
    latency_ = std::chrono::nanoseconds(settings.latency_ns);
    return {id};
  }

  StreamEvent enqueue(Stream stream, std::function<void()> run) {
    const std::lock_guard lock(mutex_);
    Queue& queue = find(stream);
    merge(queue.known, host_);
    queue.works.push_back({std::move(run), Clock::now() + latency_, std::move(queue.after)});
    queue.after.clear();
    queue.known[stream.id] = ++queue.queued;
    wake_.notify_all();
    return {stream.id, queue.queued};
  }

  StreamEvent record(Stream stream) {
    const std::lock_guard lock(mutex_);
    Queue& queue = find(stream);
    queue.marks[queue.queued] = queue.known;
    return {stream.id, queue.queued};
  }

  void wait(Stream stream, const StreamEvent& event) {
    const std::lock_guard lock(mutex_);
    Queue& queue = find(stream);
    Queue& other = find({event.stream});
    queue.after.push_back(event);
    if (const auto mark = other.marks.find(event.number); mark != other.marks.end())
      merge(queue.known, mark->second);
    uint64_t& number = queue.known[event.stream];
    number = std::max(number, event.number);
  }

  void synchronize(Stream stream) {
    std::unique_lock lock(mutex_);
    Queue& queue = find(stream);
    const uint64_t until = queue.queued;
    done_.wait(lock, [&] { return queue.done >= until; });
    merge(host_, queue.known);
    if (queue.error) std::rethrow_exception(std::exchange(queue.error, nullptr));
  }

  bool is_ordered(Stream stream, const StreamEvent& event) {
    if (event.number == 0 || event.stream == stream.id) return true;
    const std::lock_guard lock(mutex_);
    const auto covers = [&](const Known& known) {
      const auto found = known.find(event.stream);
      return found != known.end() && found->second >= event.number;
    };
    return covers(host_) || covers(find(stream).known);
  }

 private:
  Queue& find(Stream stream) {
    const auto found = queues_.find(stream.id);
    if (found == queues_.end())
      throw_error<DeviceError>("device", "there is no such stream", {{"stream", stream.id}},
                               "make one with new_stream");
    return found->second;
  }

  void run(Queue& queue) {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return !queue.works.empty(); });
      Work work = std::move(queue.works.front());
      queue.works.pop_front();
      for (const StreamEvent& event : work.after) {
        Queue& other = queues_.at(event.stream);
        done_.wait(lock, [&] { return other.done >= event.number; });
      }
      const bool skipped = queue.error != nullptr;
      lock.unlock();
      std::exception_ptr error;
      if (!skipped) {
        std::this_thread::sleep_until(work.start);
        try {
          work.run();
        } catch (...) {
          error = std::current_exception();
        }
      }
      work.run = nullptr;  // what it held goes before anybody hears that it is done
      lock.lock();
      if (error) queue.error = error;
      ++queue.done;
      done_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::map<uint64_t, Queue> queues_;
  Known host_;  // what was synchronised
  std::chrono::nanoseconds latency_{0};
};

// Never destroyed: its threads wait to the end of the process. After a fork the device refuses
// before anybody gets here.
Streams& streams() {
  static auto* const leaked = new Streams;
  return *leaked;
}

}  // namespace

Stream new_stream() {
  return streams().add();
}

StreamEvent enqueue(Stream stream, std::function<void()> work) {
  simulated_settings();
  return streams().enqueue(stream, std::move(work));
}

StreamEvent record_event(Stream stream) {
  return streams().record(stream);
}

void wait_event(Stream stream, const StreamEvent& event) {
  streams().wait(stream, event);
}

void synchronize(Stream stream) {
  simulated_settings();
  streams().synchronize(stream);
}

bool is_ordered(Stream stream, const StreamEvent& event) {
  return streams().is_ordered(stream, event);
}

}  // namespace hr
