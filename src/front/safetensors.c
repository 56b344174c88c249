/* SPDX-License-Identifier: Apache-2.0
 * safetensors.c - reads and writes safetensors, a format for many named tensors.
 *
 *   byte 0: length of the header, u64 LE   8: the header, a JSON object padded with spaces:
 *   {"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}; then the data
 *
 * Offsets count from the end of the header. The tensors must cover the data without overlap or
 * hole. All of that is checked before memory for data is allocated.
 *
 * A slot is a tensor as the header describes it; a note is a member of __metadata__. */
#include <stdio.h>
#include <string.h>
#include "archive.h"
#include "json.h"
#include "weight_list.h"
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

/* A tensor as the header describes it. */
typedef struct slot {
  const char *name;    /* points into the text of the header */
  vt_tensor type;      /* type and shape, without data */
  uint64_t begin, end; /* data_offsets: range of bytes in the data */
  uint64_t index;      /* position among the tensors of the header */
} slot;

typedef struct reader {
  vt_alloc a;
  vt_json json;       /* the header */
  size_t held;        /* bytes allocated for its text */
  uint64_t data_size; /* bytes after the header */
  vt_arena arena;     /* memory of the two lists below */
  slot *slots;        /* the tensors; their names are in the text */
  uint32_t count, cap;
  const char **notes; /* the names in __metadata__ */
  uint32_t note_count, note_cap;
  int has_notes; /* 1: the header has __metadata__ */
  vt_diag *d;
} reader;

static vt_status fail_no_memory(const reader *r) {
  return VT_FAIL(r->d, VT_NOMEM, "no memory for the header of a safetensors file");
}

/* ---- one tensor of the header ---- */

/* The tensor's name, escaped for a message; `q` holds the text. */
static const char *quoted_name(const slot *s, char q[VT_QUOTE_MAX]) {
  return vt_archive_escape(s->name, strlen(s->name), q);
}

static vt_status read_dtype(reader *r, slot *s) {
  char q[VT_QUOTE_MAX], k[VT_QUOTE_MAX];
  const char *name;
  if (vt_json_peek(&r->json) != '"')
    return VT_FAIL(r->d, VT_FORMAT, "the dtype of tensor '%s' is not a string", quoted_name(s, q));
  VT_TRY(vt_json_string(&r->json, &name));
  for (size_t i = 0; i < TYPES; i++) {
    if (strcmp(types[i].name, name) != 0) continue;
    s->type.dtype = types[i].dtype;
    return VT_OK;
  }
  return VT_FAIL(r->d, VT_UNSUPPORTED, "the dtype '%s' of tensor '%s' is not supported",
                 vt_archive_escape(name, strlen(name), k), quoted_name(s, q));
}

static vt_status read_whole_number(reader *r, const slot *s, const char *what, int64_t *out) {
  char q[VT_QUOTE_MAX];
  uint64_t v = 0;
  const vt_status status = vt_json_scan_whole(&r->json, INT64_MAX, &v);
  if (status == VT_LIMIT)
    return VT_FAIL(r->d, VT_LIMIT, "the %s of tensor '%s' holds a number beyond 2^63", what,
                   quoted_name(s, q));
  if (status != VT_OK)
    return VT_FAIL(r->d, VT_FORMAT, "the %s of tensor '%s' holds a non-integer", what,
                   quoted_name(s, q));
  *out = (int64_t)v;
  return VT_OK;
}

/* Reads an array of whole numbers. The first `room` of them are stored; *out_n counts all. */
static vt_status read_array(reader *r, const slot *s, const char *what, int64_t *out, size_t room,
                            size_t *out_n) {
  char q[VT_QUOTE_MAX];
  int another = 1;
  int64_t v = 0;
  size_t n = 0;
  if (!vt_json_accept(&r->json, '['))
    return VT_FAIL(r->d, VT_FORMAT, "the %s of tensor '%s' is not an array", what,
                   quoted_name(s, q));
  for (;; n++) {
    VT_TRY(vt_json_next(&r->json, ']', n, &another));
    if (!another) break;
    VT_TRY(read_whole_number(r, s, what, &v));
    if (n < room) out[n] = v;
  }
  *out_n = n;
  return VT_OK;
}

static vt_status read_shape(reader *r, slot *s) {
  char q[VT_QUOTE_MAX];
  size_t rank = 0;
  VT_TRY(read_array(r, s, "shape", s->type.dim, VT_MAX_RANK, &rank));
  if (rank > VT_MAX_RANK)
    return VT_FAIL(r->d, VT_LIMIT, "tensor '%s' has rank %zu, more than %d", quoted_name(s, q),
                   rank, VT_MAX_RANK);
  s->type.rank = (uint32_t)rank;
  return VT_OK;
}

static vt_status read_offsets(reader *r, slot *s) {
  char q[VT_QUOTE_MAX];
  int64_t v[2] = {0, 0};
  size_t n = 0;
  VT_TRY(read_array(r, s, "data_offsets", v, 2, &n));
  if (n != 2)
    return VT_FAIL(r->d, VT_FORMAT, "the data_offsets of tensor '%s' are not two numbers",
                   quoted_name(s, q));
  s->begin = (uint64_t)v[0];
  s->end = (uint64_t)v[1];
  return VT_OK;
}

static const struct {
  const char *name;
  vt_status (*read)(reader *r, slot *s);
} members[] = {{"dtype", read_dtype}, {"shape", read_shape}, {"data_offsets", read_offsets}};
enum { MEMBERS = sizeof members / sizeof members[0] };

static vt_status read_slot_member(reader *r, slot *s, unsigned *seen) {
  char q[VT_QUOTE_MAX], k[VT_QUOTE_MAX];
  const char *name;
  VT_TRY(vt_json_member(&r->json, &name));
  for (unsigned i = 0; i < MEMBERS; i++) {
    if (strcmp(members[i].name, name) != 0) continue;
    if ((*seen >> i & 1) != 0)
      return VT_FAIL(r->d, VT_FORMAT, "tensor '%s' has the member '%s' twice", quoted_name(s, q),
                     name);
    *seen |= 1u << i;
    return members[i].read(r, s);
  }
  return VT_FAIL(r->d, VT_FORMAT, "tensor '%s' has an unknown member '%s'", quoted_name(s, q),
                 vt_archive_escape(name, strlen(name), k));
}

/* Reads the object of a tensor: it must have each of the three members once, and no other. */
static vt_status read_slot_members(reader *r, slot *s) {
  char q[VT_QUOTE_MAX];
  unsigned seen = 0;
  int another = 1;
  if (!vt_json_accept(&r->json, '{'))
    return VT_FAIL(r->d, VT_FORMAT, "tensor '%s' is not described by a JSON object",
                   quoted_name(s, q));
  for (size_t n = 0;; n++) {
    VT_TRY(vt_json_next(&r->json, '}', n, &another));
    if (!another) break;
    VT_TRY(read_slot_member(r, s, &seen));
  }
  for (unsigned i = 0; i < MEMBERS; i++)
    if ((seen >> i & 1) == 0)
      return VT_FAIL(r->d, VT_FORMAT, "tensor '%s' has no member '%s'", quoted_name(s, q),
                     members[i].name);
  return VT_OK;
}

static vt_status check_slot_range(const reader *r, const slot *s) {
  char q[VT_QUOTE_MAX];
  uint64_t bytes;
  if (vt_tensor_bytes(&s->type, NULL, &bytes, NULL) != VT_OK)
    return VT_FAIL(r->d, VT_LIMIT, "tensor '%s' has more bytes than can be addressed",
                   quoted_name(s, q));
  if (s->begin > s->end || s->end > r->data_size)
    return VT_FAIL(r->d, VT_FORMAT,
                   "tensor '%s' is at bytes %llu to %llu, outside the %llu bytes of data",
                   quoted_name(s, q), (unsigned long long)s->begin, (unsigned long long)s->end,
                   (unsigned long long)r->data_size);
  if (s->end - s->begin != bytes)
    return VT_FAIL(r->d, VT_FORMAT, "tensor '%s' has %llu bytes of data and a shape of %llu",
                   quoted_name(s, q), (unsigned long long)(s->end - s->begin),
                   (unsigned long long)bytes);
  return VT_OK;
}

static vt_status read_slot(reader *r, const char *name) {
  char q[VT_QUOTE_MAX];
  slot s = {.name = name, .index = r->count};
  if (!vt_archive_name_ok(name))
    return VT_FAIL(r->d, VT_FORMAT, "'%s' cannot be a tensor's name", quoted_name(&s, q));
  VT_TRY(read_slot_members(r, &s));
  VT_TRY(check_slot_range(r, &s));
  slot *list = vt_arena_grow(&r->arena, r->slots, r->count, &r->cap, sizeof s);
  if (list == NULL) return fail_no_memory(r);
  list[r->count++] = s;
  r->slots = list;
  return VT_OK;
}

/* ---- the header ---- */

static vt_status read_note(reader *r) {
  char k[VT_QUOTE_MAX];
  const char *name, *value;
  VT_TRY(vt_json_member(&r->json, &name));
  if (vt_json_peek(&r->json) != '"')
    return VT_FAIL(r->d, VT_FORMAT, "'%s' in '" METADATA "' is not a string",
                   vt_archive_escape(name, strlen(name), k));
  VT_TRY(vt_json_string(&r->json, &value));
  const char **list =
      vt_arena_grow(&r->arena, r->notes, r->note_count, &r->note_cap, sizeof *r->notes);
  if (list == NULL) return fail_no_memory(r);
  list[r->note_count++] = name;
  r->notes = list;
  return VT_OK;
}

/* Reads __metadata__, notes for people: the syntax is checked, the values are dropped. */
static vt_status read_notes(reader *r) {
  int another = 1;
  if (r->has_notes) return VT_FAIL(r->d, VT_FORMAT, "the header has '" METADATA "' twice");
  r->has_notes = 1;
  if (!vt_json_accept(&r->json, '{'))
    return VT_FAIL(r->d, VT_FORMAT, "'" METADATA "' is not a JSON object");
  for (size_t n = 0;; n++) {
    VT_TRY(vt_json_next(&r->json, '}', n, &another));
    if (!another) return VT_OK;
    VT_TRY(read_note(r));
  }
}

static vt_status parse_header(reader *r) {
  const char *name;
  int another = 1;
  if (!vt_json_accept(&r->json, '{'))
    return VT_FAIL(r->d, VT_FORMAT, "the safetensors header at byte 8 is not a JSON object");
  for (size_t n = 0;; n++) {
    VT_TRY(vt_json_next(&r->json, '}', n, &another));
    if (!another) break;
    VT_TRY(vt_json_member(&r->json, &name));
    VT_TRY(strcmp(name, METADATA) == 0 ? read_notes(r) : read_slot(r, name));
  }
  return vt_json_end(&r->json);
}

/* ---- checks of all tensors ---- */

static int by_note_name(const void *a, const void *b, const void *context) {
  const char *const *x = a, *const *y = b;
  (void)context;
  return strcmp(*x, *y);
}

static int by_name(const void *a, const void *b, const void *context) {
  const slot *x = a, *y = b;
  (void)context;
  const int c = strcmp(x->name, y->name);
  return c != 0 ? c : x->index < y->index ? -1 : x->index > y->index;
}

static vt_status fail_repeated_name(const reader *r, const char *name) {
  char q[VT_QUOTE_MAX];
  return VT_FAIL(r->d, VT_FORMAT, "the safetensors header has '%s' twice",
                 vt_archive_escape(name, strlen(name), q));
}

static vt_status check_names(reader *r) {
  if (vt_sort(r->notes, r->note_count, sizeof *r->notes, by_note_name, NULL, r->a) != VT_OK ||
      vt_sort(r->slots, r->count, sizeof *r->slots, by_name, NULL, r->a) != VT_OK)
    return fail_no_memory(r);
  for (uint32_t i = 1; i < r->note_count; i++)
    if (strcmp(r->notes[i - 1], r->notes[i]) == 0) return fail_repeated_name(r, r->notes[i]);
  for (uint32_t i = 1; i < r->count; i++)
    if (strcmp(r->slots[i - 1].name, r->slots[i].name) == 0)
      return fail_repeated_name(r, r->slots[i].name);
  return VT_OK;
}

/* Order of tensors: by begin, then by end, so that an empty tensor precedes the one that begins at
 * the same byte. */
static int by_offset(const void *a, const void *b, const void *context) {
  const slot *x = a, *y = b;
  (void)context;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  if (x->end != y->end) return x->end < y->end ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

static vt_status check_coverage(const slot *slots, size_t n, uint64_t data_size, vt_diag *d) {
  char q[VT_QUOTE_MAX];
  uint64_t at = 0;
  for (size_t i = 0; i < n; i++) {
    if (slots[i].begin != at)
      return VT_FAIL(
          d, VT_FORMAT,
          "%s before tensor '%s': the data before it ends at byte %llu and it begins at %llu",
          slots[i].begin < at ? "there is an overlap" : "there is a hole",
          quoted_name(&slots[i], q), (unsigned long long)at, (unsigned long long)slots[i].begin);
    at = slots[i].end;
  }
  if (at != data_size)
    return VT_FAIL(d, VT_FORMAT, "the data goes on after the last tensor, at byte %llu of %llu",
                   (unsigned long long)at, (unsigned long long)data_size);
  return VT_OK;
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
    return VT_FAIL(d, VT_FORMAT,
                   "the safetensors header at byte 8 declares %llu bytes, but %llu are left",
                   (unsigned long long)length, (unsigned long long)(s->end - LENGTH_BYTES));
  if (length > HEADER_LIMIT)
    return VT_FAIL(d, VT_LIMIT, "the safetensors header of %llu bytes is over the limit of %d",
                   (unsigned long long)length, HEADER_LIMIT);
  *out = length;
  return VT_OK;
}

static vt_status read_text(reader *r, vt_stream *s, vt_diag *d) {
  uint64_t length = 0;
  VT_TRY(read_length(s, &length, d));
  r->data_size = s->end - s->at - length;
  r->held = (size_t)length + 1;
  char *text = vt_alloc_new(r->a, r->held);
  if (text == NULL) return fail_no_memory(r);
  r->json = (vt_json){.text = text,
                      .n = (size_t)length,
                      .offset = LENGTH_BYTES,
                      .name = "the safetensors header",
                      .d = d};
  return vt_stream_read(s, text, length, d);
}

static void reader_done(reader *r) {
  vt_alloc_free(r->a, r->json.text, r->held);
  vt_arena_done(&r->arena);
}

/* Reads and checks the whole header, after which the stream is at the data. The slots are in the
 * order of their data. reader_done must be called after a failure too. */
static vt_status read_header(reader *r, vt_stream *s, vt_alloc a, vt_diag *d) {
  *r = (reader){.a = a, .d = d};
  vt_arena_init(&r->arena, a);
  VT_TRY(read_text(r, s, d));
  VT_TRY(parse_header(r));
  VT_TRY(check_names(r));
  if (vt_sort(r->slots, r->count, sizeof *r->slots, by_offset, NULL, a) != VT_OK)
    return fail_no_memory(r);
  return check_coverage(r->slots, r->count, r->data_size, d);
}

/* ---- the tensors ---- */

/* Reads the data of all tensors. They cover it in order, so it is read sequentially. */
static vt_status read_data(vt_archive *ar, const reader *r, vt_stream *data, vt_diag *d) {
  for (uint32_t i = 0; i < r->count; i++) {
    const slot *s = &r->slots[i];
    void *to;
    VT_TRY(vt_archive_add(ar, s->name, &s->type, &to, d));
    VT_TRY(vt_archive_read_data(data, &s->type, to, s->end - s->begin, d));
  }
  return VT_OK;
}

vt_status vt_safetensors_parse(vt_archive *ar, const vt_source *src, vt_diag *d) {
  vt_stream s;
  reader r;
  ar->format = "safetensors";
  VT_TRY(vt_stream_open(src, 0, src->size, VT_STREAM_PLAIN, ar->a, &s, d));
  vt_status status = read_header(&r, &s, ar->a, d);
  if (status == VT_OK) status = read_data(ar, &r, &s, d);
  reader_done(&r);
  return status;
}

static vt_status list_slots(vt_weight_list *l, uint32_t file, const reader *r, uint64_t data,
                            vt_diag *d) {
  for (uint32_t i = 0; i < r->count; i++) {
    const slot *s = &r->slots[i];
    const vt_weight_entry e = {.name = s->name,
                               .tensor = s->type,
                               .file = file,
                               .begin = data + s->begin,
                               .end = data + s->end,
                               .packing = VT_STREAM_PLAIN};
    VT_TRY(vt_weight_list_add(l, &e, d));
  }
  return VT_OK;
}

vt_status vt_safetensors_list(vt_weight_list *l, uint32_t file, vt_diag *d) {
  const vt_source *src = &l->files[file].src;
  vt_stream s;
  reader r;
  VT_TRY(vt_stream_open(src, 0, src->size, VT_STREAM_PLAIN, l->a, &s, d));
  vt_status status = read_header(&r, &s, l->a, d);
  if (status == VT_OK) status = list_slots(l, file, &r, s.at, d);
  reader_done(&r);
  return status;
}

/* ---- writing ---- */

/* Prints a name as a JSON string. Only " and \ need a backslash, because names have no control
 * characters. */
static void print_json_name(vt_text *t, const char *name) {
  vt_text_add(t, "\"");
  for (const char *c = name; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\') vt_text_add(t, "\\");
    vt_text_add_bytes(t, c, 1);
  }
  vt_text_add(t, "\"");
}

static const char *header_type_name(uint32_t dtype) {
  for (size_t i = 0; i < TYPES; i++)
    if (types[i].dtype == dtype) return types[i].name;
  return NULL;
}

static void print_header_item(vt_text *t, const vt_item *x, uint64_t begin) {
  print_json_name(t, x->name);
  vt_text_add(t, ":{\"dtype\":\"%s\",\"shape\":[", header_type_name(x->tensor->dtype));
  for (uint32_t i = 0; i < x->tensor->rank; i++)
    vt_text_add(t, "%s%lld", i > 0 ? "," : "", (long long)x->tensor->dim[i]);
  vt_text_add(t, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)begin,
              (unsigned long long)(begin + x->bytes));
}

vt_status vt_safetensors_print_header(vt_text *t, const vt_item *items, uint32_t n, vt_diag *d) {
  uint8_t length[LENGTH_BYTES] = {0};
  uint64_t at = 0;
  vt_text_add_bytes(t, length, sizeof length);
  vt_text_add(t, "{");
  for (uint32_t i = 0; i < n; i++) {
    if (i > 0) vt_text_add(t, ",");
    print_header_item(t, &items[i], at);
    if (!vt_size_add(at, items[i].bytes, &at) || at > VT_ARCHIVE_FILE_LIMIT)
      return VT_FAIL(d, VT_LIMIT, "the tensors are too large for one safetensors file");
  }
  vt_text_add(t, "}");
  while (vt_text_status(t) == VT_OK && t->n % 8 != 0) vt_text_add_bytes(t, " ", 1);
  if (vt_text_status(t) != VT_OK)
    return VT_FAIL(d, VT_NOMEM, "no memory for the header of a safetensors file");
  if (t->n - LENGTH_BYTES > HEADER_LIMIT)
    return VT_FAIL(d, VT_LIMIT, "the safetensors header is over the limit of %d bytes",
                   HEADER_LIMIT);
  for (int i = 0; i < LENGTH_BYTES; i++)
    t->s[i] = (char)((uint64_t)(t->n - LENGTH_BYTES) >> (8 * i) & 255);
  return VT_OK;
}

static vt_status write_file(const char *path, const vt_text *head, const vt_item *items, uint32_t n,
                            vt_diag *d) {
  vt_file_writer w;
  VT_TRY(vt_file_create(path, &w, d));
  vt_status s = vt_file_write(&w, head->s, head->n, d);
  for (uint32_t i = 0; i < n && s == VT_OK; i++)
    s = vt_archive_write_data(&w, items[i].tensor, items[i].bytes, d);
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
  if (s == VT_OK)
    s = vt_archive_check_and_sort_items(n, names, tensors, METADATA, vt_alloc_default(), items, d);
  if (s == VT_OK) s = vt_safetensors_print_header(&head, items, n, d);
  if (s == VT_OK) s = write_file(path, &head, items, n, d);
  vt_text_done(&head);
  vt_arena_done(&arena);
  return s;
}
