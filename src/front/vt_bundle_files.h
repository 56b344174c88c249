/* SPDX-License-Identifier: Apache-2.0
 * vt_bundle_files.h - the files of a bundle: a folder, or a zip file whose members are stored, so
 * that each of them is a range of bytes of it. This file owns the manifest, the reading and
 * checking of the files, and their writing in one step; what is in a model or in a plan is the
 * business of others.
 *
 *   net.vtz or net/
 *     |- model.vt              the model in the text form
 *     |- weights.safetensors   its parameters
 *     |- state.safetensors     first values of its states; may be missing
 *     |- plans/<32 hex>.plan   plans, named by the hash of their key; may be missing
 *     `- manifest.json         size and BLAKE2b-256 of each other file, and what identifies them
 */
#ifndef VT_BUNDLE_FILES_H
#define VT_BUNDLE_FILES_H
#include "volta/volta_tools.h"
#include "vt_arena.h"
#include "vt_file.h"
#include "vt_hash.h"
#include "vt_staging.h"
#include "vt_text.h"

enum {
  VT_BUNDLE_FILES_MAX = 500,   /* files, which are all open at the same time */
  VT_BUNDLE_NAME_MAX = 100,    /* bytes of the name of a file */
  VT_BUNDLE_PAIRS_MAX = 10000, /* metadata, and digests */
  VT_BUNDLE_KEY_MAX = 1000,    /* bytes of the key of a pair */
  VT_BUNDLE_MANIFEST_LIMIT = 16 * 1024 * 1024,
};
#define VT_BUNDLE_MODEL "model.vt"
#define VT_BUNDLE_WEIGHTS "weights.safetensors"
#define VT_BUNDLE_STATE "state.safetensors"
#define VT_BUNDLE_PLANS "plans/"
#define VT_BUNDLE_MANIFEST "manifest.json"

/* ---- the manifest ---- */

typedef struct vt_bundle_file {
  const char *name;
  uint64_t size;
  vt_hash256 hash;     /* of the content */
  vt_source src;       /* the content, after the bundle was opened */
  uint32_t crc, found; /* CRC-32 in the directory of the zip; 1: the file is there */
} vt_bundle_file;

typedef struct vt_manifest {
  uint32_t numerics;                  /* numerics version that the digests are of */
  vt_hash256 model, weights;          /* hash of the model's graph, digest of the weights */
  vt_bundle_file *files;              /* in ascending order of their names */
  vt_bundle_pair *metadata, *digests; /* in ascending order of their keys */
  uint32_t n_files, n_metadata, n_digests;
} vt_manifest;

/* Parses the text of a manifest, which is changed, because strings are unescaped in place; the
 * lists are in `arena`. */
vt_status vt_manifest_parse(char *text, size_t n, vt_arena *arena, vt_manifest *out,
                            vt_diag *d) VT_NODISCARD;
/* Prints a manifest whose lists are sorted, with the members in ascending order of their names. */
void vt_manifest_print(const vt_manifest *m, vt_text *out);
/* Copies pairs to `arena` in ascending order of their keys. VT_USAGE for two equal keys, or for a
 * text that is not UTF-8 or too long. `what` is "metadata" or "digest"; the value of a digest must
 * be 64 hexadecimal digits, and is copied in lower case. */
vt_status vt_bundle_pairs_copy(const vt_bundle_pair *pairs, uint32_t n, const char *what,
                               vt_arena *arena, vt_bundle_pair **out, vt_diag *d) VT_NODISCARD;
/* 1 if a file of a bundle may have this name: letters, digits and _ - . in one part, or two with a
 * slash between them, that do not begin with a dot. */
int vt_bundle_name_ok(const char *name);

/* ---- reading ---- */

typedef struct vt_bundle_files {
  vt_alloc a;
  vt_arena arena;   /* owns the names and lists */
  const char *path; /* of the bundle */
  int is_zip;
  vt_manifest manifest;
  const char *text; /* of the manifest */
} vt_bundle_files;

/* Opens a bundle: reads the manifest, opens each file that it lists, and compares names and sizes.
 * The content of the files is not read. On failure nothing is left open. */
vt_status vt_bundle_files_open(const char *path, vt_alloc a, vt_bundle_files *out,
                               vt_diag *d) VT_NODISCARD;
void vt_bundle_files_close(vt_bundle_files *b);
/* The file of this name; NULL if it is not in the bundle. */
const vt_bundle_file *vt_bundle_files_find(const vt_bundle_files *b, const char *name);
/* Reads a whole file and checks its hash; more than `limit` bytes are VT_LIMIT. */
vt_status vt_bundle_files_read(const vt_bundle_files *b, const vt_bundle_file *f, uint64_t limit,
                               vt_file *out, vt_diag *d) VT_NODISCARD;
/* Checks the hash of a file without keeping its content. */
vt_status vt_bundle_files_check(const vt_bundle_files *b, const vt_bundle_file *f,
                                vt_diag *d) VT_NODISCARD;
/* Reads the tensors of a safetensors file. */
vt_status vt_bundle_files_read_tensors(const vt_bundle_files *b, const vt_bundle_file *f,
                                       vt_archive **out, vt_diag *d) VT_NODISCARD;

/* ---- writing ---- */

typedef struct vt_bundle_writer {
  vt_alloc a;
  vt_arena arena;
  vt_staging staging;
  int is_zip, plans;        /* descriptor of the folder of plans; -1 unless it was made */
  vt_file_writer file;      /* the current file, or the zip */
  vt_text local, directory; /* header of the current member, directory of the zip so far */
  uint64_t at;              /* bytes of the zip so far */
  vt_bundle_file *files;    /* the files so far */
  uint32_t n_files, cap_files, n_members;
  vt_bundle_file now; /* the current file */
  vt_hasher hasher;
} vt_bundle_writer;

/* Begins a bundle: a zip file if `path` ends in ".vtz", otherwise a folder. A folder that exists is
 * replaced if it is a bundle and has no other files; else it is VT_IO. The writer must be closed
 * after a failure too, unless opening failed. */
vt_status vt_bundle_writer_open(const char *path, vt_alloc a, vt_bundle_writer *out,
                                vt_diag *d) VT_NODISCARD;
/* Writes one file: begin, any number of adds, end. Names are added in any order, each once. */
vt_status vt_bundle_writer_begin(vt_bundle_writer *w, const char *name, vt_diag *d) VT_NODISCARD;
vt_status vt_bundle_writer_add(vt_bundle_writer *w, const void *p, size_t n,
                               vt_diag *d) VT_NODISCARD;
vt_status vt_bundle_writer_end(vt_bundle_writer *w, vt_diag *d) VT_NODISCARD;
/* Writes the manifest, whose list of files is filled in, and puts the bundle in place. */
vt_status vt_bundle_writer_commit(vt_bundle_writer *w, vt_manifest *m, vt_diag *d) VT_NODISCARD;
/* Removes what was not committed. */
void vt_bundle_writer_close(vt_bundle_writer *w);
/* Writes a safetensors file of the items in a bundle; `data` adds the data of item `i`. */
typedef vt_status vt_bundle_data_fn(void *user, vt_bundle_writer *w, uint32_t i, vt_diag *d);
vt_status vt_bundle_write_tensors(vt_bundle_writer *w, const char *name, uint32_t n,
                                  const char *const *names, const vt_tensor *tensors,
                                  vt_bundle_data_fn *data, void *user, vt_diag *d) VT_NODISCARD;
#endif
