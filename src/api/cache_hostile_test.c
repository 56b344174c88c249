/* SPDX-License-Identifier: Apache-2.0
 * cache_hostile_test.c - files of the cache that are truncated, corrupted, owned by others or not
 * regular. The cache ignores such a file and reports it by a note, a text for the caller's
 * callback; the plan is the one that is made without the file. An entry is a plan with the bytes of
 * its file. The only file is the one that the folder has in these tests. */
#include <errno.h>
#include <fcntl.h>
#include "cache_test.h"
#include "model.h"
#include "prepare.h"
#include "vt_file.h"
#include "vt_fpenv.h"

static const vt_binding two[] = {{"B", 2}};
static const vt_options bound = {.bind = two, .n_bind = 1, .backend = "reference"};

/* ---- the bytes of a cached plan ---- */

typedef struct entry {
  vt_device *dev;         /* the device that the plan is made for */
  vt_cached_plan *cached; /* the cached plan */
  vt_text bytes;          /* the bytes of the plan's file */
  vt_text graph, plan;    /* the graph and the plan as text */
} entry;

static entry make_entry(const char *backend) {
  entry x = {0};
  vt_alloc a;
  vt_pipeline line = {0};
  vt_model *m = parse_model(small_model);
  vt_cache *c = new_cache(NULL, 0, 0, VT_CACHE_DIGITS);
  vt_options o = bound;
  o.size = sizeof o;
  o.backend = backend;
  o.cache = c;
  o = vt_options_copy(&o, &a);
  vt_terms terms = {0};
  CHECK(vt_prepare(m, &o, a, 0, &x.dev, &line, &terms, NULL) == VT_OK);
  if (line.cached == NULL) exit(1);
  x.cached = vt_cached_plan_retain(line.cached);
  vt_text_init(&x.bytes, a);
  vt_text_init(&x.graph, a);
  vt_text_init(&x.plan, a);
  vt_cached_plan_print(x.cached, &x.bytes);
  vt_graph_print(x.cached->g, 0, &x.graph);
  vt_plan_print(x.cached->plan, 1, &x.plan);
  vt_pipeline_done(&line);
  vt_cache_free(c);
  vt_model_free(m);
  return x;
}

static void free_entry(entry *x) {
  vt_text_done(&x->bytes);
  vt_text_done(&x->graph);
  vt_text_done(&x->plan);
  vt_cached_plan_release(x->cached);
  vt_device_close(x->dev);
}

static vt_status parse_entry_file(const entry *x, const void *bytes, size_t n, vt_cached_plan **out,
                                  vt_diag *d) {
  const vt_target t = vt_device_target(x->dev);
  return vt_cached_plan_parse(bytes, n, x->cached->key, x->cached->n_key, &x->cached->list, &t,
                              vt_alloc_default(), out, d);
}

static int same_text(const vt_text *a, const vt_text *b) {
  return a->n == b->n && memcmp(a->s, b->s, a->n) == 0;
}

/* Checks that an accepted file gives the right graph and plan, and that printing them gives the
 * bytes of the file. */
static void check_accepted_file(const entry *x, const vt_cached_plan *k, const char *bytes,
                                size_t n) {
  vt_text graph, plan, again;
  vt_text_init(&graph, x->bytes.a);
  vt_text_init(&plan, x->bytes.a);
  vt_text_init(&again, x->bytes.a);
  vt_graph_print(k->g, 0, &graph);
  vt_plan_print(k->plan, 1, &plan);
  vt_cached_plan_print(k, &again);
  CHECK(same_text(&graph, &x->graph) && same_text(&plan, &x->plan));
  CHECK(again.n == n && memcmp(again.s, bytes, n) == 0);
  CHECK(vt_plan_verify(k->plan, NULL) == VT_OK && vt_graph_verify(k->g, NULL) == VT_OK);
  vt_text_done(&graph);
  vt_text_done(&plan);
  vt_text_done(&again);
}

/* Parses bytes as the file of this entry; if they are accepted, checks the plan that they give. */
static vt_status parse_and_check(const entry *x, const char *bytes, size_t n) {
  vt_cached_plan *k = NULL;
  vt_diag d = {0};
  const vt_status s = parse_entry_file(x, bytes, n, &k, &d);
  if (s == VT_OK) {
    check_accepted_file(x, k, bytes, n);
  } else {
    CHECK(k == NULL && d.code == s && d.text[0] != 0);
  }
  vt_cached_plan_release(k);
  return s;
}

/* Returns a copy in memory of exactly this size, so that a sanitizer finds any read past its
 * end. */
static char *exact_copy(const char *bytes, size_t n) {
  char *p = malloc(n + (n == 0));
  if (p == NULL) exit(1);
  if (n != 0) memcpy(p, bytes, n);
  return p;
}

/* Replaces the checksum at the end of the file by that of the bytes before it. */
static void set_checksum(char *bytes, size_t n) {
  char hex[65];
  const vt_hash256 h = vt_hash_bytes(bytes, n - 65);
  vt_hash_hex(&h, hex);
  memcpy(bytes + n - 65, hex, 64);
}

static void test_truncated_file(const entry *x) {
  for (size_t n = 0; n < x->bytes.n; n++) {
    char *cut = exact_copy(x->bytes.s, n);
    CHECK(parse_and_check(x, cut, n) == VT_FORMAT);
    if (n > 65) {
      set_checksum(cut, n);
      cut[n - 1] = '\n';
      CHECK(parse_and_check(x, cut, n) == VT_FORMAT);
    }
    free(cut);
  }
  char *longer = exact_copy(x->bytes.s, x->bytes.n + 1); /* the file and one more byte, a NUL */
  CHECK(parse_and_check(x, longer, x->bytes.n + 1) == VT_FORMAT);
  free(longer);
}

/* Flips each bit of the file in turn; then flips one bit of each byte and sets a checksum that
 * fits. */
static void test_flipped_bits(const entry *x) {
  const size_t n = x->bytes.n;
  char *corrupt = exact_copy(x->bytes.s, n);
  uint32_t accepted = 0, of_another_key = 0;
  for (size_t i = 0; i < n; i++)
    for (int bit = 0; bit < 8; bit++) {
      corrupt[i] = (char)(corrupt[i] ^ (1 << bit));
      CHECK(parse_and_check(x, corrupt, n) == VT_FORMAT);
      corrupt[i] = x->bytes.s[i];
    }
  for (size_t i = 0; i < n - 65; i++) {
    corrupt[i] = (char)(corrupt[i] ^ (1 << i % 7));
    set_checksum(corrupt, n);
    const vt_status s = parse_and_check(x, corrupt, n);
    accepted += s == VT_OK;
    of_another_key += s == VT_NAME;
    CHECK(s == VT_OK || s == VT_NAME || s == VT_FORMAT);
    corrupt[i] = x->bytes.s[i];
  }
  CHECK(of_another_key == x->cached->n_key);
  /* Only changes in hashes of earlier graphs, in lines and in columns are accepted. */
  CHECK(accepted > 0 && accepted < n / 4);
  free(corrupt);
}

/* Replaces each digit of the lengths in the head of the file by every other digit, with a checksum
 * that fits; none is accepted. */
static void test_wrong_lengths(const entry *x) {
  char *corrupt = exact_copy(x->bytes.s, x->bytes.n);
  const char *end = strstr(x->bytes.s, "volta plan key");
  CHECK(end != NULL);
  for (size_t i = sizeof "volta plan entry"; i < (size_t)(end - x->bytes.s); i++)
    for (char c = '0'; c <= '9'; c++) {
      if (c == x->bytes.s[i]) continue;
      corrupt[i] = c;
      set_checksum(corrupt, x->bytes.n);
      CHECK(parse_and_check(x, corrupt, x->bytes.n) == VT_FORMAT);
      corrupt[i] = x->bytes.s[i];
    }
  free(corrupt);
}

/* ---- another target ---- */

static vt_status ask_for_more_scratch(void *self, const vt_bk_step *step, uint64_t *out,
                                      vt_diag *d) {
  const vt_target *t = self;
  VT_TRY(t->workspace(t->self, step, out, d));
  *out += 8;
  return VT_OK;
}

static void test_other_targets_refuse_file(const entry *x) {
  const vt_target right = vt_device_target(x->dev);
  vt_target t[3] = {right, right, right};
  vt_target inner = right;
  t[0].fingerprint = "another";
  t[1].dense_only = !right.dense_only;
  t[2].self = &inner;
  t[2].workspace = ask_for_more_scratch; /* this target needs more scratch than the plan has */
  for (int i = 0; i < 3; i++) {
    vt_cached_plan *k = NULL;
    vt_diag d = {0};
    CHECK(vt_cached_plan_parse(x->bytes.s, x->bytes.n, x->cached->key, x->cached->n_key,
                               &x->cached->list, &t[i], vt_alloc_default(), &k, &d) == VT_FORMAT);
    CHECK(k == NULL && strstr(d.text, "not for this target") != NULL);
  }
}

static void test_hostile_bytes(const char *backend) {
  vt_fpenv saved;
  vt_fpenv_enter(&saved);
  entry x = make_entry(backend);
  CHECK(parse_and_check(&x, x.bytes.s, x.bytes.n) == VT_OK);
  test_truncated_file(&x);
  test_flipped_bits(&x);
  test_wrong_lengths(&x);
  test_other_targets_refuse_file(&x);
  free_entry(&x);
  vt_fpenv_leave(&saved);
}

/* ---- files ---- */

static char notes[2048], only[512]; /* texts of all notes so far; path of the only file */

static void append_note(void *user, const char *text) {
  (void)user;
  strncat(notes, text, sizeof notes - strlen(notes) - 2);
  strcat(notes, "\n");
}
static void set_only_path(const char *path) { (void)snprintf(only, sizeof only, "%s", path); }

/* Plans the model with a new cache on the folder; returns the counts of the cache. */
static vt_cache_counts plan_with_new_cache(const vt_model *m, uint64_t disk_limit) {
  const vt_cache_options o = {
      .size = sizeof o, .dir = folder, .note = append_note, .disk_bytes = disk_limit};
  vt_cache *c = NULL;
  notes[0] = 0;
  CHECK(vt_cache_new(&o, &c, NULL) == VT_OK);
  CHECK(gives_same_plan(m, bound, c));
  const vt_cache_counts n = read_counts(c);
  vt_cache_free(c);
  return n;
}

/* Expects that the cache reports and ignores the only file of the folder and, unless `file_stays`,
 * replaces it by a right one. */
static void expect_file_ignored(const vt_model *m, const char *why, int file_stays) {
  vt_cache_counts n = plan_with_new_cache(m, 0);
  CHECK(n.ignored == (file_stays ? 2 : 1) && n.misses == 1 && n.hits_disk == 0);
  CHECK(strstr(notes, why) != NULL && strstr(notes, ".plan") != NULL && n.reason[0] != 0);
  if (strstr(notes, why) == NULL) fprintf(stderr, "expected '%s': %s", why, notes);
  if (file_stays) return;
  n = plan_with_new_cache(m, 0);
  CHECK(n.ignored == 0 && n.hits_disk == 1 && notes[0] == 0);
}

static void overwrite_only_file(const void *bytes, size_t n, mode_t mode) {
  const int fd = open(only, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && fchmod(fd, mode) == 0 && close(fd) == 0);
}

static void test_hostile_files_are_ignored(void) {
  char target[512];
  vt_file f;
  vt_model *m = parse_model(small_model);
  folder_new();
  CHECK(plan_with_new_cache(m, 0).stored == 1 && for_each_file(set_only_path) == 1);
  CHECK(vt_file_read(only, 1 << 20, vt_alloc_default(), &f, NULL) == VT_OK);
  overwrite_only_file("", 0, 0600);
  expect_file_ignored(m, "too short", 0);
  overwrite_only_file(f.data, f.size / 2, 0600);
  expect_file_ignored(m, "checksum", 0);
  overwrite_only_file(f.data, f.size, 0622);
  expect_file_ignored(m, "others than its owner may write", 0);
  CHECK(unlink(only) == 0 && mkfifo(only, 0600) == 0);
  expect_file_ignored(m, "not a regular file", 0);
  /* A symbolic link is neither followed nor written through, even if it leads to a right file. */
  (void)snprintf(target, sizeof target, "%s/target", folder);
  CHECK(rename(only, target) == 0 && symlink("target", only) == 0);
  expect_file_ignored(m, "cannot be opened", 0);
  struct stat st;
  CHECK(lstat(only, &st) == 0 && S_ISREG(st.st_mode));
  CHECK(unlink(target) == 0 && unlink(only) == 0 && symlink("missing", only) == 0);
  expect_file_ignored(m, "cannot be opened", 0);
  CHECK(for_each_file(NULL) == 1);
  CHECK(unlink(only) == 0 && mkdir(only, 0700) == 0);
  expect_file_ignored(m, "not a regular file", 1);
  CHECK(rmdir(only) == 0 && plan_with_new_cache(m, 0).stored == 1);
  if (geteuid() == 0) {
    CHECK(chown(only, 12345, 12345) == 0);
    expect_file_ignored(m, "belongs to another user", 0);
  }
  /* The cache gives two notes: the file is too large to be read, and too large to be written. */
  CHECK(plan_with_new_cache(m, f.size - 1).ignored == 2);
  CHECK(strstr(notes, "more than") != NULL && strstr(notes, "larger than all") != NULL);
  vt_file_done(&f);
  folder_done();
  vt_model_free(m);
}

/* ---- folders ---- */

static void expect_folder_refused(const vt_model *m, const char *why) {
  const vt_cache_counts n = plan_with_new_cache(m, 0);
  CHECK(!n.on_disk && n.ignored == 1 && n.stored == 0 && n.bytes_disk == 0);
  CHECK(strstr(notes, why) != NULL);
}

static void test_hostile_folders_are_refused(void) {
  vt_model *m = parse_model(small_model);
  char real[sizeof folder], link[40];
  folder_new();
  memcpy(real, folder, sizeof real);
  CHECK(plan_with_new_cache(m, 0).on_disk);
  CHECK(chmod(folder, 0770) == 0);
  expect_folder_refused(m, "others than its owner");
  CHECK(chmod(folder, 0700) == 0 && plan_with_new_cache(m, 0).hits_disk == 1);
  if (geteuid() == 0) {
    CHECK(chown(folder, 12345, 12345) == 0);
    expect_folder_refused(m, "another user");
    CHECK(chown(folder, 0, 0) == 0);
  }
  (void)snprintf(link, sizeof link, "%.36s.l", real);
  CHECK(symlink(real, link) == 0);
  (void)snprintf(folder, sizeof folder, "%s", link);
  expect_folder_refused(m, "cannot be opened");
  strcat(folder, "//");
  expect_folder_refused(m, "cannot be opened");
  CHECK(unlink(link) == 0);
  memcpy(folder, real, sizeof real);
  CHECK(for_each_file(set_only_path) == 1);
  (void)snprintf(folder, sizeof folder, "%.36s/a/b", real);
  expect_folder_refused(m, "cannot be made");
  (void)snprintf(folder, sizeof folder, "%.36s/a", real);
  CHECK(plan_with_new_cache(m, 0).stored == 1); /* the cache created the folder */
  struct stat st;
  CHECK(stat(folder, &st) == 0 && (st.st_mode & 0777) == 0700);
  folder_done();
  folder[0] = 0;
  expect_folder_refused(m, "empty");
  memcpy(folder, real, sizeof real);
  folder_done();
  vt_model_free(m);
}

int main(void) {
  unsetenv("VOLTA_BACKEND");
  test_hostile_bytes("reference:0");
  test_hostile_bytes("island:1");
  test_hostile_files_are_ignored();
  test_hostile_folders_are_refused();
  TEST_DONE();
}
