/* SPDX-License-Identifier: Apache-2.0
 * table.c - checks that a table has all of ABI version 1, before any function in it is called. It
 * checks the capabilities that a device states, too. */
#include <stdio.h>
#include <string.h>
#include "table.h"

/* Limits on what a backend states. Later minor versions append fields, but never up to LARGEST
 * bytes. */
enum { LARGEST = 4096, LONGEST_NAME = 60, LONGEST_PRINT = 200 };

/* The name of the first required function of version 1 that is missing, or NULL. */
static const char *missing_function(const vt_bk_api *api) {
#define OWED(field) \
  { #field, VT_BK_HAS(api, vt_bk_api, field) }
  const struct {
    const char *name;
    int present;
  } owed[] = {OWED(name),          OWED(device_count), OWED(device_open), OWED(device_close),
              OWED(capabilities),  OWED(op_listed),    OWED(step_check),  OWED(workspace),
              OWED(program_build), OWED(program_free), OWED(buffer_new),  OWED(buffer_free),
              OWED(copy),          OWED(run),          OWED(wait)};
#undef OWED
  for (size_t i = 0; i < sizeof owed / sizeof *owed; i++)
    if (!owed[i].present) return owed[i].name;
  return NULL;
}

const char *vt_table_find_fault(const vt_bk_api *api, char text[VT_TABLE_TEXT]) {
  if (api == NULL) return "it returns no table";
  const uint32_t size = api->size, major = api->abi_major;
  text[0] = 0;
  if (major != VT_BK_ABI_MAJOR)
    snprintf(text, VT_TABLE_TEXT, "it speaks version %u of the ABI, this is version %u", major,
             VT_BK_ABI_MAJOR);
  else if (size < offsetof(vt_bk_api, metrics)) /* `metrics` and later fields are optional */
    snprintf(text, VT_TABLE_TEXT, "its table has %u bytes, version %u has %zu", size,
             VT_BK_ABI_MAJOR, offsetof(vt_bk_api, metrics));
  else if (size > LARGEST || size % 8 != 0)
    snprintf(text, VT_TABLE_TEXT, "its table cannot have %u bytes, which it claims", size);
  else if (missing_function(api) != NULL)
    snprintf(text, VT_TABLE_TEXT, "its table has no %s", missing_function(api));
  else if (api->name[0] == 0 || strnlen(api->name, LONGEST_NAME + 1) > LONGEST_NAME)
    snprintf(text, VT_TABLE_TEXT, "its name is empty or longer than %d bytes", LONGEST_NAME);
  return text[0] != 0 ? text : NULL;
}

/* A fingerprint is printed as a line of every plan, so it must not have control characters. */
static int has_control_characters(const char *s) {
  for (; *s != 0; s++)
    if ((unsigned char)*s < ' ' || *s == 127) return 1;
  return 0;
}

const char *vt_caps_find_fault(const vt_bk_caps *caps, char text[VT_TABLE_TEXT]) {
  const uint32_t a = caps->alignment;
  const size_t least = offsetof(vt_bk_caps, fingerprint) + sizeof caps->fingerprint;
  text[0] = 0;
  if (caps->size < least || caps->size > LARGEST)
    snprintf(text, VT_TABLE_TEXT, "its capabilities cannot have %u bytes, which it claims",
             caps->size);
  else if (a == 0 || (a & (a - 1)) != 0 || a > VT_TABLE_ALIGNMENT)
    snprintf(text, VT_TABLE_TEXT,
             "it wants tensors aligned to %u bytes: 1, 2, 4, ... %d is possible", a,
             VT_TABLE_ALIGNMENT);
  else if (caps->about == NULL || caps->fingerprint == NULL)
    snprintf(text, VT_TABLE_TEXT, "it does not say what it is");
  else if (strnlen(caps->fingerprint, LONGEST_PRINT + 1) > LONGEST_PRINT)
    snprintf(text, VT_TABLE_TEXT, "its fingerprint is longer than %d bytes", LONGEST_PRINT);
  else if (has_control_characters(caps->fingerprint))
    snprintf(text, VT_TABLE_TEXT, "its fingerprint has control characters");
  return text[0] != 0 ? text : NULL;
}

void vt_caps_clear_unwritten(vt_bk_caps *caps) {
  const size_t n = caps->size;
  if (n < sizeof *caps) memset((char *)caps + n, 0, sizeof *caps - n);
}
