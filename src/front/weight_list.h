/* SPDX-License-Identifier: Apache-2.0
 * weight_list.h - declarations shared by the files that make a list of weights: the readers of
 * each format add their tensors, and the rules of a map rename them. Private to src/front. */
#ifndef VT_WEIGHT_LIST_H
#define VT_WEIGHT_LIST_H
#include "archive.h"
#include "vt_weight_files.h"

enum {
  VT_WEIGHT_FILES_MAX = 4096,         /* files of one list, which are all open at the same time */
  VT_INDEX_LIMIT = 100 * 1024 * 1024, /* bytes of an index */
  VT_MAP_LIMIT = 1024 * 1024,         /* bytes of a map */
  VT_MAP_RULES_MAX = 10000,
  VT_MAP_LINE_MAX = 1000,
  VT_MAP_STARS_MAX = 8, /* stars in one pattern */
};

/* Appends an entry, and copies its name, which is also its name_read. `count` and `bytes` are
 * computed. The list owns the elements in memory, if there are any, unless the call fails. */
vt_status vt_weight_list_add(vt_weight_list *l, const vt_weight_entry *e, vt_diag *d) VT_NODISCARD;

/* Append the tensors of file `file`, which is open; its header is read and checked. Messages do not
 * name the file. */
vt_status vt_safetensors_list(vt_weight_list *l, uint32_t file, vt_diag *d) VT_NODISCARD;
vt_status vt_npz_list(vt_weight_list *l, uint32_t file, vt_diag *d) VT_NODISCARD;

/* The formats that a list is made of. */
typedef enum vt_weight_format {
  VT_WEIGHTS_UNKNOWN,
  VT_WEIGHTS_SAFETENSORS,
  VT_WEIGHTS_NPZ,
  VT_WEIGHTS_INDEX
} vt_weight_format;
/* Recognises the format of a file by its first bytes. */
vt_status vt_weight_format_of(const vt_source *src, vt_weight_format *out, vt_diag *d) VT_NODISCARD;

/* Opens a file of the list and writes its index. */
vt_status vt_weight_list_add_file(vt_weight_list *l, const char *path, uint32_t *out_file,
                                  vt_diag *d) VT_NODISCARD;
/* Appends the tensors of file `file`, which must be safetensors or npz. Messages name the file. */
vt_status vt_weight_list_add_tensors(vt_weight_list *l, uint32_t file, vt_weight_format format,
                                     vt_diag *d) VT_NODISCARD;

/* Opens every shard that an index names, and appends their tensors. Each tensor must be in exactly
 * the shard that the index gives. Messages name the index or the shard. */
vt_status vt_weight_index_read(vt_weight_list *l, const vt_source *index, vt_diag *d) VT_NODISCARD;

/* Renames the entries by the rules of `map`, and drops those whose rule has no name. A malformed
 * rule is VT_FORMAT, and one that renames nothing VT_NAME; `d` has its line. */
vt_status vt_weight_list_rename(vt_weight_list *l, const char *map, vt_diag *d) VT_NODISCARD;

/* Reports a failure of a file again, with its path in front unless the message has it already. */
vt_status vt_weight_blame(const char *path, vt_status s, const vt_diag *why,
                          vt_diag *d) VT_NODISCARD;
/* Escape a name, or a path, for a message that quotes several, and cut it: a name at its end, a
 * path at its start. They return `out`. */
enum { VT_WEIGHT_QUOTE = 168 };
const char *vt_weight_quote(const char *name, char out[VT_WEIGHT_QUOTE]);
const char *vt_weight_quote_path(const char *path, char out[VT_WEIGHT_QUOTE]);
#endif
