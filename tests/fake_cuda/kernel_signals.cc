/* SPDX-License-Identifier: Apache-2.0
 * kernel_signals.cc - an address that is not there, touched by a kernel, ends the launch and not
 * the process. Outside of kernels the signals go where they went before. */
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include "emulator.h"
#include "fiber.h"

namespace fake {
#if FAKE_WATCHED
Signals::Signals() : stack_(nullptr) {} /* a sanitizer says more than we could */
Signals::~Signals() { free(stack_); }
#else
namespace {

enum { SIGNAL_STACK = 64 * 1024 };
struct sigaction before[2];

/* On a stack of its own, because that of the thread may be what is too small. It is left by a
 * switch: the signal is not blocked meanwhile (SA_NODEFER). */
void caught(int number, siginfo_t *info, void *) {
  if (!is_in_kernel()) {
    sigaction(number, &before[number == SIGBUS], nullptr);
    return; /* it happens again, and is then somebody else's */
  }
  /* A vector that is not aligned has no address to tell; nor has an address that can be none. Not
   * every compiler asks before it moves one. */
  if (number == SIGSEGV && info->si_code == SI_KERNEL)
    stop(MISALIGNED, "touched what is not aligned, or no address");
  static thread_local char text[120];
  snprintf(text, sizeof text, "%s %p",
           stack_is_full(info->si_addr) ? "its stack is full:" : "touched", info->si_addr);
  stop(ILLEGAL_ADDRESS, text);
}

void catch_signals() {
  struct sigaction action = {};
  action.sa_sigaction = caught;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &before[0]);
  sigaction(SIGBUS, &action, &before[1]);
}

}  // namespace

Signals::Signals() : stack_(malloc(SIGNAL_STACK)) {
  static std::once_flag once;
  std::call_once(once, catch_signals);
  stack_t own = {};
  if (stack_ == nullptr || sigaltstack(nullptr, &own) != 0) return;
  if ((own.ss_flags & SS_DISABLE) == 0) return; /* the thread has one */
  own.ss_sp = stack_;
  own.ss_size = SIGNAL_STACK;
  own.ss_flags = 0;
  sigaltstack(&own, nullptr);
}

Signals::~Signals() {
  stack_t own = {};
  if (sigaltstack(nullptr, &own) == 0 && own.ss_sp == stack_) {
    own.ss_flags = SS_DISABLE;
    sigaltstack(&own, nullptr);
  }
  free(stack_);
}
#endif
}  // namespace fake
