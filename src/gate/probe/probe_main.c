/* SPDX-License-Identifier: Apache-2.0
 * probe_main.c - a separate program that probes a plug-in, so that a plug-in that crashes, hangs or
 * exits does so in this process. The program is embedded in the library, which starts it (probe.c).
 *
 *   input   the plug-in on descriptor 3, and the number of a device as the only argument
 *   output  on descriptor 4 a line with the name of each stage before it begins, and a last line:
 *           "ok", or "no" with a status and a reason
 *
 * It ends by returning from main, so that the exit handlers of the plug-in are probed too. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "table.h"
#include "volta/volta_status.h"
#include "vt_fpenv.h"

enum {
  REPORT = 4, /* the descriptor to which this program writes its report */
  GUARD = 64, /* number of guard bytes, behind the capabilities, that a plug-in must not write */
  GUARD_BYTE = 0xa5, /* value of the guard bytes */
  OPS = 2048,        /* numbers 0 .. OPS - 1 are asked of op_listed */
  ALARM_S = 20 /* seconds after which this process ends by itself, in case the host, which would
                  kill it earlier, is gone */
};

/* ---- the report ---- */

static void report_text(const char *line) {
  const char *at = line;
  size_t n = strlen(line);
  while (n > 0) {
    const ssize_t written = write(REPORT, at, n);
    if (written <= 0) return; /* nobody reads the report: the host is gone */
    at += written;
    n -= (size_t)written;
  }
}

static int report_refusal(vt_status status, const char *why) {
  char line[400];
  snprintf(line, sizeof line, "no %d %.380s", (int)status, why);
  for (char *c = line; *c != 0; c++)
    if (*c == '\n') *c = ' ';
  report_text(line);
  report_text("\n");
  return 0;
}

/* ---- the host functions that the plug-in may call ---- */

static char reason[240];

static void *host_resize(void *user, void *p, uint64_t old_size, uint64_t new_size) {
  (void)user, (void)old_size;
  if (new_size != 0) return realloc(p, (size_t)new_size);
  free(p);
  return NULL;
}

static void host_keep_reason(void *user, int32_t status, const char *text) {
  (void)user, (void)status;
  snprintf(reason, sizeof reason, "%s", text != NULL ? text : "");
}

static void host_ignore_progress(void *user, uint64_t step) { (void)user, (void)step; }

static const vt_bk_host host = {.size = sizeof host,
                                .abi_major = VT_BK_ABI_MAJOR,
                                .resize = host_resize,
                                .diag = host_keep_reason,
                                .progress = host_ignore_progress};

static int refuse_failed_call(const char *what, int32_t status) {
  char why[360];
  snprintf(why, sizeof why, "it cannot %s: %s", what,
           reason[0] != 0 ? reason : vt_status_text((vt_status)status));
  return report_refusal(VT_BACKEND, why);
}

/* ---- the stages; each returns 0 or NULL after a refusal ---- */

static vt_backend_query_fn *load_plugin(void) {
  report_text("load\n");
  void *library = dlopen("/proc/self/fd/3", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    char why[360];
    const char *text = dlerror(), *rest;
    if (text == NULL) text = "no reason is given";
    rest = strncmp(text, "/proc/self/fd/3: ", 17) == 0 ? text + 17 : text;
    snprintf(why, sizeof why, "it cannot be loaded: %s", rest);
    report_refusal(VT_BACKEND, why);
    return NULL;
  }
  vt_backend_query_fn *query = NULL;
  *(void **)&query = dlsym(library, VT_BK_SYMBOL);
  if (query == NULL) report_refusal(VT_ABI, "it has no symbol " VT_BK_SYMBOL);
  return query;
}

static const vt_bk_api *get_checked_table(vt_backend_query_fn *query) {
  char text[VT_TABLE_TEXT];
  report_text("query\n");
  const vt_bk_api *api = query(&host);
  const char *fault = vt_table_find_fault(api, text);
  if (fault != NULL) report_refusal(VT_ABI, fault);
  return fault == NULL ? api : NULL;
}

static int check_device_count(const vt_bk_api *api, uint32_t ordinal) {
  char why[120];
  uint32_t devices = 0;
  report_text("count\n");
  const int32_t s = api->device_count(&host, &devices);
  if (s != VT_OK) return refuse_failed_call("count its devices", s);
  snprintf(why, sizeof why, "it has %u device%s, there is no number %u", devices,
           devices == 1 ? "" : "s", ordinal);
  return ordinal < devices ? 1 : report_refusal(VT_BACKEND, why);
}

static vt_bk_device *open_device(const vt_bk_api *api, uint32_t ordinal) {
  vt_bk_device *dev = NULL;
  report_text("open\n");
  const int32_t s = api->device_open(&host, ordinal, &dev);
  if (s != VT_OK) {
    refuse_failed_call("open its device", s);
    return NULL;
  }
  if (dev == NULL) report_refusal(VT_ABI, "it reports an open device but returns none");
  return dev;
}

/* Asks for capabilities of `size` bytes, which may be fewer than today's, as an older host would
 * ask. The plug-in must not write beyond that size. */
static int read_caps_of_size(const vt_bk_api *api, vt_bk_device *dev, uint32_t size,
                             vt_bk_caps *out) {
  struct {
    vt_bk_caps caps;
    unsigned char guard[GUARD];
  } guarded;
  memset(&guarded, GUARD_BYTE, sizeof guarded);
  guarded.caps.size = size;
  const int32_t s = api->capabilities(dev, &guarded.caps);
  if (s != VT_OK) return refuse_failed_call("state its capabilities", s);
  for (size_t i = size; i < sizeof guarded; i++)
    if (((const unsigned char *)&guarded)[i] != GUARD_BYTE)
      return report_refusal(VT_ABI, "it writes beyond the size it is given for its capabilities");
  *out = guarded.caps;
  return 1;
}

static int check_caps(const vt_bk_api *api, vt_bk_device *dev) {
  char text[VT_TABLE_TEXT];
  vt_bk_caps caps, early;
  report_text("caps\n");
  if (!read_caps_of_size(api, dev, sizeof caps, &caps)) return 0;
  if (!read_caps_of_size(api, dev, offsetof(vt_bk_caps, about), &early)) return 0;
  const char *fault = vt_caps_find_fault(&caps, text);
  return fault == NULL ? 1 : report_refusal(VT_ABI, fault);
}

static int check_listed_ops(const vt_bk_api *api, vt_bk_device *dev) {
  report_text("list\n");
  for (uint32_t op = 0; op < OPS; op++) {
    const int32_t listed = api->op_listed(dev, op);
    if (listed != 0 && listed != 1)
      return report_refusal(VT_ABI, "it answers neither 0 nor 1 when asked whether it has an op");
  }
  return 1;
}

static int probe_plugin(uint32_t ordinal) {
  vt_backend_query_fn *query = load_plugin();
  if (query == NULL) return 0;
  const vt_bk_api *api = get_checked_table(query);
  if (api == NULL || !check_device_count(api, ordinal)) return 0;
  vt_bk_device *dev = open_device(api, ordinal);
  if (dev == NULL || !check_caps(api, dev) || !check_listed_ops(api, dev)) return 0;
  report_text("close\n");
  api->device_close(dev);
  return 1;
}

/* ---- the process ---- */

/* Closes the other descriptors inherited from the host program, which a plug-in must not see. */
static void close_other_descriptors(void) {
  DIR *folder = opendir("/proc/self/fd");
  for (const struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;) {
    const int fd = atoi(e->d_name);
    if (fd > REPORT && fd != dirfd(folder)) close(fd);
  }
  if (folder != NULL) closedir(folder);
}

int main(int argc, char **argv) {
  const struct rlimit none = {0, 0};
  vt_fpenv mine;
  if (argc != 2) return 2;
  close_other_descriptors();
  (void)alarm(ALARM_S);
  (void)setrlimit(RLIMIT_CORE, &none); /* a crash is expected: no core file */
  vt_fpenv_enter(&mine);
  const int good = probe_plugin((uint32_t)strtoul(argv[1], NULL, 10));
  const int kept = vt_fpenv_is_active();
  vt_fpenv_leave(&mine);
  report_text("end\n");
  if (!good) return 1;
  if (!kept) return report_refusal(VT_ABI, "it changes the floating-point mode of its host") + 1;
  report_text("ok\n");
  return 0;
}
