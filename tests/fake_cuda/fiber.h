/* SPDX-License-Identifier: Apache-2.0
 * fiber.h - stacks that one operating-system thread runs in turn; each CUDA thread of the emulator
 * is one. A switch takes a few instructions on x86-64 and aarch64. Elsewhere, and under a
 * sanitizer, the C library's switch is used. */
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

/* A suspended context, which fiber_switch resumes. */
struct Place {
  void *at = nullptr;           /* stack pointer, or a ucontext_t */
  const void *bottom = nullptr; /* lowest address of the stack, and its size, for a sanitizer */
  size_t bytes = 0;
};

typedef void Entry(void *user);

/* A stack with guard pages below it, so that an overflow is noticed. A guarded stack takes two
 * memory mappings, of which a process may usually have 65,000. A cooperative launch may have more
 * threads than half of that number, so after some thousands of stacks new ones have no guard. */
class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;
  bool ok() const { return memory_ != nullptr; }
  /* The next switch to `place()` calls entry(user). The entry must not return; it switches away
   * instead. */
  void begin(Entry *entry, void *user);
  Place &place() { return place_; }
  bool holds(const void *address) const; /* returns true for an address in the guard pages */

 private:
  char *memory_;
  bool guarded_ = false;
  void *context_;
  Place place_;
};

/* Saves the current context in `from` and resumes `to`. `last` is true if `from` will never be
 * resumed. */
void fiber_switch(Place &from, Place &to, bool last);
/* An entry must call this first. */
void fiber_finish_switch();

}  // namespace fake
#endif
