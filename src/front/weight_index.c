/* SPDX-License-Identifier: Apache-2.0
 * weight_index.c - reads the index of a model that is published in several safetensors files, its
 * shards, and lists their tensors:
 *
 *   {"metadata": {...}, "weight_map": {"wte.weight": "model-00001-of-00002.safetensors", ...}}
 *
 * Members other than weight_map are skipped. The index must give each tensor the shard that has it:
 * one that gives another, or misses a tensor, belongs to another version of the model. A placement
 * is a member of weight_map. */
#include <string.h>
#include "json.h"
#include "vt_sort.h"
#include "weight_list.h"

typedef struct placement {
  const char *name, *shard; /* the tensor, and the name of its file; in the text of the index */
  uint32_t index, found;    /* position in the text; 1: the shard has the tensor */
} placement;

typedef struct reader {
  const vt_source *src; /* the index */
  vt_weight_list *list;
  vt_arena arena; /* memory of the placements */
  vt_json json;
  placement *placements;
  uint32_t count, cap;
  int has_map; /* 1: weight_map was read */
} reader;

static vt_status fail_no_memory(vt_diag *d) {
  return VT_FAIL(d, VT_NOMEM, "no memory for the index of weights");
}

/* ---- the text ---- */

/* A shard is a file in the folder of the index. A name with a folder in it could lead out of that
 * folder, so an index from outside could make the program read any file. */
static int is_file_name(const char *s) {
  return vt_archive_name_ok(s) && strchr(s, '/') == NULL && strchr(s, '\\') == NULL &&
         strcmp(s, ".") != 0 && strcmp(s, "..") != 0;
}

static vt_status read_placement(reader *r) {
  char q[VT_QUOTE_MAX], f[VT_QUOTE_MAX];
  placement p = {.index = r->count};
  vt_diag *d = r->json.d;
  VT_TRY(vt_json_member(&r->json, &p.name));
  vt_archive_escape(p.name, strlen(p.name), q);
  if (vt_json_peek(&r->json) != '"')
    return VT_FAIL(d, VT_FORMAT, "the file of tensor '%s' is not a string", q);
  VT_TRY(vt_json_string(&r->json, &p.shard));
  if (!is_file_name(p.shard))
    return VT_FAIL(d, VT_FORMAT,
                   "tensor '%s' is in '%s', which is not the name of a file in the folder of the "
                   "index",
                   q, vt_archive_escape(p.shard, strlen(p.shard), f));
  placement *list = vt_arena_grow(&r->arena, r->placements, r->count, &r->cap, sizeof p);
  if (list == NULL) return fail_no_memory(d);
  list[r->count++] = p;
  r->placements = list;
  return VT_OK;
}

static vt_status read_weight_map(reader *r) {
  int more = 1;
  if (r->has_map)
    return VT_FAIL(r->json.d, VT_FORMAT, "the index has the member 'weight_map' twice");
  r->has_map = 1;
  if (vt_json_peek(&r->json) != '{')
    return VT_FAIL(r->json.d, VT_FORMAT, "'weight_map' is not a JSON object");
  VT_TRY(vt_json_begin(&r->json, '{'));
  for (size_t i = 0;; i++) {
    VT_TRY(vt_json_next(&r->json, '}', i, &more));
    if (!more) return VT_OK;
    VT_TRY(read_placement(r));
  }
}

static vt_status read_index(reader *r) {
  const char *name;
  int more = 1;
  VT_TRY(vt_json_begin(&r->json, '{'));
  for (size_t i = 0;; i++) {
    VT_TRY(vt_json_next(&r->json, '}', i, &more));
    if (!more) break;
    VT_TRY(vt_json_member(&r->json, &name));
    VT_TRY(strcmp(name, "weight_map") == 0 ? read_weight_map(r) : vt_json_skip(&r->json));
  }
  VT_TRY(vt_json_end(&r->json));
  return r->has_map ? VT_OK : VT_FAIL(r->json.d, VT_FORMAT, "the index has no member 'weight_map'");
}

/* ---- the placements ---- */

static int by_name(const void *a, const void *b, const void *context) {
  (void)context;
  return strcmp(((const placement *)a)->name, ((const placement *)b)->name);
}

/* Order of shards, and in each the order of the tensors in the text. */
static int by_shard(const void *a, const void *b, const void *context) {
  const placement *const *x = a, *const *y = b;
  (void)context;
  const int c = strcmp((*x)->shard, (*y)->shard);
  return c != 0 ? c : (*x)->index < (*y)->index ? -1 : (*x)->index > (*y)->index;
}

static vt_status sort_placements(reader *r, vt_diag *d) {
  char q[VT_QUOTE_MAX];
  if (vt_sort(r->placements, r->count, sizeof *r->placements, by_name, NULL, r->list->a) != VT_OK)
    return fail_no_memory(d);
  for (uint32_t i = 1; i < r->count; i++)
    if (strcmp(r->placements[i - 1].name, r->placements[i].name) == 0)
      return VT_FAIL(d, VT_FORMAT, "the index has tensor '%s' twice",
                     vt_archive_escape(r->placements[i].name, strlen(r->placements[i].name), q));
  return VT_OK;
}

static placement *find_placement(const reader *r, const char *name) {
  uint32_t begin = 0, end = r->count;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    const int c = strcmp(name, r->placements[middle].name);
    if (c == 0) return &r->placements[middle];
    if (c < 0)
      end = middle;
    else
      begin = middle + 1;
  }
  return NULL;
}

/* ---- the shards ---- */

/* Checks that the index places the tensors of a shard, which were appended to the list from
 * `first`, into this shard. */
static vt_status check_shard(reader *r, const char *shard, uint32_t first, vt_diag *d) {
  char q[VT_WEIGHT_QUOTE], a[VT_WEIGHT_QUOTE], b[VT_WEIGHT_QUOTE];
  for (uint32_t i = first; i < r->list->n_entries; i++) {
    const char *name = r->list->entries[i].name;
    placement *p = find_placement(r, name);
    if (p == NULL)
      return VT_FAIL(d, VT_FORMAT, "'%s' has the tensor '%s', which the index does not have",
                     vt_weight_quote(shard, a), vt_weight_quote(name, q));
    if (strcmp(p->shard, shard) != 0)
      return VT_FAIL(d, VT_FORMAT, "tensor '%s' is in '%s', but the index says that it is in '%s'",
                     vt_weight_quote(name, q), vt_weight_quote(shard, a),
                     vt_weight_quote(p->shard, b));
    p->found = 1;
  }
  return VT_OK;
}

/* Joins the folder of the index and the name of a shard. */
static char *shard_path(reader *r, const char *shard) {
  const char *slash = strrchr(r->src->path, '/');
  const size_t folder = slash != NULL ? (size_t)(slash - r->src->path) + 1 : 0, n = strlen(shard);
  char *path = vt_arena_array(&r->arena, folder + n + 1, 1);
  if (path == NULL) return NULL;
  memcpy(path, r->src->path, folder);
  memcpy(path + folder, shard, n);
  return path;
}

static vt_status open_shard(reader *r, const char *shard, uint32_t *out_file, vt_diag *d) {
  const char *path = shard_path(r, shard);
  vt_diag why = {.code = VT_OK};
  if (path == NULL) return fail_no_memory(d);
  const vt_status s = vt_weight_list_add_file(r->list, path, out_file, &why);
  if (s != VT_IO) return s == VT_OK ? s : VT_FAIL(d, s, "%s", why.text);
  return VT_FAIL(d, s, "a shard that the index names is missing or unreadable: %s", why.text);
}

static vt_status read_shard(reader *r, const char *shard, vt_diag *d) {
  const uint32_t first = r->list->n_entries;
  char q[VT_WEIGHT_QUOTE];
  uint32_t file = 0;
  vt_weight_format format;
  VT_TRY(open_shard(r, shard, &file, d));
  VT_TRY(vt_weight_format_of(&r->list->files[file].src, &format, d));
  if (format == VT_WEIGHTS_INDEX || format == VT_WEIGHTS_NPZ)
    return VT_FAIL(d, VT_FORMAT, "the index names '%s', which is not a safetensors file",
                   vt_weight_quote(shard, q));
  VT_TRY(vt_weight_list_add_tensors(r->list, file, format, d));
  vt_diag why = {.code = VT_OK};
  const vt_status s = check_shard(r, shard, first, &why);
  return vt_weight_blame(r->src->path, s, &why, d);
}

static vt_status read_shards_in_order(reader *r, placement **order, vt_diag *d) {
  char q[VT_WEIGHT_QUOTE], path[VT_WEIGHT_QUOTE], f[VT_WEIGHT_QUOTE];
  for (uint32_t i = 0; i < r->count; i++) order[i] = &r->placements[i];
  if (vt_sort(order, r->count, sizeof *order, by_shard, NULL, r->list->a) != VT_OK)
    return fail_no_memory(d);
  for (uint32_t i = 0; i < r->count; i++)
    if (i == 0 || strcmp(order[i - 1]->shard, order[i]->shard) != 0)
      VT_TRY(read_shard(r, order[i]->shard, d));
  for (uint32_t i = 0; i < r->count; i++)
    if (!order[i]->found)
      return VT_FAIL(d, VT_FORMAT, "%s: '%s' does not have the tensor '%s'",
                     vt_weight_quote_path(r->src->path, path), vt_weight_quote(order[i]->shard, f),
                     vt_weight_quote(order[i]->name, q));
  return VT_OK;
}

static vt_status read_shards(reader *r, vt_diag *d) {
  placement **order = VT_NEW_N(&r->arena, placement *, r->count);
  return order != NULL ? read_shards_in_order(r, order, d) : fail_no_memory(d);
}

/* ---- the index ---- */

/* Reads the text and checks it by itself, before any shard is opened. */
static vt_status read_placements(reader *r, char *text, size_t n, vt_diag *d) {
  r->json = (vt_json){.text = text, .n = n, .name = "the index", .d = d};
  VT_TRY(vt_source_read(r->src, 0, text, n, d));
  VT_TRY(vt_source_check_unchanged(r->src, d));
  VT_TRY(read_index(r));
  return sort_placements(r, d);
}

static vt_status read_text_and_shards(reader *r, char *text, size_t n, vt_diag *d) {
  vt_diag why = {.code = VT_OK};
  const vt_status s = read_placements(r, text, n, &why);
  VT_TRY(vt_weight_blame(r->src->path, s, &why, d));
  return read_shards(r, d);
}

vt_status vt_weight_index_read(vt_weight_list *l, const vt_source *index, vt_diag *d) {
  char q[VT_WEIGHT_QUOTE];
  reader r = {.src = index, .list = l};
  if (index->size > VT_INDEX_LIMIT)
    return VT_FAIL(d, VT_LIMIT, "%s: the index of %llu bytes is over the limit of %d",
                   vt_weight_quote_path(index->path, q), (unsigned long long)index->size,
                   VT_INDEX_LIMIT);
  const size_t n = (size_t)index->size;
  char *text = vt_alloc_new(l->a, n + 1);
  if (text == NULL) return fail_no_memory(d);
  vt_arena_init(&r.arena, l->a);
  const vt_status s = read_text_and_shards(&r, text, n, d);
  vt_arena_done(&r.arena);
  vt_alloc_free(l->a, text, n + 1);
  return s;
}
