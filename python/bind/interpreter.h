// SPDX-License-Identifier: Apache-2.0
// Where engine threads and the interpreter meet: releases that need the GIL, Ctrl-C, progress.
#pragma once
#include "headrace/memory/buffer/buffer.h"

#include <nanobind/nanobind.h>

#include <optional>
#include <string_view>

/// Whether this thread may call Python; false once the interpreter has shut down.
bool holds_gil() noexcept;

/// Keeps a Python object alive as the owner of foreign memory. Needs the GIL.
hr::Owner python_owner(nanobind::handle object);

/// The bytes of a buffer-protocol object, shared; they must be contiguous. Needs the GIL.
hr::Buffer adopt_bytes(nanobind::handle object, std::string_view op);

/// Releases what other threads could not, since they did not hold the GIL. Needs the GIL.
void drain_releases() noexcept;

/// Releases now when this thread holds the GIL, else at the next chance of the interpreter; drops
/// the owner when the interpreter has shut down.
void release_in_python(hr::Owner owner) noexcept;

/// Gives the GIL up while the engine works. A daemon thread that comes back when the interpreter
/// ends stays here for ever: taking the GIL then would unwind the thread by force, which ends the
/// process.
class GilReleased {
 public:
  GilReleased() : state_(PyEval_SaveThread()) {}
  ~GilReleased();
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  PyThreadState* state_;
};

/// Takes the GIL on any thread, as a callback needs it; false when the interpreter ends or is gone,
/// and then nothing of it may be touched. No lock of the engine may be held.
class GilTaken {
 public:
  GilTaken();
  GilTaken(const GilTaken&) = delete;
  GilTaken& operator=(const GilTaken&) = delete;

  explicit operator bool() const { return gil_ && gil_->is_valid(); }

 private:
  std::optional<nanobind::gil_scoped_acquire> gil_;
};

/// From now on no other thread takes the GIL here; waits for those that do. Needs the GIL, at exit.
void end_of_interpreter();

/// Asks Python whether a signal handler raised, for example on Ctrl-C; keeps the exception.
bool interrupted();

/// Raises what `interrupted` kept, or KeyboardInterrupt. Needs the GIL.
void raise_interrupt() noexcept;
