/* SPDX-License-Identifier: Apache-2.0
 * old_models_test.c - models of all versions of the text form must still parse to the same graph.
 * Each tests/golden/old/vN_NAME.vt ends in "# hash " and the hash of its graph, which never
 * changes. Runs in the root of the repository. */
#include <dirent.h>
#include <string.h>
#include "vt_file.h"
#include "vt_parse.h"
#include "vt_test.h"

#define FOLDER "tests/golden/old"
enum { FILE_MAX = 1 << 20, HEX = 64 };

/* The hash at the end of the file; NULL if it is missing. */
static const char *find_expected_hash(const vt_file *f) {
  static const char mark[] = "# hash ";
  const size_t n = sizeof mark - 1 + HEX + 1;
  if (f->size < n) return NULL;
  const char *last = (const char *)f->data + f->size - n;
  return strncmp(last, mark, sizeof mark - 1) == 0 ? last + sizeof mark - 1 : NULL;
}

static void check_model_hash(const char *path, const vt_file *f) {
  vt_graph *g = NULL;
  vt_diag d = {0};
  vt_hash256 h;
  char hex[HEX + 1];
  const char *want = find_expected_hash(f);
  CHECK(want != NULL);
  CHECK(vt_parse((const char *)f->data, f->size, vt_alloc_default(), &g, &d) == VT_OK);
  if (g == NULL || want == NULL) {
    fprintf(stderr, "%s: %s\n", path, d.text);
    return;
  }
  CHECK(vt_graph_hash(g, &h) == VT_OK);
  vt_hash_hex(&h, hex);
  CHECK(strncmp(hex, want, HEX) == 0);
  if (strncmp(hex, want, HEX) != 0) fprintf(stderr, "%s: %s\n", path, hex);
  vt_graph_free(g);
}

static void check_golden_file(const char *name) {
  char path[512];
  vt_file f;
  vt_diag d = {0};
  (void)snprintf(path, sizeof path, FOLDER "/%s", name);
  CHECK(name[0] == 'v' && name[1] >= '1' && name[1] <= '9');
  CHECK(vt_file_read(path, FILE_MAX, vt_alloc_default(), &f, &d) == VT_OK);
  if (d.code != VT_OK) return;
  check_model_hash(path, &f);
  vt_file_done(&f);
}

int main(void) {
  int n = 0;
  DIR *dir = opendir(FOLDER);
  if (dir == NULL) return fprintf(stderr, "old_models_test: no " FOLDER "\n"), 1;
  for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
    if (e->d_name[0] == '.') continue;
    check_golden_file(e->d_name);
    n++;
  }
  closedir(dir);
  CHECK(n >= 19); /* the number of old models, to which more are added and none removed */
  TEST_DONE();
}
