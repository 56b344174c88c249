/* SPDX-License-Identifier: Apache-2.0
 * fiber.h - stacks that one thread of the system runs on by turns: a CUDA thread of the emulator is
 * one. A switch is a few instructions on x86-64 and aarch64, and the C library's elsewhere and
 * where a sanitizer watches. */
#ifndef FAKE_FIBER_H
#define FAKE_FIBER_H
#include <cstddef>

namespace fake {

#if defined(__SANITIZE_ADDRESS__)
#define FAKE_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FAKE_WATCHED 1
#endif
#endif
#ifndef FAKE_WATCHED
#define FAKE_WATCHED 0
#endif

/* A place to go on from: where a stack stands. */
struct Place {
  void *at = nullptr;           /* the stack pointer, or a ucontext_t */
  const void *bottom = nullptr; /* of the stack, and its size; for a sanitizer */
  size_t bytes = 0;
};

typedef void Entry(void *user);

/* A stack with pages below it that cannot be touched, so that one too small is heard. Each takes
 * two of the mappings that a process may have, some 65,000 as a rule, and blocks that run at once
 * may have more threads than half of that: beyond some thousands of stacks the pages are only left
 * unused. */
class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;
  bool ok() const { return memory_ != nullptr; }
  /* The next switch to `place()` calls entry(user), which never returns: it switches away. */
  void begin(Entry *entry, void *user);
  Place &place() { return place_; }
  bool holds(const void *address) const; /* among what cannot be touched */

 private:
  char *memory_;
  bool guarded_ = false;
  void *context_;
  Place place_;
};

/* Leaves where we are in `from` and goes on at `to`. `last`: nobody comes back to `from`. */
void fiber_switch(Place &from, Place &to, bool last);
/* What entry calls first. */
void fiber_arrived();

}  // namespace fake
#endif
