/* SPDX-License-Identifier: Apache-2.0
 * sealed_test.c - sealed bytes are those that the file had when it was read, and cannot change. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "vt_sealed.h"
#include "vt_test.h"

static char folder[] = "/tmp/volta-sealed-XXXXXX";
static char path[80];

static void write_file(const char *text, size_t n) {
  FILE *f = fopen(path, "wb");
  CHECK(f != NULL && fwrite(text, 1, n, f) == n && fclose(f) == 0);
}

static int is_hash_of(const vt_hash256 *a, const void *p, size_t n) {
  const vt_hash256 b = vt_hash_bytes(p, n);
  return memcmp(a->b, b.b, sizeof b.b) == 0;
}

static void test_sealed_bytes_cannot_change(void) {
  vt_sealed s;
  char through[VT_SEALED_PATH], read_back[16] = "";
  write_file("first", 5);
  CHECK(vt_sealed_read(path, 100, &s, NULL) == VT_OK);
  write_file("other content", 13);
  CHECK(s.size == 5 && s.fd >= 10 && is_hash_of(&s.hash, "first", 5));
  CHECK((fcntl(s.fd, F_GETFD) & FD_CLOEXEC) != 0);
  CHECK(pwrite(s.fd, "x", 1, 0) == -1 && errno == EPERM);
  CHECK(ftruncate(s.fd, 0) == -1 && errno == EPERM);
  vt_sealed_path(s.fd, through);
  const int fd = open(through, O_RDONLY | O_CLOEXEC);
  CHECK(fd >= 0 && read(fd, read_back, sizeof read_back) == 5 && strcmp(read_back, "first") == 0);
  close(fd);
  vt_sealed_close(&s);
  CHECK(s.fd == 0);
  vt_sealed_close(&s);
}

static void test_large_file(void) {
  const size_t n = 1000003;
  char *p = malloc(n);
  vt_sealed a, b;
  if (p == NULL) exit(1);
  for (size_t i = 0; i < n; i++) p[i] = (char)(i * 7 + i / 251);
  write_file(p, n);
  CHECK(vt_sealed_read(path, n, &a, NULL) == VT_OK &&
        vt_sealed_bytes(p, n, "x", &b, NULL) == VT_OK);
  CHECK(a.size == n && b.size == n && is_hash_of(&a.hash, p, n) && is_hash_of(&b.hash, p, n));
  vt_sealed_close(&a);
  vt_sealed_close(&b);
  free(p);
}

static vt_status status_of_refused_file(const char *what, uint64_t limit, const char *want) {
  vt_diag d = {0};
  vt_sealed s = {.fd = 77};
  const vt_status status = vt_sealed_read(what, limit, &s, &d);
  CHECK(s.fd == 77 && d.code == status && strstr(d.text, want) != NULL);
  return status;
}

static void test_refused_files(void) {
  char fifo[100];
  write_file("12345", 5);
  CHECK(status_of_refused_file(path, 4, "larger than 4 bytes") == VT_LIMIT);
  CHECK(status_of_refused_file(folder, 4, "a folder") == VT_IO);
  CHECK(status_of_refused_file("/dev/null", 4, "not a regular file") == VT_IO);
  CHECK(status_of_refused_file("/nonexistent/x", 4, "No such file") == VT_IO);
  snprintf(fifo, sizeof fifo, "%s/fifo", folder);
  CHECK(mkfifo(fifo, 0600) == 0 && status_of_refused_file(fifo, 4, "not a regular file") == VT_IO);
  unlink(fifo);
}

int main(void) {
  if (mkdtemp(folder) == NULL) return 1;
  snprintf(path, sizeof path, "%s/file", folder);
  test_sealed_bytes_cannot_change();
  test_large_file();
  test_refused_files();
  unlink(path);
  rmdir(folder);
  TEST_DONE();
}
