/* SPDX-License-Identifier: Apache-2.0
 * emulator.h - runs a kernel on this processor: a block at a time, its threads by turns, each until
 * it ends or meets others. Whatever a device would hang on, or do anything at all for, ends the
 * launch with a text. */
#ifndef FAKE_EMULATOR_H
#define FAKE_EMULATOR_H
#include <cstddef>
#include <cstdint>
#include <string>
#include "gpu_emulated.h"

namespace fake {

/* Which thread goes first. A kernel that is right does not care; one that lacks a barrier may. */
enum class Order { forward, reverse, shuffle };
struct Rules {
  Order order = Order::forward;
  uint64_t seed = 1;
  unsigned crew = 1; /* threads of the system that blocks are spread over */
};

struct Launch {
  const vt_gpu_entry *kernel = nullptr;
  uint3 blocks{}, threads{};
  unsigned shared = 0;
  bool at_once = false; /* every block has a thread of the system, so that they may wait */
};

/* The driver's numbers for how a launch ends. */
enum Ending { RAN = 0, ILLEGAL_ADDRESS = 700, MISALIGNED = 716, LAUNCH_FAILED = 719 };
struct Outcome {
  int error = RAN;
  std::string text; /* with the kernel's name, the block, the thread */
};

enum { MOST_THREADS = 1024, MOST_SHARED = 232448 };

Outcome run(const Launch &launch, const void *args, const Rules &rules);
/* From within a kernel: this launch ends here. */
[[noreturn]] void stop(int error, const char *text);

/* Addresses that are not there, for as long as a thread runs kernels. */
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals &) = delete;
  Signals &operator=(const Signals &) = delete;

 private:
  void *stack_;
};
bool is_in_kernel();
bool stack_is_full(const void *touched);

const vt_gpu_entry *find_kernel(const char *name); /* nullptr when there is none */

}  // namespace fake
#endif
