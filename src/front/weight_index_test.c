/* SPDX-License-Identifier: Apache-2.0
 * weight_index_test.c - tests an index of safetensors shards: valid ones, hostile ones, and shards
 * that do not hold what the index says. */
#include <sys/resource.h>
#include <sys/stat.h>
#include "vt_text.h"
#include "weight_list.h"
#include "weight_test.h"

/* Two shards: a has "x" (1, -1) and "y" (2, -1), b has "z" (10, -10). */
static const char good[] =
    " {\"metadata\": {\"total_size\": 24, \"more\": [1, {\"a\": null}]},\n"
    "  \"weight_map\": {\"z\": \"b.safetensors\", \"x\": \"a.safetensors\",\n"
    "  \"y\": \"a.safetensors\"}, \"later\": true}\n";

static const char *index_path(void) { return file_path("index.json"); }

static void write_shards(void) {
  const char *const a[2] = {"x", "y"}, *const b[1] = {"z"};
  write_vectors("a.safetensors", 2, a, 1);
  write_vectors("b.safetensors", 1, b, 10);
}

static void check_index_refused(const char *text, vt_status want, const char *says) {
  const char *path = index_path();
  write_text("index.json", text);
  check_list_refused(1, &path, NULL, want, says);
}

/* ---- valid ---- */

static void check_good(const char *path) {
  vt_fault f = {.left = 0};
  vt_weight_list l;
  vt_diag d;
  CHECK(open_list(1, &path, NULL, &f, &l, &d) == VT_OK);
  if (d.code != VT_OK) return;
  CHECK(l.n_entries == 3 && l.n_files == 2);
  check_vector(&l, "x", 1, -1);
  check_vector(&l, "y", 2, -1);
  check_vector(&l, "z", 10, -10);
  CHECK(strstr(l.files[vt_weight_list_find(&l, "z")->file].path, "b.safetensors") != NULL);
  vt_weight_list_done(&l);
  CHECK(f.live == 0);
}

static void test_good(void) {
  write_text("index.json", good);
  check_good(index_path());
  /* a path without a folder, and an index that comes after enough space to hide its start */
  char here[256];
  CHECK(getcwd(here, sizeof here) != NULL && chdir(test_folder) == 0);
  check_good("index.json");
  CHECK(chdir(here) == 0);
  char text[sizeof good + 60];
  snprintf(text, sizeof text, "%59s%s", "", good);
  write_text("index.json", text);
  check_good(index_path());
}

/* In a cache of downloads, the index and its shards are links to files of other folders. */
static void test_links(void) {
  char folder[256];
  snprintf(folder, sizeof folder, "%s", file_path("links"));
  CHECK(mkdir(folder, 0700) == 0);
  CHECK(symlink("../index.json", file_path("links/index.json")) == 0);
  CHECK(symlink("../a.safetensors", file_path("links/a.safetensors")) == 0);
  CHECK(symlink("../b.safetensors", file_path("links/b.safetensors")) == 0);
  write_text("index.json", good);
  check_good(file_path("links/index.json"));
  CHECK(unlink(file_path("links/b.safetensors")) == 0);
  const char *path = file_path("links/index.json");
  check_list_refused(1, &path, NULL, VT_IO,
                     "a shard that the index names is missing or unreadable: cannot open ");
  CHECK(unlink(file_path("links/index.json")) == 0);
  CHECK(unlink(file_path("links/a.safetensors")) == 0 && rmdir(folder) == 0);
}

/* A safetensors header of 123 bytes makes the file begin with '{', and an index may have '{' at
 * byte 8, where a safetensors file has it. */
static void test_similar_formats(void) {
  static const char name[] =
      "a_name_that_makes_the_header_of_this_file_as_long_as_it_must_be_______";
  char header[160];
  const char *path = file_path("brace");
  vt_weight_list l;
  const int n = snprintf(header, sizeof header,
                         "{\"%s\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", name);
  bytes b = {.n = 0};
  append_little_endian(&b, 123, 8);
  append_bytes(&b, header, (size_t)n);
  while (b.n < 8 + 123) append_bytes(&b, " ", 1);
  append_bytes(&b, "\7", 1);
  CHECK(n <= 123 && b.p[0] == '{');
  write_test_file(path, &b);
  CHECK(vt_weight_list_open(1, &path, NULL, vt_alloc_default(), &l, NULL) == VT_OK);
  CHECK(l.n_entries == 1);
  vt_weight_list_done(&l);
  CHECK(unlink(path) == 0);
  check_index_refused("{\"meta\":{},\"weight_map\":{\"x\":1}}", VT_FORMAT,
                      "index.json: the file of tensor 'x' is not a string");
}

/* ---- refused texts ---- */

static void test_bad_texts(void) {
  static const struct {
    const char *text, *says;
  } rows[] = {
      {"{}", "index.json: the index has no member 'weight_map'"},
      {"{", "the index is wrong at byte 1: a string is expected"},
      {"{\"weight_map\":{}", "the index is wrong at byte 16: ',' or '}' is expected"},
      {"{\"weight_map\":{}} x", "the index is wrong at byte 18: it goes on after its end"},
      {"{\"weight_map\":[]}", "'weight_map' is not a JSON object"},
      {"{\"weight_map\":{},\"weight_map\":{}}", "the index has the member 'weight_map' twice"},
      {"{\"weight_map\":{\"x\":null}}", "the file of tensor 'x' is not a string"},
      {"{\"weight_map\":{\"x\":{\"a\":1}}}", "the file of tensor 'x' is not a string"},
      {"{\"weight_map\":{\"x\":\"a.safetensors\",\"x\":\"a.safetensors\"}}",
       "the index has tensor 'x' twice"},
      {"{\"weight_map\":{\"x\":\"a.safetensors\",\"y\":\"b.safetensors\",\"x\":\"\\u0062\"}}",
       "the index has tensor 'x' twice"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    check_index_refused(rows[i].text, VT_FORMAT, rows[i].says);
}

/* A shard must be a file in the folder of the index. */
static void test_names_that_lead_away(void) {
  static const char *const names[] = {
      "",    ".",      "..",      "../a.safetensors", "/etc/a",   "f/../a",
      "f/a", "a\\\\b", "..\\\\a", "./a.safetensors",  "a\\u0001", "a/"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char text[256];
    snprintf(text, sizeof text, "{\"weight_map\":{\"x\":\"%s\"}}", names[i]);
    check_index_refused(text, VT_FORMAT,
                        "which is not the name of a file in the folder of the "
                        "index");
  }
}

/* ---- shards that do not agree ---- */

static void test_disagreement(void) {
  check_index_refused(
      "{\"weight_map\":{\"x\":\"a.safetensors\",\"y\":\"a.safetensors\","
      "\"w\":\"a.safetensors\"}}",
      VT_FORMAT, "index.json: 'a.safetensors' does not have the tensor 'w'");
  check_index_refused("{\"weight_map\":{\"x\":\"a.safetensors\"}}", VT_FORMAT,
                      "index.json: 'a.safetensors' has the tensor 'y', which the index does not "
                      "have");
  check_index_refused(
      "{\"weight_map\":{\"x\":\"a.safetensors\",\"y\":\"b.safetensors\","
      "\"z\":\"b.safetensors\"}}",
      VT_FORMAT,
      "index.json: tensor 'y' is in 'a.safetensors', but the index says that it is "
      "in 'b.safetensors'");
  check_index_refused("{\"weight_map\":{\"x\":\"c.safetensors\"}}", VT_IO,
                      "a shard that the index names is missing or unreadable: cannot open ");
  check_index_refused("{\"weight_map\":{\"x\":\"index.json\"}}", VT_FORMAT,
                      "the index names 'index.json', which is not a safetensors file");
  const char *const name = "x";
  float data[2] = {0, 0};
  const vt_tensor t = {.dtype = VT_DTYPE_F32, .rank = 1, .dim = {2}, .data = data};
  CHECK(vt_npz_write(file_path("c.npz"), 1, &name, &t, NULL) == VT_OK);
  check_index_refused("{\"weight_map\":{\"x\":\"c.npz\"}}", VT_FORMAT,
                      "the index names 'c.npz', which is not a safetensors file");
  CHECK(unlink(file_path("c.npz")) == 0);
  /* A damaged shard is named itself. */
  write_text("c.safetensors", "\x02\1\1\1\1\1\1\1{}");
  check_index_refused("{\"weight_map\":{\"x\":\"c.safetensors\"}}", VT_FORMAT,
                      "/c.safetensors: the safetensors header at byte 8 declares ");
  CHECK(unlink(file_path("c.safetensors")) == 0);
}

/* Tensors of an index and of another file must have different names. */
static void test_index_and_file(void) {
  const char *paths[2] = {index_path(), file_path("b.safetensors")};
  write_text("index.json", good);
  check_list_refused(2, paths, NULL, VT_NAME, "two tensors have the name 'z': 'z' of ");
  vt_weight_list l;
  const char *const names[1] = {"more"};
  write_vectors("c.safetensors", 1, names, 3);
  paths[1] = file_path("c.safetensors");
  CHECK(vt_weight_list_open(2, paths, NULL, vt_alloc_default(), &l, NULL) == VT_OK);
  CHECK(l.n_entries == 4 && l.n_files == 3);
  check_vector(&l, "more", 3, -3);
  vt_weight_list_done(&l);
  CHECK(unlink(paths[1]) == 0);
}

/* ---- limits and memory ---- */

/* More files than the limit are refused; more than the process may open fail as missing ones do. */
static void test_too_many_shards(void) {
  enum { MOST = VT_WEIGHT_FILES_MAX };
  struct rlimit old, few = {.rlim_cur = 64};
  vt_text t;
  vt_text_init(&t, vt_alloc_default());
  vt_text_add(&t, "{\"weight_map\":{");
  for (int i = 0; i <= MOST; i++) {
    char name[32], header[128];
    bytes b = {.n = 0};
    snprintf(name, sizeof name, "s%d", i);
    snprintf(header, sizeof header,
             "{\"%s\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", name);
    append_little_endian(&b, strlen(header), 8);
    append_bytes(&b, header, strlen(header));
    write_test_file(file_path(name), &b);
    vt_text_add(&t, "%s\"s%d\":\"s%d\"", i > 0 ? "," : "", i, i);
  }
  vt_text_add(&t, "}}");
  CHECK(getrlimit(RLIMIT_NOFILE, &old) == 0);
  struct rlimit many = old;
  many.rlim_cur = MOST + 64;
  if (setrlimit(RLIMIT_NOFILE, &many) == 0)
    check_index_refused(t.s, VT_LIMIT, "the weights are in more than 4096 files");
  few.rlim_max = old.rlim_max;
  CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
  check_index_refused(t.s, VT_IO, "Too many open files");
  CHECK(setrlimit(RLIMIT_NOFILE, &old) == 0);
  vt_text_done(&t);
  for (int i = 0; i <= MOST; i++) {
    char name[32];
    snprintf(name, sizeof name, "s%d", i);
    CHECK(unlink(file_path(name)) == 0);
  }
}

static void test_failing_allocations(void) {
  const char *path = index_path();
  long k = 1;
  write_text("index.json", good);
  for (;; k++) {
    vt_fault f = {.left = k};
    vt_weight_list l;
    vt_diag d;
    const vt_status s = open_list(1, &path, NULL, &f, &l, &d);
    if (s == VT_OK) {
      vt_weight_list_done(&l);
      CHECK(f.live == 0);
      break;
    }
    CHECK(s == VT_NOMEM);
    if (s != VT_NOMEM) break;
  }
  CHECK(k > 12);
}

/* Every prefix of an index is refused, and a change of one byte does no harm. */
static void test_truncations_and_mutations(void) {
  static const char small[] = "{\"weight_map\":{\"z\":\"b.safetensors\"}}";
  char text[sizeof small];
  const char *path = index_path();
  for (size_t n = 0; n < sizeof small; n++) {
    vt_fault f = {.left = 0};
    vt_weight_list l;
    vt_diag d;
    snprintf(text, n + 1, "%s", small);
    write_text("index.json", text);
    const vt_status s = open_list(1, &path, NULL, &f, &l, &d);
    CHECK(s == (n == sizeof small - 1 ? VT_OK : VT_FORMAT));
    if (s == VT_OK) vt_weight_list_done(&l);
  }
  memcpy(text, small, sizeof small);
  for (size_t i = 0; i < sizeof small - 1; i++) {
    for (int v = 1; v < 256; v += vt_test_is_long() ? 1 : 5) {
      vt_fault f = {.left = 0};
      vt_weight_list l;
      vt_diag d;
      text[i] = (char)v;
      write_text("index.json", text);
      const vt_status s = open_list(1, &path, NULL, &f, &l, &d);
      CHECK(s == VT_OK || s == VT_FORMAT || s == VT_IO);
      if (s == VT_OK) vt_weight_list_done(&l);
    }
    text[i] = small[i];
  }
}

int main(void) {
  if (mkdtemp(test_folder) == NULL) return 77;
  write_shards();
  test_good();
  test_links();
  test_similar_formats();
  test_bad_texts();
  test_names_that_lead_away();
  test_disagreement();
  test_index_and_file();
  test_failing_allocations();
  test_truncations_and_mutations();
  test_too_many_shards();
  static const char *const files[] = {"index.json", "a.safetensors", "b.safetensors"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) CHECK(unlink(file_path(files[i])) == 0);
  CHECK(rmdir(test_folder) == 0);
  TEST_DONE();
}
