/* SPDX-License-Identifier: Apache-2.0
 * cuda_nvrtc.c - loads NVRTC and its entry points, and compiles source texts with it. */
#include "cuda_nvrtc.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "cuda_images.h"
#include "cuda_options.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static vt_nvrtc nvrtc; /* NVRTC's entry points; set once, and the library is never unloaded */

static const struct entry {
  const char *name;
  size_t at;
} entries[] = {
#define VT_NVRTC(name, params) {#name, offsetof(vt_nvrtc, name)},
#include "nvrtc.def"
#undef VT_NVRTC
};

/* Library names to try: the newest first, and a toolkit's folder after the system's search path. */
static const char *const library_names[] = {
    "libnvrtc.so.13",
    "libnvrtc.so.12",
    "libnvrtc.so",
    "/usr/local/cuda/lib64/libnvrtc.so.13",
    "/usr/local/cuda/lib64/libnvrtc.so.12",
};

static vt_status find_entry_points(vt_nvrtc *n, vt_diag *d) {
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    void *found = dlsym(n->library, entries[i].name);
    if (found == NULL) return VT_FAIL(d, VT_BACKEND, "the NVRTC here has no %s", entries[i].name);
    memcpy((char *)n + entries[i].at, &found, sizeof found);
  }
  if (n->nvrtcVersion(&n->major, &n->minor) != 0)
    return VT_FAIL(d, VT_BACKEND, "the NVRTC here does not report its version");
  return VT_OK;
}

static vt_status load_nvrtc(vt_diag *d) {
  vt_nvrtc n = {.library = NULL};
  for (size_t i = 0; n.library == NULL && i < sizeof library_names / sizeof *library_names; i++)
    n.library = dlopen(library_names[i], RTLD_NOW | RTLD_LOCAL);
  if (n.library == NULL)
    return VT_FAIL(d, VT_BACKEND, "there is no NVRTC here (libnvrtc.so.13 or .12)");
  const vt_status s = find_entry_points(&n, d);
  if (s == VT_OK) {
    nvrtc = n;
  } else {
    dlclose(n.library);
  }
  return s;
}

vt_status vt_nvrtc_get(const vt_nvrtc **out, vt_diag *d) {
  pthread_mutex_lock(&lock);
  const vt_status s = nvrtc.library != NULL ? VT_OK : load_nvrtc(d);
  pthread_mutex_unlock(&lock);
  if (s == VT_OK) *out = &nvrtc;
  return s;
}

/* ---- compiling ---- */

void vt_nvrtc_options_init(vt_nvrtc_options *o, int arch, vt_nvrtc_kind kind) {
  o->kind = kind;
  o->n = 0;
  snprintf(o->words_text, sizeof o->words_text, "%s %s --gpu-architecture=%s_%d %s",
           VT_CUDA_STANDARD, VT_CUDA_NO_HOST, kind == VT_NVRTC_PTX ? "compute" : "sm", arch,
           VT_CUDA_OPTIONS);
  for (char *at = o->words_text; at != NULL && o->n < VT_NVRTC_WORDS;) {
    o->word[o->n++] = at;
    at = strchr(at, ' ');
    if (at != NULL) *at++ = 0;
  }
}

/* Writes the first line that reports an error, else the first line. */
static void write_first_error_line(const char *log, char *out, size_t n) {
  const char *at = strstr(log, "error");
  while (at != NULL && at > log && at[-1] != '\n') at--;
  if (at == NULL) at = log;
  snprintf(out, n, "%.*s", (int)strcspn(at, "\n"), at);
}

static vt_status report_compile_error(const vt_nvrtc *n, void *program, vt_alloc a, vt_diag *d) {
  size_t bytes = 0;
  char line[300] = "it gives no reason";
  char *log = NULL;
  if (n->nvrtcGetProgramLogSize(program, &bytes) == 0 && bytes > 0 && bytes < SIZE_MAX / 2)
    log = vt_alloc_new(a, bytes + 1);
  if (log != NULL && n->nvrtcGetProgramLog(program, log) == 0 && log[0] != 0)
    write_first_error_line(log, line, sizeof line);
  if (log != NULL) vt_alloc_free(a, log, bytes + 1);
  return VT_FAIL(d, VT_BACKEND, "NVRTC does not compile it: %s", line);
}

static vt_status fetch_result(void *program, int (*size)(void *program, size_t *bytes),
                              int (*get)(void *program, char *to), vt_text *out, vt_diag *d) {
  size_t bytes = 0;
  if (size(program, &bytes) != 0 || bytes == 0 || bytes >= SIZE_MAX / 2)
    return VT_FAIL(d, VT_BACKEND, "NVRTC does not return the compiled code");
  char *to = vt_alloc_new(out->a, bytes);
  if (to == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  const int e = get(program, to);
  if (e == 0) vt_text_add_bytes(out, to, bytes);
  vt_alloc_free(out->a, to, bytes);
  if (e != 0) return VT_FAIL(d, VT_BACKEND, "NVRTC does not return the compiled code");
  return vt_text_status(out) == VT_OK ? VT_OK : VT_FAIL(d, VT_NOMEM, "out of memory");
}

static vt_status compile_program(const vt_nvrtc *n, void *program, const vt_nvrtc_options *o,
                                 vt_text *out, vt_diag *d) {
  if (n->nvrtcCompileProgram(program, o->n, o->word) != 0)
    return report_compile_error(n, program, out->a, d);
  return o->kind == VT_NVRTC_PTX
             ? fetch_result(program, n->nvrtcGetPTXSize, n->nvrtcGetPTX, out, d)
             : fetch_result(program, n->nvrtcGetCUBINSize, n->nvrtcGetCUBIN, out, d);
}

vt_status vt_nvrtc_compile(const vt_nvrtc *n, const char *text, const vt_nvrtc_options *o,
                           vt_text *out, vt_diag *d) {
  enum { MOST_TEXTS = 256 };
  const char *texts[MOST_TEXTS], *names[MOST_TEXTS];
  const uint32_t count = vt_cuda_texts_count < MOST_TEXTS ? vt_cuda_texts_count : MOST_TEXTS;
  void *program = NULL;
  for (uint32_t i = 0; i < count; i++) {
    texts[i] = vt_cuda_texts[i].text;
    names[i] = vt_cuda_texts[i].name;
  }
  if (n->nvrtcCreateProgram(&program, text, "fused.cu", (int)count, texts, names) != 0)
    return VT_FAIL(d, VT_BACKEND, "NVRTC does not accept the text");
  const vt_status s = compile_program(n, program, o, out, d);
  (void)n->nvrtcDestroyProgram(&program);
  return s;
}
