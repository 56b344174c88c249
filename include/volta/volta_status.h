/* SPDX-License-Identifier: Apache-2.0
 * volta_status.h - how every fallible call reports failure.
 * Code: returned by value, an ABI integer. Detail: written once into a caller-owned vt_diag.
 * Nothing here allocates, prints or aborts. */
#ifndef VOLTA_STATUS_H
#define VOLTA_STATUS_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define VT_API __attribute__((visibility("default")))
#define VT_NODISCARD __attribute__((warn_unused_result))
#define VT_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define VT_API
#define VT_NODISCARD
#define VT_PRINTF(f, a)
#endif

typedef enum vt_status {
#define VT_STATUS(name, value, exit, text, help) VT_##name = (value),
#include "status.def"
#undef VT_STATUS
} vt_status;

/* Where and why the FIRST failure happened. Zero-initialise; to reuse, zero again. */
typedef struct vt_diag {
  vt_status code;
  uint32_t line, column; /* position in the text or file that was read; 0 = none */
  char text[480];        /* one sentence, no newline */
  char hint[200];        /* a suggestion, or empty */
  char source[240];      /* the line of text at fault, or empty */
  const char *at_file;   /* where in Volta's own source it was raised (static storage) */
  uint32_t at_line;
} vt_diag;

/* One row of status.def; the text for an unknown code is "unknown status". */
VT_API const char *vt_status_name(vt_status s); /* "verify" */
VT_API const char *vt_status_text(vt_status s);
VT_API const char *vt_status_help(vt_status s);
VT_API int vt_status_exit(vt_status s);
/* The code called `name` ("verify", "VT_VERIFY") or numbered so ("8"); -1 when there is none. */
VT_API int vt_status_find(const char *name);

/* Records into `d` (may be NULL) unless it already holds an error; returns `s`. */
VT_API vt_status vt_fail_at(vt_diag *d, vt_status s, const char *file, uint32_t line,
                            const char *fmt, ...) VT_PRINTF(5, 6);

#define VT_FAIL(d, s, ...) vt_fail_at((d), (s), __FILE__, __LINE__, __VA_ARGS__)

/* The one control-flow macro of the project. */
#define VT_TRY(expr)                          \
  do {                                        \
    const vt_status vt_try_s_ = (expr);       \
    if (vt_try_s_ != VT_OK) return vt_try_s_; \
  } while (0)

#ifdef __cplusplus
}
#endif
#endif
