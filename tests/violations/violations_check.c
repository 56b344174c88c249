/* SPDX-License-Identifier: Apache-2.0
 * violations_check.c - every backend that commits a sin is refused for it, and every check of
 * admission has a sin that it alone finds: left out, that backend would pass.
 *
 *   violations_check FOLDER README [NAME...]   FOLDER: where the plug-ins beside this file were
 *                                              built; NAME: these sins alone */
#include <dirent.h>
#include <string.h>
#include <unistd.h>
#include "volta/volta_admit.h"
#include "vt_file.h"
#include "vt_test.h"

/* What is found, and where. */
typedef struct row {
  const char *name, *sin;
  const char *check;   /* that finds it; NULL: nothing does */
  const char *subject; /* how what it stumbles over begins; NULL: whichever case comes first */
  const char *op;      /* that diverges; NULL: nothing does, or it does not show alone */
  int differs;         /* both bit patterns are shown */
  int alone;           /* no other check finds it */
  uint64_t expected;   /* where it is always the same; 0: not looked at */
} row;

static const row rows[] = {
    {.name = "contracted",
     .sin = "a product and the sum it goes into are rounded once",
     .check = "rules",
     .subject = "products are rounded before they are added",
     .op = "mul+add",
     .differs = 1,
     .alone = 1},
    {.name = "reassociated",
     .sin = "sums over four lanes instead of thirty-two",
     .check = "rules",
     .subject = "sums are taken in the order that is laid down",
     .op = "sum",
     .differs = 1},
    {.name = "block_size",
     .sin = "contractions in blocks of 512 instead of 256",
     .check = "rules",
     .subject = "blocks of a contraction have 256 products",
     .op = "matmul",
     .differs = 1},
    {.name = "flush",
     .sin = "subnormal results become zero",
     .check = "rules",
     .subject = "subnormals are kept by sums",
     .op = "add",
     .differs = 1},
    {.name = "approximate_exp",
     .sin = "exp is 2 to the power of a rounded product",
     .check = "rules",
     .subject = "functions are rounded correctly: exp",
     .op = "exp",
     .differs = 1},
    {.name = "half_accumulation",
     .sin = "contractions are summed in f16",
     .check = "rules",
     .subject = "contractions are not accumulated in f16",
     .op = "matmul",
     .differs = 1},
    {.name = "wide_accumulation",
     .sin = "contractions are summed in f64",
     .check = "rules",
     .subject = "contractions are accumulated in f32",
     .op = "matmul",
     .differs = 1},
    {.name = "nan_dropped",
     .sin = "the greater of a number and NaN is the number",
     .check = "rules",
     .subject = "NaN is kept by maximum",
     .op = "maximum",
     .differs = 1,
     .expected = 0x7fc00000},
    {.name = "minus_zero_lost",
     .sin = "the negative of +0 is +0",
     .check = "rules",
     .subject = "-0 is kept by negation",
     .op = "neg",
     .differs = 1,
     .expected = 0x80000000},
    {.name = "stale_workspace",
     .sin = "scratch is taken to be zero when a run begins",
     .check = "spoilt",
     .differs = 1,
     .alone = 1},
    {.name = "thread_dependent",
     .sin = "a partial sum for each thread",
     .check = "threads",
     .op = "matmul",
     .differs = 1,
     .alone = 1},
    {.name = "narrow",
     .sin = "one op of one length is taken, and wrong with more than one thread",
     .check = "threads",
     .subject = "neg.sizes/T=f32/N=1023",
     .op = "neg",
     .differs = 1},
    {.name = "lying_capability",
     .sin = "f64 is declared and computed in f32",
     .check = "capabilities",
     .subject = "supports_float64",
     .op = "div",
     .differs = 1},
    {.name = "collisions_lost",
     .sin = "of thousands of updates that meet at one place, one is lost",
     .check = "capabilities",
     .subject = "supports_atomic_ops",
     .op = "scatter_nd_add",
     .differs = 1,
     .alone = 1},
    {.name = "one_shape",
     .sin = "the last of 33 elements is forgotten",
     .check = "suite",
     .subject = "neg/T=f32/S=33",
     .op = "neg",
     .differs = 1},
    {.name = "gives_up",
     .sin = "a step is accepted and fails when it runs",
     .check = "suite",
     .subject = "neg/T=f32/S=8"},
    {.name = "listed_in_vain",
     .sin = "an op is listed and every step of it refused",
     .check = "suite",
     .subject = "add",
     .alone = 1},
    {.name = "second_run",
     .sin = "a run without anything new is answered from what was kept",
     .check = "repeat",
     .differs = 1,
     .alone = 1},
    {.name = "remembers",
     .sin = "the length of the program built last is taken for this one's",
     .check = "order",
     .subject = "neg",
     .differs = 1,
     .alone = 1},
    {.name = "leaves_mode",
     .sin = "another rounding mode is left behind",
     .check = "mode",
     .alone = 1},
    {.name = "fused_block",
     .sin = "contractions have other blocks where ops are fused",
     .check = "examples",
     .subject = "mlp",
     .op = "matmul+add",
     .differs = 1,
     .alone = 1},
    {.name = "virtue", .sin = "none"},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const char *built;

/* ---- one admission ---- */

static vt_admission *admit_as(const char *path, const char *name, uint64_t skip, uint32_t jobs) {
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

static vt_admission *admit(const row *r, uint64_t skip, uint32_t jobs) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s.so", built, r->name);
  return admit_as(path, r->name, skip, jobs);
}

static void complain(const row *r, const vt_refusal *x) {
  fprintf(stderr, "  %s: refused by %s (%s): %s; op '%s', %llx instead of %llx at %s%s\n", r->name,
          x->check, x->subject, x->reason, x->op, (unsigned long long)x->bits,
          (unsigned long long)x->expected, x->output, x->index);
}

/* An op that diverges is named where the search for it found it alone. */
static int bits_are_right(const row *r, const vt_refusal *x) {
  if (!r->differs) return 1;
  return x->differs == 1 && x->bits != x->expected && x->differing > 0 &&
         x->differing <= x->compared && x->distance > 0 && x->index[0] == '[' && x->model[0] != 0 &&
         (r->expected == 0 || x->expected == r->expected);
}

static int is_as_expected(const row *r, const vt_refusal *x) {
  return strcmp(x->check, r->check) == 0 && x->reason[0] != 0 &&
         (r->subject == NULL || strncmp(x->subject, r->subject, strlen(r->subject)) == 0) &&
         (r->op == NULL || strcmp(x->op, r->op) == 0) && bits_are_right(r, x);
}

static void test_sin(const row *r) {
  vt_refusal x = {.size = sizeof x};
  vt_admission *a = admit(r, 0, 1);
  const vt_status s = vt_admission_refusal(a, &x);
  if (r->check == NULL) {
    CHECK(vt_admission_verdict(a) == VT_VERDICT_PASSED && s == VT_NAME);
    if (s == VT_OK) complain(r, &x);
  } else {
    const int right = s == VT_OK && vt_admission_verdict(a) == VT_VERDICT_REFUSED;
    CHECK(right && is_as_expected(r, &x));
    if (!right) fprintf(stderr, "  %s is not refused\n", r->name);
    if (right && !is_as_expected(r, &x)) complain(r, &x);
  }
  CHECK(vt_admission_certificate(a) == NULL);
  vt_admission_free(a);
}

/* What depends on what else runs is named for that, however many run at once. */
static void test_crowd(void) {
  const row *r = NULL;
  for (size_t i = 0; i < ROWS; i++)
    if (strcmp(rows[i].name, "remembers") == 0) r = &rows[i];
  for (uint32_t jobs = 2; r != NULL && jobs <= 16; jobs *= 8) {
    vt_refusal x = {.size = sizeof x};
    vt_admission *a = admit(r, 0, jobs);
    CHECK(vt_admission_refusal(a, &x) == VT_OK && strcmp(x.check, r->check) == 0 && x.differs);
    if (x.check != NULL && strcmp(x.check, r->check) != 0) complain(r, &x);
    vt_admission_free(a);
  }
}

/* What looks like the number of a device and is longer than one belongs to the path. */
static void test_place(void) {
  char link[300], want[340];
  snprintf(link, sizeof link, "%s/copy:12345", built);
  snprintf(want, sizeof want, "%s.certificate.json", link);
  (void)unlink(link);
  CHECK(symlink("gives_up.so", link) == 0);
  vt_admission *a = admit_as(link, "copy", 0, 1);
  CHECK(strcmp(vt_admission_place(a), want) == 0);
  vt_admission_free(a);
  (void)unlink(link);
}

/* ---- every check carries weight ---- */

static void test_without(uint32_t check, const row *r) {
  vt_refusal x = {.size = sizeof x};
  vt_admission *a = admit(r, UINT64_C(1) << check, 1);
  CHECK(vt_admission_verdict(a) == VT_VERDICT_PASSED);
  if (vt_admission_refusal(a, &x) == VT_OK) complain(r, &x);
  vt_admission_free(a);
}

static void test_checks(void) {
  for (uint32_t i = 0; i < vt_admission_checks(); i++) {
    const row *own = NULL;
    for (size_t k = 0; k < ROWS && own == NULL; k++)
      if (rows[k].alone && strcmp(rows[k].check, vt_admission_check(i)) == 0) own = &rows[k];
    CHECK(own != NULL);
    if (own != NULL) {
      test_without(i, own);
    } else {
      fprintf(stderr, "  the check %s has no sin that it alone finds\n", vt_admission_check(i));
    }
  }
}

/* ---- the folder and the page ---- */

static void test_folder(void) {
  DIR *folder = opendir(built);
  size_t n = 0;
  CHECK(folder != NULL);
  for (const struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;)
    n += strstr(e->d_name, ".so") != NULL;
  if (folder != NULL) closedir(folder);
  CHECK(n == ROWS); /* a plug-in without a row here is not tried */
}

static void print_line(const row *r, char out[400]) {
  const char *subject = r->subject != NULL ? r->subject : "";
  snprintf(out, 400, "\n| [%s](%s.c) | %s | %s%s |%s%s |\n", r->name, r->name, r->sin,
           r->check != NULL ? r->check : "passes", r->alone ? ", alone" : "",
           subject[0] != 0 ? " " : "", subject);
}

/* The table of the page is the table above. */
static void test_page(const char *path) {
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
    print_line(&rows[i], line);
    const int there = strstr(text, line) != NULL;
    CHECK(there);
    if (!there) fprintf(stderr, "  %s has no line%s", path, line);
  }
  free(text);
  vt_file_done(&f);
}

int main(int argc, char **argv) {
  if (argc < 3) return 1;
  built = argv[1];
  test_page(argv[2]);
  int judged = 0;
  if (argc == 3) test_folder();
  for (size_t i = 0; i < ROWS; i++) {
    int wanted = argc == 3;
    for (int k = 3; k < argc; k++) wanted |= strcmp(argv[k], rows[i].name) == 0;
    if (wanted) test_sin(&rows[i]);
    judged += wanted;
  }
  if (argc == 3) test_checks();
  if (argc == 3) test_crowd();
  if (argc == 3) test_place();
  /* A plug-in runs in this process and may end it, with any exit code: this line is what counts. */
  if (vt_test_failed == 0) printf("%d backends judged: each sin is refused for itself\n", judged);
  TEST_DONE();
}
