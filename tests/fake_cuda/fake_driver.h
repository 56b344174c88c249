/* SPDX-License-Identifier: Apache-2.0
 * fake_driver.h - an emulated CUDA driver that needs no GPU: what its files share.
 *
 *   fake_driver.cc   entry points, errors and their texts, planted faults, the log
 *   fake_devices.cc  devices and contexts
 *   fake_memory.cc   memory and copies
 *   fake_streams.cc  streams, captures, graphs, events
 *   fake_kernels.cc  modules, functions, launches
 *
 * Environment variables configure it:
 *   FAKE_CUDA_DEVICES     number of GPUs (1)
 *   FAKE_CUDA_CC          compute capability (9.0)
 *   FAKE_CUDA_PROCESSORS  multiprocessors (4)
 *   FAKE_CUDA_SHARED      bytes of shared memory that a block may have (232448)
 *   FAKE_CUDA_AT_ONCE     1 if cooperative launches are supported (1)
 *   FAKE_CUDA_MEMORY      bytes of memory of each GPU, with K, M or G (4G)
 *   FAKE_CUDA_VERSION     version of the driver (13000)
 *   FAKE_CUDA_ORDER       forward, reverse or shuffle: the order of threads and blocks (forward)
 *   FAKE_CUDA_SEED        seed of shuffle (1)
 *   FAKE_CUDA_THREADS     operating-system threads that run thread blocks (1)
 *   FAKE_CUDA_STREAMS     cooperative or late: work is executed when it is issued, or when it is
 * awaited FAKE_CUDA_FAIL        cuMemAlloc:3=2,cuLaunchKernel:5=700: the third call returns 2, and
 * so on FAKE_CUDA_LOG         a file to which every call appends a line They are read when the
 * library is loaded and by fake_cuda_reset(), which also clears errors and call counts. Every
 * misuse returns an error; the process never crashes. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>
#include "emulator.h"

extern "C" {
#define VT_CU(name, since, params) int fake_##name params;
#include "cu.def"
#undef VT_CU
}

namespace fake {

/* The driver's error numbers. Errors of 700 and above that destroy a context last until a reset. */
enum {
  OK = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  NOT_READY = 600,
  TOO_LARGE = 720,
  CAPTURE_UNSUPPORTED = 900,
  CAPTURE_INVALIDATED = 901,
  CAPTURED_EVENT = 907,
};

struct Settings {
  int devices, major, minor, processors, version, cooperative, shared;
  size_t memory;
  bool late;
  Rules rules;
};
const Settings &settings();

/* One call of an entry point. It is counted, may fail on demand, and is logged when it ends. */
class Call {
 public:
  enum Needs { nothing, start, context };
  __attribute__((format(printf, 4, 5))) Call(const char *name, Needs needs, const char *form, ...);
  ~Call();
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;
  bool refused() const { return answer_ != OK; }
  int done(int error) { return answer_ = error; }
  int answer() const { return answer_; }

 private:
  const char *name_;
  char about_[160];
  int answer_;
};

/* Makes every later call return `error`, with error text `text`. */
void lose_context(int error, const std::string &text);
int lost_error(); /* OK, or the error that lose_context set */
bool is_lasting(int error);

/* The lock of all state of the files that are listed below. Kernels run without it. */
std::mutex &lock();

/* ---- devices ---- */

int current_device(); /* -1 if no context is current */

/* ---- memory: callers hold the lock ---- */

/* Returns true if the bytes are within one allocation that was not freed. */
bool is_on_device(uint64_t address, size_t bytes);
bool is_pinned(const void *memory, size_t bytes);

/* ---- streams ---- */

typedef std::function<int()> Work;
/* Executes the work, queues it, or records it into a graph. `at_once` forbids queueing. */
int issue(void *stream, Work work, bool at_once);
/* Returns true if this thread captures a stream. invalidate_recording() invalidates the capture
 * after a call that a capture does not allow. */
bool is_recording();
int invalidate_recording();
int execute_all_streams(); /* executes the queued work of every stream */

}  // namespace fake
#endif
