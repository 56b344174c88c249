/* SPDX-License-Identifier: Apache-2.0
 * fake_driver.h - a driver of CUDA without a GPU: what its files share.
 *
 *   fake_driver.cc   finding entry points, errors and their texts, faults on demand, the log
 *   fake_devices.cc  devices and contexts
 *   fake_memory.cc   memory and copies
 *   fake_streams.cc  streams, what is recorded of them, graphs, events
 *   fake_kernels.cc  modules, functions, launches
 *
 * The environment says what it is like:
 *   FAKE_CUDA_DEVICES     how many GPUs (1)
 *   FAKE_CUDA_CC          compute capability (9.0)
 *   FAKE_CUDA_PROCESSORS  multiprocessors (4)
 *   FAKE_CUDA_SHARED      bytes of shared memory that a block may have (232448)
 *   FAKE_CUDA_AT_ONCE     1: blocks of a launch may wait for each other (1)
 *   FAKE_CUDA_MEMORY      bytes of each, with K, M or G (4G)
 *   FAKE_CUDA_VERSION     of the driver (13000)
 *   FAKE_CUDA_ORDER       forward, reverse or shuffle: which threads and blocks go first (forward)
 *   FAKE_CUDA_SEED        of shuffle (1)
 *   FAKE_CUDA_THREADS     threads of the system that blocks are spread over (1)
 *   FAKE_CUDA_STREAMS     at_once or late: work is done when it is issued, or when it is waited for
 *   FAKE_CUDA_FAIL        cuMemAlloc:3=2,cuLaunchKernel:5=700: the third call answers 2, and so on
 *   FAKE_CUDA_LOG         a file that every call appends a line to
 * It is read when the library is loaded and by fake_cuda_reset(), which also forgets errors and
 * counts of calls. Every misuse is an error; nothing is checked by crashing. */
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

/* The driver's numbers. Those from 700 on that end a context stay until a reset. */
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
  int devices, major, minor, processors, version, at_once, shared;
  size_t memory;
  bool late;
  Rules rules;
};
const Settings &settings();

/* One call of an entry point: counted, perhaps made to fail, written to the log when it ends. */
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

/* From now on every call answers `error`, whose text is `text`. */
void lose(int error, const std::string &text);
int lost(); /* OK, or what was lost by */
bool is_lasting(int error);

/* One lock for all that the files below keep; kernels run without it. */
std::mutex &lock();

/* ---- devices ---- */

int current_device(); /* -1: no context is current */

/* ---- memory: each with the lock held ---- */

/* Whether the bytes lie in one piece of device memory that is still there. */
bool is_on_device(uint64_t address, size_t bytes);
bool is_pinned(const void *memory, size_t bytes);

/* ---- streams ---- */

typedef std::function<int()> Work;
/* Does the work, keeps it for later, or records it. `now`: not to be put off. */
int issue(void *stream, Work work, bool now);
/* Whether this thread records a stream. What a recording does not allow ends it: it is invalid. */
bool is_recording();
int refuse_recording();
int finish_all(); /* of every stream */

}  // namespace fake
#endif
