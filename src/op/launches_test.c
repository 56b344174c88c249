/* SPDX-License-Identifier: Apache-2.0
 * launches_test.c - tests which steps become one launch: either a whole fusion group or each of its
 * members alone, when copies interrupt the group or the backend refuses it; and which arenas steps
 * with bodies write. Steps are given as letters: a capital is an anchor, a small letter a pointwise
 * step, a dot a copy; equal letters are one group. Wanted are the numbers of steps of the launches,
 * "1 3". */
#include "vt_launches.h"
#include <string.h>
#include "volta/volta_ops.h"
#include "vt_test.h"

enum { MOST = 2000 };

/* A backend that accepts every step and every chain, except chains of one length. Its pointwise op
 * is `add`. */
typedef struct backend {
  uint32_t refused; /* length of the chains that the backend refuses */
  long live;        /* number of chains that were made and not freed */
} backend;

static void *resize_memory(void *user, void *p, uint64_t old_size, uint64_t new_size) {
  (void)user, (void)old_size;
  if (new_size != 0) return realloc(p, (size_t)new_size);
  free(p);
  return NULL;
}

static int is_pointwise_op(uint32_t op) { return op == VT_OP_add; }
static int32_t chain_new(void *user, const vt_bk_step *const *s, uint32_t n, void **out) {
  backend *b = user;
  if (n == b->refused) return VT_UNSUPPORTED;
  b->live++;
  memcpy(out, &s[0], sizeof *out); /* the chain is any pointer that is not NULL */
  return VT_OK;
}
static void chain_free(void *user, void *chain) {
  (void)chain;
  ((backend *)user)->live--;
}
static int32_t anchor_new(void *user, vt_launch *at) {
  (void)user, (void)at;
  return VT_OK;
}
static void anchor_free(void *user, vt_launch *at) { (void)user, (void)at; }

/* Builds the launches of steps that are given as letters. A capital letter is an anchor and a small
 * letter a pointwise step, both of the group of that letter; a dot is a copy, which is in no group.
 * Returns the numbers of steps of the launches as a text. */
static const char *launch_lengths(const char *steps, uint32_t refused_length) {
  static vt_bk_step list[MOST];
  static vt_bk_tensor place[MOST];
  static char text[MOST * 3];
  backend b = {.refused = refused_length};
  const vt_bk_host host = {.size = sizeof host, .resize = resize_memory};
  const vt_launch_callbacks how = {&host,      &b,         is_pointwise_op, chain_new,
                                   chain_free, anchor_new, anchor_free};
  const size_t n = strlen(steps);
  vt_launches l;
  for (size_t i = 0; i < n; i++) {
    const int small = steps[i] >= 'a', none = steps[i] == '.';
    place[i] = (vt_bk_tensor){.size = sizeof place[i], .offset = 256 * i};
    list[i] = (vt_bk_step){.size = sizeof list[i],
                           .op = small  ? VT_OP_add
                                 : none ? VT_OP_transpose
                                        : VT_OP_matmul,
                           .n_out = 1,
                           .out = &place[i],
                           .group = none ? 0 : (uint32_t)((steps[i] | 32) - 'a' + 1)};
  }
  CHECK(vt_launches_init(&how, list, n, &l) == VT_OK);
  size_t used = 0, at = 0;
  text[0] = 0;
  for (uint64_t i = 0; i < l.n; i++) {
    CHECK(l.launches[i].first == at);
    at += (size_t)l.launches[i].n;
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu", i == 0 ? "" : " ",
                             (unsigned long long)l.launches[i].n);
  }
  CHECK(at == n);
  vt_launches_done(&how, &l);
  CHECK(b.live == 0);
  return text;
}

static void expect_launches(const char *steps, uint32_t refused_length, const char *want) {
  const char *got = launch_lengths(steps, refused_length);
  CHECK(strcmp(got, want) == 0);
  if (strcmp(got, want) != 0) fprintf(stderr, "  %s gives %s and not %s\n", steps, got, want);
}

static void test_whole_groups(void) {
  expect_launches("", 0, "");
  expect_launches("a", 0, "1");
  expect_launches("aaa", 0, "3");
  expect_launches("..aa.bbb..", 0, "1 1 2 1 3 1 1");
  expect_launches("aabbb", 0, "2 3");
  expect_launches("Aaa", 0, "3");
  expect_launches("aAa", 0, "3");
  expect_launches("AaA", 0, "1 1 1"); /* two anchors */
  expect_launches("bbAaA", 0, "2 1 1 1");
}

/* If a copy interrupts a group, each member of the group gets a launch of its own, also the members
 * between two copies. */
static void test_interrupted_groups(void) {
  expect_launches("aa.aa", 0, "1 1 1 1 1");
  expect_launches("aaa..a.bb", 0, "1 1 1 1 1 1 1 2");
  expect_launches("a...aaa", 0, "1 1 1 1 1 1 1");
  expect_launches("b.aa.aa.b.b", 0, "1 1 1 1 1 1 1 1 1 1 1");
}

/* If the backend refuses a group's chain, each member of the group gets a launch of its own. */
static void test_refused_chains(void) {
  expect_launches("aaabb", 3, "1 1 1 2");
  expect_launches("aaa.bbb", 3, "1 1 1 1 1 1 1");
  expect_launches("Aaaabb", 3, "1 1 1 1 2");
}

static void test_group_length_limit(void) {
  char steps[200];
  memset(steps, 'a', sizeof steps);
  steps[64] = 0;
  expect_launches(steps, 0, "64");
  steps[64] = 'a';
  steps[65] = 0;
  CHECK(strncmp(launch_lengths(steps, 0), "1 1 1 1", 7) == 0);
}

/* ---- arenas ---- */

enum { PARAM = VT_BK_ARENA_PARAMETER, TEMP = VT_BK_ARENA_TEMPORARY };

static vt_bk_tensor tensor_at(uint32_t arena, uint64_t offset) {
  return (vt_bk_tensor){
      .size = sizeof(vt_bk_tensor), .dtype = VT_DTYPE_F32, .arena = arena, .offset = offset};
}

/* Includes a loop with one carried value, one `each` and one other operand, of which the last two
 * are parameters. The body reads the other operand at `place`, its own step reads it too. */
static vt_arenas arenas_of_loop(const vt_bk_tensor *place) {
  const vt_attr_loop attrs = {.size = sizeof attrs, .count = 2, .carried = 1, .each = 1};
  const vt_bk_tensor in[3] = {tensor_at(TEMP, 0), tensor_at(PARAM, 0), tensor_at(PARAM, 256)};
  const vt_bk_tensor out = tensor_at(TEMP, 256), given = tensor_at(TEMP, 512);
  const vt_bk_tensor args[4] = {tensor_at(TEMP, 768), out, tensor_at(TEMP, 1024), *place};
  const vt_bk_step inner = {
      .size = sizeof inner, .op = VT_OP_add, .n_in = 1, .n_out = 1, .in = place, .out = &given};
  const vt_bk_body body = {.size = sizeof body,
                           .n_in = 4,
                           .n_out = 1,
                           .in = args,
                           .out = &given,
                           .n_steps = 1,
                           .steps = &inner};
  const vt_bk_step loop = {.size = sizeof loop,
                           .op = VT_OP_loop,
                           .n_in = 3,
                           .n_out = 1,
                           .in = in,
                           .out = &out,
                           .attrs = &attrs,
                           .n_body = 1,
                           .body = &body};
  vt_arenas a = {0};
  CHECK(vt_arenas_include(&a, &loop, 1) == VT_OK);
  return a;
}

/* A parameter that a body reads in place is not written, so what was derived from parameters stays
 * valid. An argument of its own is written, wherever it is. */
static void test_arenas_written_by_loop(void) {
  const vt_bk_tensor same = tensor_at(PARAM, 256), other = tensor_at(PARAM, 512);
  const vt_bk_tensor element = tensor_at(PARAM, 0), copy = tensor_at(TEMP, 2048);
  vt_arenas a = arenas_of_loop(&same);
  CHECK(!a.writes[PARAM] && a.writes[TEMP]);
  CHECK(a.ends[PARAM] == 260 && a.ends[TEMP] == 1028);
  CHECK(arenas_of_loop(&other).writes[PARAM]);
  CHECK(arenas_of_loop(&element).writes[PARAM]); /* that is operand 1, of which it is no copy */
  a = arenas_of_loop(&copy);
  CHECK(!a.writes[PARAM] && a.writes[TEMP] && a.ends[TEMP] == 2052);
}

/* The arguments of both bodies of a cond are its operands. */
static void test_arenas_written_by_cond(void) {
  const vt_attr_cond attrs = {.size = sizeof attrs, .first = 1};
  vt_bk_tensor in[3] = {tensor_at(TEMP, 0), tensor_at(PARAM, 0), tensor_at(PARAM, 256)};
  vt_bk_tensor args[2] = {tensor_at(PARAM, 0), tensor_at(PARAM, 256)};
  const vt_bk_tensor out = tensor_at(TEMP, 256);
  vt_bk_body body[2];
  for (int i = 0; i < 2; i++)
    body[i] =
        (vt_bk_body){.size = sizeof *body, .n_in = 1, .n_out = 1, .in = &args[i], .out = &out};
  const vt_bk_step cond = {.size = sizeof cond,
                           .op = VT_OP_cond,
                           .n_in = 3,
                           .n_out = 1,
                           .in = in,
                           .out = &out,
                           .attrs = &attrs,
                           .n_body = 2,
                           .body = body};
  vt_arenas a = {0}, b = {0};
  CHECK(vt_arenas_include(&a, &cond, 1) == VT_OK && !a.writes[PARAM] && a.writes[TEMP]);
  args[1].offset = 0; /* the argument of the second body is not at its operand */
  CHECK(vt_arenas_include(&b, &cond, 1) == VT_OK && b.writes[PARAM]);
}

int main(void) {
  test_whole_groups();
  test_interrupted_groups();
  test_refused_chains();
  test_group_length_limit();
  test_arenas_written_by_loop();
  test_arenas_written_by_cond();
  TEST_DONE();
}
