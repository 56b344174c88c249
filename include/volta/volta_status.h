/* SPDX-License-Identifier: Apache-2.0
 * volta_status.h - how every fallible call reports a failure: it returns a code, which is an ABI
 * integer, and writes the details once into a vt_diag that the caller owns. Nothing in this header
 * allocates, prints or aborts. */
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

/* Where and why the FIRST failure happened: later failures do not overwrite it. Zero-initialise the
 * struct, and zero it again before reuse. */
typedef struct vt_diag {
  vt_status code;        /* VT_OK: no failure was recorded */
  uint32_t line, column; /* position in the text or file that was read; 0: unknown */
  char text[480];        /* one sentence that says what is wrong, no newline */
  char hint[200];        /* what to do about it, or empty */
  char source[240];      /* the line of the text at fault, or empty */
  const char *at_file;   /* source file of Volta that reported it (static storage) */
  uint32_t at_line;      /* line in `at_file` */
} vt_diag;

/* Fields of a row of status.def: name, phrase, help text and exit code. The phrase for an unknown
 * code is "unknown status". */
VT_API const char *vt_status_name(vt_status s); /* "verify" */
VT_API const char *vt_status_text(vt_status s);
VT_API const char *vt_status_help(vt_status s);
VT_API int vt_status_exit(vt_status s);
/* The code with the name ("verify", "VT_VERIFY") or the number ("8") in `name`; -1 if unknown. */
VT_API int vt_status_find(const char *name);

/* Records status `s` and a message in `d`, unless `d` is NULL or already holds a failure. Returns
 * `s`. */
VT_API vt_status vt_fail_at(vt_diag *d, vt_status s, const char *file, uint32_t line,
                            const char *fmt, ...) VT_PRINTF(5, 6);

#define VT_FAIL(d, s, ...) vt_fail_at((d), (s), __FILE__, __LINE__, __VA_ARGS__)

/* Returns from the calling function with the status of `expr` unless it is VT_OK. */
#define VT_TRY(expr)                          \
  do {                                        \
    const vt_status vt_try_s_ = (expr);       \
    if (vt_try_s_ != VT_OK) return vt_try_s_; \
  } while (0)

#ifdef __cplusplus
}
#endif
#endif
