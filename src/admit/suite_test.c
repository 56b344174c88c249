/* SPDX-License-Identifier: Apache-2.0
 * suite_test.c - tests that the suite in the library is that of the sources, that malformed files
 * are refused with file and line, that stored digests of other cases are refused, and that each
 * failed allocation is handled. */
#include "suite_test.h"
#include "vt_file.h"

/* ---- the built-in suite and the folder it was made of ---- */

static int is_same_case(const vt_case *a, const vt_case *b) {
  return strcmp(a->name, b->name) == 0 && strcmp(a->model->text, b->model->text) == 0 &&
         strcmp(a->model->name, b->model->name) == 0 && a->mix == b->mix &&
         a->gradient == b->gradient && a->model->block->op == b->model->block->op &&
         a->model->block->may_fail == b->model->block->may_fail && a->expected != NULL &&
         b->expected != NULL && memcmp(a->expected, b->expected, 8) == 0;
}

static void test_built_in_suite_equals_sources(void) {
  vt_suite *carried = NULL, *read = NULL;
  vt_hash256 one, two;
  uint32_t same = 0;
  vt_diag d = {0};
  CHECK(vt_suite_built_in(NULL, &carried, &d) == VT_OK);
  CHECK(vt_suite_read("tests/cts", NULL, &read, &d) == VT_OK);
  if (carried == NULL || read == NULL) {
    fprintf(stderr, "%s\n", d.text);
    exit(1);
  }
  CHECK(carried->n_cases >= 73000 && carried->n_cases == read->n_cases);
  CHECK(carried->n_models == read->n_models && carried->n_blocks == read->n_blocks);
  CHECK(read->n_left_over == 0 && read->left_over == NULL && read->n_examples == 0);
  for (uint32_t i = 0; i < carried->n_cases && i < read->n_cases; i++)
    same += (uint32_t)is_same_case(&carried->cases[i], &read->cases[i]);
  CHECK(same == carried->n_cases);
  vt_suite_digest(carried, &one);
  vt_suite_digest(read, &two);
  CHECK(memcmp(&one, &two, sizeof one) == 0);
  vt_suite_free(carried);
  vt_suite_free(read);
}

/* The short form has every op and mix of the whole suite, and far fewer cases. */
static void test_short_form_has_each_op_and_mix(void) {
  static uint8_t op_seen[2][1u << 16];
  vt_suite *s = NULL;
  uint32_t n = 0;
  CHECK(vt_suite_built_in(NULL, &s, NULL) == VT_OK);
  if (s == NULL) return;
  uint8_t *chosen = calloc(s->n_cases, 1);
  memset(chosen, 7, s->n_cases);
  CHECK(vt_suite_choose_short(s, chosen, NULL) == VT_OK);
  for (uint32_t i = 0; i < s->n_cases; i++) {
    const uint32_t op = (s->cases[i].model->block->op->number * 16 + (uint32_t)s->cases[i].mix);
    CHECK(chosen[i] <= 1);
    n += chosen[i];
    op_seen[0][op & 0xffff] = 1;
    if (chosen[i]) op_seen[1][op & 0xffff] = 1;
  }
  CHECK(memcmp(op_seen[0], op_seen[1], sizeof op_seen[0]) == 0);
  CHECK(n > 1000 && n < s->n_cases / 5);
  free(chosen);
  vt_suite_free(s);
}

static int is_line_of_example_published(const char *file, const vt_suite_example *e) {
  char line[300];
  int n = 0;
  for (int i = 0; i < 32; i++)
    n += snprintf(line + n, sizeof line - (size_t)n, "%02x", e->digest[i]);
  n += snprintf(line + n, sizeof line - (size_t)n, " %s ", e->name);
  for (uint32_t i = 0; i < e->n_bind; i++)
    n += snprintf(line + n, sizeof line - (size_t)n, "%s%s=%lld", i == 0 ? "" : ",",
                  e->bind[i].name, (long long)e->bind[i].value);
  (void)snprintf(line + n, sizeof line - (size_t)n, " seed=%llu inputs=%llu\n",
                 (unsigned long long)e->seed, (unsigned long long)e->inputs_seed);
  return strstr(file, line) != NULL;
}

static void check_example_equals_file(const vt_suite_example *e, const char *published) {
  char path[200];
  vt_file f;
  (void)snprintf(path, sizeof path, "examples/%s", e->name);
  const vt_status s = vt_file_read(path, 1 << 20, vt_alloc_default(), &f, NULL);
  CHECK(s == VT_OK);
  if (s != VT_OK) return;
  CHECK(strcmp((const char *)f.data, e->text) == 0 && is_line_of_example_published(published, e));
  vt_file_done(&f);
}

static void test_built_in_examples_equal_files(void) {
  vt_suite *s = NULL;
  vt_file published;
  uint32_t lines = 0;
  CHECK(vt_suite_built_in(NULL, &s, NULL) == VT_OK);
  const vt_status read =
      vt_file_read("examples/published.digests", 1 << 20, vt_alloc_default(), &published, NULL);
  CHECK(read == VT_OK);
  if (s == NULL || read != VT_OK) exit(1);
  const char *text = (const char *)published.data;
  for (const char *at = text; *at != 0; at += strcspn(at, "\n") + 1) lines += *at != '#';
  CHECK(s->n_examples == lines && lines >= 8);
  for (uint32_t i = 0; i < s->n_examples; i++) check_example_equals_file(&s->example[i], text);
  vt_file_done(&published);
  vt_suite_free(s);
}

/* ---- malformed files ---- */

static const struct {
  const char *text;
  vt_status status;
  uint32_t line;
  const char *words;
} broken[] = {
    {"case nothing\n", VT_FORMAT, 1, "no op is called 'nothing'"},
    {"# a\n\nmix few\n", VT_FORMAT, 3, "expected a case, found 'mix'"},
    {"case relu\n  output y = relu(f32(1))\n", VT_FORMAT, 3,
     "the file ends inside the case 'relu'"},
    {"case relu\ncase relu\n", VT_FORMAT, 2, "the case before is not ended: 'relu'"},
    {"case relu\nmix ordinary most\n", VT_FORMAT, 2, "no mix is called 'most'"},
    {"case relu\nover A\n", VT_FORMAT, 2, "no '=' in 'A'"},
    {"case relu\nover A & B = 1 & 2 | 3\n", VT_FORMAT, 2, "wrong number of texts in '3'"},
    {"case relu\nover A&B&C&D&E&F&G&H&I&J&K = 1\n", VT_FORMAT, 2, "too many values from 'K'"},
    {"case relu\nexpect thunder\n", VT_FORMAT, 2, "only 'range' can be expected, not 'thunder'"},
    {"case relu\ngrad x in 2..1\n", VT_FORMAT, 2, "not a range: '2..1'"},
    {"case relu\ngrad x in 2.5\n", VT_FORMAT, 2, "not a range: '2.5'"},
    {"case relu\n\nend\n", VT_FORMAT, 3, "no model in 'relu'"},
    {"\ncase relu\n  output y = relu($Q)\nend\n", VT_FORMAT, 2, "no variable fits '$Q)"},
    {"case relu\n  output y = relu(x)\nend\ncase relu\n  output y = relu(x)\nend\n", VT_FORMAT, 4,
     "two cases are called relu/ordinary, the other one by a.cts:1"},
};

static vt_status read_suite_of_one_file(const char *bytes, size_t n, vt_diag *d) {
  vt_suite *s = NULL;
  write_file_in_folder("a.cts", bytes, n);
  const vt_status status = vt_suite_read_cases(folder, NULL, &s, d);
  CHECK((s == NULL) == (status != VT_OK));
  vt_suite_free(s);
  return status;
}

static void check_refusal(vt_status want, uint32_t line, const char *words, vt_status have,
                          const vt_diag *d) {
  char start[40];
  (void)snprintf(start, sizeof start, "a.cts:%u: ", line);
  const int right = have == want && d->code == want && d->line == line &&
                    strncmp(d->text, start, strlen(start)) == 0 && strstr(d->text, words) != NULL;
  CHECK(right);
  if (!right) fprintf(stderr, "  %s: '%s', expected '%s'\n", vt_status_name(have), d->text, words);
}

static void test_malformed_files_are_refused(void) {
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
    vt_diag d = {0};
    const vt_status s = read_suite_of_one_file(broken[i].text, strlen(broken[i].text), &d);
    check_refusal(broken[i].status, broken[i].line, broken[i].words, s, &d);
  }
  static const char zero[] = "case relu\n  out\0put\n";
  vt_diag d = {0};
  const vt_status s = read_suite_of_one_file(zero, sizeof zero - 1, &d);
  check_refusal(VT_FORMAT, 2, "a byte 0 follows '  out'", s, &d);
  remove_file_in_folder("a.cts");
}

/* A few lines that expand to millions of cases are refused before a case is made. */
static void test_too_many_cases_are_refused(void) {
  vt_text t;
  vt_diag d = {0};
  vt_text_init(&t, vt_alloc_default());
  vt_text_add(&t, "case relu\n");
  for (char name = 'A'; name < 'D'; name++) {
    vt_text_add(&t, "over %c = 0", name);
    for (int i = 1; i < 200; i++) vt_text_add(&t, "|%d", i);
    vt_text_add(&t, "\n");
  }
  vt_text_add(&t, "  output y = relu($A$B$C)\nend\n");
  const vt_status s = read_suite_of_one_file(t.s, t.n, &d);
  check_refusal(VT_LIMIT, 1, "too many cases", s, &d);
  vt_text_done(&t);
  remove_file_in_folder("a.cts");
}

static void test_incomplete_folder_is_refused(void) {
  vt_suite *s = NULL;
  vt_diag d = {0};
  /* Refused: the folder is empty. */
  CHECK(vt_suite_read(folder, NULL, &s, &d) == VT_IO && s == NULL);
  CHECK(strstr(d.text, "no case files in ") != NULL);
  d = (vt_diag){0};
  CHECK(vt_suite_read("/nowhere/at/all", NULL, &s, &d) == VT_IO && s == NULL);
  write_text_in_folder("a.cts", small_cases);
  d = (vt_diag){0};
  /* Refused: cts.digests is missing. */
  CHECK(vt_suite_read(folder, NULL, &s, &d) == VT_IO && s == NULL);
  CHECK(strstr(d.text, "cts.digests") != NULL);
  CHECK(vt_suite_read_cases(folder, NULL, &s, NULL) == VT_OK);
  vt_suite_free(s);
  remove_file_in_folder("a.cts");
}

/* ---- stored digests ---- */

static const char one_case[] =
    "case relu\nmix few flat\n  input x: f32[2]\n  output y = relu(x)\nend\n";

static vt_hash256 suite_digest_with_stored(const char *stored) {
  vt_suite *s = NULL;
  vt_hash256 h = {{0}};
  write_text_in_folder("cts.digests", stored);
  CHECK(vt_suite_read(folder, NULL, &s, NULL) == VT_OK);
  if (s != NULL) vt_suite_digest(s, &h);
  vt_suite_free(s);
  return h;
}

static int hashes_differ(vt_hash256 a, vt_hash256 b) { return memcmp(&a, &b, sizeof a) != 0; }

/* The digest of the suite `one_case` with stored digests, computed from the definition. */
static vt_hash256 suite_digest_by_definition(void) {
  static const uint8_t bytes[] =
      "\2\0\0\0\0\0\0\0relu/few\0\10\1\2\3\4\5\6\7\x8relu/"
      "flat\0\10\x11\x12\x13\x14\x15\x16\x17\x18";
  return vt_hash_bytes(bytes, sizeof bytes - 1);
}

static void test_suite_digest(void) {
  write_text_in_folder("a.cts", one_case);
  const vt_hash256 whole =
      suite_digest_with_stored("0102030405060708 relu/few\n1112131415161718 relu/flat\n");
  CHECK(!hashes_differ(whole, suite_digest_by_definition()));
  CHECK(!hashes_differ(
      whole,
      suite_digest_with_stored("# note\n0102030405060708 relu/few\n1112131415161718 relu/flat")));
  CHECK(hashes_differ(
      whole, suite_digest_with_stored("0102030405060708 relu/few\n1112131415161719 relu/flat\n")));
  CHECK(hashes_differ(whole, suite_digest_with_stored("0102030405060708 relu/few\n")));
  CHECK(hashes_differ(
      suite_digest_with_stored("0102030405060708 relu/few\n0000000000000000 relu/flat\n"),
      suite_digest_with_stored("0102030405060708 relu/few\n")));
}

static void test_lines_of_stored_digests(void) {
  static const char *const bad[] = {"0102030405060708",
                                    "010203040506070 relu/few",
                                    "01020304050607XX relu/few",
                                    "0102030405060708-relu/few",
                                    "0102030405060708 relu/flat\n0102030405060708 relu/few",
                                    "0102030405060708 relu/few\n0102030405060708 relu/few"};
  vt_suite *s = NULL;
  write_text_in_folder(
      "cts.digests", "0102030405060708 abs/few\n0102030405060709 relu/flat\n0102030405060708 z\n");
  CHECK(vt_suite_read(folder, NULL, &s, NULL) == VT_OK);
  if (s == NULL) return;
  CHECK(s->n_left_over == 2 && strcmp(s->left_over, "abs/few") == 0);
  CHECK(vt_suite_find(s, "relu/few") == 0 && vt_suite_find(s, "relu/flat") == 1);
  CHECK(vt_suite_find(s, "relu") == s->n_cases && s->n_cases == 2);
  CHECK(vt_suite_expected_digest(s, 0) == NULL && vt_suite_expected_digest(s, 1)[7] == 9);
  CHECK(vt_suite_expected_digest(s, 2) == NULL);
  vt_suite_free(s);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    vt_diag d = {0};
    s = NULL;
    write_text_in_folder("cts.digests", bad[i]);
    CHECK(vt_suite_read(folder, NULL, &s, &d) == VT_FORMAT && s == NULL);
    CHECK(d.line == (i < 4 ? 1 : 2) && strstr(d.text, "cts.digests:") == d.text);
  }
  remove_file_in_folder("a.cts");
  remove_file_in_folder("cts.digests");
}

static void test_case_patterns(void) {
  static const struct {
    const char *pattern;
    int fits;
  } row[] = {{"relu", 1},    {"relu/few", 1}, {"*", 1},          {"relu/*", 1},  {"*few", 1},
             {"r*u/*w", 1},  {"**few**", 1},  {"relu/few*", 1},  {"relu/fe", 0}, {"", 0},
             {"elu/few", 0}, {"*x*", 0},      {"relu/few/", 0},  {"*f", 0},      {"re*few*w", 0},
             {"*e*e*", 1},   {"abs", 0},      {"relu/few*w", 0}, {"r*l*/*e*", 1}};
  write_text_in_folder("a.cts", one_case);
  vt_suite *s = read_small_suite(0);
  for (size_t i = 0; i < sizeof row / sizeof *row; i++)
    CHECK(vt_suite_case_matches(s, 0, row[i].pattern) == row[i].fits);
  vt_suite_free(s);
  remove_file_in_folder("a.cts");
}

/* ---- images ---- */

static void add_part_to_image(vt_text *t, const char *name, const void *bytes, size_t n) {
  vt_text_add(t, "%s %zu\n", name, n);
  vt_text_add_bytes(t, bytes, n);
  vt_text_add_bytes(t, "\n", 1);
}

static const char tiny_model[] =
    "volta 1\nmodel t {\n  dim B\n  input x: f32[B]\n  output y = x\n}\n";

/* An image of the folder's suite with an example and two comments of `pad` bytes. */
static void make_padded_image(size_t pad, vt_text *t) {
  uint8_t answers[32 + 8 * SMALL_CASES];
  vt_suite *s = read_small_suite(1);
  vt_hash256 digest;
  vt_text published, cases;
  CHECK(s->n_cases == SMALL_CASES && s->n_left_over == 0);
  vt_suite_digest(s, &digest);
  memcpy(answers, digest.b, 32);
  for (uint32_t i = 0; i < SMALL_CASES; i++) memcpy(answers + 32 + 8 * i, s->cases[i].expected, 8);
  vt_suite_free(s);
  vt_text_init(&published, vt_alloc_default());
  vt_text_add(&published, "# note%*s\n%064x t.vt B=2,C=30 seed=5 inputs=7\n", (int)pad, "", 0xabc);
  vt_text_init(&cases, vt_alloc_default());
  vt_text_add(&cases, "%s#%*s", small_cases, (int)pad, "");
  vt_text_init(t, vt_alloc_default());
  vt_text_add(t, "volta suite 1\n");
  add_part_to_image(t, "digests", answers, sizeof answers);
  add_part_to_image(t, "a.cts", cases.s, cases.n);
  add_part_to_image(t, "b.cts", more_cases, sizeof more_cases - 1);
  add_part_to_image(t, "t.vt", tiny_model, sizeof tiny_model - 1);
  add_part_to_image(t, "published.digests", published.s, published.n);
  vt_text_done(&published);
  vt_text_done(&cases);
}

static void make_image_without_padding(vt_text *t) { make_padded_image(0, t); }

static vt_status status_of_reading_image(const vt_text *t, vt_diag *d) {
  vt_suite *s = NULL;
  const vt_status status = vt_suite_from_image((const uint8_t *)t->s, t->n, NULL, &s, d);
  CHECK((s == NULL) == (status != VT_OK));
  vt_suite_free(s);
  return status;
}

static void test_whole_image_is_read(void) {
  vt_text t;
  vt_suite *s = NULL;
  make_image_without_padding(&t);
  CHECK(vt_suite_from_image((const uint8_t *)t.s, t.n, NULL, &s, NULL) == VT_OK);
  if (s == NULL) exit(1);
  CHECK(s->n_cases == SMALL_CASES && s->n_examples == 1);
  const vt_suite_example *e = &s->example[0];
  CHECK(strcmp(e->name, "t.vt") == 0 && strcmp(e->text, tiny_model) == 0);
  CHECK(e->n_bind == 2 && strcmp(e->bind[1].name, "C") == 0 && e->bind[1].value == 30);
  CHECK(strcmp(e->bind[0].name, "B") == 0 && e->bind[0].value == 2);
  CHECK(e->seed == 5 && e->inputs_seed == 7 && e->digest[31] == 0xbc && e->digest[30] == 0xa);
  vt_suite_free(s);
  vt_text_done(&t);
}

/* Replaces `from`, which must occur in the image, by `to` of the same length. */
static void replace_in_image(vt_text *t, const char *from, const char *to) {
  const size_t n = strlen(from);
  size_t i = 0;
  while (i + n <= t->n && memcmp(t->s + i, from, n) != 0) i++;
  CHECK(i + n <= t->n && strlen(to) == n);
  if (i + n <= t->n) memcpy(t->s + i, to, n);
}

/* Refused: images whose stored digests and cases do not belong together, or that are malformed. */
static void test_stale_images_are_refused(void) {
  static const struct {
    const char *from, *to, *words;
    vt_status status;
  } change[] = {
      {"case add sizes", "case add sized", "belong to other cases", VT_INTERNAL},
      {"mix special\n", "mix tiny   \n", "belong to other cases", VT_INTERNAL},
      {"f32 | f64", "f32 # f64", "has 26 cases and 36 stored digests", VT_INTERNAL},
      {"digests ", "answers ", "no digests", VT_INTERNAL},
      {"volta suite 1", "volta suite 2", "its first line", VT_INTERNAL},
      {"b.cts ", "b.cts-", "a part of it", VT_INTERNAL},
      {"case add", "case ad2", "b.cts:1: no op is called 'ad2'", VT_FORMAT},
      {" t.vt B", " u.vt B", "published.digests:2: no such model", VT_FORMAT},
      {"C=30", "C:30", "published.digests:2: not a binding", VT_FORMAT},
      {"seed=5", "seek=5", "published.digests:2: a line is", VT_FORMAT},
      {"inputs=7", "inputs=-", "published.digests:2: a line is", VT_FORMAT},
  };
  for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
    vt_text t;
    vt_diag d = {0};
    make_image_without_padding(&t);
    replace_in_image(&t, change[i].from, change[i].to);
    const vt_status s = status_of_reading_image(&t, &d);
    CHECK(s == change[i].status && strstr(d.text, change[i].words) != NULL);
    if (s != change[i].status || strstr(d.text, change[i].words) == NULL)
      fprintf(stderr, "  %s -> %s: %s\n", change[i].from, change[i].to, d.text);
    vt_text_done(&t);
  }
}

/* Refused: images with one flipped bit in the digest of the suite or in a stored digest, and
 * truncated images. */
static void test_damaged_images_are_refused(void) {
  vt_text t;
  vt_diag d = {0};
  make_image_without_padding(&t);
  const size_t whole = t.n, answers = strlen("volta suite 1\ndigests 320\n");
  for (size_t at = answers; at < answers + 32 + 8 * SMALL_CASES; at += 13) {
    t.s[at] ^= 1;
    CHECK(status_of_reading_image(&t, NULL) == VT_INTERNAL);
    t.s[at] ^= 1;
  }
  for (t.n = 0; t.n < whole; t.n++) {
    /* A truncated image is valid only if it ends before the last parts: then it is a suite without
     * examples. */
    const vt_status s = status_of_reading_image(&t, &d);
    CHECK(s != VT_OK || strstr(t.s + t.n, "published.digests ") == t.s + t.n ||
          strncmp(t.s + t.n, "t.vt ", 5) == 0);
  }
  t.n = whole;
  CHECK(status_of_reading_image(&t, NULL) == VT_OK);
  vt_text_done(&t);
}

/* ---- out of memory ---- */

typedef vt_status make_fn(const vt_alloc *a, vt_suite **out, vt_diag *d);

static vt_text small_image;

static vt_status read_folder_suite(const vt_alloc *a, vt_suite **out, vt_diag *d) {
  return vt_suite_read(folder, a, out, d);
}
static vt_status read_image_suite(const vt_alloc *a, vt_suite **out, vt_diag *d) {
  return vt_suite_from_image((const uint8_t *)small_image.s, small_image.n, a, out, d);
}
static vt_status read_built_in_suite(const vt_alloc *a, vt_suite **out, vt_diag *d) {
  return vt_suite_built_in(a, out, d);
}

/* Fails each allocation in turn, up to number `most`; returns the number of allocations. */
static long fail_each_allocation_of_read(make_fn *make, long most) {
  long asked = 0;
  for (long left = 0; left <= asked && left <= most; left++) {
    vt_fault fault = {.left = left};
    const vt_alloc a = vt_fault_alloc(&fault);
    vt_suite *s = NULL;
    vt_diag d = {0};
    const vt_status status = make(&a, &s, &d);
    if (left == 0) asked = fault.asked;
    const int right = left == 0 ? status == VT_OK && s != NULL
                                : status == VT_NOMEM && d.code == VT_NOMEM && s == NULL;
    CHECK(right);
    if (!right) fprintf(stderr, "  request %ld: %s: %s\n", left, vt_status_name(status), d.text);
    vt_suite_free(s);
    CHECK(fault.live == 0);
  }
  return asked;
}

static void test_short_form_out_of_memory(void) {
  vt_fault fault = {0};
  const vt_alloc a = vt_fault_alloc(&fault);
  uint8_t chosen[SMALL_CASES];
  vt_suite *s = NULL;
  vt_diag d = {0};
  CHECK(vt_suite_read(folder, &a, &s, NULL) == VT_OK);
  if (s == NULL) return;
  fault.left = fault.asked + 1;
  CHECK(vt_suite_choose_short(s, chosen, &d) == VT_NOMEM && d.code == VT_NOMEM);
  fault.left = 0;
  CHECK(vt_suite_choose_short(s, chosen, NULL) == VT_OK);
  vt_suite_free(s);
  CHECK(fault.live == 0);
}

/* An arena allocates blocks rarely. So the image gets comments of many lengths, which shift
 * everything after them, until each allocation of the suite was once the one that needs a new
 * block. */
static void test_suite_out_of_memory(void) {
  const size_t most = vt_test_is_long() ? 16384 : 4096;
  for (size_t pad = 0; pad < most; pad += 16) {
    make_padded_image(pad, &small_image);
    CHECK(fail_each_allocation_of_read(read_image_suite, 1000) > 5);
    vt_text_done(&small_image);
  }
  CHECK(fail_each_allocation_of_read(read_folder_suite, 1000) > 10);
  (void)fail_each_allocation_of_read(read_built_in_suite,
                                     6); /* unpacking makes these 6 allocations */
  test_short_form_out_of_memory();
}

int main(void) {
  make_test_folder();
  test_built_in_suite_equals_sources();
  test_short_form_has_each_op_and_mix();
  test_built_in_examples_equal_files();
  test_incomplete_folder_is_refused();
  test_malformed_files_are_refused();
  test_too_many_cases_are_refused();
  test_suite_digest();
  test_lines_of_stored_digests();
  test_case_patterns();
  write_small_suite();
  test_whole_image_is_read();
  test_stale_images_are_refused();
  test_damaged_images_are_refused();
  test_suite_out_of_memory();
  remove_test_folder();
  TEST_DONE();
}
