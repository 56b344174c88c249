/* SPDX-License-Identifier: Apache-2.0
 * file_test.c - files are read completely or not at all, and written completely or not at all. */
#include "vt_file.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "vt_test.h"

static char folder[256];

/* Returns "folder/name" in one of four buffers that are used in turn. */
static const char *path_in_folder(const char *name) {
  static char path[4][512];
  static int next;
  next = (next + 1) % 4;
  (void)snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
  return path[next];
}

static int count_folder_entries(void) {
  int n = 0;
  DIR *dir = opendir(folder);
  if (dir == NULL) return -1;
  for (struct dirent *e; (e = readdir(dir)) != NULL;)
    n += e->d_name[0] != '.' || e->d_name[1] == 'v';
  closedir(dir);
  return n;
}

static vt_status write_all(const char *path, const void *p, size_t n, vt_diag *d) {
  vt_file_writer w;
  VT_TRY(vt_file_create(path, &w, d));
  VT_TRY(vt_file_write(&w, p, n / 2, d));
  VT_TRY(vt_file_write(&w, (const char *)p + n / 2, n - n / 2, d));
  return vt_file_commit(&w, d);
}

static int file_holds(const char *path, const void *p, size_t n) {
  vt_fault f = {0};
  vt_diag d = {0};
  vt_file file;
  if (vt_file_read(path, 1u << 30, vt_fault_alloc(&f), &file, &d) != VT_OK) return 0;
  const int same = file.size == n && memcmp(file.data, p, n) == 0 && file.data[n] == 0;
  vt_file_done(&file);
  return same && f.live == 0;
}

/* ---- reading ------------------------------------------------------------------------------ */

static void test_peek_reads_the_start(void) {
  char got[8];
  size_t n = 99;
  vt_diag d = {0};
  CHECK(write_all(path_in_folder("peek"), "abcdef", 6, &d) == VT_OK);
  memset(got, '.', sizeof got);
  CHECK(vt_file_peek(path_in_folder("peek"), got, 4, &n, &d) == VT_OK && n == 4);
  CHECK(memcmp(got, "abcd....", 8) == 0);
  CHECK(vt_file_peek(path_in_folder("peek"), got, 8, &n, &d) == VT_OK && n == 6);
  CHECK(memcmp(got, "abcdef..", 8) == 0);
  /* reads a file whose size is 0 although it has content */
  if (access("/proc/self/statm", R_OK) == 0)
    CHECK(vt_file_peek("/proc/self/statm", got, 8, &n, &d) == VT_OK && n > 0);
  n = 99;
  CHECK(vt_file_peek(path_in_folder("none"), got, 8, &n, &d) == VT_IO && n == 99);
  CHECK(strstr(d.text, "none") != NULL);
  d = (vt_diag){0};
  CHECK(vt_file_peek(folder, got, 8, &n, &d) == VT_IO && n == 99);
  CHECK(unlink(path_in_folder("peek")) == 0);
}

static vt_status status_of_read(const char *path, uint64_t limit, vt_diag *d) {
  vt_fault f = {0};
  vt_file file = {.size = 4711};
  *d = (vt_diag){0};
  const vt_status s = vt_file_read(path, limit, vt_fault_alloc(&f), &file, d);
  if (s == VT_OK)
    vt_file_done(&file);
  else
    CHECK(file.size == 4711 && file.data == NULL); /* outputs are unchanged on failure */
  CHECK(f.live == 0 && d->code == s);
  return s;
}

static void test_size_limits(void) {
  vt_diag d = {0};
  const char *path = path_in_folder("ten");
  CHECK(write_all(path, "0123456789", 10, &d) == VT_OK);
  CHECK(status_of_read(path, 10, &d) == VT_OK);
  CHECK(status_of_read(path, 9, &d) == VT_LIMIT && strstr(d.text, path) != NULL);
  CHECK(status_of_read(path, UINT64_MAX, &d) == VT_OK);
  const char *empty = path_in_folder("empty");
  CHECK(write_all(empty, "", 0, &d) == VT_OK);
  CHECK(status_of_read(empty, 0, &d) == VT_OK && file_holds(empty, "", 0));
}

/* A huge file is refused before memory is allocated. */
static void test_sparse_giant_is_refused(void) {
  vt_diag d = {0};
  const char *path = path_in_folder("giant");
  const int fd = open(path, O_CREAT | O_WRONLY, 0600);
  const int made = fd >= 0 && ftruncate(fd, (off_t)1 << 40) == 0;
  if (fd >= 0) close(fd);
  if (made) {
    vt_fault f = {0};
    vt_file file;
    CHECK(vt_file_read(path, 1u << 20, vt_fault_alloc(&f), &file, &d) == VT_LIMIT);
    CHECK(f.asked == 0);
  }
  (void)unlink(path);
}

static void test_irregular_files_are_refused(void) {
  vt_diag d;
  const char *fifo = path_in_folder("fifo");
  CHECK(mkfifo(fifo, 0600) == 0);
  alarm(20); /* a call that hangs makes the test fail instead of blocking all tests */
  CHECK(status_of_read(fifo, 100, &d) == VT_IO && strstr(d.text, "regular") != NULL);
  alarm(0);
  CHECK(unlink(fifo) == 0);
  CHECK(status_of_read(folder, 100, &d) == VT_IO);
  CHECK(status_of_read("/dev/zero", 100, &d) == VT_IO);
  CHECK(status_of_read(path_in_folder("absent"), 100, &d) == VT_IO);
  CHECK(strstr(d.text, "absent") != NULL && strstr(d.text, "No such file") != NULL);
  CHECK(status_of_read("", 100, &d) == VT_IO);
}

/* Kernel files with a wrong size (procfs reports 0 and has more, sysfs reports a page and has less)
 * stand in for files that grow or shrink while they are read. */
static void test_changed_size_is_refused(void) {
  static const char *const lying[] = {"/proc/self/status",
                                      "/sys/kernel/mm/transparent_hugepage/enabled"};
  for (int i = 0; i < 2; i++) {
    vt_diag d;
    if (access(lying[i], R_OK) != 0) continue;
    CHECK(status_of_read(lying[i], 1u << 20, &d) == VT_IO);
    CHECK(strstr(d.text, "changed its size") != NULL);
  }
}

/* A change that change_and_resize makes to the file. WRITE_AND_HIDE writes to the file and then
 * sets its time of writing back. */
typedef enum change { WRITE, WRITE_AND_HIDE, REPLACE, LEAVE } change;
typedef struct changer {
  change what;
  const char *path, *other;
} changer;

static const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

/* An allocator that changes the file: vt_file_read allocates after it has checked the size and
 * before it reads the content. */
static void *change_and_resize(void *user, void *p, size_t old_size, size_t new_size) {
  const changer *m = (const changer *)user;
  (void)old_size;
  if (new_size == 0) {
    free(p);
    return NULL;
  }
  if (m->what == REPLACE) CHECK(rename(m->other, m->path) == 0);
  if (m->what == WRITE || m->what == WRITE_AND_HIDE) {
    const int fd = open(m->path, O_WRONLY);
    CHECK(fd >= 0 && pwrite(fd, "new", 3, 0) == 3 && close(fd) == 0);
  }
  if (m->what == WRITE_AND_HIDE) CHECK(utimensat(AT_FDCWD, m->path, long_ago, 0) == 0);
  return realloc(p, new_size);
}

/* A file written to in place with the same size is refused, even if its time of writing was set
 * back. A file replaced by a rename, as our writers do, is read as it was when opened. */
static void test_same_size_change_is_refused(void) {
  static const vt_status want[] = {VT_IO, VT_IO, VT_OK, VT_OK};
  char path[512], other[512];
  snprintf(path, sizeof path, "%s", path_in_folder("same"));
  snprintf(other, sizeof other, "%s", path_in_folder("other"));
  for (change what = WRITE; what <= LEAVE; what++) {
    changer m = {what, path, other};
    vt_file f = {.data = NULL};
    vt_diag d = {0};
    CHECK(write_all(path, "old", 3, &d) == VT_OK && write_all(other, "new", 3, &d) == VT_OK);
    CHECK(utimensat(AT_FDCWD, path, long_ago, 0) == 0);
    /* Waits, because file times have a coarse resolution. */
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    const vt_status s =
        vt_file_read(path, 100, (vt_alloc){.user = &m, .resize = change_and_resize}, &f, &d);
    CHECK(s == want[what]);
    CHECK(s == VT_OK || strstr(d.text, "changed while it was read") != NULL);
    CHECK(s != VT_OK || memcmp(f.data, "old", 3) == 0);
    if (s == VT_OK) vt_file_done(&f);
  }
  CHECK(unlink(path) == 0 && unlink(other) == 0);
}

static void test_read_without_memory_fails(void) {
  vt_diag d = {0};
  vt_file file;
  vt_fault f = {.left = 1};
  const char *path = path_in_folder("ten");
  CHECK(vt_file_read(path, 100, vt_fault_alloc(&f), &file, &d) == VT_NOMEM);
  CHECK(f.live == 0 && f.asked == 1);
}

/* ---- writing ------------------------------------------------------------------------------ */

static void test_written_file_reads_back(void) {
  vt_diag d = {0};
  const char *path = path_in_folder("big");
  enum { N = 3000001 };
  unsigned char *p = malloc(N);
  for (size_t i = 0; i < N; i++) p[i] = (unsigned char)(i * 7 + i / 251);
  CHECK(write_all(path, p, N, &d) == VT_OK);
  CHECK(file_holds(path, p, N));
  free(p);
  CHECK(unlink(path) == 0);
}

/* Until commit the file has the old content, after it the new content, and no temporary file
 * remains. */
static void test_replace_on_commit(void) {
  vt_diag d = {0};
  vt_file_writer w;
  const char *path = path_in_folder("target");
  CHECK(write_all(path, "old", 3, &d) == VT_OK);
  const int before = count_folder_entries();
  CHECK(vt_file_create(path, &w, &d) == VT_OK);
  CHECK(vt_file_write(&w, "newer", 5, &d) == VT_OK);
  CHECK(file_holds(path, "old", 3) && count_folder_entries() == before + 1);
  CHECK(vt_file_commit(&w, &d) == VT_OK);
  CHECK(file_holds(path, "newer", 5) && count_folder_entries() == before);
  vt_file_abort(&w); /* abort does nothing after commit */
  CHECK(file_holds(path, "newer", 5));
  CHECK(vt_file_write(&w, "x", 1, &d) == VT_INTERNAL && d.code == VT_INTERNAL);
}

static void test_abort_keeps_old_file(void) {
  vt_diag d = {0};
  vt_file_writer w;
  const char *path = path_in_folder("aborted");
  const int before = count_folder_entries();
  CHECK(vt_file_create(path, &w, &d) == VT_OK);
  CHECK(vt_file_write(&w, "half", 4, &d) == VT_OK);
  vt_file_abort(&w);
  vt_file_abort(&w);
  CHECK(access(path, F_OK) != 0 && count_folder_entries() == before);
  CHECK(vt_file_commit(&w, &d) == VT_INTERNAL);
}

/* Two writers of one target use different temporary files. */
static void test_two_writers_do_not_interfere(void) {
  vt_diag d = {0};
  vt_file_writer a, b;
  const char *path = path_in_folder("shared");
  CHECK(vt_file_create(path, &a, &d) == VT_OK && vt_file_create(path, &b, &d) == VT_OK);
  CHECK(strcmp(a.temp, b.temp) != 0);
  CHECK(vt_file_write(&a, "first", 5, &d) == VT_OK && vt_file_write(&b, "2nd", 3, &d) == VT_OK);
  CHECK(vt_file_commit(&a, &d) == VT_OK && file_holds(path, "first", 5));
  CHECK(vt_file_commit(&b, &d) == VT_OK && file_holds(path, "2nd", 3));
}

static void expect_create_fails(const char *path, vt_status want) {
  vt_diag d = {0};
  vt_file_writer w;
  const int before = count_folder_entries();
  /* The writer begins with what an earlier use may have left in it: an open descriptor and the name
   * of a file. */
  memset(&w, 0, sizeof w);
  w.fd = dup(1);
  (void)snprintf(w.temp, sizeof w.temp, "%s", path_in_folder("ten"));
  const int innocent = w.fd;
  CHECK(vt_file_create(path, &w, &d) == want && d.code == want && d.text[0] != 0);
  CHECK(w.temp[0] == 0 && w.fd == -1);
  vt_file_abort(&w); /* must neither close the descriptor nor remove the file that were left in w */
  CHECK(count_folder_entries() == before && close(innocent) == 0);
}

static void test_refused_targets(void) {
  static char longer[5000];
  memset(longer, 'x', sizeof longer - 1);
  expect_create_fails(longer, VT_LIMIT);
  /* The path is short enough for our buffer, but its last part is too long for the system. */
  longer[4090] = 0;
  expect_create_fails(longer, VT_IO);
  for (int i = 0; i < 4090; i += 2) longer[i] = '.', longer[i + 1] = '/';
  /* The path is ./././f: it fits into the buffer, but the temporary name does not. */
  longer[4088] = 'f', longer[4089] = 0;
  expect_create_fails(longer, VT_LIMIT);
  expect_create_fails("", VT_IO);
  expect_create_fails("/dev/null", VT_IO);
  expect_create_fails(folder, VT_IO);
  expect_create_fails(path_in_folder("no/such/folder"), VT_IO);
  const char *fifo = path_in_folder("pipe");
  CHECK(mkfifo(fifo, 0600) == 0);
  expect_create_fails(fifo, VT_IO);
  struct stat st;
  CHECK(stat(fifo, &st) == 0 && S_ISFIFO(st.st_mode)); /* the fifo was not replaced */
  CHECK(unlink(fifo) == 0);
}

/* A limit on the size of files stands in for a disk that becomes full during a write. */
static void test_write_fails(void) {
  struct rlimit before, small;
  vt_diag d = {0};
  vt_file_writer w;
  static char block[100000];
  const char *path = path_in_folder("cut");
  CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
  small = before;
  small.rlim_cur = 65536;
  (void)signal(SIGXFSZ, SIG_IGN);
  const int was = count_folder_entries();
  CHECK(vt_file_create(path, &w, &d) == VT_OK);
  CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
  CHECK(vt_file_write(&w, block, sizeof block, &d) == VT_IO);
  CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(strstr(d.text, path) != NULL && count_folder_entries() == was && access(path, F_OK) != 0);
}

static void on_alarm(int signal_number) { (void)signal_number; }

/* Reads the pipe slowly in the child; returns 0 if all n bytes arrive in order. */
static int check_received_in_order(int fd, size_t n) {
  const struct timespec pause = {0, 2000000};
  static unsigned char block[65536];
  size_t at = 0;
  for (ssize_t r; (r = read(fd, block, sizeof block)) > 0;) {
    for (ssize_t i = 0; i < r; i++, at++)
      if (block[i] != (unsigned char)(at * 11 + at / 1000)) return 1;
    (void)nanosleep(&pause, NULL);
  }
  return at == n ? 0 : 1;
}

/* Writes that are interrupted or only partly done: the file is replaced by a slow pipe, and the
 * handler of a timer signal does not restart system calls. */
static void test_interrupted_write_is_complete(void) {
  enum { N = 4000000 };
  static unsigned char p[N];
  int ends[2], status = 1;
  vt_diag d = {0};
  vt_file_writer w;
  for (size_t i = 0; i < N; i++) p[i] = (unsigned char)(i * 11 + i / 1000);
  CHECK(vt_file_create(path_in_folder("slow"), &w, &d) == VT_OK && pipe(ends) == 0);
  CHECK(dup2(ends[1], w.fd) == w.fd && close(ends[1]) == 0);
  const pid_t child = fork();
  if (child == 0) {
    (void)close(w.fd);
    _exit(check_received_in_order(ends[0], N));
  }
  (void)close(ends[0]);
  const struct sigaction act = {.sa_handler = on_alarm};
  const struct itimerval often = {{0, 700}, {0, 700}}, off = {{0, 0}, {0, 0}};
  CHECK(sigaction(SIGALRM, &act, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
  CHECK(vt_file_write(&w, p, N, &d) == VT_OK);
  CHECK(setitimer(ITIMER_REAL, &off, NULL) == 0);
  vt_file_abort(&w);
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* The target becomes a folder between create and commit, so the rename fails and the temporary file
 * is removed. */
static void test_failed_commit_leaves_no_temp(void) {
  vt_diag d = {0};
  vt_file_writer w;
  const char *path = path_in_folder("late");
  CHECK(vt_file_create(path, &w, &d) == VT_OK);
  CHECK(mkdir(path, 0700) == 0);
  CHECK(vt_file_write(&w, "x", 1, &d) == VT_OK);
  CHECK(vt_file_commit(&w, &d) == VT_IO);
  CHECK(access(w.temp[0] != 0 ? w.temp : path, F_OK) == 0 && w.temp[0] == 0);
  CHECK(rmdir(path) == 0);
}

static void test_permissions_are_kept(void) {
  vt_diag d = {0};
  struct stat st;
  const char *path = path_in_folder("mode");
  const mode_t before = umask(027);
  CHECK(write_all(path, "x", 1, &d) == VT_OK);
  (void)umask(before);
  CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0640);
  CHECK(chmod(path, 0600) == 0 && write_all(path, "secret", 6, NULL) == VT_OK);
  /* The new file has the permissions of the old one. */
  CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
}

/* If the target is a link, the file behind it is replaced; a dangling link is replaced itself. */
static void test_file_behind_link_is_replaced(void) {
  vt_diag d = {0};
  struct stat st;
  const char *file = path_in_folder("behind"), *link = path_in_folder("link");
  CHECK(write_all(file, "old", 3, &d) == VT_OK && symlink("behind", link) == 0);
  CHECK(write_all(link, "new", 3, &d) == VT_OK);
  CHECK(lstat(link, &st) == 0 && S_ISLNK(st.st_mode) && file_holds(file, "new", 3));
  CHECK(unlink(file) == 0 && write_all(link, "own", 3, &d) == VT_OK);
  CHECK(lstat(link, &st) == 0 && S_ISREG(st.st_mode) && file_holds(link, "own", 3));
  CHECK(unlink(link) == 0 && access(file, F_OK) != 0);
}

/* ---- reading in parts ---------------------------------------------------------------------- */

static void test_source_reads_ranges(void) {
  vt_diag d = {0};
  vt_source s;
  char got[8] = {0};
  const char *path = path_in_folder("ten");
  CHECK(vt_source_open(path, 10, &s, &d) == VT_OK && s.size == 10);
  CHECK(vt_source_read(&s, 3, got, 4, &d) == VT_OK && memcmp(got, "3456", 4) == 0);
  CHECK(vt_source_read(&s, 10, got, 0, &d) == VT_OK);
  CHECK(vt_source_read(&s, 7, got, 4, NULL) == VT_INTERNAL);
  CHECK(vt_source_read(&s, UINT64_MAX, got, 2, NULL) == VT_INTERNAL);
  CHECK(vt_source_check_unchanged(&s, &d) == VT_OK);
  vt_source_close(&s);
  vt_source_close(&s);
  CHECK(vt_source_open(path, 9, &s, NULL) == VT_LIMIT);
  CHECK(vt_source_open("/dev/zero", 9, &s, NULL) == VT_IO);
  s = vt_source_from_memory("abc", 3);
  CHECK(vt_source_read(&s, 1, got, 2, &d) == VT_OK && memcmp(got, "bc", 2) == 0);
  CHECK(vt_source_check_unchanged(&s, &d) == VT_OK);
}

/* A range of a source is a source of its own, which outlives it; so is a range of a range. */
static void test_range_is_a_source(void) {
  vt_diag d = {0};
  vt_source whole, part, inner;
  char got[8] = {0};
  CHECK(vt_source_open(path_in_folder("ten"), 10, &whole, &d) == VT_OK);
  CHECK(vt_source_open_range(&whole, "part", 2, 9, &part, &d) == VT_OK && part.size == 7);
  CHECK(vt_source_open_range(&part, "inner", 3, 7, &inner, &d) == VT_OK && inner.size == 4);
  CHECK(vt_source_open_range(&part, "inner", 3, 8, &inner, NULL) == VT_INTERNAL);
  CHECK(vt_source_open_range(&part, "inner", 4, 3, &inner, NULL) == VT_INTERNAL);
  vt_source_close(&whole);
  CHECK(vt_source_read(&part, 1, got, 6, &d) == VT_OK && memcmp(got, "345678", 6) == 0);
  CHECK(vt_source_read(&part, 1, got, 7, NULL) == VT_INTERNAL); /* not past its end */
  vt_source_close(&part);
  CHECK(vt_source_read(&inner, 0, got, 4, &d) == VT_OK && memcmp(got, "5678", 4) == 0);
  CHECK(vt_source_check_unchanged(&inner, &d) == VT_OK);
  vt_source_close(&inner);
  whole = vt_source_from_memory("abcdef", 6);
  CHECK(vt_source_open_range(&whole, "part", 2, 5, &part, &d) == VT_OK && part.size == 3);
  CHECK(vt_source_read(&part, 1, got, 2, &d) == VT_OK && memcmp(got, "de", 2) == 0);
}

/* A file is opened in a folder; a symbolic link is not, even to a file in the same folder. */
static void test_source_opens_in_folder(void) {
  vt_diag d = {0};
  vt_source s;
  const int at = open(folder, O_RDONLY | O_DIRECTORY);
  CHECK(vt_source_open_in(at, "ten", "shown", 10, &s, &d) == VT_OK && s.size == 10);
  CHECK(strcmp(s.path, "shown") == 0);
  vt_source_close(&s);
  CHECK(symlink("ten", path_in_folder("link")) == 0);
  CHECK(vt_source_open_in(at, "link", "shown", 10, &s, &d) == VT_IO);
  CHECK(strcmp(d.text, "shown is a symbolic link, which is not followed here") == 0);
  CHECK(vt_source_open_in(at, "missing", "shown", 10, &s, NULL) == VT_IO);
  CHECK(unlink(path_in_folder("link")) == 0);
  close(at);
}

/* Bytes that were written before are written again. */
static void test_write_at(void) {
  vt_diag d = {0};
  vt_file_writer w;
  vt_source s;
  char got[8];
  const char *path = path_in_folder("again");
  CHECK(vt_file_create(path, &w, &d) == VT_OK && vt_file_write(&w, "abcdef", 6, &d) == VT_OK);
  CHECK(vt_file_write_at(&w, 1, "BC", 2, &d) == VT_OK && vt_file_write(&w, "g", 1, &d) == VT_OK);
  CHECK(vt_file_commit(&w, &d) == VT_OK);
  CHECK(vt_source_open(path, 10, &s, &d) == VT_OK && s.size == 7);
  CHECK(vt_source_read(&s, 0, got, 7, &d) == VT_OK && memcmp(got, "aBCdefg", 7) == 0);
  vt_source_close(&s);
  CHECK(vt_file_write_at(&w, 0, "x", 1, NULL) == VT_INTERNAL); /* it is closed */
  CHECK(unlink(path) == 0);
}

/* Reading fails when the file shrinks or is written to in place while it is open. */
static void test_changed_source_is_refused(void) {
  static char block[8192];
  const char *path = path_in_folder("moving");
  vt_diag d = {0};
  vt_source s;
  CHECK(write_all(path, block, sizeof block, &d) == VT_OK);
  CHECK(vt_source_open(path, 1u << 20, &s, &d) == VT_OK);
  CHECK(truncate(path, 100) == 0);
  CHECK(vt_source_read(&s, 4096, block, 4096, &d) == VT_IO);
  CHECK(strstr(d.text, "changed while it was read") != NULL);
  CHECK(vt_source_check_unchanged(&s, NULL) == VT_IO);
  vt_source_close(&s);
  CHECK(vt_source_open(path, 1u << 20, &s, NULL) == VT_OK);
  const struct timespec past[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
  CHECK(utimensat(AT_FDCWD, path, past, 0) == 0 && vt_source_check_unchanged(&s, NULL) == VT_IO);
  vt_source_close(&s);
  CHECK(unlink(path) == 0);
}

/* vt_file_create_in: an existing link of that name is replaced itself, and the file has the
 * requested permissions. */
static void test_create_in_folder(void) {
  static const char *const bad[] = {"", "a/b", "/etc/x"};
  vt_file_writer w;
  struct stat st;
  const mode_t old = umask(0);
  const int fd = open(folder, O_RDONLY | O_DIRECTORY);
  CHECK(fd >= 0 && write_all(path_in_folder("target"), "old", 3, NULL) == VT_OK);
  CHECK(symlink("target", path_in_folder("link")) == 0);
  CHECK(vt_file_create_in(fd, "link", 0600, &w, NULL) == VT_OK);
  CHECK(vt_file_write(&w, "new", 3, NULL) == VT_OK && vt_file_commit(&w, NULL) == VT_OK);
  CHECK(lstat(path_in_folder("link"), &st) == 0 && S_ISREG(st.st_mode) &&
        (st.st_mode & 0777) == 0600);
  CHECK(stat(path_in_folder("target"), &st) == 0 && st.st_size == 3);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    CHECK(vt_file_create_in(fd, bad[i], 0600, &w, NULL) == VT_IO);
    vt_file_abort(&w); /* abort does nothing, because no file was created */
  }
  CHECK(vt_file_create_in(fd, "gone", 0600, &w, NULL) == VT_OK);
  vt_file_abort(&w); /* abort removes the temporary file; remove_folder checks that none is left */
  CHECK(close(fd) == 0 && unlink(path_in_folder("link")) == 0);
  (void)umask(old);
}

static void remove_folder(void) {
  static const char *const names[] = {"ten", "empty", "target", "shared", "mode"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    (void)unlink(path_in_folder(names[i]));
  CHECK(rmdir(folder) == 0); /* fails if a temporary file was left behind */
}

int main(void) {
  const char *root = getenv("TMPDIR");
  (void)snprintf(folder, sizeof folder, "%.200s/volta-file-test-XXXXXX",
                 root != NULL ? root : "/tmp");
  if (mkdtemp(folder) == NULL) return fprintf(stderr, "file_test: SKIPPED: no folder\n"), 77;
  test_peek_reads_the_start();
  test_size_limits();
  test_sparse_giant_is_refused();
  test_irregular_files_are_refused();
  test_changed_size_is_refused();
  test_same_size_change_is_refused();
  test_read_without_memory_fails();
  test_written_file_reads_back();
  test_replace_on_commit();
  test_abort_keeps_old_file();
  test_two_writers_do_not_interfere();
  test_refused_targets();
  test_write_fails();
  test_interrupted_write_is_complete();
  test_failed_commit_leaves_no_temp();
  test_permissions_are_kept();
  test_file_behind_link_is_replaced();
  test_source_reads_ranges();
  test_range_is_a_source();
  test_source_opens_in_folder();
  test_write_at();
  test_changed_source_is_refused();
  test_create_in_folder();
  remove_folder();
  TEST_DONE();
}
