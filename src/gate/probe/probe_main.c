/* SPDX-License-Identifier: Apache-2.0
 * probe_main.c - a program of its own that meets a plug-in first, so that one which crashes, hangs
 * or ends its process does so here. The library carries it and starts it (probe.c).
 *
 *   consumes  descriptor 3, the plug-in; the number of a device as the one argument
 *   produces  on descriptor 4 a line for each thing it is about to do, then "ok" or "no", a status
 * and why
 *
 * It ends by returning from main: what a plug-in does at the end of its process is part of it. */
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

/* The host waits for less; the alarm is for when there is no host any more. */
enum { REPORT = 4, GUARD = 64, GUARD_BYTE = 0xa5, OPS = 2048, ALARM_S = 20 };

/* ---- what is said ---- */

static void say(const char *line) {
  const char *at = line;
  size_t n = strlen(line);
  while (n > 0) {
    const ssize_t written = write(REPORT, at, n);
    if (written <= 0) return; /* nobody listens any more */
    at += written;
    n -= (size_t)written;
  }
}

static int refuse(vt_status status, const char *why) {
  char line[400];
  snprintf(line, sizeof line, "no %d %.380s", (int)status, why);
  for (char *c = line; *c != 0; c++)
    if (*c == '\n') *c = ' ';
  say(line);
  say("\n");
  return 0;
}

/* ---- the host it sees ---- */

static char reason[240];

static void *host_resize(void *user, void *p, uint64_t old_size, uint64_t new_size) {
  (void)user, (void)old_size;
  if (new_size != 0) return realloc(p, (size_t)new_size);
  free(p);
  return NULL;
}

static void host_diag(void *user, int32_t status, const char *text) {
  (void)user, (void)status;
  snprintf(reason, sizeof reason, "%s", text != NULL ? text : "");
}

static void host_progress(void *user, uint64_t step) { (void)user, (void)step; }

static const vt_bk_host host = {.size = sizeof host,
                                .abi_major = VT_BK_ABI_MAJOR,
                                .resize = host_resize,
                                .diag = host_diag,
                                .progress = host_progress};

static int refuse_status(const char *what, int32_t status) {
  char why[360];
  snprintf(why, sizeof why, "it cannot %s: %s", what,
           reason[0] != 0 ? reason : vt_status_text((vt_status)status));
  return refuse(VT_BACKEND, why);
}

/* ---- each thing that is asked of it; 1: go on ---- */

static vt_backend_query_fn *load(void) {
  say("load\n");
  void *library = dlopen("/proc/self/fd/3", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    char why[360];
    const char *text = dlerror(), *rest;
    if (text == NULL) text = "no reason is given";
    rest = strncmp(text, "/proc/self/fd/3: ", 17) == 0 ? text + 17 : text;
    snprintf(why, sizeof why, "it cannot be loaded: %s", rest);
    refuse(VT_BACKEND, why);
    return NULL;
  }
  vt_backend_query_fn *query = NULL;
  *(void **)&query = dlsym(library, VT_BK_SYMBOL);
  if (query == NULL) refuse(VT_ABI, "it has no symbol " VT_BK_SYMBOL);
  return query;
}

static const vt_bk_api *ask_table(vt_backend_query_fn *query) {
  char text[VT_TABLE_TEXT];
  say("query\n");
  const vt_bk_api *api = query(&host);
  const char *fault = vt_table_fault(api, text);
  if (fault != NULL) refuse(VT_ABI, fault);
  return fault == NULL ? api : NULL;
}

static int count(const vt_bk_api *api, uint32_t ordinal) {
  char why[120];
  uint32_t devices = 0;
  say("count\n");
  const int32_t s = api->device_count(&host, &devices);
  if (s != VT_OK) return refuse_status("count its devices", s);
  snprintf(why, sizeof why, "it has %u device%s, there is no number %u", devices,
           devices == 1 ? "" : "s", ordinal);
  return ordinal < devices ? 1 : refuse(VT_BACKEND, why);
}

static vt_bk_device *open_device(const vt_bk_api *api, uint32_t ordinal) {
  vt_bk_device *dev = NULL;
  say("open\n");
  const int32_t s = api->device_open(&host, ordinal, &dev);
  if (s != VT_OK) {
    refuse_status("open its device", s);
    return NULL;
  }
  if (dev == NULL) refuse(VT_ABI, "it opens a device and does not give it");
  return dev;
}

/* Asked in full and as an older host would: nothing beyond the size that is given may change. */
static int ask_caps(const vt_bk_api *api, vt_bk_device *dev, uint32_t size, vt_bk_caps *out) {
  struct {
    vt_bk_caps caps;
    unsigned char guard[GUARD];
  } room;
  memset(&room, GUARD_BYTE, sizeof room);
  room.caps.size = size;
  const int32_t s = api->capabilities(dev, &room.caps);
  if (s != VT_OK) return refuse_status("state its capabilities", s);
  for (size_t i = size; i < sizeof room; i++)
    if (((const unsigned char *)&room)[i] != GUARD_BYTE)
      return refuse(VT_ABI, "it writes beyond the size it is given for its capabilities");
  *out = room.caps;
  return 1;
}

static int check_caps(const vt_bk_api *api, vt_bk_device *dev) {
  char text[VT_TABLE_TEXT];
  vt_bk_caps caps, early;
  say("caps\n");
  if (!ask_caps(api, dev, sizeof caps, &caps)) return 0;
  if (!ask_caps(api, dev, offsetof(vt_bk_caps, about), &early)) return 0;
  const char *fault = vt_caps_fault(&caps, text);
  return fault == NULL ? 1 : refuse(VT_ABI, fault);
}

static int check_list(const vt_bk_api *api, vt_bk_device *dev) {
  say("list\n");
  for (uint32_t op = 0; op < OPS; op++) {
    const int32_t listed = api->op_listed(dev, op);
    if (listed != 0 && listed != 1)
      return refuse(VT_ABI, "it answers neither 0 nor 1 when asked whether it has an op");
  }
  return 1;
}

static int meet(uint32_t ordinal) {
  vt_backend_query_fn *query = load();
  if (query == NULL) return 0;
  const vt_bk_api *api = ask_table(query);
  if (api == NULL || !count(api, ordinal)) return 0;
  vt_bk_device *dev = open_device(api, ordinal);
  if (dev == NULL || !check_caps(api, dev) || !check_list(api, dev)) return 0;
  say("close\n");
  api->device_close(dev);
  return 1;
}

/* ---- this process ---- */

/* The host program's own descriptors are none of a plug-in's business. */
static void close_others(void) {
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
  close_others();
  (void)alarm(ALARM_S);
  (void)setrlimit(RLIMIT_CORE, &none); /* a crash here is expected and leaves no file */
  vt_fpenv_enter(&mine);
  const int good = meet((uint32_t)strtoul(argv[1], NULL, 10));
  const int kept = vt_fpenv_kept();
  vt_fpenv_leave(&mine);
  say("end\n");
  if (!good) return 1;
  if (!kept) return refuse(VT_ABI, "it changes the floating-point mode of its host") + 1;
  say("ok\n");
  return 0;
}
