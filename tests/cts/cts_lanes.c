/* SPDX-License-Identifier: Apache-2.0
 * cts_lanes.c - lanes: a lane is a backend with an instruction set and a number of threads, in
 * which every case runs. Lanes that this processor cannot run are skipped with a message, or fail
 * if VOLTA_REQUIRE names their instruction set. */
#include <stdlib.h>
#include <string.h>
#include "cts.h"

static const vt_policy unadmitted = {.size = sizeof unadmitted, .admission = VT_ADMISSION_WAIVED};

/* Admission is waived, because the suite also tests plug-ins that are not admitted yet. */
vt_options cts_lane_options(const cts_lane *l) {
  return (vt_options){.size = sizeof(vt_options),
                      .backend = l->backend,
                      .policy = &unadmitted,
                      .passes = l->fused ? "bind,lower,canonical,fold,cse,dead,fuse" : NULL,
                      .isa = l->isa,
                      .threads = l->threads};
}

/* Sets the name, as in "cpu avx2 x3", without the parts that the command leaves open. */
static void name_lane(cts_lane *l) {
  int n = snprintf(l->name, sizeof l->name, "%s", l->backend);
  if (l->isa != NULL) n += snprintf(l->name + n, sizeof l->name - (size_t)n, " %s", l->isa);
  if (l->threads != 0) snprintf(l->name + n, sizeof l->name - (size_t)n, " x%u", l->threads);
}

cts_lane cts_lane_of(const char *backend, const char *isa, uint32_t threads) {
  cts_lane l = {.backend = backend, .isa = isa, .threads = threads};
  if (strlen(backend) > 200) cts_die("--backend %.60s...: the name is too long", backend);
  if (isa != NULL && strlen(isa) > 20) cts_die("there are no instructions '%.60s'", isa);
  name_lane(&l);
  return l;
}

/* Returns 1 if VOLTA_REQUIRE, a comma-separated list, has the word. */
static int is_required(const char *word) {
  const char *list = getenv("VOLTA_REQUIRE");
  const size_t n = strlen(word);
  for (const char *at = list; at != NULL && *at != 0; at += strcspn(at, ",")) {
    at += *at == ',';
    if (strncmp(at, word, n) == 0 && (at[n] == 0 || at[n] == ',')) return 1;
  }
  return 0;
}

int cts_lane_opens(const cts_lane *l) {
  const vt_options o = cts_lane_options(l);
  vt_diag d = {0};
  int itself;
  /* A plug-in is not opened to see whether the lane can run: each run opens it and reports errors.
   */
  if (strchr(l->backend, '/') != NULL) return 1;
  const vt_status s = vt_op_supported_by(&o, VT_OP_literal, &itself, &d);
  if (s == VT_OK) return 1;
  const cts_lane plain = {.backend = l->backend, .threads = l->threads};
  const vt_options any = cts_lane_options(&plain);
  vt_diag other = {0};
  if (s != VT_BACKEND || l->isa == NULL ||
      vt_op_supported_by(&any, VT_OP_literal, &itself, &other) != VT_OK)
    cts_die("--backend %s: %s", l->name, d.text);
  if (is_required(l->isa)) {
    printf("FAILED: lane %s: %s, and VOLTA_REQUIRE names %s\n", l->name, d.text, l->isa);
    return -1;
  }
  printf("SKIPPED: lane %s: %s\n", l->name, d.text);
  return 0;
}
