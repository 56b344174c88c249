/* SPDX-License-Identifier: Apache-2.0
 * kernel_signals.cc - turns an access to an invalid address within a kernel into a launch error.
 * Outside of kernels the previous signal handlers are used. */
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include "emulator.h"
#include "fiber.h"

namespace fake {
#if FAKE_WATCHED
/* no handler is installed, because a sanitizer's own report is more detailed */
Signals::Signals() : stack_(nullptr) {}
Signals::~Signals() { free(stack_); }
#else
namespace {

enum { SIGNAL_STACK = 64 * 1024 };
struct sigaction before[2];

/* Runs on its own stack, because the thread's stack may have overflowed. It is left by a context
 * switch, so the signal must not be blocked meanwhile (SA_NODEFER). */
void on_signal(int number, siginfo_t *info, void *) {
  if (!is_in_kernel()) {
    sigaction(number, &before[number == SIGBUS], nullptr);
    return; /* the handler returns, so the access is repeated and reaches the previous handler */
  }
  /* For an unaligned vector, or an address that no page can have, the signal has no address. Not
   * every compiler checks alignment before it moves a vector. */
  if (number == SIGSEGV && info->si_code == SI_KERNEL)
    stop(MISALIGNED, "touched an address that is not aligned or impossible");
  static thread_local char text[120];
  snprintf(text, sizeof text, "%s %p",
           stack_is_full(info->si_addr) ? "its stack is full:" : "touched", info->si_addr);
  stop(ILLEGAL_ADDRESS, text);
}

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &before[0]);
  sigaction(SIGBUS, &action, &before[1]);
}

}  // namespace

Signals::Signals() : stack_(malloc(SIGNAL_STACK)) {
  static std::once_flag once;
  std::call_once(once, install_signal_handlers);
  stack_t own = {};
  if (stack_ == nullptr || sigaltstack(nullptr, &own) != 0) return;
  if ((own.ss_flags & SS_DISABLE) == 0) return; /* the thread already has a signal stack */
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
