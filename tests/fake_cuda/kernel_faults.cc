/* SPDX-License-Identifier: Apache-2.0
 * kernel_faults.cc - kernels are compiled so that operations that C++ leaves undefined call a
 * handler: an unaligned access, an array index out of range, a shift count or a cast out of range.
 * The handlers end the launch. Not linked with sanitizers that have handlers of their own. */
#include <cstdint>
#include <cstdio>
#include "emulator.h"

namespace {

/* The common start of all records that the compiler passes. */
struct Where {
  const char *file;
  uint32_t line, column;
};

[[noreturn]] void stop_at(int error, const void *record, const char *what) {
  const Where *w = static_cast<const Where *>(record);
  /* static, because the launch ends without unwinding the stack of this thread */
  static thread_local char text[300];
  snprintf(text, sizeof text, "%s, at %s:%u", what, w->file != nullptr ? w->file : "?", w->line);
  fake::stop(error, text);
}

}  // namespace

extern "C" {
VT_GPU_EXPORT void __ubsan_handle_type_mismatch_v1(void *record, uintptr_t address);
VT_GPU_EXPORT void __ubsan_handle_out_of_bounds(void *record, uintptr_t index);
VT_GPU_EXPORT void __ubsan_handle_shift_out_of_bounds(void *record, uintptr_t left,
                                                      uintptr_t right);
VT_GPU_EXPORT void __ubsan_handle_float_cast_overflow(void *record, uintptr_t from);
VT_GPU_EXPORT void __ubsan_handle_divrem_overflow(void *record, uintptr_t left, uintptr_t right);

void __ubsan_handle_type_mismatch_v1(void *record, uintptr_t) {
  stop_at(fake::MISALIGNED, record, "an access that is not aligned");
}
void __ubsan_handle_out_of_bounds(void *record, uintptr_t) {
  stop_at(fake::ILLEGAL_ADDRESS, record, "an index outside of its array");
}
void __ubsan_handle_shift_out_of_bounds(void *record, uintptr_t, uintptr_t) {
  stop_at(fake::LAUNCH_FAILED, record, "a shift by the width of its operand or more");
}
void __ubsan_handle_float_cast_overflow(void *record, uintptr_t) {
  stop_at(fake::LAUNCH_FAILED, record, "a cast to an integer type that cannot hold the number");
}
void __ubsan_handle_divrem_overflow(void *record, uintptr_t, uintptr_t) {
  stop_at(fake::LAUNCH_FAILED, record, "a division by zero, or with a quotient out of range");
}
}
