/* SPDX-License-Identifier: Apache-2.0
 * safetensors.c - many named tensors in one file.
 *
 *   0  u64 LE, length of the header   8  the header, a JSON object, padded with spaces
 *   then the data: {"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
 *
 * Offsets count from the end of the header. The tensors must tile the data: no overlap, no hole,
 * nothing after them; all of that is checked before memory for data is taken. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include "archive.h"
#include "vt_sort.h"
#include "vt_text.h"

enum { LENGTH_BYTES = 8, HEADER_LIMIT = 100 * 1024 * 1024 };

#define METADATA "__metadata__"

static const struct {
  const char *name;
  uint32_t dtype;
} types[] = {
    {"F32", VT_DTYPE_F32},   {"F64", VT_DTYPE_F64}, {"I8", VT_DTYPE_I8},
    {"U8", VT_DTYPE_U8},     {"I32", VT_DTYPE_I32}, {"I64", VT_DTYPE_I64},
    {"BOOL", VT_DTYPE_BOOL}, {"F16", VT_DTYPE_F16}, {"BF16", VT_DTYPE_BF16},
};
enum { TYPES = sizeof types / sizeof types[0] };

/* One tensor as the header describes it. */
typedef struct slot {
  const char *name;
  vt_tensor type;
  uint64_t begin, end; /* bytes into the data */
  uint64_t index;      /* place in the header */
} slot;

/* ---- one tensor of the header ---- */

/* The name as it may be shown; `q` is where it is put. */
static const char *shown(const slot *s, char q[VT_QUOTE_MAX]) {
  return vt_archive_quote(s->name, strlen(s->name), q);
}

/* The three members and no other. Duplicates were refused by the parser, so counting suffices once
 * every member is a known one. */
static vt_status check_members(const slot *s, json_t *o, vt_diag *d) {
  static const char *const known[] = {"dtype", "shape", "data_offsets"};
  char q[VT_QUOTE_MAX], k[VT_QUOTE_MAX];
  if (!json_is_object(o))
    return VT_FAIL(d, VT_FORMAT, "tensor '%s' is not described by a JSON object", shown(s, q));
  for (size_t i = 0; i < 3; i++)
    if (json_object_get(o, known[i]) == NULL)
      return VT_FAIL(d, VT_FORMAT, "tensor '%s' has no member '%s'", shown(s, q), known[i]);
  for (void *it = json_object_iter(o); it != NULL; it = json_object_iter_next(o, it)) {
    const char *key = json_object_iter_key(it);
    if (strcmp(key, known[0]) != 0 && strcmp(key, known[1]) != 0 && strcmp(key, known[2]) != 0)
      return VT_FAIL(d, VT_FORMAT, "tensor '%s' has an unknown member '%s'", shown(s, q),
                     vt_archive_quote(key, strlen(key), k));
  }
  return VT_OK;
}

static vt_status read_dtype(slot *s, const json_t *v, vt_diag *d) {
  char q[VT_QUOTE_MAX], k[VT_QUOTE_MAX];
  if (!json_is_string(v))
    return VT_FAIL(d, VT_FORMAT, "the dtype of tensor '%s' is not a string", shown(s, q));
  const char *name = json_string_value(v);
  for (size_t i = 0; i < TYPES; i++) {
    if (strcmp(types[i].name, name) != 0) continue;
    s->type.dtype = types[i].dtype;
    return VT_OK;
  }
  return VT_FAIL(d, VT_UNSUPPORTED, "the dtype '%s' of tensor '%s' is not supported",
                 vt_archive_quote(name, strlen(name), k), shown(s, q));
}

static vt_status read_whole(const slot *s, const char *what, const json_t *v, int64_t *out,
                            vt_diag *d) {
  char q[VT_QUOTE_MAX];
  if (!json_is_integer(v) || json_integer_value(v) < 0)
    return VT_FAIL(d, VT_FORMAT, "the %s of tensor '%s' holds what is not a whole number", what,
                   shown(s, q));
  *out = json_integer_value(v);
  return VT_OK;
}

static vt_status read_shape(slot *s, const json_t *v, vt_diag *d) {
  char q[VT_QUOTE_MAX];
  if (!json_is_array(v))
    return VT_FAIL(d, VT_FORMAT, "the shape of tensor '%s' is not an array", shown(s, q));
  const size_t rank = json_array_size(v);
  if (rank > VT_MAX_RANK)
    return VT_FAIL(d, VT_LIMIT, "tensor '%s' has rank %zu, more than %d", shown(s, q), rank,
                   VT_MAX_RANK);
  s->type.rank = (uint32_t)rank;
  for (size_t i = 0; i < rank; i++)
    VT_TRY(read_whole(s, "shape", json_array_get(v, i), &s->type.dim[i], d));
  return VT_OK;
}

static vt_status read_offsets(slot *s, const json_t *v, uint64_t data_size, vt_diag *d) {
  char q[VT_QUOTE_MAX];
  int64_t begin, end;
  if (!json_is_array(v) || json_array_size(v) != 2)
    return VT_FAIL(d, VT_FORMAT, "the data_offsets of tensor '%s' are not two numbers",
                   shown(s, q));
  VT_TRY(read_whole(s, "data_offsets", json_array_get(v, 0), &begin, d));
  VT_TRY(read_whole(s, "data_offsets", json_array_get(v, 1), &end, d));
  if (begin > end || (uint64_t)end > data_size)
    return VT_FAIL(d, VT_FORMAT,
                   "tensor '%s' lies at bytes %lld to %lld, outside the %llu bytes of data",
                   shown(s, q), (long long)begin, (long long)end, (unsigned long long)data_size);
  s->begin = (uint64_t)begin;
  s->end = (uint64_t)end;
  return VT_OK;
}

static vt_status read_slot(slot *s, json_t *o, uint64_t data_size, vt_diag *d) {
  char q[VT_QUOTE_MAX];
  uint64_t bytes;
  if (!vt_archive_name_ok(s->name))
    return VT_FAIL(d, VT_FORMAT, "'%s' cannot be a tensor's name", shown(s, q));
  VT_TRY(check_members(s, o, d));
  VT_TRY(read_dtype(s, json_object_get(o, "dtype"), d));
  VT_TRY(read_shape(s, json_object_get(o, "shape"), d));
  if (vt_tensor_bytes(&s->type, NULL, &bytes, NULL) != VT_OK)
    return VT_FAIL(d, VT_LIMIT, "tensor '%s' has more bytes than can be addressed", shown(s, q));
  VT_TRY(read_offsets(s, json_object_get(o, "data_offsets"), data_size, d));
  if (s->end - s->begin != bytes)
    return VT_FAIL(d, VT_FORMAT, "tensor '%s' has %llu bytes of data and a shape of %llu",
                   shown(s, q), (unsigned long long)(s->end - s->begin), (unsigned long long)bytes);
  return VT_OK;
}

/* ---- the header ---- */

/* Notes for people: checked, and not kept. */
static vt_status check_metadata(json_t *o, vt_diag *d) {
  char k[VT_QUOTE_MAX];
  if (!json_is_object(o)) return VT_FAIL(d, VT_FORMAT, "'" METADATA "' is not a JSON object");
  for (void *it = json_object_iter(o); it != NULL; it = json_object_iter_next(o, it)) {
    const char *key = json_object_iter_key(it);
    if (!json_is_string(json_object_iter_value(it)))
      return VT_FAIL(d, VT_FORMAT, "'%s' in '" METADATA "' is not a string",
                     vt_archive_quote(key, strlen(key), k));
  }
  return VT_OK;
}

static vt_status read_slots(json_t *root, uint64_t data_size, slot *slots, size_t *out_n,
                            vt_diag *d) {
  size_t n = 0;
  for (void *it = json_object_iter(root); it != NULL; it = json_object_iter_next(root, it)) {
    json_t *value = json_object_iter_value(it);
    const char *key = json_object_iter_key(it);
    if (strcmp(key, METADATA) == 0) {
      VT_TRY(check_metadata(value, d));
      continue;
    }
    slots[n] = (slot){.name = key, .index = n};
    VT_TRY(read_slot(&slots[n], value, data_size, d));
    n++;
  }
  *out_n = n;
  return VT_OK;
}

/* Where the data lies; an empty tensor comes before the one that begins at the same byte. */
static int by_offset(const void *a, const void *b, const void *context) {
  const slot *x = a, *y = b;
  (void)context;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  if (x->end != y->end) return x->end < y->end ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

static vt_status check_tiling(const slot *slots, size_t n, uint64_t data_size, vt_diag *d) {
  char q[VT_QUOTE_MAX];
  uint64_t at = 0;
  for (size_t i = 0; i < n; i++) {
    if (slots[i].begin != at)
      return VT_FAIL(
          d, VT_FORMAT,
          "%s before tensor '%s': the data before it ends at byte %llu and it begins at %llu",
          slots[i].begin < at ? "there is an overlap" : "there is a hole", shown(&slots[i], q),
          (unsigned long long)at, (unsigned long long)slots[i].begin);
    at = slots[i].end;
  }
  if (at != data_size)
    return VT_FAIL(d, VT_FORMAT, "the data goes on after the last tensor, at byte %llu of %llu",
                   (unsigned long long)at, (unsigned long long)data_size);
  return VT_OK;
}

/* The slots tile the data and are in order, so that it is read from its beginning to its end. */
static vt_status take_slots(vt_archive *ar, const slot *slots, size_t n, vt_stream *data,
                            vt_diag *d) {
  for (size_t i = 0; i < n; i++) {
    const slot *s = &slots[i];
    void *to;
    VT_TRY(vt_archive_add(ar, s->name, &s->type, &to, d));
    VT_TRY(vt_archive_fill(data, &s->type, to, s->end - s->begin, d));
  }
  return VT_OK;
}

static vt_status read_root(vt_archive *ar, json_t *root, vt_stream *data, vt_diag *d) {
  const uint64_t data_size = data->end - data->at;
  size_t count = 0;
  slot *slots = VT_NEW_N(&ar->arena, slot, json_object_size(root));
  if (slots == NULL) return VT_FAIL(d, VT_NOMEM, "no memory for the header of a safetensors file");
  VT_TRY(read_slots(root, data_size, slots, &count, d));
  if (vt_sort(slots, count, sizeof *slots, by_offset, NULL, ar->a) != VT_OK)
    return VT_FAIL(d, VT_NOMEM, "no memory to order the tensors of a safetensors file");
  VT_TRY(check_tiling(slots, count, data_size, d));
  return take_slots(ar, slots, count, data, d);
}

static vt_status json_refused(const json_error_t *e, vt_diag *d) {
  char q[VT_QUOTE_MAX];
  const enum json_error_code code = json_error_code(e);
  if (code == json_error_out_of_memory)
    return VT_FAIL(d, VT_NOMEM, "no memory for the header of a safetensors file");
  return VT_FAIL(d, code == json_error_numeric_overflow ? VT_LIMIT : VT_FORMAT,
                 "the safetensors header is wrong at byte %lld: %s",
                 (long long)e->position + LENGTH_BYTES,
                 vt_archive_quote(e->text, strlen(e->text), q));
}

static vt_status parse_header(vt_archive *ar, const char *text, size_t length, vt_stream *data,
                              vt_diag *d) {
  json_error_t error;
  json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
  if (root == NULL) return json_refused(&error, d);
  const vt_status s =
      json_is_object(root)
          ? read_root(ar, root, data, d)
          : VT_FAIL(d, VT_FORMAT, "the safetensors header at byte 8 is not a JSON object");
  json_decref(root);
  return s;
}

static vt_status read_length(vt_stream *s, uint64_t *out, vt_diag *d) {
  uint8_t p[LENGTH_BYTES];
  uint64_t length = 0;
  if (s->end < LENGTH_BYTES)
    return VT_FAIL(d, VT_FORMAT, "the safetensors file ends at byte %llu",
                   (unsigned long long)s->end);
  VT_TRY(vt_stream_read(s, p, LENGTH_BYTES, d));
  for (int i = 0; i < LENGTH_BYTES; i++) length |= (uint64_t)p[i] << (8 * i);
  if (length > s->end - LENGTH_BYTES)
    return VT_FAIL(
        d, VT_FORMAT,
        "the safetensors header at byte 8 is said to be %llu bytes long, but %llu are left",
        (unsigned long long)length, (unsigned long long)(s->end - LENGTH_BYTES));
  if (length > HEADER_LIMIT)
    return VT_FAIL(d, VT_LIMIT, "the safetensors header of %llu bytes is over the limit of %d",
                   (unsigned long long)length, HEADER_LIMIT);
  *out = length;
  return VT_OK;
}

vt_status vt_safetensors_parse(vt_archive *ar, const vt_source *src, vt_diag *d) {
  vt_stream s;
  uint64_t length = 0;
  ar->format = "safetensors";
  VT_TRY(vt_stream_open(src, 0, src->size, VT_STREAM_PLAIN, ar->a, &s, d));
  VT_TRY(read_length(&s, &length, d));
  const size_t held = (size_t)length + 1;
  char *text = vt_alloc_new(ar->a, held);
  if (text == NULL) return VT_FAIL(d, VT_NOMEM, "no memory for the header of a safetensors file");
  vt_status status = vt_stream_read(&s, text, length, d);
  if (status == VT_OK) status = parse_header(ar, text, (size_t)length, &s, d);
  vt_alloc_free(ar->a, text, held);
  return status;
}

/* ---- writing ---- */

/* Only these two need a backslash: a name has no control characters. */
static void print_name(vt_text *t, const char *name) {
  vt_text_add(t, "\"");
  for (const char *c = name; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\') vt_text_add(t, "\\");
    vt_text_bytes(t, c, 1);
  }
  vt_text_add(t, "\"");
}

static const char *type_name(uint32_t dtype) {
  for (size_t i = 0; i < TYPES; i++)
    if (types[i].dtype == dtype) return types[i].name;
  return NULL;
}

static void print_item(vt_text *t, const vt_item *x, uint64_t begin) {
  print_name(t, x->name);
  vt_text_add(t, ":{\"dtype\":\"%s\",\"shape\":[", type_name(x->tensor->dtype));
  for (uint32_t i = 0; i < x->tensor->rank; i++)
    vt_text_add(t, "%s%lld", i > 0 ? "," : "", (long long)x->tensor->dim[i]);
  vt_text_add(t, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)begin,
              (unsigned long long)(begin + x->bytes));
}

/* The length and the padded header. */
static vt_status print_header(vt_text *t, const vt_item *items, uint32_t n, vt_diag *d) {
  uint8_t length[LENGTH_BYTES] = {0};
  uint64_t at = 0;
  vt_text_bytes(t, length, sizeof length);
  vt_text_add(t, "{");
  for (uint32_t i = 0; i < n; i++) {
    if (i > 0) vt_text_add(t, ",");
    print_item(t, &items[i], at);
    if (!vt_size_add(at, items[i].bytes, &at) || at > VT_ARCHIVE_FILE_LIMIT)
      return VT_FAIL(d, VT_LIMIT, "the tensors are too large for one safetensors file");
  }
  vt_text_add(t, "}");
  while (vt_text_status(t) == VT_OK && t->n % 8 != 0) vt_text_bytes(t, " ", 1);
  if (vt_text_status(t) != VT_OK)
    return VT_FAIL(d, VT_NOMEM, "no memory for the header of a safetensors file");
  if (t->n - LENGTH_BYTES > HEADER_LIMIT)
    return VT_FAIL(d, VT_LIMIT, "the safetensors header is over the limit of %d bytes",
                   HEADER_LIMIT);
  for (int i = 0; i < LENGTH_BYTES; i++)
    t->s[i] = (char)((uint64_t)(t->n - LENGTH_BYTES) >> (8 * i) & 255);
  return VT_OK;
}

static vt_status put_items(const char *path, const vt_text *head, const vt_item *items, uint32_t n,
                           vt_diag *d) {
  vt_file_writer w;
  VT_TRY(vt_file_create(path, &w, d));
  vt_status s = vt_file_put(&w, head->s, head->n, d);
  for (uint32_t i = 0; i < n && s == VT_OK; i++)
    s = vt_archive_put(&w, items[i].tensor, items[i].bytes, d);
  if (s == VT_OK) s = vt_file_commit(&w, d);
  vt_file_abort(&w);
  return s;
}

vt_status vt_safetensors_write(const char *path, uint32_t n, const char *const *names,
                               const vt_tensor *tensors, vt_diag *d) {
  vt_arena arena;
  vt_text head;
  vt_arena_init(&arena, vt_alloc_default());
  vt_text_init(&head, vt_alloc_default());
  vt_item *items = VT_NEW_N(&arena, vt_item, n);
  vt_status s = items != NULL ? VT_OK : VT_FAIL(d, VT_NOMEM, "no memory to write tensors");
  if (s == VT_OK) s = vt_archive_items(n, names, tensors, METADATA, vt_alloc_default(), items, d);
  if (s == VT_OK) s = print_header(&head, items, n, d);
  if (s == VT_OK) s = put_items(path, &head, items, n, d);
  vt_text_done(&head);
  vt_arena_done(&arena);
  return s;
}
