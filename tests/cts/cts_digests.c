/* SPDX-License-Identifier: Apache-2.0
 * cts_digests.c - cts.digests: for each case the first eight bytes of its run digest and its name,
 * ascending by name. */
#include <stdlib.h>
#include <string.h>
#include "cts.h"
#include "vt_file.h"

static void path_of(const char *folder, char out[4096]) {
  snprintf(out, 4096, "%s/cts.digests", folder);
}

static int hex_of(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "0123456789abcdef name"; 0 when it is not of this form. */
static int read_entry(char *line, uint8_t digest[8], const char **name) {
  if (strlen(line) < 18 || line[16] != ' ') return 0;
  for (int i = 0; i < 8; i++) {
    const int high = hex_of(line[2 * i]), low = hex_of(line[2 * i + 1]);
    if (high < 0 || low < 0) return 0;
    digest[i] = (uint8_t)(high * 16 + low);
  }
  *name = line + 17;
  return 1;
}

static void read_entries(cts_digests *d, const char *path) {
  uint32_t line = 0;
  for (char *at = d->bytes, *next; at != NULL && *at != 0; at = next) {
    next = strchr(at, '\n');
    if (next != NULL) *next++ = 0;
    line++;
    if (*at == '#') continue;
    if (!read_entry(at, d->digest[d->n], &d->name[d->n]) ||
        (d->n > 0 && strcmp(d->name[d->n - 1], d->name[d->n]) >= 0))
      cts_die("%s:%u: not a digest and a name, ascending", path, line);
    d->n++;
  }
}

void cts_digests_read(cts_digests *d, const char *folder) {
  char path[4096];
  vt_file f;
  vt_diag diag = {0};
  path_of(folder, path);
  if (vt_file_read(path, 1 << 28, vt_alloc_default(), &f, &diag) != VT_OK) cts_die("%s", diag.text);
  size_t lines = 1;
  for (size_t i = 0; i < f.size; i++) lines += f.data[i] == '\n';
  *d = (cts_digests){.bytes = malloc(f.size + 1),
                     .name = calloc(lines, sizeof *d->name),
                     .digest = calloc(lines, sizeof *d->digest)};
  if (d->bytes == NULL || d->name == NULL || d->digest == NULL) cts_die("out of memory");
  memcpy(d->bytes, f.data, f.size + 1);
  vt_file_done(&f);
  read_entries(d, path);
}

void cts_digests_free(cts_digests *d) {
  free(d->bytes);
  free(d->name);
  free(d->digest);
}

const uint8_t *cts_digests_find(const cts_digests *d, const char *name) {
  uint32_t lo = 0, hi = d->n;
  while (lo < hi) {
    const uint32_t mid = lo + (hi - lo) / 2;
    const int c = strcmp(d->name[mid], name);
    if (c == 0) return d->digest[mid];
    if (c < 0) lo = mid + 1;
    if (c > 0) hi = mid;
  }
  return NULL;
}

int cts_digests_write(const char *folder, const cts_suite *s, const cts_outcome *outcomes) {
  char path[4096];
  vt_text t;
  vt_file_writer w;
  vt_diag d = {0};
  path_of(folder, path);
  vt_text_init(&t, vt_alloc_default());
  vt_text_add(&t,
              "# The start of each case's digest, written by `cts --write` from the reference.\n");
  for (uint32_t i = 0; i < s->n_cases; i++) {
    for (int k = 0; k < 8; k++) vt_text_add(&t, "%02x", outcomes[i].digest[k]);
    vt_text_add(&t, " %s\n", s->cases[i].name);
  }
  vt_status status = vt_text_status(&t);
  if (status == VT_OK) status = vt_file_create(path, &w, &d);
  if (status == VT_OK) status = vt_file_put(&w, t.s, t.n, &d);
  if (status == VT_OK) status = vt_file_commit(&w, &d);
  vt_text_done(&t);
  if (status != VT_OK) fprintf(stderr, "cts: %s: %s\n", path, d.text);
  return status == VT_OK;
}
