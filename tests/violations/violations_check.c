/* SPDX-License-Identifier: Apache-2.0
 * violations_check.c - tests that admission refuses every backend of this folder for its planted
 * fault, and that each check of admission finds a fault that no other check finds: without that
 * check, the backend would pass. The table of README is compared with the table here.
 *
 *   violations_check FOLDER README [NAME...]   FOLDER has the built plug-ins; NAMEs choose some
 *                                              backends, and then only refusals are tested */
#include <dirent.h>
#include <string.h>
#include <unistd.h>
#include "volta/volta_admit.h"
#include "vt_file.h"
#include "vt_test.h"

/* A backend and the refusal that is expected of it. */
typedef struct row {
  const char *name;    /* name of the plug-in and of its source */
  const char *fault;   /* the planted fault in words, as README has it */
  const char *check;   /* check of admission that finds the fault; NULL: the backend passes */
  const char *subject; /* start of the rule, capability, case or example that the refusal names;
                          NULL: the first case of a selection, not compared */
  const char *op;    /* op that the refusal names; NULL: no op diverges, or no op does by itself */
  int differs;       /* 1 if the refusal shows the bits of the reference and of the backend */
  int only;          /* 1 if no other check finds the fault */
  uint64_t expected; /* bits of the reference that the refusal shows; 0: not compared */
} row;

static const row rows[] = {
    {.name = "contracted",
     .fault = "a product and the sum it goes into are rounded once",
     .check = "rules",
     .subject = "products are rounded before they are added",
     .op = "mul+add",
     .differs = 1,
     .only = 1},
    {.name = "reassociated",
     .fault = "sums over four lanes instead of thirty-two",
     .check = "rules",
     .subject = "sums are taken in the order that is laid down",
     .op = "sum",
     .differs = 1},
    {.name = "block_size",
     .fault = "contractions in blocks of 512 instead of 256",
     .check = "rules",
     .subject = "blocks of a contraction have 256 products",
     .op = "matmul",
     .differs = 1},
    {.name = "flush",
     .fault = "subnormal results become zero",
     .check = "rules",
     .subject = "subnormals are kept by sums",
     .op = "add",
     .differs = 1},
    {.name = "approximate_exp",
     .fault = "exp is 2 to the power of a rounded product",
     .check = "rules",
     .subject = "functions are rounded correctly: exp",
     .op = "exp",
     .differs = 1},
    {.name = "half_accumulation",
     .fault = "contractions are summed in f16",
     .check = "rules",
     .subject = "contractions are not accumulated in f16",
     .op = "matmul",
     .differs = 1},
    {.name = "wide_accumulation",
     .fault = "contractions are summed in f64",
     .check = "rules",
     .subject = "contractions are accumulated in f32",
     .op = "matmul",
     .differs = 1},
    {.name = "nan_dropped",
     .fault = "the maximum of a number and NaN is the number",
     .check = "rules",
     .subject = "NaN is kept by maximum",
     .op = "maximum",
     .differs = 1,
     .expected = 0x7fc00000},
    {.name = "minus_zero_lost",
     .fault = "the negative of +0 is +0",
     .check = "rules",
     .subject = "-0 is kept by negation",
     .op = "neg",
     .differs = 1,
     .expected = 0x80000000},
    {.name = "stale_workspace",
     .fault = "scratch is expected to be zero when a run begins",
     .check = "spoilt",
     .differs = 1,
     .only = 1},
    {.name = "thread_dependent",
     .fault = "contractions have one partial sum per thread",
     .check = "threads",
     .op = "matmul",
     .differs = 1,
     .only = 1},
    {.name = "narrow",
     .fault = "one op is accepted at one length, and is wrong with more than one thread",
     .check = "threads",
     .subject = "neg.sizes/T=f32/N=1023",
     .op = "neg",
     .differs = 1},
    {.name = "lying_capability",
     .fault = "f64 is declared and computed in f32",
     .check = "capabilities",
     .subject = "supports_float64",
     .op = "div",
     .differs = 1},
    {.name = "collisions_lost",
     .fault = "of thousands of updates of one element, one is lost",
     .check = "capabilities",
     .subject = "supports_atomic_ops",
     .op = "scatter_nd_add",
     .differs = 1,
     .only = 1},
    {.name = "one_shape",
     .fault = "the last of 33 elements is left out",
     .check = "suite",
     .subject = "neg/T=f32/S=33",
     .op = "neg",
     .differs = 1},
    {.name = "gives_up",
     .fault = "a step is accepted and fails when it runs",
     .check = "suite",
     .subject = "neg/T=f32/S=8"},
    {.name = "listed_in_vain",
     .fault = "an op is listed and every step of it is refused",
     .check = "suite",
     .subject = "add",
     .only = 1},
    {.name = "second_run",
     .fault = "a run without new inputs is answered from a stored result",
     .check = "repeat",
     .differs = 1,
     .only = 1},
    {.name = "remembers",
     .fault = "the length of the program built last is used for every program",
     .check = "order",
     .subject = "neg",
     .differs = 1,
     .only = 1},
    {.name = "leaves_mode",
     .fault = "the rounding mode is changed and not restored",
     .check = "mode",
     .only = 1},
    {.name = "fused_block",
     .fault = "contractions have other blocks if ops are fused",
     .check = "examples",
     .subject = "mlp",
     .op = "matmul+add",
     .differs = 1,
     .only = 1},
    {.name = "faultless", .fault = "none"},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const char *built; /* folder of the built plug-ins */

/* ---- one admission ---- */

static vt_admission *admit_path(const char *path, const char *name, uint64_t skip, uint32_t jobs) {
  vt_diag d = {0};
  vt_admission *a = NULL;
  const vt_admit_options o = {
      .size = sizeof o, .brief = 1, .backend = path, .skip = skip, .jobs = jobs};
  const vt_status s = vt_admit(&o, &a, &d);
  CHECK(s == VT_OK && a != NULL);
  if (s != VT_OK) fprintf(stderr, "  %s: %s\n", name, d.text);
  if (a == NULL) exit(1);
  return a;
}

static vt_admission *admit_plugin_of_row(const row *r, uint64_t skip, uint32_t jobs) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s.so", built, r->name);
  return admit_path(path, r->name, skip, jobs);
}

static void print_refusal(const row *r, const vt_refusal *x) {
  fprintf(stderr, "  %s: refused by %s (%s): %s; op '%s', %llx instead of %llx at %s%s\n", r->name,
          x->check, x->subject, x->reason, x->op, (unsigned long long)x->bits,
          (unsigned long long)x->expected, x->output, x->index);
}

static int shows_differing_bits(const row *r, const vt_refusal *x) {
  if (!r->differs) return 1;
  return x->differs == 1 && x->bits != x->expected && x->differing > 0 &&
         x->differing <= x->compared && x->distance > 0 && x->index[0] == '[' && x->model[0] != 0 &&
         (r->expected == 0 || x->expected == r->expected);
}

static int is_expected_refusal(const row *r, const vt_refusal *x) {
  return strcmp(x->check, r->check) == 0 && x->reason[0] != 0 &&
         (r->subject == NULL || strncmp(x->subject, r->subject, strlen(r->subject)) == 0) &&
         (r->op == NULL || strcmp(x->op, r->op) == 0) && shows_differing_bits(r, x);
}

static void test_refusal(const row *r) {
  vt_refusal x = {.size = sizeof x};
  vt_admission *a = admit_plugin_of_row(r, 0, 1);
  const vt_status s = vt_admission_refusal(a, &x);
  if (r->check == NULL) {
    CHECK(vt_admission_verdict(a) == VT_VERDICT_PASSED && s == VT_NAME);
    if (s == VT_OK) print_refusal(r, &x);
  } else {
    const int right = s == VT_OK && vt_admission_verdict(a) == VT_VERDICT_REFUSED;
    CHECK(right && is_expected_refusal(r, &x));
    if (!right) fprintf(stderr, "  %s is not refused\n", r->name);
    if (right && !is_expected_refusal(r, &x)) print_refusal(r, &x);
  }
  CHECK(vt_admission_certificate(a) == NULL);
  vt_admission_free(a);
}

/* A backend whose result depends on which programs were built before is refused by the check
 * `order` whatever the number of cases that admission runs at the same time. */
static void test_parallel_jobs(void) {
  const row *r = NULL;
  for (size_t i = 0; i < ROWS; i++)
    if (strcmp(rows[i].name, "remembers") == 0) r = &rows[i];
  for (uint32_t jobs = 2; r != NULL && jobs <= 16; jobs *= 8) {
    vt_refusal x = {.size = sizeof x};
    vt_admission *a = admit_plugin_of_row(r, 0, jobs);
    CHECK(vt_admission_refusal(a, &x) == VT_OK && strcmp(x.check, r->check) == 0 && x.differs);
    if (x.check != NULL && strcmp(x.check, r->check) != 0) print_refusal(r, &x);
    vt_admission_free(a);
  }
}

/* A device number has at most four digits, so ":12345" belongs to the path of the plug-in. */
static void test_long_number_belongs_to_path(void) {
  char link[300], want[340];
  snprintf(link, sizeof link, "%s/copy:12345", built);
  snprintf(want, sizeof want, "%s.certificate.json", link);
  (void)unlink(link);
  CHECK(symlink("gives_up.so", link) == 0);
  vt_admission *a = admit_path(link, "copy", 0, 1);
  CHECK(strcmp(vt_admission_place(a), want) == 0);
  vt_admission_free(a);
  (void)unlink(link);
}

/* ---- every check is needed ---- */

static void test_passes_without_check(uint32_t check, const row *r) {
  vt_refusal x = {.size = sizeof x};
  vt_admission *a = admit_plugin_of_row(r, UINT64_C(1) << check, 1);
  CHECK(vt_admission_verdict(a) == VT_VERDICT_PASSED);
  if (vt_admission_refusal(a, &x) == VT_OK) print_refusal(r, &x);
  vt_admission_free(a);
}

static void test_every_check_is_needed(void) {
  for (uint32_t i = 0; i < vt_admission_checks(); i++) {
    const row *own = NULL;
    for (size_t k = 0; k < ROWS && own == NULL; k++)
      if (rows[k].only && strcmp(rows[k].check, vt_admission_check(i)) == 0) own = &rows[k];
    CHECK(own != NULL);
    if (own != NULL) {
      test_passes_without_check(i, own);
    } else {
      fprintf(stderr, "  no fault is found by the check %s only\n", vt_admission_check(i));
    }
  }
}

/* ---- the folder and the page ---- */

static void test_every_plugin_has_row(void) {
  DIR *folder = opendir(built);
  size_t n = 0;
  CHECK(folder != NULL);
  for (const struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;)
    n += strstr(e->d_name, ".so") != NULL;
  if (folder != NULL) closedir(folder);
  CHECK(n == ROWS); /* if the numbers differ, a plug-in has no row and is not tested */
}

/* Writes the line of README's table for this row. */
static void format_readme_line(const row *r, char out[400]) {
  const char *subject = r->subject != NULL ? r->subject : "";
  snprintf(out, 400, "\n| [%s](%s.c) | %s | %s%s |%s%s |\n", r->name, r->name, r->fault,
           r->check != NULL ? r->check : "passes", r->only ? ", no other" : "",
           subject[0] != 0 ? " " : "", subject);
}

/* The table of README is the table above. */
static void test_readme_table(const char *path) {
  vt_file f;
  char line[400];
  CHECK(vt_file_read(path, 1 << 20, vt_alloc_default(), &f, NULL) == VT_OK);
  char *text = calloc(1, f.size + 1);
  if (text == NULL) exit(1);
  memcpy(text, f.data, f.size);
  size_t lines = 0;
  for (const char *at = text; (at = strstr(at, "\n| [")) != NULL; at++) lines++;
  CHECK(lines == ROWS);
  for (size_t i = 0; i < ROWS; i++) {
    format_readme_line(&rows[i], line);
    const int found = strstr(text, line) != NULL;
    CHECK(found);
    if (!found) fprintf(stderr, "  %s has no line%s", path, line);
  }
  free(text);
  vt_file_done(&f);
}

int main(int argc, char **argv) {
  if (argc < 3) return 1;
  built = argv[1];
  test_readme_table(argv[2]);
  int tested = 0;
  if (argc == 3) test_every_plugin_has_row();
  for (size_t i = 0; i < ROWS; i++) {
    int wanted = argc == 3;
    for (int k = 3; k < argc; k++) wanted |= strcmp(argv[k], rows[i].name) == 0;
    if (wanted) test_refusal(&rows[i]);
    tested += wanted;
  }
  if (argc == 3) test_every_check_is_needed();
  if (argc == 3) test_parallel_jobs();
  if (argc == 3) test_long_number_belongs_to_path();
  /* A plug-in runs in this process and may end it with any exit code, so CTest looks for this line.
   */
  if (vt_test_failed == 0) printf("%d backends: each is refused for its own fault\n", tested);
  TEST_DONE();
}
