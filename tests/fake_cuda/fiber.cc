/* SPDX-License-Identifier: Apache-2.0
 * fiber.cc - stacks, and the switch between them. */
#include "fiber.h"
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

#if defined(__x86_64__)
#define FAKE_SWITCH_X86 1
#elif defined(__aarch64__)
#define FAKE_SWITCH_ARM 1
#else
#define FAKE_SWITCH_LIBC 1
#include <ucontext.h>
#endif

#if FAKE_WATCHED
extern "C" {
void __sanitizer_start_switch_fiber(void **save, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *save, const void **bottom, size_t *size);
void __asan_unpoison_memory_region(const volatile void *from, size_t size);
}
#endif

namespace fake {

/* A sanitizer makes stack frames larger, so its stacks are larger. */
enum { PAGE = 65536, STACK = FAKE_WATCHED ? 512 * 1024 : 64 * 1024 };
enum { MOST_GUARDED = 8192 };
static std::atomic<int> guarded{0};

/* The function and argument with which a new fiber begins. */
struct Start {
  Entry *entry;
  void *user;
};
static thread_local Start starting;

static void enter_fiber() {
  const Start s = starting;
  fiber_finish_switch();
  s.entry(s.user);
  abort(); /* not reached: an entry must not return */
}

Fiber::Fiber() : memory_(nullptr), context_(nullptr) {
  void *p = mmap(nullptr, PAGE + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return;
  guarded_ = guarded.fetch_add(1) < MOST_GUARDED;
  if (!guarded_) guarded.fetch_sub(1);
  if (guarded_ && mprotect(p, PAGE, PROT_NONE) != 0) {
    guarded.fetch_sub(1);
    munmap(p, PAGE + STACK);
    return;
  }
  memory_ = static_cast<char *>(p);
#ifdef FAKE_SWITCH_LIBC
  context_ = calloc(1, sizeof(ucontext_t));
#endif
}

Fiber::~Fiber() {
  if (memory_ != nullptr) {
    munmap(memory_, PAGE + STACK);
    if (guarded_) guarded.fetch_sub(1);
  }
  free(context_);
}

bool Fiber::holds(const void *address) const {
  const char *p = static_cast<const char *>(address);
  return guarded_ && p >= memory_ && p < memory_ + PAGE;
}

/* ---- the switch ---- */

#ifdef FAKE_SWITCH_X86
/* Saves the callee-saved registers and floating-point modes, and swaps the stacks. */
extern "C" void fake_fiber_swap(void **from, void *to);
asm(R"(
.text
.p2align 4
.type fake_fiber_swap,@function
fake_fiber_swap:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size fake_fiber_swap,.-fake_fiber_swap
)");
/* words on a new stack: modes, six registers, return address, and a zero above it */
enum { SAVED = 9 };

static void *prepare_stack(char *top) {
  uint64_t *sp = reinterpret_cast<uint64_t *>(top) - SAVED;
  memset(sp, 0, SAVED * sizeof *sp);
  uint32_t modes = 0;
  uint16_t control = 0;
  asm volatile("stmxcsr %0" : "=m"(modes));
  asm volatile("fnstcw %0" : "=m"(control));
  sp[0] = modes | (uint64_t)control << 32;
  sp[7] = reinterpret_cast<uint64_t>(&enter_fiber);
  return sp;
}
#endif

#ifdef FAKE_SWITCH_ARM
extern "C" void fake_fiber_swap(void **from, void *to);
asm(R"(
.text
.p2align 4
.type fake_fiber_swap,@function
fake_fiber_swap:
  sub sp, sp, #176
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #176
  ret
.size fake_fiber_swap,.-fake_fiber_swap
)");
enum { SAVED = 22 };

static void *prepare_stack(char *top) {
  uint64_t *sp = reinterpret_cast<uint64_t *>(top) - SAVED;
  memset(sp, 0, SAVED * sizeof *sp);
  sp[11] = reinterpret_cast<uint64_t>(&enter_fiber); /* x30 */
  return sp;
}
#endif

#ifdef FAKE_SWITCH_LIBC
static void switch_stacks(Place &from, Place &to) {
  ucontext_t own;
  /* the context of the scheduler, which called; valid until this call returns */
  if (from.at == nullptr) from.at = &own;
  void *const kept = from.at;
  swapcontext(static_cast<ucontext_t *>(kept), static_cast<ucontext_t *>(to.at));
  if (kept == &own) from.at = nullptr;
}
#else
static void switch_stacks(Place &from, Place &to) { fake_fiber_swap(&from.at, to.at); }
#endif

void Fiber::begin(Entry *entry, void *user) {
  starting = {entry, user}; /* the caller switches next; the new fiber reads this */
  place_.bottom = memory_ + PAGE;
  place_.bytes = STACK;
#if FAKE_WATCHED
  /* clears the sanitizer's marks of stack frames that were abandoned */
  __asan_unpoison_memory_region(memory_ + PAGE, STACK);
#endif
#ifdef FAKE_SWITCH_LIBC
  ucontext_t *c = static_cast<ucontext_t *>(context_);
  getcontext(c);
  c->uc_stack.ss_sp = memory_ + PAGE;
  c->uc_stack.ss_size = STACK;
  c->uc_link = nullptr;
  makecontext(c, enter_fiber, 0);
  place_.at = c;
#else
  place_.at = prepare_stack(memory_ + PAGE + STACK);
#endif
}

#if FAKE_WATCHED
/* the context that was left by the last switch; fiber_finish_switch stores the bounds of its
 * stack */
static thread_local Place *came_from;

void fiber_finish_switch() {
  const void *bottom = nullptr;
  size_t bytes = 0;
  __sanitizer_finish_switch_fiber(nullptr, &bottom, &bytes);
  came_from->bottom = bottom;
  came_from->bytes = bytes;
}

void fiber_switch(Place &from, Place &to, bool last) {
  void *save = nullptr;
  came_from = &from;
  __sanitizer_start_switch_fiber(last ? nullptr : &save, to.bottom, to.bytes);
  switch_stacks(from, to);
  const void *bottom = nullptr;
  size_t bytes = 0;
  __sanitizer_finish_switch_fiber(save, &bottom, &bytes);
  came_from->bottom = bottom;
  came_from->bytes = bytes;
}
#else
void fiber_finish_switch() {}
void fiber_switch(Place &from, Place &to, bool) { switch_stacks(from, to); }
#endif

}  // namespace fake
