/* SPDX-License-Identifier: Apache-2.0
 * op_test.h - shared by the tests of ops: views over memory in several layouts, a call of the
 * reference kernel by the op's number, and type rules written as text. The summation orders S
 * (s_f32, s_f64) and D (d_f32, d_f64; T is its last part) are restated on whole arrays. Nothing
 * uses the kernels' own helpers, so that an error in them cannot hide. Operands have any bits (of
 * every class, special values often) or ordinary ones (moderate numbers, so that sums stay
 * finite). Memory of views is held until free_held, at the end of a case. */
#ifndef VT_OP_TEST_H
#define VT_OP_TEST_H
#include <math.h>
#include <string.h>
#include "num_test.h"
#include "vt_op.h"

static uint64_t test_seed; /* seed of the case that is being tested, printed with each failure */

static inline void report_test_failure(const char *what, const char *detail) {
  vt_test_failed++;
  fprintf(stderr, "seed %llu: %s: %s\n", (unsigned long long)test_seed, what, detail);
}

/* ---- memory that is freed at the end of a test case ---- */

enum { MAX_HELD = 64 };
static struct held {
  void *p;
  size_t bytes;
} held[MAX_HELD];
static int n_held;

static inline void *hold_new_memory(size_t bytes) {
  void *p = n_held < MAX_HELD ? aligned_alloc(64, (bytes + 64) / 64 * 64) : NULL;
  if (p == NULL) {
    fprintf(stderr, "the test has no memory for a view\n");
    exit(1);
  }
  memset(p, 0xa5,
         bytes); /* check_gaps_unwritten looks for this pattern between the elements of a result */
  held[n_held++] = (struct held){p, bytes};
  return p;
}

static inline void free_held(void) {
  while (n_held > 0) free(held[--n_held].p);
}

static inline size_t held_bytes(const void *p) {
  for (int i = 0; i < n_held; i++)
    if (held[i].p == p) return held[i].bytes;
  return 0;
}

/* ---- views ---- */

/* Layouts: DENSE is row-major without gaps, GAPS is row-major with unused elements between the
 * elements, TRANSPOSED has the first axis innermost. */
enum { DENSE, GAPS, TRANSPOSED, LAYOUTS };

static inline vt_view view_new(uint32_t dtype, uint32_t rank, const int64_t *dim, int layout) {
  vt_view v = {.dtype = dtype, .rank = rank};
  int64_t next = layout == GAPS ? 3 : 1;
  for (uint32_t n = 0; n < rank; n++) {
    const uint32_t axis = layout == TRANSPOSED ? n : rank - 1 - n;
    v.dim[axis] = dim[axis];
    v.stride[axis] = next;
    next = next * (dim[axis] > 0 ? dim[axis] : 1) + (layout == GAPS ? 2 : 0);
  }
  v.data = hold_new_memory((size_t)next * vt_dtype_bytes(dtype));
  return v;
}

static inline int64_t count_of_view(const vt_view *v) {
  int64_t n = 1;
  for (uint32_t i = 0; i < v->rank; i++) n *= v->dim[i];
  return n;
}

/* The offset of element i in memory, counted in elements; i counts in row-major order. */
static inline int64_t element_offset(const vt_view *v, int64_t i) {
  int64_t at = 0;
  for (uint32_t axis = v->rank; axis-- > 0; i /= v->dim[axis])
    at += i % v->dim[axis] * v->stride[axis];
  return at;
}

static inline uint64_t get_bits(const vt_view *v, int64_t i) {
  const size_t size = vt_dtype_bytes(v->dtype);
  uint64_t bits = 0;
  memcpy(&bits, (const char *)v->data + element_offset(v, i) * (int64_t)size, size);
  return bits;
}

static inline void put_bits(const vt_view *v, int64_t i, uint64_t bits) {
  const size_t size = vt_dtype_bytes(v->dtype);
  memcpy((char *)v->data + element_offset(v, i) * (int64_t)size, &bits, size);
}

static inline float get_f32(const vt_view *v, int64_t i) {
  return vt_f32_from_bits((uint32_t)get_bits(v, i));
}

static inline double get_f64(const vt_view *v, int64_t i) {
  return vt_f64_from_bits(get_bits(v, i));
}

/* The number that the bits of an integer or bool element stand for. */
static inline int64_t integer_of(uint32_t dtype, uint64_t bits) {
  const unsigned width = (unsigned)vt_dtype_bytes(dtype) * 8;
  const uint64_t top = UINT64_C(1) << (width - 1);
  if (dtype == VT_DTYPE_U8 || dtype == VT_DTYPE_BOOL || width == 64) return (int64_t)bits;
  return (int64_t)((bits ^ top) - top);
}

/* The low bits of `bits`, as many as the type has. */
static inline uint64_t truncate_bits(uint32_t dtype, uint64_t bits) {
  const unsigned width = (unsigned)vt_dtype_bytes(dtype) * 8;
  return width == 64 ? bits : bits & ((UINT64_C(1) << width) - 1);
}

/* Returns the bits, or those of the canonical NaN if the bits are a NaN. */
static inline uint64_t canonicalize_nan(uint32_t dtype, uint64_t bits) {
  if (dtype == VT_DTYPE_F32 && (bits & 0x7fffffff) > 0x7f800000) return 0x7fc00000;
  if (dtype == VT_DTYPE_F16 && (bits & 0x7fff) > 0x7c00) return 0x7e00;
  if (dtype == VT_DTYPE_BF16 && (bits & 0x7fff) > 0x7f80) return 0x7fc0;
  if (dtype == VT_DTYPE_F64 && (bits & INT64_MAX) > UINT64_C(0x7ff0000000000000))
    return UINT64_C(0x7ff8000000000000);
  return bits;
}

/* Random bits of a type; its limits and special values occur often. */
static inline uint64_t any_bits(uint32_t dtype, uint64_t *state) {
  static const int64_t often[8] = {0, 1, -1, 2, INT64_MIN, INT64_MAX, -2, 3};
  const uint64_t r = random_u64(state);
  const unsigned width = (unsigned)vt_dtype_bytes(dtype) * 8;
  if (dtype == VT_DTYPE_F32) return vt_f32_bits(any_f32(state));
  if (dtype == VT_DTYPE_F64) return vt_f64_bits(any_f64(state));
  if (dtype == VT_DTYPE_BOOL) return r >> 63;
  if (r % 2 == 0) return truncate_bits(dtype, random_u64(state));
  const int64_t x = often[r >> 61];
  if (x == INT64_MIN) return UINT64_C(1) << (width - 1);
  return x == INT64_MAX ? (UINT64_C(1) << (width - 1)) - 1 : truncate_bits(dtype, (uint64_t)x);
}

static inline uint64_t ordinary_bits(uint32_t dtype, uint64_t *state) {
  if (dtype == VT_DTYPE_F32) return vt_f32_bits(ordinary_f32(state));
  if (dtype == VT_DTYPE_F64) return vt_f64_bits(ordinary_f64(state));
  return any_bits(dtype, state);
}

static inline vt_view fill_any(vt_view v, uint64_t *state) {
  const int64_t n = count_of_view(&v);
  for (int64_t i = 0; i < n; i++) put_bits(&v, i, any_bits(v.dtype, state));
  return v;
}

static inline vt_view fill_ordinary(vt_view v, uint64_t *state) {
  const int64_t n = count_of_view(&v);
  for (int64_t i = 0; i < n; i++) put_bits(&v, i, ordinary_bits(v.dtype, state));
  return v;
}

/* The bits of element i after x was broadcast to the shape of y. */
static inline uint64_t broadcast_bits(const vt_view *x, const vt_view *y, int64_t i) {
  int64_t at = 0, step = 1;
  for (uint32_t k = 1; k <= y->rank; k++) {
    const int64_t index = i % y->dim[y->rank - k];
    i /= y->dim[y->rank - k];
    if (k > x->rank) continue;
    const int64_t dim = x->dim[x->rank - k];
    at += (dim == 1 ? 0 : index) * step;
    step *= dim;
  }
  return get_bits(x, at);
}

/* ---- running an op ---- */

typedef struct run_result {
  vt_status status;
  vt_view out;       /* the first result */
  uint64_t position; /* with VT_RANGE: row-major position of the index out of range */
  int64_t value;     /* with VT_RANGE: the index that is out of range */
} run_result;

static inline uint64_t hash_bytes(const void *p, size_t n) {
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < n; i++) h = (h ^ ((const uint8_t *)p)[i]) * 1099511628211u;
  return h;
}

/* Reports a failure if memory between the elements of a view was written. */
static inline void check_gaps_unwritten(const char *name, const vt_view *v) {
  const size_t size = vt_dtype_bytes(v->dtype), bytes = held_bytes(v->data);
  uint8_t *mine = calloc(bytes + 1, 1);
  const int64_t n = count_of_view(v);
  for (int64_t i = 0; i < n; i++) memset(mine + (size_t)element_offset(v, i) * size, 1, size);
  for (size_t i = 0; i < bytes; i++)
    if (!mine[i] && ((const uint8_t *)v->data)[i] != 0xa5) {
      report_test_failure(name, "wrote between the elements of its result");
      break;
    }
  free(mine);
}

static inline vt_type type_of_view(const vt_view *v) {
  vt_type t = {.dtype = v->dtype, .rank = v->rank};
  memcpy(t.dim, v->dim, v->rank * sizeof *t.dim);
  return t;
}

static inline vt_status infer_type_of_views(const vt_op_info *op, const void *attrs,
                                            const vt_view *in, uint32_t n, vt_type *out) {
  vt_type types[8];
  vt_arena arena;
  vt_dims dims;
  vt_diag d = {0};
  vt_arena_init(&arena, vt_alloc_default());
  vt_dims_init(&dims, &arena);
  for (uint32_t i = 0; i < n; i++) types[i] = type_of_view(&in[i]);
  const vt_rule r = {.dims = &dims, .in = types, .n_in = n, .attrs = attrs};
  vt_type all[VT_MAX_RESULTS];
  uint32_t n_out;
  const vt_status s = vt_op_infer(op, &r, all, &n_out, &d);
  if (s == VT_OK) *out = all[0];
  vt_arena_done(&arena);
  return s;
}

/* Infers the type of an op's result, allocates the result in `layout`, runs the reference kernel,
 * and checks that the kernel wrote nothing but the result. If attrs is NULL, the defaults are used.
 */
static inline run_result run_op(uint32_t number, const void *attrs, const vt_view *in, uint32_t n,
                                int layout) {
  const vt_op_info *op = vt_op_get(number);
  const void *a = attrs == NULL ? op->attrs->defaults : attrs;
  vt_type type;
  run_result r = {.status = infer_type_of_views(op, a, in, n, &type)};
  if (r.status != VT_OK) return r;
  uint64_t before[8] = {0};
  for (uint32_t i = 0; i < n; i++) before[i] = hash_bytes(in[i].data, held_bytes(in[i].data));
  r.out = view_new(type.dtype, type.rank, type.dim, layout);
  vt_kernel k = {.in = in, .n_in = n, .out = &r.out, .attrs = a};
  if (op->work != NULL) k.work = hold_new_memory((size_t)op->work(in, n) + 1);
  r.status = op->kernel(&k);
  r.position = k.position;
  r.value = k.value;
  check_gaps_unwritten(op->name, &r.out);
  for (uint32_t i = 0; i < n; i++)
    if (before[i] != hash_bytes(in[i].data, held_bytes(in[i].data)))
      report_test_failure(op->name, "wrote into an operand");
  return r;
}

/* Checks that element i of y has the bits `want`; all NaNs count as equal. Returns 1 if it does. */
static inline int expect_bits(const char *name, const vt_view *y, int64_t i, uint64_t want) {
  const uint64_t got = get_bits(y, i);
  if (canonicalize_nan(y->dtype, got) == canonicalize_nan(y->dtype, want)) return 1;
  char detail[160];
  snprintf(detail, sizeof detail, "%s element %lld is %llx, expected %llx", vt_dtype_name(y->dtype),
           (long long)i, (unsigned long long)got, (unsigned long long)want);
  report_test_failure(name, detail);
  return 0;
}

/* ---- type rules as text ---- */

typedef struct rule_case {
  uint32_t op;
  const void *attrs; /* NULL for the defaults */
  const char *in;    /* operand types, "f32[B, 3*T]; f32[3]"; B, T and V are symbolic dimensions */
  const char *want;  /* the first result's type, or "!verify: words of the error message" */
} rule_case;

static inline int64_t parse_dim(vt_dims *dims, const char **s) {
  int64_t dim = 1;
  for (;;) {
    int64_t factor = 0;
    const char name[2] = {**s, 0};
    if (vt_dim_find(dims, name, &factor)) {
      ++*s;
    } else {
      char *end;
      factor = strtoll(*s, &end, 10);
      *s = end;
    }
    if (vt_dim_mul(dims, dim, factor, &dim, NULL) != VT_OK) report_test_failure("parse_dim", *s);
    if (**s != '*') return dim;
    ++*s;
  }
}

static inline uint32_t parse_types(vt_dims *dims, const char *s, vt_type *out) {
  uint32_t n = 0;
  for (; *s != 0; n++) {
    char name[8] = "";
    size_t length = strcspn(s, "[");
    memcpy(name, s, length < 7 ? length : 7);
    out[n] = (vt_type){.dtype = vt_dtype_find(name)};
    s += length + 1;
    while (*s != ']') {
      out[n].dim[out[n].rank++] = parse_dim(dims, &s);
      s += strspn(s, ", ");
    }
    s += 1 + strspn(s + 1, "; ");
  }
  return n;
}

static inline vt_status infer_rule_case(const rule_case *c, char got[VT_TYPE_TEXT], vt_diag *d) {
  const vt_op_info *op = vt_op_get(c->op);
  vt_arena arena;
  vt_dims dims;
  vt_type in[12] = {0}, out;
  int64_t unused = 0;
  vt_arena_init(&arena, vt_alloc_default());
  vt_dims_init(&dims, &arena);
  CHECK(vt_dim_declare(&dims, "B", &unused, NULL) == VT_OK);
  CHECK(vt_dim_declare(&dims, "T", &unused, NULL) == VT_OK);
  CHECK(vt_dim_declare(&dims, "V", &unused, NULL) == VT_OK);
  const vt_rule r = {.dims = &dims,
                     .in = in,
                     .n_in = parse_types(&dims, c->in, in),
                     .attrs = c->attrs == NULL ? op->attrs->defaults : c->attrs};
  vt_type all[VT_MAX_RESULTS];
  uint32_t n_out;
  memset(all, 0x5a, sizeof all);
  const vt_status s = vt_op_infer(op, &r, all, &n_out, d);
  out = all[0];
  if (s == VT_OK) {
    vt_type_text(&dims, &out, got);
    for (uint32_t i = out.rank; i < VT_MAX_RANK; i++) CHECK(out.dim[i] == 0);
  } else {
    CHECK(out.rank == 0x5a5a5a5a); /* types are written only on success */
    CHECK(d->code == s && d->text[0] != 0);
  }
  vt_arena_done(&arena);
  return s;
}

static inline void check_type_rules(const rule_case *c, size_t n) {
  for (; n-- > 0; c++) {
    char got[VT_TYPE_TEXT] = "", status[16] = "", message[700];
    vt_diag d = {0};
    const vt_status s = infer_rule_case(c, got, &d);
    int right = s == VT_OK && strcmp(got, c->want) == 0;
    if (c->want[0] == '!') {
      const char *words = strchr(c->want, ':') + 2;
      memcpy(status, c->want + 1, (size_t)(words - c->want) - 3);
      right = (int)s == vt_status_find(status) && strstr(d.text, words) != NULL;
    }
    if (right) continue;
    snprintf(message, sizeof message, "(%s): expected %s, got %s %s", c->in, c->want, got, d.text);
    report_test_failure(vt_op_get(c->op)->name, message);
  }
}
#define CHECK_RULES(cases) check_type_rules(cases, sizeof(cases) / sizeof *(cases))

/* Checks that an op whose operands have one dtype accepts exactly the dtypes of `listed`, which is
 * a text like "f32 f64 ". */
static inline void check_accepted_dtypes(uint32_t number, uint32_t n_in, const void *attrs,
                                         const char *listed) {
  for (uint32_t dtype = 1; dtype <= 9; dtype++) {
    char name[16], in[64] = "", got[VT_TYPE_TEXT];
    vt_diag d = {0};
    for (uint32_t i = 0; i < n_in; i++) {
      strcat(in, i == 0 ? "" : "; ");
      strcat(in, vt_dtype_name(dtype));
      strcat(in, "[2]");
    }
    snprintf(name, sizeof name, "%s ", vt_dtype_name(dtype));
    const char *at = strstr(listed, name);
    const int taken = at != NULL && (at == listed || at[-1] == ' ');
    const rule_case c = {number, attrs, in, ""};
    const vt_status s = infer_rule_case(&c, got, &d);
    if (s == (taken ? VT_OK : VT_VERIFY)) continue;
    report_test_failure(vt_op_get(number)->name, in);
  }
}

/* ---- the summation orders, restated ---- */

static inline float s_f32(const float *x, int64_t n) {
  if (n > 1024) {
    const int64_t chunks = (n + 1023) / 1024;
    float *p = malloc((size_t)chunks * sizeof *p);
    for (int64_t c = 0; c < chunks; c++)
      p[c] = s_f32(x + 1024 * c, c == chunks - 1 ? n - 1024 * c : 1024);
    const float r = s_f32(p, chunks);
    free(p);
    return r;
  }
  float s[32] = {0};
  for (int64_t i = 0; i < n; i++) s[i % 32] += x[i];
  for (int h = 16; h > 0; h /= 2)
    for (int l = 0; l < h; l++) s[l] += s[l + h];
  return s[0];
}

static inline double s_f64(const double *x, int64_t n) {
  if (n > 1024) {
    const int64_t chunks = (n + 1023) / 1024;
    double *p = malloc((size_t)chunks * sizeof *p);
    for (int64_t c = 0; c < chunks; c++)
      p[c] = s_f64(x + 1024 * c, c == chunks - 1 ? n - 1024 * c : 1024);
    const double r = s_f64(p, chunks);
    free(p);
    return r;
  }
  double s[32] = {0};
  for (int64_t i = 0; i < n; i++) s[i % 32] += x[i];
  for (int h = 16; h > 0; h /= 2)
    for (int l = 0; l < h; l++) s[l] += s[l + h];
  return s[0];
}

/* T adds up the sums of D's blocks: in groups of eight, and the sums of the groups again in groups
 * of eight, and so on. Each sum starts from +0. */
static inline float t_f32(const float *block_sums, int64_t n_blocks) {
  float q[64], t = 0;
  for (int64_t c = 0; n_blocks <= 8 && c < n_blocks; c++) t += block_sums[c];
  if (n_blocks <= 8) return t;
  for (int64_t g = 0; 8 * g < n_blocks; g++)
    q[g] = t_f32(block_sums + 8 * g, n_blocks - 8 * g < 8 ? n_blocks - 8 * g : 8);
  return t_f32(q, (n_blocks + 7) / 8);
}

static inline double t_f64(const double *block_sums, int64_t n_blocks) {
  double q[64], t = 0;
  for (int64_t c = 0; n_blocks <= 8 && c < n_blocks; c++) t += block_sums[c];
  if (n_blocks <= 8) return t;
  for (int64_t g = 0; 8 * g < n_blocks; g++)
    q[g] = t_f64(block_sums + 8 * g, n_blocks - 8 * g < 8 ? n_blocks - 8 * g : 8);
  return t_f64(q, (n_blocks + 7) / 8);
}

/* The dot product in order D of at most 512 blocks of 256. Products whose `present` is 0 are left
 * out; NULL means that all are present. */
static inline float d_f32(const float *a, const float *b, const uint8_t *present, int64_t n) {
  float p[512] = {0};
  for (int64_t k = 0; k < n; k++)
    if (present == NULL || present[k]) p[k / 256] = fmaf(a[k], b[k], p[k / 256]);
  return t_f32(p, (n + 255) / 256);
}

static inline double d_f64(const double *a, const double *b, const uint8_t *present, int64_t n) {
  double p[512] = {0};
  for (int64_t k = 0; k < n; k++)
    if (present == NULL || present[k]) p[k / 256] = fma(a[k], b[k], p[k / 256]);
  return t_f64(p, (n + 255) / 256);
}

/* 1 if a is above b in the total order of floats, in which NaN is above all and +0 is above -0. */
static inline int comes_above(double a, double b) {
  if (isnan(a) || isnan(b)) return isnan(a) && !isnan(b);
  if (a == 0 && b == 0) return signbit(b) && !signbit(a);
  return a > b;
}
#endif
