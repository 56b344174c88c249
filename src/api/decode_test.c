/* SPDX-License-Identifier: Apache-2.0
 * decode_test.c - models that decode with states. A prompt that is read in one run, in two runs of
 * other lengths or token by token, with keys and values in a cache, must have the bits of one run
 * without any cache, on every backend and instruction set. Positions beyond the cache must fail
 * before a state changes. Runs in the root of the repository. */
#include <string.h>
#include "vt_test.h"
#include "volta/volta_tools.h"

enum { V = 31, TOKENS_MAX = 300, BATCH = 2 };

/* ---- models ---- */

/* Two layers with learned positions. The arguments are the declaration of p, the position of the
 * first token, further arguments of attention, and the end of the model. */
#define MODEL(state, first, attention, next)                                       \
  "volta 1\n"                                                                      \
  "model decode {\n"                                                               \
  "  dim T\n"                                                                      \
  "  input tokens: i32[2, T] in 0..30\n" state "  positions = " first              \
  " + iota(shape=[T], axis=0, dtype=i64)\n"                                        \
  "  x = embedding tok(tokens, rows=31, width=24, init=normal(std=1.0))\n"         \
  "  x = x + embedding pos(positions, rows=300, width=24, init=normal(std=1.0))\n" \
  "  repeat 2 as h {\n"                                                            \
  "    x = x + attention a(layer_norm n(x), heads=4, kv_heads=2, causal=true,\n"   \
  "                        init=normal(std=0.3)" attention                         \
  ")\n"                                                                            \
  "    x = x + linear down(gelu(linear up(x, out=40)), out=24)\n"                  \
  "  }\n" next                                                                     \
  "  output logits = linear head(x, out=31)\n"                                     \
  "}\n"

#define STATE "  state p: i64[] = zeros\n"
#define NEXT "  next p = p + i64(T)\n"
static const char plain[] = MODEL("", "i64(0)", "", "");
static const char cached[] = MODEL(STATE, "p", ", cache=300, position=p", NEXT);
static const char plain_window[] = MODEL("", "i64(0)", ", window=9", "");
static const char cached_window[] = MODEL(STATE, "p", ", window=9, cache=300, position=p", NEXT);
/* Only attention reads the position. */
static const char cached_alone[] = MODEL(STATE, "i64(0)", ", cache=300, position=p", NEXT);

static vt_model *parse(const char *text) {
  vt_model *m = NULL;
  vt_diag d = {0};
  CHECK(vt_model_parse(text, strlen(text), NULL, &m, &d) == VT_OK);
  if (m == NULL) fprintf(stderr, "%u:%u: %s\n", d.line, d.column, d.text);
  if (m == NULL) exit(1); /* nothing can be tested without the model */
  return m;
}

/* ---- backends ---- */

typedef struct target {
  const char *backend, *isa;
  int step; /* in the short form of the test, each `step`th pair of length and split is tried */
} target;
static const target targets[] = {
    {"reference:0", NULL, 1}, {"reference:1", NULL, 4}, {"island:0", NULL, 1},
    {"island:1", NULL, 4},    {"cpu", "scalar", 4},     {"cpu", "sse2", 4},
    {"cpu", "avx2", 1},       {"cpu", "avx512", 1},     {"cuda", NULL, 4},
};
enum { TARGETS = sizeof targets / sizeof *targets };

static vt_options options_of(const target *to, const vt_binding *bind, uint32_t n_bind) {
  return (vt_options){.size = sizeof(vt_options),
                      .n_bind = n_bind,
                      .bind = bind,
                      .backend = to->backend,
                      .isa = to->isa,
                      .threads = 2};
}

/* Makes the state of the model; NULL if this machine lacks the backend or instruction set. */
static vt_state *new_state(const vt_model *m, const target *to) {
  const vt_binding none = {"B", BATCH};
  const vt_options o = options_of(to, &none, 0);
  vt_state *s = NULL;
  vt_diag d = {0};
  if (vt_state_new(m, &o, 0, &s, &d) != VT_OK) CHECK(d.code == VT_BACKEND);
  return s;
}

static vt_program *new_program(const vt_model *m, const target *to, int64_t length, vt_state *s) {
  const vt_binding bind = {"T", length};
  vt_options o = options_of(to, &bind, 1);
  vt_program *p = NULL;
  vt_diag d = {0};
  o.state = s;
  CHECK(vt_program_new(m, &o, &p, &d) == VT_OK);
  if (p == NULL) fprintf(stderr, "%s: %s\n", to->backend, d.text);
  if (p == NULL) exit(1);
  CHECK(vt_program_init_params(p, 5, &d) == VT_OK);
  return p;
}

/* ---- runs ---- */

static int32_t token_at(int64_t row, int64_t i) {
  return (int32_t)((i * i * 7 + row * 11 + i) % V);
}

/* Runs tokens first .. first + length - 1 and writes their logits to out[row][first + i]. */
static vt_status run_tokens(vt_program *p, int64_t first, int64_t length,
                            float out[BATCH][TOKENS_MAX][V], vt_diag *d) {
  static int32_t tokens[BATCH * TOKENS_MAX];
  const vt_tensor in = {.dtype = VT_DTYPE_I32, .rank = 2, .dim = {BATCH, length}, .data = tokens};
  const char *name;
  vt_tensor y;
  for (int64_t i = 0; i < BATCH * length; i++) tokens[i] = token_at(i / length, first + i % length);
  vt_status s = vt_program_set_input(p, "tokens", &in, d);
  if (s == VT_OK) s = vt_program_run(p, d);
  if (s == VT_OK) s = vt_program_output(p, 0, &name, &y, d);
  for (int64_t row = 0; s == VT_OK && row < BATCH; row++)
    memcpy(out[row][first], (const float *)y.data + row * length * V,
           (size_t)length * V * sizeof(float));
  return s;
}

static void run_checked(vt_program *p, int64_t first, int64_t length,
                        float out[BATCH][TOKENS_MAX][V]) {
  vt_diag d = {0};
  CHECK(run_tokens(p, first, length, out, &d) == VT_OK);
  if (d.code != VT_OK) fprintf(stderr, "%s\n", d.text);
}

static float want[BATCH][TOKENS_MAX][V], have[BATCH][TOKENS_MAX][V];

static void run_without_cache(const vt_model *m, int64_t length) {
  vt_program *p = new_program(m, &targets[0], length, NULL);
  memset(want, 0, sizeof want);
  run_checked(p, 0, length, want);
  vt_program_free(p);
}

/* The position after a run is the number of tokens that were read. */
static int64_t position_of(vt_state *s) {
  int64_t p = -1;
  vt_tensor t = {.dtype = VT_DTYPE_I64, .data = &p};
  CHECK(vt_state_get(s, "p", &t, NULL) == VT_OK);
  return p;
}

static void expect_same_bits(const target *to, vt_state *s, int64_t length, int64_t split) {
  const int same = memcmp(want, have, sizeof have) == 0;
  CHECK(same && position_of(s) == length);
  if (!same)
    fprintf(stderr, "  %s %s: %lld tokens, split after %lld\n", to->backend,
            to->isa != NULL ? to->isa : "", (long long)length, (long long)split);
}

/* Reads `length` tokens in two runs, the first of `split`, with two programs over one state. */
static void check_split(const vt_model *m, const target *to, vt_state *s, int64_t length,
                        int64_t split) {
  CHECK(vt_state_reset(s, 0, NULL) == VT_OK);
  memset(have, 0, sizeof have);
  vt_program *first = new_program(m, to, split, s);
  run_checked(first, 0, split, have);
  if (split < length) {
    vt_program *second = new_program(m, to, length - split, s);
    run_checked(second, split, length - split, have);
    vt_program_free(second);
  }
  vt_program_free(first);
  expect_same_bits(to, s, length, split);
}

static void check_token_by_token(const vt_model *m, const target *to, vt_state *s, int64_t length) {
  CHECK(vt_state_reset(s, 0, NULL) == VT_OK);
  memset(have, 0, sizeof have);
  vt_program *one = new_program(m, to, 1, s);
  for (int64_t at = 0; at < length; at++) run_checked(one, at, 1, have);
  vt_program_free(one);
  expect_same_bits(to, s, length, 0);
}

/* Lengths around the blocks of the ordered sum (32) and of contractions (256), and split points all
 * over them. */
static const struct {
  int64_t length, split;
} splits[] = {
    {1, 1},   {2, 1},     {3, 2},     {9, 4},    {33, 32},   {31, 7},    {32, 16},   {10, 9},
    {47, 1},  {64, 33},   {65, 64},   {100, 99}, {127, 20},  {128, 127}, {150, 31},  {200, 150},
    {255, 2}, {256, 255}, {257, 256}, {257, 1},  {300, 299}, {299, 128}, {290, 257}, {300, 300},
};
enum { SPLITS = sizeof splits / sizeof *splits };

static void test_splits(const char *plain_text, const char *cached_text, int step) {
  vt_model *without = parse(plain_text), *with = parse(cached_text);
  vt_state *states[TARGETS];
  for (int t = 0; t < TARGETS; t++) states[t] = new_state(with, &targets[t]);
  CHECK(states[0] != NULL);
  for (int i = 0; i < SPLITS; i += step) {
    run_without_cache(without, splits[i].length);
    for (int t = 0; t < TARGETS; t++) {
      if (states[t] == NULL) continue;
      if (!vt_test_is_long() && i % (step * targets[t].step) != 0) continue;
      check_split(with, &targets[t], states[t], splits[i].length, splits[i].split);
      if (i == 4 || (i == 20 && targets[t].step == 1)) /* 33 and 300 tokens */
        check_token_by_token(with, &targets[t], states[t], splits[i].length);
    }
  }
  for (int t = 0; t < TARGETS; t++) vt_state_free(states[t]);
  vt_model_free(without);
  vt_model_free(with);
}

/* ---- beyond the cache ---- */

static void set_position(vt_state *s, int64_t p) {
  vt_tensor t = {.dtype = VT_DTYPE_I64, .data = &p};
  CHECK(vt_state_set(s, "p", &t, NULL) == VT_OK);
}

/* A run from position `p` must fail at an index, with this text, and leave every state as it was.
 */
static void expect_refused(vt_program *program, vt_state *s, int64_t p, int64_t length,
                           const char *text) {
  uint8_t before[32], after[32] = {0};
  vt_diag d = {0};
  set_position(s, p);
  CHECK(vt_state_digest(s, before, NULL) == VT_OK);
  CHECK(run_tokens(program, 0, length, have, &d) == VT_RANGE);
  CHECK(strstr(d.text, text) != NULL);
  if (strstr(d.text, text) == NULL) fprintf(stderr, "  '%s'\n", d.text);
  CHECK(!vt_state_is_lost(s) && vt_state_digest(s, after, NULL) == VT_OK);
  CHECK(memcmp(before, after, 32) == 0);
}

static void expect_each_position_refused(const vt_model *m, const target *to, vt_state *s,
                                         const char *text) {
  vt_program *most = new_program(m, to, TOKENS_MAX - 1, s), *one = new_program(m, to, 1, s);
  vt_program *two = new_program(m, to, 2, s);
  expect_refused(two, s, TOKENS_MAX - 1, 2, text);
  expect_refused(one, s, TOKENS_MAX, 1, text);
  expect_refused(one, s, -1, 1, text);
  expect_refused(one, s, INT64_MAX, 1, text);
  expect_refused(most, s, INT64_MIN, TOKENS_MAX - 1, text);
  expect_refused(most, s, 2, TOKENS_MAX - 1, text);
  vt_program_free(most);
  vt_program_free(one);
  vt_program_free(two);
}

/* Fills the cache but for the last position, which must get its bits after all that was refused. */
static void check_full_cache(const vt_model *m, const target *to, vt_state *s) {
  vt_program *most = new_program(m, to, TOKENS_MAX - 1, s), *one = new_program(m, to, 1, s);
  memset(have, 0, sizeof have);
  run_checked(most, 0, TOKENS_MAX - 1, have);
  expect_each_position_refused(m, to, s, "is out of range"); /* in the embedding */
  set_position(s, TOKENS_MAX - 1);
  run_checked(one, TOKENS_MAX - 1, 1, have);
  expect_same_bits(to, s, TOKENS_MAX, TOKENS_MAX - 1);
  vt_program_free(most);
  vt_program_free(one);
}

static void test_positions_beyond_cache(void) {
  vt_model *without = parse(plain), *with = parse(cached), *alone = parse(cached_alone);
  run_without_cache(without, TOKENS_MAX);
  for (int t = 0; t < TARGETS; t++) {
    vt_state *s = new_state(with, &targets[t]);
    if (s != NULL) check_full_cache(with, &targets[t], s);
    if (s != NULL)
      expect_each_position_refused(alone, &targets[t], s, "'h.0.a.position' = gather: index");
    vt_state_free(s);
  }
  vt_model_free(without);
  vt_model_free(with);
  vt_model_free(alone);
}

/* A program for more positions than the cache has cannot be made. */
static void test_program_longer_than_cache(void) {
  vt_model *m = parse(cached);
  const vt_binding bind = {"T", TOKENS_MAX + 2};
  const vt_options o = options_of(&targets[0], &bind, 1);
  vt_program *p = NULL;
  vt_diag d = {0};
  CHECK(vt_program_new(m, &o, &p, &d) == VT_BIND && p == NULL);
  CHECK(strstr(d.text, "'h.0.a.room' = iota: 'iota' would have dimension -1") != NULL);
  vt_model_free(m);
}

/* ---- the examples ---- */

enum { EXAMPLE_TOKENS = 64, EXAMPLE_LOGITS = 512 };
typedef float logits[BATCH][EXAMPLE_TOKENS][EXAMPLE_LOGITS];
static logits prefill, decoded;

static vt_program *new_example(const vt_model *m, const target *to, int64_t length, vt_state *s) {
  const vt_binding bind[2] = {{"B", BATCH}, {"T", length}};
  vt_options o = options_of(to, bind, 2);
  vt_program *p = NULL;
  o.state = s;
  CHECK(vt_program_new(m, &o, &p, NULL) == VT_OK);
  if (p == NULL) exit(1);
  CHECK(vt_program_init_params(p, 5, NULL) == VT_OK);
  return p;
}

/* Reads EXAMPLE_TOKENS tokens in runs of `length`. */
static void read_tokens_of_example(const vt_model *m, const target *to, int64_t length, vt_state *s,
                                   logits out) {
  int32_t tokens[BATCH * EXAMPLE_TOKENS];
  const vt_tensor in = {.dtype = VT_DTYPE_I32, .rank = 2, .dim = {BATCH, length}, .data = tokens};
  const char *name;
  vt_tensor y = {0};
  vt_program *p = new_example(m, to, length, s);
  CHECK(vt_state_reset(s, 0, NULL) == VT_OK);
  for (int64_t at = 0; at < EXAMPLE_TOKENS; at += length) {
    for (int64_t i = 0; i < BATCH * length; i++) tokens[i] = token_at(i / length, at + i % length);
    CHECK(vt_program_set_input(p, "tokens", &in, NULL) == VT_OK);
    CHECK(vt_program_run(p, NULL) == VT_OK);
    CHECK(vt_program_output(p, 0, &name, &y, NULL) == VT_OK && y.dim[2] <= EXAMPLE_LOGITS);
    for (int64_t i = 0; i < BATCH * length; i++)
      memcpy(out[i / length][at + i % length], (const float *)y.data + i * y.dim[2],
             (size_t)y.dim[2] * sizeof(float));
  }
  vt_program_free(p);
}

/* Decoding one token must not copy the cache: all values between steps take fewer bytes than the
 * keys of one layer. */
static void check_cache_is_not_copied(const vt_model *m, const target *to) {
  const vt_binding bind[2] = {{"B", BATCH}, {"T", 1}};
  const vt_options o = options_of(to, bind, 2);
  vt_plan_info info = {.size = sizeof info};
  vt_planned *p = NULL;
  CHECK(vt_planned_new(m, &o, &p, NULL) == VT_OK);
  if (p != NULL) vt_planned_info(p, &info);
  vt_planned_free(p);
  CHECK(info.bytes_state > 0 && info.bytes[4] < info.bytes_state / 8);
  CHECK(strcmp(vt_memory_class(4), "temporary") == 0);
}

static void test_example(const char *path) {
  vt_model *m = NULL;
  static logits first;
  CHECK(vt_model_read(path, NULL, &m, NULL) == VT_OK);
  for (int t = 0; m != NULL && t < TARGETS; t++) {
    const vt_binding bind = {"B", BATCH};
    const vt_options o = options_of(&targets[t], &bind, 1);
    vt_state *s = NULL;
    vt_diag d = {0};
    if (vt_state_new(m, &o, 0, &s, &d) != VT_OK) {
      CHECK(d.code == VT_BACKEND);
      continue;
    }
    read_tokens_of_example(m, &targets[t], EXAMPLE_TOKENS, s, prefill);
    read_tokens_of_example(m, &targets[t], 1, s, decoded);
    CHECK(memcmp(prefill, decoded, sizeof prefill) == 0);
    if (t == 0) memcpy(first, prefill, sizeof first);
    CHECK(memcmp(first, prefill, sizeof first) == 0);
    check_cache_is_not_copied(m, &targets[t]);
    vt_state_free(s);
  }
  vt_model_free(m);
}

int main(void) {
  test_example("examples/char_gpt.vt");
  test_example("examples/llama_block.vt");
  test_positions_beyond_cache();
  test_program_longer_than_cache();
  test_splits(plain, cached, 1);
  test_splits(plain_window, cached_window, 4);
  TEST_DONE();
}
