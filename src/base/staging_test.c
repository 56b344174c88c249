/* SPDX-License-Identifier: Apache-2.0
 * staging_test.c - tests staging folders: which are removed and which are not, how files and
 * folders get into place, and what is refused. */
#include "vt_staging.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "vt_test.h"

static char folder[] = "/tmp/volta-staging-XXXXXX";

static const char *path_of(const char *name) {
  static char path[16][512];
  static unsigned at;
  char *p = path[at++ % 16];
  snprintf(p, sizeof path[0], "%s/%s", folder, name);
  return p;
}

static int exists(const char *name) { return access(path_of(name), F_OK) == 0; }

static void write_in(int at, const char *name, const char *text) {
  const int fd = openat(at, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
  if (fd >= 0) close(fd);
}

static int has_text(const char *name, const char *text) {
  char found[64] = "";
  const int fd = open(path_of(name), O_RDONLY);
  const ssize_t n = fd >= 0 ? read(fd, found, sizeof found - 1) : -1;
  if (fd >= 0) close(fd);
  return n == (ssize_t)strlen(text) && memcmp(found, text, (size_t)n) == 0;
}

static int count_entries(void) {
  int n = 0;
  DIR *list = opendir(folder);
  if (list == NULL) exit(1);
  while (readdir(list) != NULL) n++;
  closedir(list);
  return n - 2;
}

static vt_staging open_staging(const char *name) {
  vt_staging s = {.parent = -1};
  vt_diag d = {.code = VT_OK};
  CHECK(vt_staging_open(path_of(name), &s, &d) == VT_OK);
  if (s.parent < 0) {
    fprintf(stderr, "%s\n", d.text);
    exit(1);
  }
  return s;
}

static void test_folder_and_file_get_into_place(void) {
  static const char *const texts[] = {"first", "second"};
  for (int i = 0; i < 2; i++) {
    vt_staging s = open_staging(i == 0 ? "net" : "net///"); /* slashes at the end are ignored */
    CHECK(s.exists == i && count_entries() == 1 + i);
    CHECK(mkdirat(s.folder, "inner", 0700) == 0);
    write_in(s.folder, "inner/a", texts[i]);
    CHECK(vt_staging_publish_folder(&s, NULL) == VT_OK);
    vt_staging_close(&s);
    vt_staging_close(&s); /* may be called twice */
    CHECK(has_text("net/inner/a", texts[i]) && count_entries() == 1);
  }
  for (int i = 0; i < 2; i++) {
    vt_staging s = open_staging("file");
    write_in(s.folder, "x", texts[i]);
    CHECK(vt_staging_publish_file(&s, "x", NULL) == VT_OK);
    vt_staging_close(&s);
    CHECK(has_text("file", texts[i]) && count_entries() == 2);
  }
  vt_staging s = open_staging("net"); /* a file does not replace a folder */
  write_in(s.folder, "x", "third");
  CHECK(vt_staging_publish_file(&s, "x", NULL) == VT_IO);
  vt_staging_close(&s);
  CHECK(has_text("net/inner/a", "second") && count_entries() == 2);
}

/* What a link names is replaced, not the link. */
static void test_link_is_followed(void) {
  CHECK(symlink("net", path_of("link")) == 0);
  vt_staging s = open_staging("link");
  write_in(s.folder, "b", "linked");
  CHECK(vt_staging_publish_folder(&s, NULL) == VT_OK);
  vt_staging_close(&s);
  struct stat st;
  CHECK(lstat(path_of("link"), &st) == 0 && S_ISLNK(st.st_mode));
  CHECK(has_text("net/b", "linked") && !exists("net/inner"));
  CHECK(unlink(path_of("link")) == 0);
}

static void test_only_abandoned_are_removed(void) {
  static const char *const kept[] = {".net.volta-notes", ".net.volta-", ".other.volta-1-1",
                                     "net.volta-1-1", ".net.volta-1-1.old"};
  const int n = (int)(sizeof kept / sizeof *kept);
  vt_staging lives = open_staging("net");
  const int before = count_entries();
  const pid_t pid = fork(); /* a process that ends without closing */
  if (pid == 0) {
    vt_staging s = open_staging("net");
    write_in(s.folder, "left", "left");
    _exit(mkdirat(s.folder, "inner", 0700) != 0 || vt_test_failed != 0);
  }
  int status = 1;
  while (waitpid(pid, &status, 0) < 0) continue;
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0 && count_entries() == before + 1);
  for (int i = 0; i < n; i++) CHECK(mkdir(path_of(kept[i]), 0700) == 0);
  CHECK(symlink("net", path_of(".net.volta-7-7")) == 0); /* not followed, and not a folder */
  vt_staging s = open_staging("net");
  CHECK(count_entries() == before + n + 2);
  for (int i = 0; i < n; i++) CHECK(exists(kept[i]) && rmdir(path_of(kept[i])) == 0);
  CHECK(exists(lives.name) && exists("net/b"));
  vt_staging_close(&s);
  vt_staging_close(&lives);
  CHECK(unlink(path_of(".net.volta-7-7")) == 0);
  CHECK(count_entries() == 2);
}

static void expect_refused(const char *path, vt_status want, const char *says) {
  vt_staging s;
  vt_diag d = {.code = VT_OK};
  const int ok = vt_staging_open(path, &s, &d) == want && strstr(d.text, says) != NULL;
  CHECK(ok);
  if (!ok) fprintf(stderr, "  %.40s: %s\n", path, d.text);
}

static void test_refused(void) {
  static char name[300];
  memset(name, 'a', sizeof name - 1);
  expect_refused("", VT_IO, "without a name");
  expect_refused("/", VT_IO, "name of its own");
  expect_refused(path_of("missing/net"), VT_IO, "No such file");
  expect_refused(path_of("file/net"), VT_IO, "Not a directory");
  name[240] = '\0';
  expect_refused(path_of(name), VT_LIMIT, "too long");
}

int main(void) {
  if (mkdtemp(folder) == NULL) return 1;
  test_folder_and_file_get_into_place();
  test_link_is_followed();
  test_only_abandoned_are_removed();
  test_refused();
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  CHECK(system(command) == 0);
  TEST_DONE();
}
