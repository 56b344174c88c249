/* SPDX-License-Identifier: Apache-2.0
 * golden_test.c - parses models that contain their expected result. Each tests/golden/NAME.vt ends
 * in comments:
 *
 *   # expect:              followed by the printed form, each line after "# "; or
 *   # error: LINE:COL: ... the diagnostic, and
 *   # hint: ...            its hint, if it has one.
 *
 * `golden_test --update` writes these comments; review the difference before you commit it. The
 * examples and the models in docs/text-form.md must parse too. Runs in the root of the repository.
 */
#include <dirent.h>
#include <string.h>
#include "vt_file.h"
#include "vt_parse.h"
#include "vt_sort.h"
#include "vt_test.h"

enum { NAMES_MAX = 500, NAME_BYTES = 256, FILE_MAX = 1 << 20 };
typedef struct listing {
  int n;
  char name[NAMES_MAX][NAME_BYTES];
} listing;
static listing files;

static int by_name(const void *a, const void *b, const void *context) {
  (void)context;
  return strcmp(a, b);
}

static int ends_with(const char *s, const char *end) {
  const size_t n = strlen(s), m = strlen(end);
  return n >= m && strcmp(s + n - m, end) == 0;
}

/* Lists the .vt files of a folder in ascending order. */
static void list_models_of_folder(const char *folder) {
  files.n = 0;
  DIR *dir = opendir(folder);
  CHECK(dir != NULL);
  if (dir == NULL) return;
  for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
    if (!ends_with(e->d_name, ".vt")) continue;
    CHECK(files.n < NAMES_MAX);
    if (files.n == NAMES_MAX) break;
    char *name = files.name[files.n++];
    memset(name, 0, NAME_BYTES);
    CHECK(snprintf(name, NAME_BYTES, "%s/%s", folder, e->d_name) < NAME_BYTES);
  }
  closedir(dir);
  CHECK(vt_sort(files.name, (size_t)files.n, NAME_BYTES, by_name, NULL, vt_alloc_default()) ==
        VT_OK);
}

static int read_text(const char *path, vt_file *f) {
  vt_diag d = {0};
  if (vt_file_read(path, FILE_MAX, vt_alloc_default(), f, &d) == VT_OK) return 1;
  fprintf(stderr, "%s\n", d.text);
  vt_test_failed++;
  return 0;
}

/* ---- results of the parser as comments ---- */

static void add_as_comment(vt_text *out, const char *s) {
  while (*s != 0) {
    const char *end = strchr(s, '\n');
    const size_t n = end != NULL ? (size_t)(end - s) : strlen(s);
    vt_text_add(out, n > 0 ? "# %.*s\n" : "#%.*s\n", (int)n, s);
    s += n + (end != NULL);
  }
}

static void print_failure_as_comment(const vt_diag *d, vt_text *out) {
  vt_text_add(out, "# error: %u:%u: %s\n", d->line, d->column, d->text);
  if (d->hint[0] != 0) vt_text_add(out, "# hint: %s\n", d->hint);
}

/* Prints the graph to `out`. The printed form must parse, and print the same again. */
static void print_graph_as_comment(const char *path, vt_graph *g, vt_text *out) {
  vt_text first, second;
  vt_graph *again = NULL;
  vt_diag d = {0};
  vt_text_init(&first, vt_alloc_default());
  vt_text_init(&second, vt_alloc_default());
  vt_graph_print(g, 0, &first);
  if (vt_parse(first.s, first.n, vt_alloc_default(), &again, &d) == VT_OK) {
    vt_graph_print(again, 0, &second);
    CHECK(first.n == second.n && memcmp(first.s, second.s, first.n) == 0);
  } else {
    fprintf(stderr, "%s: its printed form fails: %u:%u: %s\n", path, d.line, d.column, d.text);
    vt_test_failed++;
  }
  vt_text_add(out, "# expect:\n");
  add_as_comment(out, first.s);
  vt_graph_free(again);
  vt_text_done(&first);
  vt_text_done(&second);
}

static void print_result_as_comment(const char *path, const char *text, size_t n, vt_text *out) {
  vt_graph *g = NULL;
  vt_diag d = {0};
  if (vt_parse(text, n, vt_alloc_default(), &g, &d) == VT_OK)
    print_graph_as_comment(path, g, out);
  else
    print_failure_as_comment(&d, out);
  vt_graph_free(g);
}

/* ---- one golden file ---- */

/* Length of the model: the position of the first line of the expectation, or the end of the text.
 */
static size_t model_length(const char *text, size_t n) {
  for (size_t i = 0; i < n;) {
    if (strncmp(text + i, "# expect:", 9) == 0 || strncmp(text + i, "# error:", 8) == 0) return i;
    const char *end = memchr(text + i, '\n', n - i);
    if (end == NULL) break;
    i = (size_t)(end - text) + 1;
  }
  return n;
}

static void rewrite_file(const char *path, const char *model, size_t n, const vt_text *said) {
  FILE *f = fopen(path, "wb");
  CHECK(f != NULL);
  if (f == NULL) return;
  CHECK(fwrite(model, 1, n, f) == n);
  CHECK(fwrite(said->s, 1, said->n, f) == said->n);
  CHECK(fclose(f) == 0);
}

static void report_difference(const char *path, const char *want, const char *have) {
  size_t i = 0, line = 0;
  for (; want[i] == have[i] && want[i] != 0; i++)
    if (want[i] == '\n') line = i + 1;
  fprintf(stderr, "%s: expected\n  %.*s\nbut the parser says\n  %.*s\n", path,
          (int)strcspn(want + line, "\n"), want + line, (int)strcspn(have + line, "\n"),
          have + line);
  vt_test_failed++;
}

static void check_golden_model(const char *path, int update) {
  vt_file f;
  vt_text said;
  if (!read_text(path, &f)) return;
  const char *text = (const char *)f.data;
  const size_t n = model_length(text, f.size);
  vt_text_init(&said, vt_alloc_default());
  print_result_as_comment(path, text, n, &said);
  const int same = f.size - n == said.n && memcmp(text + n, said.s, said.n) == 0;
  if (!same && update) rewrite_file(path, text, n, &said);
  if (!same && !update) report_difference(path, text + n, said.s);
  vt_text_done(&said);
  vt_file_done(&f);
}

/* ---- examples and documentation ---- */

static void expect_parses(const char *path, uint32_t line, const char *text, size_t n) {
  vt_text said;
  vt_text_init(&said, vt_alloc_default());
  print_result_as_comment(path, text, n, &said);
  if (strncmp(said.s, "# expect:", 9) != 0) {
    fprintf(stderr, "%s: the model at line %u: %s", path, line, said.s);
    vt_test_failed++;
  }
  vt_text_done(&said);
}

static void expect_example_parses(const char *path) {
  vt_file f;
  if (!read_text(path, &f)) return;
  expect_parses(path, 1, (const char *)f.data, f.size);
  vt_file_done(&f);
}

/* Parses each block between ```vt and ``` of a page, which must be a complete model. Returns the
 * number of blocks. */
static int expect_fenced_models_parse(const char *path) {
  vt_file f;
  int n = 0;
  uint32_t line = 1;
  if (!read_text(path, &f)) return 0;
  const char *start = NULL;
  for (const char *s = (const char *)f.data; *s != 0; line++) {
    const char *next = s + strcspn(s, "\n");
    next += *next == '\n';
    if (start == NULL && strncmp(s, "```vt\n", 6) == 0) {
      start = next;
    } else if (start != NULL && strncmp(s, "```", 3) == 0) {
      expect_parses(path, line, start, (size_t)(s - start));
      start = NULL;
      n++;
    }
    s = next;
  }
  CHECK(start == NULL);
  vt_file_done(&f);
  return n;
}

int main(int argc, char **argv) {
  const int update = argc > 1 && strcmp(argv[1], "--update") == 0;
  list_models_of_folder("tests/golden");
  CHECK(files.n >= 40);
  for (int i = 0; i < files.n; i++) check_golden_model(files.name[i], update);
  list_models_of_folder("examples");
  CHECK(files.n >= 3);
  for (int i = 0; i < files.n; i++) expect_example_parses(files.name[i]);
  CHECK(expect_fenced_models_parse("docs/text-form.md") >= 5);
  TEST_DONE();
}
