// SPDX-License-Identifier: Apache-2.0
// ScratchPool: what tasks work with, used again by those that come later.
#pragma once
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace hr {

template <class T>
class ScratchPool {
 public:
  /// `make` runs when none is free.
  explicit ScratchPool(std::function<T()> make = [] { return T(); }) : make_(std::move(make)) {}

  /// Calls f(T&) with one that no other task uses, in the state that the last one left. One whose
  /// task throws is not used again.
  template <class F>
  void lend(F&& f) {
    T own = take();
    f(own);
    const std::scoped_lock lock(mutex_);
    free_.push_back(std::move(own));
  }

  /// Calls f(T&) with each of them, while none is lent.
  template <class F>
  void each(F&& f) {
    for (T& one : free_) f(one);
  }

 private:
  T take() {
    {
      const std::scoped_lock lock(mutex_);
      if (!free_.empty()) {
        T made = std::move(free_.back());
        free_.pop_back();
        return made;
      }
    }
    return make_();
  }

  std::function<T()> make_;
  std::mutex mutex_{};
  std::vector<T> free_{};
};

}  // namespace hr
