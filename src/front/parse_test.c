/* SPDX-License-Identifier: Apache-2.0
 * parse_test.c - tests of the parser that golden files cannot express: statuses, quoted lines,
 * positions of nodes, limits, failing allocations, truncated and changed texts, and the number of
 * parameters of the examples. Runs in the root of the repository. */
#include <string.h>
#include "vt_file.h"
#include "vt_parse.h"
#include "vt_test.h"

/* Parses with a counting allocator and checks that all memory is freed, also after a failure. */
static vt_status parse_text(const char *text, size_t n, vt_diag *d) {
  vt_fault fault = {0};
  vt_graph *g = NULL;
  const vt_status s = vt_parse(text, n, vt_fault_alloc(&fault), &g, d);
  CHECK((s == VT_OK) == (g != NULL));
  vt_graph_free(g);
  CHECK(fault.live == 0);
  return s;
}

/* Parses a model with the input x: f32[2, 2], the given lines, and the output y. */
static vt_status parse_model_of_lines(const char *lines, vt_diag *d) {
  vt_text t;
  vt_text_init(&t, vt_alloc_default());
  vt_text_add(&t, "volta 1\nmodel m {\ninput x: f32[2, 2]\n%s\noutput y\n}\n", lines);
  memset(d, 0, sizeof *d);
  const vt_status s = parse_text(t.s, t.n, d);
  vt_text_done(&t);
  return s;
}

/* ---- statuses ---- */

static void test_failure_statuses(void) {
  static const struct {
    const char *lines;
    vt_status want;
  } cases[] = {
      {"y = relu(x)", VT_OK},
      {"y = relu(x", VT_SYNTAX},
      {"y = rleu(x)", VT_SYNTAX},
      {"y = relu(z)", VT_SYNTAX},
      {"y = softmax(x, axes=1)", VT_SYNTAX},
      {"y = relu(x, x)", VT_VERIFY},
      {"y = cast(x)", VT_VERIFY},
      {"y = x + f64(1)", VT_VERIFY},
      {"y: f32[2] = x", VT_VERIFY},
      {"x = relu(x)", VT_VERIFY},
      {"input z: f32[1,1,1,1,1,1,1,1,1]", VT_LIMIT},
      {"y = x * ((((0.5))))", VT_OK},
      {"repeat 2000000 as h { }", VT_LIMIT},
      {"y = x * 1e", VT_SYNTAX},
      {"dim a, b, c, d, e, f, g, h, i", VT_LIMIT},
      {"state k: f32[2] = zeros\nnext k = k\ny = x + k", VT_OK},
      {"state k: f32[2] = zeros\ny = x + k", VT_VERIFY},
      {"state k: f32[2] = zeros\nnext k = k\nnext k = k", VT_VERIFY},
      {"state k: f32[2] = zeros\nnext k = x", VT_VERIFY},
      {"state k: f32[2]", VT_SYNTAX},
      {"next x = x", VT_VERIFY},
      {"next z = x", VT_SYNTAX},
      {"dim n\ny = x * cast(i64(n), dtype=f32)", VT_OK},
      {"dim n\ny = x * f32(n)", VT_VERIFY},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    vt_diag d;
    const vt_status s = parse_model_of_lines(cases[i].lines, &d);
    if (s != cases[i].want)
      fprintf(stderr, "%s: %s: %s\n", cases[i].lines, vt_status_name(s), d.text);
    CHECK(s == cases[i].want);
    CHECK(s == d.code && (s == VT_OK) == (d.line == 0));
  }
}

/* ---- diagnostics ---- */

static void test_failure_quotes_source_line(void) {
  vt_diag d;
  CHECK(parse_model_of_lines("\ty = rleu(x)\r", &d) == VT_SYNTAX);
  CHECK(d.line == 4 && d.column == 6);
  /* The tab and the carriage return became blanks, so columns are unchanged. */
  CHECK(strcmp(d.source, " y = rleu(x) ") == 0);
  CHECK(strcmp(d.hint, "did you mean 'relu'?") == 0);
  CHECK(parse_model_of_lines("y = rleu(x) # \xc3\xa4", &d) == VT_SYNTAX);
  CHECK(strcmp(d.source, "y = rleu(x) # \xc3\xa4") == 0);
  CHECK(parse_model_of_lines("y = \xff", &d) == VT_SYNTAX);
  CHECK(strcmp(d.source, "y = ?") == 0);
}

static void test_too_long_source_line_omitted(void) {
  char line[400] = "y = rleu(x) #";
  vt_diag d;
  memset(line + 13, '.', 239 - 13);
  line[239] = 0;
  CHECK(parse_model_of_lines(line, &d) == VT_SYNTAX && strcmp(d.source, line) == 0);
  line[239] = '.';
  line[240] = 0;
  CHECK(parse_model_of_lines(line, &d) == VT_SYNTAX && d.source[0] == 0);
}

static void test_first_failure_is_kept(void) {
  vt_graph *g = (vt_graph *)&g; /* an output pointer that a failure must not change */
  CHECK(vt_parse("nonsense", 8, vt_alloc_default(), &g, NULL) == VT_SYNTAX);
  CHECK(g == (vt_graph *)&g);
  vt_diag d = {.code = VT_IO, .text = "earlier"};
  CHECK(vt_parse("nonsense", 8, vt_alloc_default(), &g, &d) == VT_SYNTAX);
  /* The failure that was recorded before is kept. */
  CHECK(d.code == VT_IO && strcmp(d.text, "earlier") == 0);
  d = (vt_diag){0};
  CHECK(parse_text(NULL, 0, &d) == VT_SYNTAX && d.line == 1 && d.column == 1);
}

/* Every node has the position of its call, operator or literal. */
static void test_node_positions(void) {
  const char *text =
      "volta 1\nmodel m {\n  input x: f32[2]\n  y = relu(x +\n    0.5)\n  output y\n}";
  static const uint32_t want[][2] = {{5, 5}, {4, 14}, {4, 7}};
  vt_graph *g = NULL;
  vt_diag d = {0};
  CHECK(vt_parse(text, strlen(text), vt_alloc_default(), &g, &d) == VT_OK);
  CHECK(g != NULL && g->n_nodes == 3);
  for (uint32_t i = 0; g != NULL && i < g->n_nodes; i++)
    CHECK(g->nodes[i].line == want[i][0] && g->nodes[i].column == want[i][1]);
  vt_graph_free(g);
}

/* ---- limits ---- */

/* Parses a model with `head`, `times` copies of `piece`, and `rest`. */
static vt_status parse_repeated_text(const char *head, const char *piece, size_t times,
                                     const char *rest, vt_diag *d) {
  vt_text t;
  vt_text_init(&t, vt_alloc_default());
  vt_text_add(&t, "volta 1\nmodel m {\ninput x: f32[2, 2]\n%s", head);
  for (size_t i = 0; i < times; i++) vt_text_add_bytes(&t, piece, strlen(piece));
  vt_text_add(&t, "%s\noutput y\n}\n", rest);
  memset(d, 0, sizeof *d);
  const vt_status s = parse_text(t.s, t.n, d);
  vt_text_done(&t);
  return s;
}

static void test_nesting_limit(void) {
  char close[101] = "x";
  vt_diag d;
  memset(close + 1, ')', 99);
  /* 199 levels of nesting: two for each of 99 "-(", and one for x. */
  CHECK(parse_repeated_text("y = ", "-(", 99, close, &d) == VT_OK);
  CHECK(parse_repeated_text("y = --", "-(", 99, close, &d) == VT_LIMIT);
  CHECK(parse_repeated_text("y = ", "(", 199, "x", &d) == VT_SYNTAX);
  CHECK(parse_repeated_text("y = ", "(", 1000000, "x", &d) == VT_LIMIT);
  CHECK(parse_repeated_text("y = ", "-", 1000000, "x", &d) == VT_LIMIT);
  CHECK(parse_repeated_text("y = ", "relu(", 1000000, "x", &d) == VT_LIMIT);
  CHECK(parse_repeated_text("y = ", "linear a(", 100000, "x", &d) == VT_LIMIT);
  CHECK(parse_repeated_text("input z: f32[", "(", 1000000, "1", &d) == VT_LIMIT);
  CHECK(parse_repeated_text("input z: f32[", "-", 1000000, "1", &d) == VT_LIMIT);
  CHECK(parse_repeated_text("y = x\n", "repeat 1 as h {\n", 100000, "", &d) == VT_LIMIT);
}

/* Long texts without deep nesting parse in linear time, up to the limits. */
static void test_long_texts_parse_or_hit_limit(void) {
  vt_diag d;
  CHECK(parse_repeated_text("y = x", " + x", 100000, "", &d) == VT_OK);
  /* A literal of a million digits, which rounds to infinity. */
  CHECK(parse_repeated_text("y = x * 1", "0", 1000000, "", &d) == VT_OK);
  CHECK(parse_repeated_text("y = x * 0.", "0", 1000000, "1e1000000", &d) == VT_OK);
  CHECK(parse_repeated_text("y = f16(1.00048828125", "0", 1000000, "1)", &d) == VT_OK);
  CHECK(parse_repeated_text("y = i64(", "9", 1000000, ")", &d) == VT_VERIFY);
  CHECK(parse_repeated_text("input z: f32[", "9", 1000000, "]", &d) == VT_LIMIT);
  CHECK(parse_repeated_text("y = x # ", "\xc3\xa4", 1000000, "", &d) == VT_OK);
  CHECK(parse_repeated_text("y = concat(x", ", x", 4000, ", axis=0)", &d) == VT_OK);
  CHECK(parse_repeated_text("y = concat(x", ", x", 100000, ", axis=0)", &d) == VT_LIMIT);
  CHECK(parse_repeated_text("y = x", "\n", 1000000, "", &d) == VT_OK);
  CHECK(parse_repeated_text("y = x", " + x", 1100000, "", &d) == VT_LIMIT);
  CHECK(parse_repeated_text("y = x\nrepeat 50 as h {", "y = x\n", 100000, "}", &d) == VT_LIMIT);
}

/* A repeat that is too large is refused after its first iteration. */
static void test_repeat_limit(void) {
  vt_diag d;
  CHECK(parse_model_of_lines("y = x\nrepeat 200000 as h { y = relu(y) }", &d) == VT_OK);
  /* Every iteration adds a node, but only the first one adds a name. */
  CHECK(parse_model_of_lines("repeat 340000 as h { y = relu(x) }", &d) == VT_OK);
  CHECK(parse_model_of_lines("y = x\nrepeat 600000 as h { y = relu(y) }", &d) == VT_LIMIT);
  CHECK(d.line == 5 && d.column == 8);
  CHECK(parse_model_of_lines("y = x\nrepeat 1000 as a {\nrepeat 1000 as b { }\n}", &d) == VT_LIMIT);
  CHECK(parse_model_of_lines("y = x\nrepeat 700000 as a { }", &d) == VT_OK);
  CHECK(parse_model_of_lines("y = x\nrepeat 600000 as a { param w: f32[] = zeros\n }", &d) ==
        VT_LIMIT);
  CHECK(parse_repeated_text("y = x\nrepeat 1000 as a {\ny = x\ny = x #", "long", 100000,
                            "\ny = x\n}", &d) == VT_LIMIT);
  CHECK(parse_model_of_lines(
            "dim B\nz = iota(shape=[B])\ny = z\nrepeat 10500 as a { y = concat(y, z) }", &d) ==
        VT_LIMIT);
}

/* The numbers of different dimensions and of outputs are limited, because their lookup is linear.
 */
static void test_dim_output_and_size_limits(void) {
  vt_text t;
  vt_diag d = {0};
  vt_text_init(&t, vt_alloc_default());
  vt_text_add(&t, "volta 1\nmodel m {\ndim B\ninput x: f32[B]\n");
  for (int i = 0; i < 10001; i++) vt_text_add(&t, "output o%d = x\n", i);
  vt_text_add(&t, "}\n");
  CHECK(parse_text(t.s, t.n, &d) == VT_LIMIT);
  t.n = 0;
  d = (vt_diag){0};
  vt_text_add(&t, "volta 1\nmodel m {\ndim B\n");
  for (int i = 0; i < 11000; i++) vt_text_add(&t, "input x%d: f32[B + %d]\n", i, i);
  vt_text_add(&t, "output x0\n}\n");
  CHECK(parse_text(t.s, t.n, &d) == VT_LIMIT);
  vt_text_done(&t);
  d = (vt_diag){0};
  /* A text above the limit is refused before a byte of it is read. */
  CHECK(parse_text("", ((size_t)64 << 20) + 1, &d) == VT_LIMIT);
}

/* A name of maximal length that is assigned again is too long with a suffix, so the second value is
 * unnamed. */
static void test_long_name_reassigned_is_unnamed(void) {
  char name[201], text[1200];
  vt_graph *g = NULL;
  vt_diag d = {0};
  memset(name, 'n', 200);
  name[200] = 0;
  snprintf(text, sizeof text,
           "volta 1\nmodel m {\ninput x: f32[]\n%s = x * x\n%s = x * %s\noutput %s\n}", name, name,
           name, name);
  CHECK(vt_parse(text, strlen(text), vt_alloc_default(), &g, &d) == VT_OK);
  CHECK(g != NULL && strcmp(g->values[1].name, name) == 0 && g->values[2].name == NULL);
  vt_graph_free(g);
}

/* ---- examples ---- */

static int read_example(const char *path, vt_file *f) {
  vt_diag d = {0};
  const vt_status s = vt_file_read(path, 1 << 20, vt_alloc_default(), f, &d);
  if (s != VT_OK) fprintf(stderr, "%s\n", d.text);
  CHECK(s == VT_OK);
  return s == VT_OK;
}

static void expect_param_count(const char *path, uint64_t want) {
  vt_file f;
  vt_graph *g = NULL;
  vt_diag d = {0};
  uint64_t total = 0, count = 0, bytes = 0;
  if (!read_example(path, &f)) return;
  CHECK(vt_parse((const char *)f.data, f.size, vt_alloc_default(), &g, &d) == VT_OK);
  for (uint32_t i = 0; g != NULL && i < g->n_ports; i++) {
    if (g->ports[i].kind != VT_PORT_PARAM) continue;
    CHECK(vt_type_size(&g->values[g->ports[i].value].type, &count, &bytes, &d) == VT_OK);
    total += count;
  }
  if (total != want) fprintf(stderr, "%s: %llu parameters\n", path, (unsigned long long)total);
  CHECK(total == want);
  vt_graph_free(g);
  vt_file_done(&f);
}

/* Parses prefixes of a file; each must fail cleanly unless only blanks and comments are missing.
 * Each prefix is copied, so that a sanitizer notices reads beyond it. */
static void expect_prefixes_fail_cleanly(const char *path, size_t step) {
  vt_file f;
  if (!read_example(path, &f)) return;
  const char *text = (const char *)f.data;
  const size_t whole = (size_t)(strrchr(text, '}') - text) + 1;
  for (size_t n = 0; n <= f.size; n += step) {
    char *part = malloc(n > 0 ? n : 1);
    vt_diag d = {0};
    CHECK(part != NULL);
    if (part == NULL) break;
    memcpy(part, text, n);
    const vt_status s = parse_text(part, n, &d);
    CHECK((s == VT_OK) == (n >= whole));
    CHECK(s == VT_OK || (d.code == s && d.line > 0 && d.column > 0 && d.text[0] != 0));
    free(part);
  }
  vt_file_done(&f);
}

/* Changes each byte of a file to each of some special bytes; the short form tries only one of them
 * per position. The text must parse or fail cleanly. */
static void expect_changed_bytes_harmless(const char *path) {
  static const char bytes[] = "({[)]},=.-# \n9_\xff";
  vt_file f;
  if (!read_example(path, &f)) return;
  for (size_t i = 0; i < f.size; i++) {
    const uint8_t old = f.data[i];
    const size_t step = vt_test_is_long() ? 1 : sizeof bytes;
    for (size_t k = step == 1 ? 0 : i % step; k < sizeof bytes;
         k += step) { /* the last of the bytes is the 0 that ends the string */
      vt_diag d = {0};
      f.data[i] = (uint8_t)bytes[k];
      const vt_status s = parse_text((const char *)f.data, f.size, &d);
      CHECK(s == d.code);
    }
    f.data[i] = old;
  }
  vt_file_done(&f);
}

/* Makes every allocation fail in turn; in the short form the first 100, then every seventh. */
static void test_failing_allocations(const char *path) {
  const long step = vt_test_is_long() ? 1 : 7;
  vt_file f;
  long k = 1;
  vt_status s = VT_NOMEM;
  if (!read_example(path, &f)) return;
  for (; s != VT_OK && k < 100000; k += k < 100 ? 1 : step) {
    vt_fault fault = {.left = k};
    vt_graph *g = NULL;
    vt_diag d = {0};
    s = vt_parse((const char *)f.data, f.size, vt_fault_alloc(&fault), &g, &d);
    CHECK(s == VT_OK || (s == VT_NOMEM && d.code == VT_NOMEM && g == NULL));
    vt_graph_free(g);
    CHECK(fault.live == 0);
    if (s != VT_OK && s != VT_NOMEM) break;
  }
  CHECK(s == VT_OK && k > 10);
  vt_file_done(&f);
}

int main(void) {
  test_failure_statuses();
  test_failure_quotes_source_line();
  test_too_long_source_line_omitted();
  test_first_failure_is_kept();
  test_node_positions();
  test_nesting_limit();
  test_long_texts_parse_or_hit_limit();
  test_repeat_limit();
  test_dim_output_and_size_limits();
  test_long_name_reassigned_is_unnamed();
  expect_param_count("examples/mlp.vt", 784 * 256 + 256 + 256 * 10);
  expect_param_count("examples/tiny_transformer.vt", 128768);
  expect_param_count("examples/gpt2_124m.vt", 124439808);
  expect_param_count("examples/cnn.vt", 16 * 9 + 16 + 32 * 16 * 9 + 32 + 32 * 49 * 10 + 10);
  expect_param_count("examples/resnet18.vt", 11689512); /* running statistics are states */
  expect_prefixes_fail_cleanly("examples/mlp.vt", 1);
  expect_prefixes_fail_cleanly("examples/cnn.vt", 1);
  expect_prefixes_fail_cleanly("examples/tiny_transformer.vt", vt_test_is_long() ? 1 : 7);
  expect_prefixes_fail_cleanly("examples/char_gpt.vt", vt_test_is_long() ? 1 : 7);
  /* Few prefixes in the short form, because the graph is large and parsing is slow. */
  expect_prefixes_fail_cleanly("examples/gpt2_124m.vt", vt_test_is_long() ? 1 : 41);
  expect_changed_bytes_harmless("examples/mlp.vt");
  expect_changed_bytes_harmless("tests/golden/layer_attention_cache.vt");
  expect_changed_bytes_harmless("tests/golden/state_repeat.vt");
  test_failing_allocations("examples/tiny_transformer.vt");
  test_failing_allocations("examples/llama_block.vt");
  test_failing_allocations("tests/golden/layer_attention_cache.vt");
  TEST_DONE();
}
