// SPDX-License-Identifier: Apache-2.0
// Streams: threads of the simulated device, queues of CUDA's driver.
#include "headrace/exec/device_stream.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/exec/thread.h"
#include "headrace/memory/device/cuda_device.h"
#include "headrace/memory/device/simulated_device.h"
#include "headrace/memory/external/external_allocator_device.h"

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

// Handles of CUDA's driver are addresses; streams of the simulated device are counted from 1.
bool is_cuda(Stream stream) {
  return stream.id > 0xffff;
}

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
  Place place = simulated;
  // CUDA: the device writes the number of the work that is done; names of those that may not be.
  volatile uint32_t* progress = nullptr;
  uint64_t progress_there = 0;  // its address on the device
  std::deque<std::pair<uint64_t, std::string>> names;
  Known known;                      // what its next work may rely on
  std::map<uint64_t, Known> marks;  // what an event of it stands for, by number
};

class Streams {
 public:
  Stream add(Place place) {
    check_simulated("device", place.index);
    const SimulatedSettings settings = simulated_settings();
    const std::lock_guard lock(mutex_);
    const uint64_t id = queues_.size() + 1;
    Queue& queue = queues_[id];
    queue.place = place;
    try {
      start_thread([this, &queue] { run(queue); });
    } catch (const std::system_error&) {
      queues_.erase(id);
      throw_error<DeviceError>("device", "cannot start a thread for the stream");
    }
    latency_ = std::chrono::nanoseconds(settings.latency_ns);
    return {id};
  }

  Stream add_cuda(int device) {
    own_stream(device);  // throws without such a device
    const CudaScope on("device", device);
    void* handle = nullptr;
    check_cuda("device", cuda_functions()->make_stream(&handle, 1));
    note_lasting_stream(handle);
    const Stream stream{reinterpret_cast<uint64_t>(handle)};
    const std::lock_guard lock(mutex_);
    adopt(stream, device);
    return stream;
  }

  Place place(Stream stream) {
    const std::lock_guard lock(mutex_);
    return find(stream).place;
  }

  StreamEvent enqueue(Stream stream, std::function<void()> run) {
    std::unique_lock lock(mutex_);
    Queue& queue = find(stream);
    if (queue.place.is_gpu()) {
      const bool skipped = queue.error != nullptr;
      const Place place = queue.place;
      lock.unlock();
      if (!skipped) run_now(place, stream, run);
      return mark(stream, "");
    }
    merge(queue.known, host_);
    queue.works.push_back({std::move(run), Clock::now() + latency_, std::move(queue.after)});
    queue.after.clear();
    queue.known[stream.id] = ++queue.queued;
    wake_.notify_all();
    return {stream.id, queue.queued};
  }

  StreamEvent mark(Stream stream, std::string_view op) {
    const std::lock_guard lock(mutex_);
    Queue& queue = find(stream);
    merge(queue.known, host_);
    queue.known[stream.id] = ++queue.queued;
    const CudaScope on(op, queue.place.index);
    cuda_functions()->write_value(native_stream(stream), queue.progress_there,
                                  static_cast<uint32_t>(queue.queued), 0);
    if (!op.empty()) {
      queue.names.emplace_back(queue.queued, op);
      const uint32_t done = *queue.progress;
      while (static_cast<int32_t>(static_cast<uint32_t>(queue.names.front().first) - done) < 0)
        queue.names.pop_front();
    }
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
    if (queue.place.kind != other.place.kind)
      throw_error<DeviceError>(
          "device", "the event belongs to another device",
          {{"stream_of", queue.place.name()}, {"event_of", other.place.name()}},
          "synchronize the stream of the event");
    if (queue.place.is_gpu())
      wait_cuda(stream, {event.stream}, other.place.index);
    else
      queue.after.push_back(event);
    if (const auto mark = other.marks.find(event.number); mark != other.marks.end())
      merge(queue.known, mark->second);
    uint64_t& number = queue.known[event.stream];
    number = std::max(number, event.number);
  }

  void synchronize(Stream stream) {
    std::unique_lock lock(mutex_);
    Queue& queue = find(stream);
    if (queue.place.is_gpu()) return synchronize_cuda(lock, stream, queue);
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
  // The device's own stream enters with its first use.
  Queue& find(Stream stream) {
    const auto found = queues_.find(stream.id);
    if (found == queues_.end() && cuda_functions())
      for (int device = 0; device < cuda_device_count(); ++device)
        if (is_own_stream(stream, device)) return adopt(stream, device);
    if (found == queues_.end())
      throw_error<DeviceError>("device", "unknown stream", {{"stream", stream.id}},
                               "create one with new_stream");
    return found->second;
  }

  static bool is_own_stream(Stream stream, int device) {
    return is_cuda(stream) && own_stream(device).id == stream.id;
  }

  // For the holder of the mutex.
  Queue& adopt(Stream stream, int device) {
    const CudaScope on("device", device);
    void* word = nullptr;
    uint64_t address = 0;
    check_cuda("device", cuda_functions()->allocate_pinned(&word, 64, 3));  // portable, mapped
    check_cuda("device", cuda_functions()->pinned_address(&address, word, 0));
    *static_cast<volatile uint32_t*>(word) = 0;
    Queue& queue = queues_[stream.id];
    queue.place = cuda_place(device);
    queue.progress = static_cast<volatile uint32_t*>(word);
    queue.progress_there = address;
    return queue;
  }

  void run_now(Place place, Stream stream, const std::function<void()>& work) {
    const ScopedStream scope(place, stream);
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      Queue& queue = find(stream);
      if (!queue.error) queue.error = std::current_exception();
    }
  }

  // `device`: of the other stream, as its events are.
  static void wait_cuda(Stream stream, Stream other, int device) {
    const CudaFunctions& cuda = *cuda_functions();
    const CudaScope on("device", device);
    void* event = nullptr;
    check_cuda("device", cuda.make_event(&event, 2));  // without a time
    int status = cuda.record_event(event, native_stream(other));
    if (status == 0) status = cuda.wait_event(native_stream(stream), event, 0);
    cuda.end_event(event);
    check_cuda("device", status);
  }

  void synchronize_cuda(std::unique_lock<std::mutex>& lock, Stream stream, Queue& queue) {
    const int device = queue.place.index;
    Known known = queue.known;
    lock.unlock();
    const CudaScope on("synchronize", device);
    const int status = cuda_functions()->synchronize_stream(native_stream(stream));
    lock.lock();
    merge(host_, known);
    if (queue.error) std::rethrow_exception(std::exchange(queue.error, nullptr));
    if (status == 0) return queue.names.clear();
    // The first work that is not done is the one that failed.
    const uint32_t done = *queue.progress;
    std::string op = "synchronize";
    for (const auto& [number, name] : queue.names)
      if (static_cast<int32_t>(static_cast<uint32_t>(number) - done) > 0) {
        op = name;
        break;
      }
    check_cuda(op, status);
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
  return process_global<Streams>();
}

// A device is of no use in a child of the process that opened it.
void check_process(Stream stream) {
  if (!is_cuda(stream)) simulated_settings();
}

}  // namespace

Stream new_stream(Place place) {
  return place.is_gpu() ? streams().add_cuda(place.index) : streams().add(place);
}

Place stream_place(Stream stream) {
  return streams().place(stream);
}

StreamEvent mark_work(Stream stream, std::string_view op) {
  return streams().mark(stream, op);
}

StreamEvent enqueue(Stream stream, std::function<void()> work) {
  check_process(stream);
  return streams().enqueue(stream, std::move(work));
}

StreamEvent record_event(Stream stream) {
  return streams().record(stream);
}

void wait_event(Stream stream, const StreamEvent& event) {
  streams().wait(stream, event);
}

void synchronize(Stream stream) {
  check_process(stream);
  streams().synchronize(stream);
}

bool is_ordered(Stream stream, const StreamEvent& event) {
  return streams().is_ordered(stream, event);
}

}  // namespace hr
