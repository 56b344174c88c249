/* SPDX-License-Identifier: Apache-2.0
 * cli_published.c - looks up the published digest of a run in a file. A line is "DIGEST MODEL BIND
 * seed=S inputs=S"; the key of a run is all of that but the digest. */
#include "cli_published.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINE_SIZE = 1024, WORDS = 5 };

/* Splits a line in place into words and returns their number: 0 for an empty line or a comment,
 * WORDS + 1 if there are too many. */
static int split_words(char *line, char *word[WORDS]) {
  int n = 0;
  char *save = NULL;
  for (char *w = strtok_r(line, " \t\r\n", &save); w != NULL;
       w = strtok_r(NULL, " \t\r\n", &save)) {
    if (n == 0 && w[0] == '#') return 0;
    if (n == WORDS) return WORDS + 1;
    word[n++] = w;
  }
  return n;
}

static int is_digest(const char *w) {
  return strlen(w) == CLI_HEX_SIZE - 1 && strspn(w, "0123456789abcdef") == CLI_HEX_SIZE - 1;
}

static vt_status check_line(int n, char *word[WORDS], uint32_t line, cli_error *e) {
  if (n == WORDS && is_digest(word[0])) return VT_OK;
  const vt_status s = VT_FAIL(&e->diag, VT_FORMAT, "the line is not a published digest");
  e->diag.line = line;
  e->diag.column = 1;
  cli_set_hint(e, "a line has the form DIGEST MODEL BIND seed=S inputs=S");
  return s;
}

typedef struct key {
  const cli_job *j;
  char seed[32], inputs[32];
} key;

static key make_run_key(const cli_job *j) {
  key k = {.j = j, .inputs = "inputs=-"};
  snprintf(k.seed, sizeof k.seed, "seed=%" PRIu64, j->seed);
  if (j->random) snprintf(k.inputs, sizeof k.inputs, "inputs=%" PRIu64, j->inputs_seed);
  return k;
}

static int line_matches(const key *k, char *word[WORDS]) {
  return strcmp(word[1], cli_basename(k->j->path)) == 0 &&
         cli_bind_equals_text(&k->j->bind, word[2]) && strcmp(word[3], k->seed) == 0 &&
         strcmp(word[4], k->inputs) == 0;
}

/* Reads the whole file even after a match, because a contradiction further down must be found. */
static vt_status search_file(FILE *f, const key *k, char out[CLI_HEX_SIZE], cli_error *e) {
  char line[LINE_SIZE];
  for (uint32_t at = 1; fgets(line, sizeof line, f) != NULL; at++) {
    char *word[WORDS];
    const int n = split_words(line, word);
    if (n == 0) continue;
    VT_TRY(check_line(n, word, at, e));
    if (!line_matches(k, word)) continue;
    if (out[0] != '\0' && strcmp(out, word[0]) != 0) {
      e->diag.line = at;
      e->diag.column = 1;
      return VT_FAIL(&e->diag, VT_FORMAT, "a second digest is published for the same run");
    }
    snprintf(out, CLI_HEX_SIZE, "%s", word[0]);
  }
  return VT_OK;
}

static vt_status fail_not_found(const key *k, cli_error *e) {
  const vt_status s =
      VT_FAIL(&e->diag, VT_NAME, "no digest is published for %s with this binding, %s and %s",
              cli_basename(k->j->path), k->seed, k->inputs);
  cli_set_hint(e, "use --bind, --seed and --random-inputs as in a line of the file");
  return s;
}

vt_status cli_published_find(const char *path, const cli_job *j, char out[CLI_HEX_SIZE],
                             cli_error *e) {
  e->path = path;
  FILE *f = fopen(path, "r");
  if (f == NULL) return VT_FAIL(&e->diag, VT_IO, "cannot be read: %s", strerror(errno));
  const key k = make_run_key(j);
  char found[CLI_HEX_SIZE] = "";
  vt_status s = search_file(f, &k, found, e);
  if (s == VT_OK && ferror(f)) s = VT_FAIL(&e->diag, VT_IO, "cannot be read: %s", strerror(errno));
  fclose(f);
  if (s == VT_OK && found[0] == '\0') s = fail_not_found(&k, e);
  if (s != VT_OK) return s;
  memcpy(out, found, CLI_HEX_SIZE);
  e->path = NULL;
  return VT_OK;
}
