/* SPDX-License-Identifier: Apache-2.0
 * emulator.h - runs a kernel on the CPU: one thread block at a time per worker, its CUDA threads in
 * turn, each until it ends or reaches a barrier. What would hang a device or be undefined there
 * ends the launch with an error text. */
#ifndef FAKE_EMULATOR_H
#define FAKE_EMULATOR_H
#include <cstddef>
#include <cstdint>
#include <string>
#include "gpu_emulated.h"

namespace fake {

/* The order in which threads run. A correct kernel gives the same results in every order; a kernel
 * that lacks a barrier may not. */
enum class Order { forward, reverse, shuffle };
struct Rules {
  Order order = Order::forward;
  uint64_t seed = 1;
  unsigned workers = 1; /* operating-system threads that run thread blocks */
};

struct Launch {
  const vt_gpu_entry *kernel = nullptr;
  uint3 blocks{}, threads{};
  unsigned shared = 0;
  /* cooperative launch: every block has an operating-system thread, so that blocks can wait for
   * each other */
  bool cooperative = false;
};

/* How a launch ends, with the error numbers of the driver. */
enum Status { RAN = 0, ILLEGAL_ADDRESS = 700, MISALIGNED = 716, LAUNCH_FAILED = 719 };
struct Outcome {
  int error = RAN;
  std::string text; /* error text with the kernel's name, the block and the thread */
};

enum { MOST_THREADS = 1024, MOST_SHARED = 232448 };

Outcome run(const Launch &launch, const void *args, const Rules &rules);
/* Called within a kernel: ends the launch with an error. */
[[noreturn]] void stop(int error, const char *text);

/* Turns accesses to invalid addresses into launch errors, for as long as a thread runs kernels. */
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

const vt_gpu_entry *find_kernel(const char *name); /* nullptr if there is no such kernel */

}  // namespace fake
#endif
