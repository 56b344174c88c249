/* SPDX-License-Identifier: Apache-2.0
 * cuda_fused_test.c - groups of pointwise steps as one kernel, through the ABI: they have the bits
 * of the reference kernels step by step, for every layout of the operands. A text is compiled once
 * and found again on disk. A damaged file or a missing compiler changes only the kernel variant.
 * Needs the emulated driver and the fake NVRTC of tests/fake_cuda. Child processes of this program
 * find what others have cached. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cuda_backend.h"
#include "vt_num.h"
#include "vt_test.h"

enum { ARENA = 1 << 16, MOST = 26, GAP = 64 };
static _Alignas(256) char arena[ARENA], expected[ARENA];
static vt_fault fault;
static const vt_bk_api *api;
static vt_bk_device *device;
static uint64_t buffer;
static char folder[] = "/tmp/cuda_fused_test.XXXXXX", cache[128], log_file[128], driver_log[128];
static char noted[640];

static void *host_resize(void *user, void *p, uint64_t old_size, uint64_t new_size) {
  return vt_fault_resize(user, p, (size_t)old_size, (size_t)new_size);
}
static void host_report(void *user, int32_t status, const char *text) {
  (void)user;
  fprintf(stderr, "%d: %s\n", status, text);
}
static void host_keep_note(void *user, const char *text) {
  (void)user;
  snprintf(noted, sizeof noted, "%s", text);
}
static vt_bk_host host = {.size = sizeof host,
                          .abi_major = VT_BK_ABI_MAJOR,
                          .user = &fault,
                          .resize = host_resize,
                          .diag = host_report,
                          .note = host_keep_note};

/* ---- files ---- */

static uint32_t count_lines(const char *path, const char *text) {
  char line[512];
  uint32_t n = 0;
  FILE *f = fopen(path, "r");
  if (f == NULL) return 0;
  while (fgets(line, sizeof line, f) != NULL) n += strstr(line, text) != NULL;
  fclose(f);
  return n;
}
static uint32_t count_compilations(void) { return count_lines(log_file, "-fmad=false"); }
static uint32_t count_launches(const char *kernel) {
  char with[80];
  snprintf(with, sizeof with, "cuLaunchKernel %s", kernel);
  return count_lines(driver_log, with);
}

/* Returns the path of the file of the only cached kernel, or NULL if there is none. */
static const char *find_cached_file(void) {
  static char path[512];
  const char *found = NULL;
  DIR *d = opendir(cache);
  for (const struct dirent *e = d != NULL ? readdir(d) : NULL; e != NULL; e = readdir(d))
    if (strstr(e->d_name, ".cubin") != NULL) {
      snprintf(path, sizeof path, "%.120s/%.255s", cache, e->d_name);
      found = path;
    }
  if (d != NULL) closedir(d);
  return found;
}

static void remove_files_in_folder(const char *path) {
  char name[512];
  DIR *d = opendir(path);
  for (const struct dirent *e = d != NULL ? readdir(d) : NULL; e != NULL; e = readdir(d))
    if (e->d_name[0] != '.') {
      snprintf(name, sizeof name, "%.120s/%.255s", path, e->d_name);
      if (unlink(name) != 0) (void)rmdir(name);
    }
  if (d != NULL) closedir(d);
}

/* ---- a group of steps whose tensors are in one arena ---- */

typedef struct group {
  vt_bk_tensor t[2 * MOST]; /* tensors of the group: sources, then results of steps */
  vt_bk_tensor in[MOST][3];
  vt_bk_step step[MOST];
  uint32_t n_tensors, n;
  uint64_t used;
} group;

static uint64_t seed = 7;
static uint64_t random_word(void) {
  uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* Stores a random number of the type; some are special: zeros, infinities, NaNs. */
static void store_random_value(char *at, uint32_t dtype) {
  static const double special[] = {0, -0.0, 1, -1, 0.5, 1e-40, 3e38, -1e300, 127, 2.5};
  const uint64_t r = random_word();
  double x = ((double)(r >> 12) * 0x1p-52 - 0.5) * 20;
  if (r % 8 == 0) x = special[(r >> 8) % (sizeof special / sizeof *special)];
  if (r % 32 == 1) x = vt_f64_from_bits(UINT64_C(0x7ff0000000000000) | (r >> 63 << 63));
  if (r % 32 == 2) x = vt_f64_from_bits(UINT64_C(0x7ff8000000000000));
  vt_cast(&x, 1, VT_DTYPE_F64, at, 1, dtype, 1);
}

/* Adds a dense tensor, `elements_past_aligned` elements after an aligned address. */
static const vt_bk_tensor *add_tensor(group *g, uint32_t dtype, uint32_t rank, const int64_t *dim,
                                      uint64_t elements_past_aligned) {
  vt_bk_tensor *t = &g->t[g->n_tensors++];
  const uint64_t size = vt_dtype_bytes(dtype);
  int64_t stride = 1;
  *t = (vt_bk_tensor){.size = sizeof *t, .dtype = dtype, .rank = rank};
  for (uint32_t k = rank; k-- > 0; stride *= dim[k] > 0 ? dim[k] : 1) {
    t->dim[k] = dim[k];
    t->stride[k] = stride;
  }
  t->offset = g->used + elements_past_aligned * size;
  for (int64_t i = 0; i < stride; i++)
    store_random_value(arena + t->offset + (uint64_t)i * size, dtype);
  g->used = (t->offset + (uint64_t)stride * size + 2 * GAP) / GAP * GAP;
  return t;
}

/* Adds a step with result `to`; absent operands are NULL. */
static const vt_bk_tensor *add_step(group *g, uint32_t op, const vt_bk_tensor *to,
                                    const vt_bk_tensor *a, const vt_bk_tensor *b,
                                    const vt_bk_tensor *c) {
  static const vt_attr_none none = {.size = sizeof none};
  static vt_attr_cast casts[VT_DTYPE_BF16 + 1];
  const vt_bk_tensor *const from[3] = {a, b, c};
  vt_bk_step *s = &g->step[g->n];
  *s = (vt_bk_step){.size = sizeof *s, .op = op, .n_out = 1, .group = 1, .out = to};
  while (s->n_in < 3 && from[s->n_in] != NULL) {
    g->in[g->n][s->n_in] = *from[s->n_in];
    s->n_in++;
  }
  s->in = g->in[g->n++];
  s->attrs = &none;
  s->attrs_size = sizeof none;
  if (op == VT_OP_cast) {
    casts[to->dtype] = (vt_attr_cast){.size = sizeof casts[0], .dtype = to->dtype};
    s->attrs = &casts[to->dtype];
    s->attrs_size = sizeof casts[0];
  }
  return to;
}

static vt_view broadcast_view_of_expected(const vt_bk_tensor *t, const vt_bk_tensor *y) {
  vt_view v = {.dtype = t->dtype, .rank = y->rank, .data = expected + t->offset};
  memcpy(v.dim, y->dim, sizeof v.dim);
  for (uint32_t k = 1; k <= t->rank; k++)
    v.stride[y->rank - k] = t->dim[t->rank - k] == 1 ? 0 : t->stride[t->rank - k];
  return v;
}

static void run_reference(const group *g) {
  for (uint32_t i = 0; i < g->n; i++) {
    const vt_bk_step *s = &g->step[i];
    vt_view in[3], out = broadcast_view_of_expected(&s->out[0], &s->out[0]);
    for (uint32_t k = 0; k < s->n_in; k++)
      in[k] = broadcast_view_of_expected(&s->in[k], &s->out[0]);
    vt_kernel k = {.in = in, .n_in = s->n_in, .n_out = 1, .out = &out, .attrs = s->attrs};
    CHECK(vt_op_get(s->op)->kernel(&k) == VT_OK);
  }
}

static int run_device(const group *g) {
  vt_bk_program *p = NULL;
  vt_bk_error error = {.size = sizeof error};
  int32_t status = api->copy(device, arena, buffer, 0, g->used, 1);
  if (status == VT_OK) status = api->program_build(device, g->step, g->n, &p);
  if (status == VT_OK) status = api->run(p, &buffer, 1);
  if (status == VT_OK) status = api->wait(p, &error);
  if (status == VT_OK) status = api->copy(device, arena, buffer, 0, g->used, 0);
  if (p != NULL) api->program_free(p);
  return status == VT_OK;
}

/* Compares the last result; all NaNs are equal. */
static void run_and_compare_last_result(const group *g, const char *what) {
  const vt_bk_tensor *y = g->step[g->n - 1].out;
  uint64_t n = 1;
  for (uint32_t k = 0; k < y->rank; k++) n *= (uint64_t)y->dim[k];
  memcpy(expected, arena, (size_t)g->used);
  run_reference(g);
  const int ran = run_device(g);
  vt_canonical(arena + y->offset, y->dtype, n);
  vt_canonical(expected + y->offset, y->dtype, n);
  const int same =
      ran && memcmp(arena + y->offset, expected + y->offset, n * vt_dtype_bytes(y->dtype)) == 0;
  if (!same) fprintf(stderr, "%s: %s\n", what, ran ? "other bits" : "did not run");
  CHECK(same);
}

/* ---- chains ---- */

/* Runs x * w + b in f32, with w and b broadcast to x, and compares. The generated text is the same
 * for all shapes. */
static void compare_scale_and_bias(uint32_t rank, const int64_t *dim, const int64_t *narrow,
                                   uint32_t narrow_rank, uint64_t elements_past_aligned,
                                   int in_place, const char *what) {
  group g = {0};
  const vt_bk_tensor *x = add_tensor(&g, VT_DTYPE_F32, rank, dim, elements_past_aligned),
                     *w = add_tensor(&g, VT_DTYPE_F32, narrow_rank, narrow, 0),
                     *b = add_tensor(&g, VT_DTYPE_F32, narrow_rank, narrow, 0),
                     *m = add_tensor(&g, VT_DTYPE_F32, rank, dim, 0),
                     *y = in_place ? x : add_tensor(&g, VT_DTYPE_F32, rank, dim, 0);
  add_step(&g, VT_OP_mul, m, x, w, NULL);
  add_step(&g, VT_OP_add, y, m, b, NULL);
  run_and_compare_last_result(&g, what);
}

static void test_operand_shapes(void) {
  static const int64_t lengths[] = {0, 1, 3, 4, 17, 259}, whole[2] = {5, 8}, odd[2] = {5, 7},
                       column[2] = {5, 1}, many[8] = {2, 1, 3, 1, 2, 2, 1, 4};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    compare_scale_and_bias(1, &lengths[i], &lengths[i], 1, 0, 0, "a line");
  compare_scale_and_bias(0, NULL, NULL, 0, 0, 0, "no axes");
  compare_scale_and_bias(1, &lengths[5], NULL, 0, 0, 0, "one number for all");
  compare_scale_and_bias(1, &lengths[5], &lengths[5], 1, 1, 0, "not aligned");
  compare_scale_and_bias(2, whole, whole + 1, 1, 0, 0, "rows of whole groups");
  compare_scale_and_bias(2, odd, odd + 1, 1, 0, 0, "rows of other lengths");
  compare_scale_and_bias(2, whole, column, 2, 0, 0, "a column");
  compare_scale_and_bias(2, whole, whole + 1, 1, 0, 1, "in place");
  compare_scale_and_bias(8, many, many + 5, 3, 0, 0, "many axes");
}

static void test_chain_with_gelu(void) {
  const int64_t n = 301;
  group g = {0};
  const vt_bk_tensor *x = add_tensor(&g, VT_DTYPE_F32, 1, &n, 0),
                     *b = add_tensor(&g, VT_DTYPE_F32, 1, &n, 0),
                     *s = add_tensor(&g, VT_DTYPE_F32, 1, &n, 0),
                     *t = add_tensor(&g, VT_DTYPE_F32, 1, &n, 0),
                     *y = add_tensor(&g, VT_DTYPE_F32, 1, &n, 0);
  add_step(&g, VT_OP_add, s, x, b, NULL);
  add_step(&g, VT_OP_gelu, t, s, NULL, NULL);
  add_step(&g, VT_OP_mul, y, t, x, NULL);
  run_and_compare_last_result(&g, "a function");
}

/* Runs a chain with all kinds of formulas and all types except f16 and bf16. Results are stored
 * over values that are no longer needed. */
static void test_all_types(void) {
  const int64_t n = 77;
  group g = {0};
  const vt_bk_tensor *x = add_tensor(&g, VT_DTYPE_F64, 1, &n, 0),
                     *i = add_tensor(&g, VT_DTYPE_I32, 1, &n, 0),
                     *h = add_tensor(&g, VT_DTYPE_BF16, 1, &n, 0),
                     *xs = add_tensor(&g, VT_DTYPE_F32, 1, &n, 0),
                     *hs = add_tensor(&g, VT_DTYPE_F32, 1, &n, 0),
                     *less = add_tensor(&g, VT_DTYPE_BOOL, 1, &n, 0),
                     *is = add_tensor(&g, VT_DTYPE_I64, 1, &n, 0),
                     *it = add_tensor(&g, VT_DTYPE_F32, 1, &n, 0),
                     *f = add_tensor(&g, VT_DTYPE_F32, 1, &n, 0),
                     *nan = add_tensor(&g, VT_DTYPE_BOOL, 1, &n, 0),
                     *y = add_tensor(&g, VT_DTYPE_U8, 1, &n, 0);
  add_step(&g, VT_OP_cast, xs, x, NULL, NULL);
  add_step(&g, VT_OP_cast, hs, h, NULL, NULL);
  add_step(&g, VT_OP_lt, less, xs, hs, NULL);
  add_step(&g, VT_OP_cast, is, i, NULL, NULL);
  add_step(&g, VT_OP_mul, is, is, is, NULL);
  add_step(&g, VT_OP_cast, it, is, NULL, NULL);
  add_step(&g, VT_OP_select, f, less, it, xs);
  add_step(&g, VT_OP_fma, f, f, hs, xs);
  add_step(&g, VT_OP_is_nan, nan, f, NULL, NULL);
  add_step(&g, VT_OP_not, nan, nan, NULL, NULL);
  add_step(&g, VT_OP_cast, y, nan, NULL, NULL);
  run_and_compare_last_result(&g, "all kinds of formulas");
}

/* Runs a chain with more sources than one kernel can have: each step must run as its own kernel. */
static void test_too_many_sources(void) {
  const int64_t n = 9;
  static group g;
  const uint32_t before = count_compilations();
  const vt_bk_tensor *sum = add_tensor(&g, VT_DTYPE_F32, 1, &n, 0);
  for (uint32_t i = 0; i + 1 < MOST; i++) {
    const vt_bk_tensor *x = add_tensor(&g, VT_DTYPE_F32, 1, &n, 0);
    add_step(&g, VT_OP_add, sum, sum, x, NULL);
  }
  run_and_compare_last_result(&g, "sums");
  CHECK(count_compilations() == before);
}

/* ---- a process ---- */

static int open_device(void) {
  vt_backend_query_fn vt_cuda_query;
  api = vt_cuda_query(&host);
  if (api->device_open(&host, 0, &device) != VT_OK) return 0;
  return api->buffer_new(device, ARENA, &buffer) == VT_OK;
}

static void close_device(void) {
  api->buffer_free(device, buffer);
  api->device_close(device);
  CHECK(fault.live == 0);
}

static void run_and_send_note(void (*test)(void), int pipe_end) {
  noted[0] = 0;
  vt_test_failed = 0;
  const int begun = open_device();
  CHECK(begun);
  if (begun) {
    test();
    close_device();
  }
  const ssize_t n = write(pipe_end, noted, strlen(noted) + 1);
  _exit(n < 0 || vt_test_failed > 0);
}

/* Runs `test` in a child process that has loaded nothing yet; the last note it receives is copied
 * to `noted`. */
static void run_in_child(void (*test)(void)) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  fflush(stderr);
  const pid_t child = fork();
  if (child == 0) run_and_send_note(test, ends[1]);
  int status = 1;
  close(ends[1]);
  const ssize_t n = read(ends[0], noted, sizeof noted - 1);
  noted[n > 0 ? n : 0] = 0;
  close(ends[0]);
  waitpid(child, &status, 0);
  CHECK(status == 0);
}

static void expect_chain_is_one_kernel(void) {
  static const int64_t dim[2] = {6, 16};
  const uint32_t fused = count_launches("fused_"), single = count_launches("map_");
  compare_scale_and_bias(2, dim, dim + 1, 1, 0, 0, "one");
  CHECK(count_launches("fused_") == fused + 1);
  CHECK(count_launches("map_") == single);
}
static void expect_kernel_per_step(void) {
  static const int64_t dim[2] = {6, 16};
  const uint32_t fused = count_launches("fused_"), single = count_launches("map_");
  compare_scale_and_bias(2, dim, dim + 1, 1, 0, 0, "step by step");
  CHECK(count_launches("fused_") == fused);
  CHECK(count_launches("map_") == single + 2);
}
static void expect_one_text_for_all_shapes(void) {
  const uint32_t before = count_compilations();
  test_operand_shapes();
  CHECK(count_compilations() == before + 1); /* all shapes share one text */
}
static void test_function_types_and_limits(void) {
  test_chain_with_gelu();
  test_all_types();
  test_too_many_sources();
}

/* Makes each host allocation fail in turn and checks that nothing leaks, and that a text whose
 * compilation failed for lack of memory is compiled later. */
static void test_build_survives_no_memory(void) {
  const int64_t n = 64;
  static group g;
  const vt_bk_tensor *x = add_tensor(&g, VT_DTYPE_F32, 1, &n, 0),
                     *m = add_tensor(&g, VT_DTYPE_F32, 1, &n, 0);
  add_step(&g, VT_OP_mul, m, x, x, NULL);
  add_step(&g, VT_OP_add, m, m, x, NULL);
  const long live = fault.live;
  int ended = 0;
  for (long k = 1; !ended; k++) {
    vt_bk_program *p = NULL;
    fault.asked = 0;
    fault.left = k;
    const int32_t status = api->program_build(device, g.step, g.n, &p);
    ended = fault.asked < k;
    fault.left = 0;
    CHECK(status == (ended ? VT_OK : VT_NOMEM));
    if (status == VT_OK) api->program_free(p);
    CHECK(fault.live == live);
  }
  const uint32_t fused = count_launches("fused_");
  run_and_compare_last_result(&g, "after memory was short");
  CHECK(count_launches("fused_") == fused + 1);
}

/* ---- the disk cache ---- */

static void flip_bit_of_byte(const char *path, long at, int whence) {
  FILE *f = fopen(path, "r+");
  CHECK(f != NULL);
  if (f == NULL) return;
  fseek(f, at, whence);
  const int was = fgetc(f);
  fseek(f, -1, SEEK_CUR);
  fputc(was ^ 1, f);
  fclose(f);
}

/* Checks that an invalid cached file is ignored with a note that contains `note`, and is replaced,
 * so that the next process finds a valid one. */
static void expect_file_replaced(const char *note) {
  const uint32_t before = count_compilations();
  run_in_child(expect_chain_is_one_kernel);
  CHECK(count_compilations() == before + 1);
  if (strstr(noted, note) == NULL) fprintf(stderr, "'%s' and not '%s'\n", noted, note);
  CHECK(strstr(noted, "a cached kernel is ignored") == noted && strstr(noted, note) != NULL);
  run_in_child(expect_chain_is_one_kernel);
  CHECK(count_compilations() == before + 1 && noted[0] == 0);
}

static void test_damaged_cached_files(void) {
  const uint32_t before = count_compilations();
  host.cache = cache;
  host.cache_bytes = 1 << 20;
  run_in_child(expect_chain_is_one_kernel);
  CHECK(count_compilations() == before + 1 && find_cached_file() != NULL);
  run_in_child(expect_chain_is_one_kernel);
  CHECK(count_compilations() == before + 1 && noted[0] == 0);
  if (find_cached_file() == NULL) return;
  flip_bit_of_byte(find_cached_file(), -1, SEEK_END);
  expect_file_replaced("its hash does not match");
  flip_bit_of_byte(find_cached_file(), 20, SEEK_SET);
  expect_file_replaced("it belongs to another kernel");
  CHECK(truncate(find_cached_file(), 40) == 0);
  expect_file_replaced("its first line is wrong");
  CHECK(chmod(find_cached_file(), 0622) == 0);
  expect_file_replaced("others than its owner may write to it");
  CHECK(unlink(find_cached_file()) == 0);
  CHECK(count_compilations() == before + 5);
}

/* Checks that nothing is cached, but everything runs, if other users may write to the cache
 * folder. */
static void test_folder_open_to_others(void) {
  const uint32_t before = count_compilations();
  CHECK(chmod(cache, 0777) == 0);
  run_in_child(expect_chain_is_one_kernel);
  CHECK(count_compilations() == before + 1 && find_cached_file() == NULL);
  CHECK(strstr(noted, "others than its owner may write to it") != NULL);
  CHECK(chmod(cache, 0700) == 0);
}

/* Checks that the cache obeys the host's limit on the folder's size. */
static void test_cache_size_limit(void) {
  const uint32_t before = count_compilations();
  remove_files_in_folder(cache);
  host.cache_bytes = 100;
  run_in_child(expect_chain_is_one_kernel);
  CHECK(count_compilations() == before + 1 && find_cached_file() == NULL);
  host.cache_bytes = 1 << 20;
  run_in_child(expect_chain_is_one_kernel);
  CHECK(count_compilations() == before + 2 && find_cached_file() != NULL);
}

/* Checks that a cached file that belongs to another user is not used; only root can make one. */
static void test_file_of_other_user(void) {
  if (geteuid() != 0) return;
  run_in_child(expect_chain_is_one_kernel);
  CHECK(find_cached_file() != NULL && chown(find_cached_file(), 12345, 12345) == 0);
  expect_file_replaced("it belongs to another user");
}

/* Starts several processes with an empty cache at the same time; each must leave a complete
 * file. */
static void test_processes_share_cache(void) {
  enum { PROCESSES = 2 };
  pid_t child[PROCESSES];
  remove_files_in_folder(cache);
  fflush(stderr);
  for (int i = 0; i < PROCESSES; i++)
    if ((child[i] = fork()) == 0) {
      run_in_child(test_operand_shapes);
      _exit(vt_test_failed > 0);
    }
  for (int i = 0; i < PROCESSES; i++) {
    int status = 1;
    waitpid(child[i], &status, 0);
    CHECK(status == 0);
  }
  const uint32_t before = count_compilations();
  run_in_child(expect_chain_is_one_kernel);
  CHECK(count_compilations() == before && noted[0] == 0);
}

/* ---- no compiler, and one that fails ---- */

static void test_without_compiler(void) {
  const uint32_t before = count_compilations();
  host.cache = NULL;
  CHECK(unsetenv("FAKE_NVRTC") == 0);
  run_in_child(expect_kernel_per_step);
  CHECK(count_compilations() == before && noted[0] == 0);
  CHECK(setenv("FAKE_NVRTC", "refuse", 1) == 0);
  run_in_child(expect_kernel_per_step);
  CHECK(strcmp(noted,
               "a group of steps runs step by step: NVRTC does not compile it: "
               "text.cu(1): error: planted") == 0);
  CHECK(setenv("FAKE_NVRTC", "compile", 1) == 0);
}

/* Returns 1 if children find the emulated driver of tests/fake_cuda, which writes a log. */
static int has_fake_driver(void) {
  int status = 1;
  const pid_t child = fork();
  if (child == 0) {
    if (open_device()) close_device();
    _exit(0);
  }
  waitpid(child, &status, 0);
  return count_lines(driver_log, "cuInit") > 0;
}

int main(void) {
  if (mkdtemp(folder) == NULL) return 1;
  snprintf(cache, sizeof cache, "%s/kept", folder);
  snprintf(log_file, sizeof log_file, "%s/compiled", folder);
  snprintf(driver_log, sizeof driver_log, "%s/driver", folder);
  setenv("FAKE_NVRTC", "compile", 1);
  setenv("FAKE_NVRTC_LOG", log_file, 1);
  setenv("FAKE_CUDA_LOG", driver_log, 1);
  if (!has_fake_driver()) {
    (void)rmdir(folder);
    return 77;
  }
  run_in_child(expect_one_text_for_all_shapes);
  run_in_child(test_function_types_and_limits);
  run_in_child(test_build_survives_no_memory);
  test_damaged_cached_files();
  test_folder_open_to_others();
  test_cache_size_limit();
  test_file_of_other_user();
  test_processes_share_cache();
  test_without_compiler();
  remove_files_in_folder(cache);
  remove_files_in_folder(folder);
  (void)rmdir(folder);
  TEST_DONE();
}
