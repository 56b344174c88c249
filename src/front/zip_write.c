/* SPDX-License-Identifier: Apache-2.0
 * zip_write.c - appends the headers of a zip file with stored members to a text: the local header
 * before each member, the directory, and the end records. The bytes are those of numpy.savez, which
 * every reader of zip files accepts. */
#include <string.h>
#include "zip.h"

static void add_number_little_endian(vt_text *t, uint64_t v, int bytes) {
  for (int i = 0; i < bytes; i++) {
    const uint8_t b = (uint8_t)(v >> (8 * i));
    vt_text_add_bytes(t, &b, 1);
  }
}

/* This value of a field means that the real value is in the zip64 field. */
#define NOT_HERE UINT64_C(0xffffffff)
/* Limits above which zip64 is used, as in NumPy: CPython's zipfile treats sizes and positions as
 * signed. */
#define POSITION_MAX UINT64_C(0x7fffffff)
#define COUNT_MAX UINT64_C(0xffff)
enum { VERSION = 45, DATE = 0x21 /* 1 January 1980, the earliest date */, UTF8 = 0x800 };

static int is_ascii(const char *s) {
  while (*s != '\0' && (uint8_t)*s < 0x80) s++;
  return *s == '\0';
}

/* Appends the fields from version to CRC, which are equal in the local header and in the
 * directory. */
static void add_fields_version_to_crc(vt_text *t, const char *name, uint32_t crc) {
  add_number_little_endian(t, VERSION, 2);
  add_number_little_endian(t, is_ascii(name) ? 0 : UTF8, 2);
  add_number_little_endian(t, 0, 2); /* stored */
  add_number_little_endian(t, 0, 2);
  add_number_little_endian(t, DATE, 2);
  add_number_little_endian(t, crc, 4);
}

void vt_zip_add_local_header(vt_text *t, const char *name, const char *suffix, uint32_t crc,
                             uint64_t size) {
  vt_text_add_bytes(t, "PK\3\4", 4);
  add_fields_version_to_crc(t, name, crc);
  add_number_little_endian(t, NOT_HERE, 4);
  add_number_little_endian(t, NOT_HERE, 4);
  add_number_little_endian(t, strlen(name) + strlen(suffix), 2);
  add_number_little_endian(t, 20, 2);
  vt_text_add(t, "%s%s", name, suffix);
  add_number_little_endian(t, 1, 2);
  add_number_little_endian(t, 16, 2);
  add_number_little_endian(t, size, 8);
  add_number_little_endian(t, size, 8);
}

void vt_zip_add_directory_entry(vt_text *t, const char *name, const char *suffix, uint32_t crc,
                                uint64_t size, uint64_t header_position) {
  const int wide = size > POSITION_MAX, beyond = header_position > POSITION_MAX;
  const int field = (wide ? 16 : 0) + (beyond ? 8 : 0);
  vt_text_add_bytes(t, "PK\1\2", 4);
  add_number_little_endian(t, 3 << 8 | VERSION, 2); /* version, and 3 for "made on Unix" */
  add_fields_version_to_crc(t, name, crc);
  add_number_little_endian(t, wide ? NOT_HERE : size, 4);
  add_number_little_endian(t, wide ? NOT_HERE : size, 4);
  add_number_little_endian(t, strlen(name) + strlen(suffix), 2);
  add_number_little_endian(t, field != 0 ? (uint64_t)field + 4 : 0, 2);
  add_number_little_endian(t, 0, 2 + 2 + 2);
  add_number_little_endian(t, UINT64_C(0600) << 16, 4);
  add_number_little_endian(t, beyond ? NOT_HERE : header_position, 4);
  vt_text_add(t, "%s%s", name, suffix);
  if (field != 0)
    add_number_little_endian(t, 1, 2), add_number_little_endian(t, (uint64_t)field, 2);
  if (wide) add_number_little_endian(t, size, 8), add_number_little_endian(t, size, 8);
  if (beyond) add_number_little_endian(t, header_position, 8);
}

/* Appends the end records. The old end record contains the numbers that fit, even if there is a
 * zip64 end. */
void vt_zip_add_end_records(vt_text *t, uint64_t count, uint64_t directory_begin,
                            uint64_t directory_size) {
  if (count > COUNT_MAX || directory_begin > POSITION_MAX || directory_size > POSITION_MAX) {
    vt_text_add_bytes(t, "PK\6\6", 4);
    add_number_little_endian(t, 44, 8);
    add_number_little_endian(t, VERSION | VERSION << 16, 4);
    add_number_little_endian(t, 0, 8);
    add_number_little_endian(t, count, 8);
    add_number_little_endian(t, count, 8);
    add_number_little_endian(t, directory_size, 8);
    add_number_little_endian(t, directory_begin, 8);
    vt_text_add_bytes(t, "PK\6\7\0\0\0\0", 8);
    add_number_little_endian(t, directory_begin + directory_size, 8);
    add_number_little_endian(t, 1, 4);
  }
  vt_text_add_bytes(t, "PK\5\6\0\0\0\0", 8);
  add_number_little_endian(t, count < COUNT_MAX ? count : COUNT_MAX, 2);
  add_number_little_endian(t, count < COUNT_MAX ? count : COUNT_MAX, 2);
  add_number_little_endian(t, directory_size < NOT_HERE ? directory_size : NOT_HERE, 4);
  add_number_little_endian(t, directory_begin < NOT_HERE ? directory_begin : NOT_HERE, 4);
  add_number_little_endian(t, 0, 2);
}
