/* SPDX-License-Identifier: Apache-2.0
 * passes_test.c - no bit depends on which passes run. Models are generated at random by the draw_
 * functions, with several types and shapes, loops, conditions, common subexpressions, dead values,
 * constants, and operations that are identities or nearly so; their inputs have -0, NaN, infinities
 * and subnormals. Each model runs with all passes, with each pass left out, and with the passes in
 * other orders, on both devices of the reference, and must give one digest. The examples must too.
 * A sketch is a model that is being generated; a subject is a model with its expected digest.
 * passes_test SEED runs only the model of that seed. */
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include "num_test.h"
#include "volta/volta_tools.h"
#include "vt_pass.h"

/* ---- generating a model ---- */

enum { MOST_VALUES = 200, MOST_TEXT = 40000, ORDERS = 50 };
enum { SCALAR, ROW, TABLE, SHAPES }; /* shapes of values; each broadcasts to the next one */
static const char *const shape_text[SHAPES] = {"", "3", "2, 3"};
enum { F32, F64, I32, BOOL, TYPES };
static const char *const type_text[TYPES] = {"f32", "f64", "i32", "bool"};

/* A value of the generated model. */
typedef struct drawn {
  char name[12];
  int type, shape; /* indices of type_text and shape_text */
} drawn;
/* A model that is being generated. */
typedef struct sketch {
  char text[MOST_TEXT]; /* the model so far, of which `used` bytes are written */
  size_t used;
  drawn value[MOST_VALUES]; /* values that the next statement may read */
  int n;                    /* number of these values */
  int next;                 /* number in the next new name: v0, v1, ... */
  int depth;                /* number of bodies around the next statement */
  char last[400];           /* an earlier expression, which may be repeated for the pass cse */
  int last_type, last_shape;
  uint64_t state; /* state of the random generator */
} sketch;

static int draw_number_below(sketch *s, int n) { return (int)(random_u64(&s->state) >> 33) % n; }

static void append_text(sketch *s, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const int n = vsnprintf(s->text + s->used, MOST_TEXT - s->used, fmt, ap);
  va_end(ap);
  s->used += (size_t)n;
  if (s->used >= MOST_TEXT) exit(1);
}

/* Returns a random value of this type whose shape is `shape` or broadcasts to it, or NULL if there
 * is none. */
static const drawn *pick_value(sketch *s, int type, int shape) {
  for (int tries = 0; tries < 200; tries++) {
    const drawn *v = &s->value[draw_number_below(s, s->n)];
    if (v->type == type && (tries > 100 ? v->shape <= shape : v->shape == shape)) return v;
  }
  for (int i = s->n; i-- > 0;)
    if (s->value[i].type == type && s->value[i].shape <= shape) return &s->value[i];
  return NULL;
}

/* Adds a value that later statements may read. */
static void declare_value(sketch *s, const char *name, int type, int shape) {
  if (s->n == MOST_VALUES) return;
  drawn *v = &s->value[s->n++];
  snprintf(v->name, sizeof v->name, "%s", name);
  v->type = type;
  v->shape = shape;
}

/* Writes the statement "vN = expression" and declares its value. */
static void add_statement(sketch *s, int type, int shape, const char *fmt, ...) {
  char right[400], name[12];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(right, sizeof right, fmt, ap);
  va_end(ap);
  snprintf(name, sizeof name, "v%d", s->next++);
  append_text(s, "%s = %s\n", name, right);
  declare_value(s, name, type, shape);
  if (s->depth == 0 && draw_number_below(s, 2)) {
    memcpy(s->last, right, sizeof right);
    s->last_type = type;
    s->last_shape = shape;
  }
}

/* Returns a random literal with its type, as text. */
static const char *draw_literal(sketch *s, int type, char out[40]) {
  static const char *const real[] = {"1", "0", "-0.0", "2", "0.5", "-1.5", "inf", "nan", "1e-42"};
  static const char *const whole[] = {"1", "0", "-1", "2", "7", "-3"};
  if (type == BOOL) return draw_number_below(s, 2) ? "true" : "false";
  snprintf(out, 40, "%s(%s)", type_text[type],
           type == I32 ? whole[draw_number_below(s, 6)] : real[draw_number_below(s, 9)]);
  return out;
}

static void draw_constant(sketch *s) {
  char a[40], b[40];
  const int type = draw_number_below(s, 3), shape = draw_number_below(s, SHAPES);
  const char *x = draw_literal(s, type, a), *y = draw_literal(s, type, b);
  switch (draw_number_below(s, 6)) {
    case 0:
      add_statement(s, type, SCALAR, "%s", x);
      break;
    case 1:
      add_statement(s, type, SCALAR, "%s %c %s", x, "+-*/"[draw_number_below(s, 4)], y);
      break;
    case 2:
      add_statement(s, type, shape, "broadcast(%s, shape=[%s])", x, shape_text[shape]);
      break;
    case 3:
      add_statement(s, F32, ROW, "cast(iota(shape=[3]) / %d, dtype=f32)",
                    1 + draw_number_below(s, 3));
      break;
    case 4:
      add_statement(s, F32, shape, "random_%s(i64(%d), i64(0), shape=[%s])",
                    draw_number_below(s, 2) ? "uniform" : "normal", draw_number_below(s, 3),
                    shape_text[shape]);
      break;
    default:
      add_statement(s, type, TABLE, "broadcast(%s, shape=[2, 3]) - broadcast(%s, shape=[3])", x, y);
  }
}

/* Adds an operation that is an identity, or that only looks like one. */
static void draw_identity(sketch *s, const drawn *x) {
  static const char *const any[] = {"%s * %s(1)", "%s(1) * %s", "%s / %s(1)", "%s - %s(0)",
                                    "%s + %s(0)", "%s(0) - %s", "%s * %s(0)"};
  const char *t = type_text[x->type];
  const int which = draw_number_below(s, 3) ? draw_number_below(s, 7) : 4,
            swapped = which == 1 || which == 5;
  char text[80];
  if (x->type == BOOL) {
    static const char *const bits[] = {"not(not(%s))", "and(%s, true)", "or(%s, false)",
                                       "and(false, %s)", "xor(%s, false)"};
    snprintf(text, sizeof text, bits[draw_number_below(s, 5)], x->name);
  } else if (x->type != I32 && draw_number_below(s, 3) == 0) {
    snprintf(text, sizeof text, draw_number_below(s, 2) ? "%s + %s(-0.0)" : "%s - %s(-0.0)",
             x->name, t);
  } else {
    snprintf(text, sizeof text, any[which], swapped ? t : x->name, swapped ? x->name : t);
  }
  add_statement(s, x->type, x->shape, "%s", text);
}

/* Moves elements by two permutations that do not commute, so that a pass must keep their order. */
#define TRANSPOSED_TWICE                                                      \
  "reshape(transpose(transpose(reshape(%s, shape=[3, 1, 2]), perm=[1, 2, 0])" \
  ", perm=[1, 0, 2]), shape=[2, 3])"

static void draw_data_movement(sketch *s, const drawn *x) {
  static const char *const table[] = {
      "reshape(reshape(%s, shape=[6]), shape=[2, 3])",
      "transpose(transpose(%s, perm=[1, 0]), perm=[1, 0])",
      "transpose(reshape(%s, shape=[3, 2]), perm=[1, 0])",
      "broadcast(%s, shape=[2, 3])",
      "slice(%s, start=[0, 0], stop=[2, 3])",
      "concat(slice(%s, start=[1, 0], stop=[2, 3]), broadcast(%s, shape=[1, 3]), axis=0)",
      "reshape(%s, shape=[2, 3])",
      "flip(%s, axes=[1])",
      TRANSPOSED_TWICE,
  };
  /* Orders of axes in the results of two equations with the same operands. */
  static const char *const order[] = {"abc", "acb", "bca", "cba"};
  const drawn *row = pick_value(s, x->type, ROW);
  if (x->shape == TABLE && x->type <= F64 && draw_number_below(s, 4) == 0) {
    const int first = draw_number_below(s, 4);
    for (int k = 0; k < 2; k++)
      add_statement(s, x->type, TABLE,
                    "reshape(einsum(%s, reshape(%s, shape=[1, 2, 3]), equation=\"bc, abc -> %s\"), "
                    "shape=[2, 3])",
                    x->name, x->name, order[(first + k) % 4]);
  } else if (x->shape == TABLE && row != NULL) {
    add_statement(s, x->type, TABLE, table[draw_number_below(s, 9)], x->name, row->name);
  } else {
    const int shape = x->shape + draw_number_below(s, SHAPES - x->shape);
    add_statement(s, x->type, shape, "broadcast(broadcast(%s, shape=[%s]), shape=[%s])", x->name,
                  shape_text[x->shape], shape_text[shape]);
  }
}

static void draw_unary(sketch *s, const drawn *x) {
  static const char *const f32[] = {"exp",  "tanh", "sigmoid",  "neg",    "abs",  "relu",
                                    "gelu", "silu", "softplus", "square", "sqrt", "neg"};
  static const char *const f64[] = {"neg", "abs", "sqrt", "square"};
  static const char *const i32[] = {"neg", "abs", "not", "sign"};
  const char *f = x->type == F32    ? f32[draw_number_below(s, 12)]
                  : x->type == F64  ? f64[draw_number_below(s, 4)]
                  : x->type == BOOL ? "not"
                                    : i32[draw_number_below(s, 4)];
  if (draw_number_below(s, 4) == 0 && x->type != BOOL) {
    add_statement(s, x->type, x->shape, "neg(neg(%s))", x->name);
  } else {
    add_statement(s, x->type, x->shape, "%s(%s)", f, x->name);
  }
}

static void draw_binary(sketch *s, const drawn *x) {
  const drawn *y = pick_value(s, x->type, draw_number_below(s, SHAPES)),
              *p = pick_value(s, BOOL, x->shape);
  if (y == NULL) return;
  const int shape = x->shape > y->shape ? x->shape : y->shape;
  const char *a = x->name, *b = y->name;
  if (x->type == BOOL) {
    add_statement(s, BOOL, shape, "%s(%s, %s)", draw_number_below(s, 2) ? "and" : "or", a,
                  draw_number_below(s, 4) == 0 && x->shape == shape ? a : b);
    return;
  }
  switch (draw_number_below(s, 5)) {
    case 0:
      add_statement(s, x->type, shape, "%s(%s, %s)",
                    draw_number_below(s, 2) ? "maximum" : "minimum", a,
                    draw_number_below(s, 2) && x->shape == shape ? a : b);
      break;
    case 1:
      add_statement(s, BOOL, shape, "%s %s %s", a, draw_number_below(s, 2) ? "<" : "==", b);
      break;
    case 2:
      if (p == NULL) break;
      add_statement(s, x->type, shape, "select(%s, %s, %s)",
                    draw_number_below(s, 3)   ? p->name
                    : draw_number_below(s, 2) ? "true"
                                              : "false",
                    a, draw_number_below(s, 2) && x->shape == shape ? a : b);
      break;
    default:
      add_statement(s, x->type, shape, "%s %c %s", a, "+-*/"[draw_number_below(s, 4)], b);
  }
}

/* Adds a reduction, a matrix product, a composition, a cast or an op with several results. */
static void draw_other_op(sketch *s, const drawn *x) {
  static const char *const f32[] = {"matmul(%s, w)", "softmax(%s)", "layer_norm(%s)",
                                    "linear(%s, w, b)"};
  const int to = draw_number_below(s, 3), which = draw_number_below(s, 4);
  if (draw_number_below(s, 3) == 0 && x->type != BOOL) {
    add_statement(s, to, x->shape, "cast(%s, dtype=%s)", x->name, type_text[to]);
  } else if (x->type == F32 && x->shape == TABLE) {
    add_statement(s, F32, TABLE, f32[which], x->name);
  } else if (x->shape == TABLE && x->type != BOOL) {
    add_statement(s, x->type, ROW, "%s(%s, axes=[0])", draw_number_below(s, 2) ? "sum" : "max",
                  x->name);
  } else if (x->shape == ROW && x->type == F32) {
    char name[12];
    snprintf(name, sizeof name, "v%d", s->next++);
    append_text(s, "%s, _ = sort(%s)\n", name, x->name);
    declare_value(s, name, F32, ROW);
  } else if (x->type == BOOL) {
    add_statement(s, BOOL, SCALAR, "any(%s)", x->name);
  }
}

static void draw_statement(sketch *s);

/* Adds statements to the body of a loop or cond, and picks a value for it to give. The statements
 * may also read values from outside the body. */
static const drawn *draw_body_and_result(sketch *s, int type, int shape) {
  s->depth++;
  for (int i = 2 + draw_number_below(s, 5); i > 0; i--) draw_statement(s);
  s->depth--;
  return pick_value(s, type, shape);
}

static void draw_loop(sketch *s, const drawn *initial) {
  const drawn start = *initial;
  const int before = s->n;
  char carried[12], name[12];
  snprintf(carried, sizeof carried, "h%d", s->next++);
  snprintf(name, sizeof name, "v%d", s->next++);
  append_text(s, "%s, %se = loop(%s, count=%d, carried=1) (n%d, %s) {\n", name, name, start.name,
              draw_number_below(s, 4), s->next, carried);
  declare_value(s, carried, start.type, start.shape);
  const drawn *out = draw_body_and_result(s, start.type, start.shape);
  const char *op = start.type == BOOL ? "and" : "maximum";
  append_text(s, "  give %s(%s, %s), %s\n}\n", op, carried, out->name, out->name);
  s->n = before;
  declare_value(s, name, start.type, start.shape);
}

static void draw_cond(sketch *s, const drawn *result_like) {
  const drawn like = *result_like;
  const int before = s->n;
  const drawn *p = pick_value(s, BOOL, SCALAR);
  char name[12], which[12];
  if (p == NULL) return;
  snprintf(which, sizeof which, "%s", p->name);
  snprintf(name, sizeof name, "v%d", s->next++);
  append_text(s, "%s = cond(%s) {\n", name, which);
  for (int branch = 0; branch < 2; branch++) {
    const drawn *out = draw_body_and_result(s, like.type, like.shape);
    append_text(s, "  give broadcast(%s, shape=[%s])\n}%s", out->name, shape_text[like.shape],
                branch == 0 ? " else {\n" : "\n");
    s->n = before;
  }
  declare_value(s, name, like.type, like.shape);
}

static void draw_statement(sketch *s) {
  const drawn x =
      s->value[draw_number_below(s, 2) ? draw_number_below(s, s->n)
                                       : s->n - 1 - draw_number_below(s, s->n < 6 ? s->n : 6)];
  switch (draw_number_below(s, 12)) {
    case 0:
    case 1:
      draw_constant(s);
      break;
    case 2:
    case 3: /* half of these read an input, because inputs have the special values */
      draw_identity(
          s, draw_number_below(s, 2) && s->depth == 0 ? &s->value[draw_number_below(s, 9)] : &x);
      break;
    case 4:
      draw_data_movement(s, &x);
      break;
    case 5:
    case 6:
      draw_unary(s, &x);
      break;
    case 7:
    case 8:
      draw_binary(s, &x);
      break;
    case 9:
      draw_other_op(s, &x);
      break;
    case 10:
      if (s->last[0] != 0) add_statement(s, s->last_type, s->last_shape, "%s", s->last);
      break;
    default:
      if (s->depth >= 2) break;
      if (draw_number_below(s, 2)) {
        draw_loop(s, &x);
      } else {
        draw_cond(s, &x);
      }
  }
}

static void draw_model(sketch *s, uint64_t seed) {
  static const struct {
    const char *name, *text;
    int type, shape;
  } ports[] = {{"x", "input x: f32[2, 3]", F32, TABLE},
               {"r", "input r: f32[3]", F32, ROW},
               {"d", "input d: f64[2, 3]", F64, TABLE},
               {"k", "input k: i32[2, 3] in -9..9", I32, TABLE},
               {"p", "input p: bool[2, 3]", BOOL, TABLE},
               {"q", "input q: bool[]", BOOL, SCALAR},
               {"c", "input c: f32[]", F32, SCALAR},
               {"e", "input e: f64[]", F64, SCALAR},
               {"l", "input l: i32[] in -9..9", I32, SCALAR}};
  memset(s, 0, sizeof *s);
  s->state = seed;
  append_text(s, "volta 1\nmodel m {\nparam w: f32[3, 3] = uniform\nparam b: f32[3] = ones\n");
  for (size_t i = 0; i < sizeof ports / sizeof *ports; i++) {
    append_text(s, "%s\n", ports[i].text);
    declare_value(s, ports[i].name, ports[i].type, ports[i].shape);
  }
  for (int i = 15 + draw_number_below(s, 40); i > 0; i--) draw_statement(s);
  append_text(s, "output last = %s\n", s->value[s->n - 1].name);
  for (int i = 0; i < s->n; i++)
    if (draw_number_below(s, 2)) append_text(s, "output o%d = %s\n", i, s->value[i].name);
  append_text(s, "}\n");
}

/* ---- running a model ---- */

/* Sets an input to random values, many of them such that a wrong identity or wrong constant folding
 * would change them. */
static void set_input_to_special_values(vt_program *p, const vt_port_info *port, uint64_t *state) {
  static const float edge[] = {-0.0f, 0.0f, 1e-42f, -1e-42f, INFINITY, -INFINITY, NAN, 1, -1};
  vt_tensor t = {.dtype = port->dtype, .rank = port->rank, .dim = {2, 3}};
  char bytes[64];
  uint64_t count = 0, size = 0;
  vt_diag d = {0};
  if (port->rank == 1) t.dim[0] = 3;
  t.data = bytes;
  CHECK(vt_tensor_bytes(&t, &count, &size, &d) == VT_OK && size <= sizeof bytes);
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t r = random_u64(state);
    const float x = r % 2 ? edge[i == 0 ? 0 : r / 2 % 9] : ordinary_f32(state);
    const double z = x;
    const int32_t k = (int32_t)(r % 19) - 9;
    const uint8_t truth = r & 1;
    if (t.dtype == VT_DTYPE_F32) memcpy(bytes + 4 * i, &x, 4);
    if (t.dtype == VT_DTYPE_F64) memcpy(bytes + 8 * i, &z, 8);
    if (t.dtype == VT_DTYPE_I32) memcpy(bytes + 4 * i, &k, 4);
    if (t.dtype == VT_DTYPE_BOOL) memcpy(bytes + i, &truth, 1);
  }
  CHECK(vt_program_set_input(p, port->name, &t, &d) == VT_OK);
}

static vt_status set_all_inputs(const vt_model *m, vt_program *p, uint64_t seed, vt_diag *d) {
  uint64_t state = seed;
  for (uint32_t i = 0; seed != 0 && i < vt_model_ports(m); i++) {
    vt_port_info port;
    if (vt_model_port(m, i, &port) == VT_OK && port.kind == VT_PORT_INPUT)
      set_input_to_special_values(p, &port, &state);
  }
  return seed != 0 ? VT_OK : vt_program_random_inputs(p, 7, d);
}

/* The text of the graph after each pass parses to a model with the hash that the program
 * reports. */
static void check_pass_texts_and_hashes(const vt_program *p) {
  for (uint32_t i = 0; i < vt_program_passes(p); i++) {
    const char *text = vt_program_pass_text(p, vt_program_pass(p, i));
    vt_model *m = NULL;
    uint8_t reported[32] = {0}, parsed[32] = {1};
    vt_diag d = {0};
    CHECK(text != NULL && vt_model_parse(text, strlen(text), NULL, &m, &d) == VT_OK);
    CHECK(vt_program_pass_hash(p, vt_program_pass(p, i), reported) == VT_OK);
    if (m != NULL) vt_model_hash(m, parsed);
    CHECK(memcmp(reported, parsed, sizeof reported) == 0);
    if (m == NULL) fprintf(stderr, "  %s: %u: %s\n", vt_program_pass(p, i), d.line, d.text);
    vt_model_free(m);
  }
}

typedef struct subject {
  const vt_model *m;
  uint32_t n_bind;
  const vt_binding *bind;
  const char *what;   /* the model's name in messages */
  uint64_t seed;      /* seed of its inputs; 0: inputs of vt_program_random_inputs */
  uint8_t digest[32]; /* the expected digest */
} subject;

/* Runs the model with these passes on one device and writes its digest; returns 0 if that fails. */
static int run_with_passes(const subject *x, const char *passes, const char *backend,
                           uint8_t out[32]) {
  const vt_options o = {
      .size = sizeof o, .n_bind = x->n_bind, .bind = x->bind, .backend = backend, .passes = passes};
  vt_program *p = NULL;
  vt_diag d = {0};
  vt_status s = vt_program_new(x->m, &o, &p, &d);
  if (s == VT_OK) s = vt_program_init_params(p, 3, &d);
  if (s == VT_OK) s = set_all_inputs(x->m, p, x->seed, &d);
  if (s == VT_OK) s = vt_program_run(p, &d);
  if (s == VT_OK) s = vt_program_digest(p, out, &d);
  if (s == VT_OK && passes == NULL) check_pass_texts_and_hashes(p);
  if (s != VT_OK) fprintf(stderr, "  %s: passes %s: %s\n", x->what, passes, d.text);
  vt_program_free(p);
  return s == VT_OK;
}

/* Returns 1 if both devices give the expected digest with these passes. Without the pass `lower`
 * only reference:1 runs, which has kernels for compositions. */
static int gives_expected_digest(const subject *x, const char *passes) {
  uint8_t digest[32];
  int same = 1;
  for (int i = passes == NULL || strstr(passes, "lower") != NULL ? 0 : 1; i < 2; i++) {
    const char *backend = i == 0 ? "reference:0" : "reference:1";
    same &= run_with_passes(x, passes, backend, digest) && memcmp(digest, x->digest, 32) == 0;
    if (!same) fprintf(stderr, "  %s: other bits with %s on %s\n", x->what, passes, backend);
  }
  return same;
}

/* Writes a list of passes: "bind", then the others in the order `order`, without the pass
 * `left_out`. */
static void write_pass_list(char *out, size_t capacity, const uint32_t *order, uint32_t left_out) {
  size_t used = (size_t)snprintf(out, capacity, "bind");
  for (uint32_t i = 0; i < VT_PASS_COUNT; i++)
    if (order[i] != VT_PASS_bind && order[i] != left_out)
      used += (size_t)snprintf(out + used, capacity - used, ",%s", vt_pass_at(order[i])->name);
}

static int check_each_pass_left_out(const subject *x) {
  uint32_t at[VT_PASS_COUNT];
  char list[200];
  int same = 1;
  for (uint32_t i = 0; i < VT_PASS_COUNT; i++) at[i] = i;
  for (uint32_t i = 1; i < VT_PASS_COUNT; i++) {
    write_pass_list(list, sizeof list, at, i);
    same &= gives_expected_digest(x, list);
  }
  return same & gives_expected_digest(x, NULL);
}

static int check_random_pass_orders(const subject *x, uint64_t *state) {
  uint32_t at[VT_PASS_COUNT];
  char list[200];
  int same = 1;
  for (uint32_t i = 0; i < VT_PASS_COUNT; i++) at[i] = i;
  for (int k = 0; k < ORDERS; k++) {
    for (uint32_t i = VT_PASS_COUNT; i-- > 1;) {
      const uint32_t j = (uint32_t)(random_u64(state) >> 33) % (i + 1), swapped = at[i];
      at[i] = at[j];
      at[j] = swapped;
    }
    write_pass_list(list, sizeof list, at, k % 5 == 0 ? VT_PASS_lower : VT_PASS_bind);
    same &= gives_expected_digest(x, list);
  }
  return same;
}

/* ---- models ---- */

static int test_generated_model(uint64_t seed) {
  static sketch s;
  char what[40];
  vt_model *m = NULL;
  vt_diag d = {0};
  draw_model(&s, seed);
  snprintf(what, sizeof what, "model %llu", (unsigned long long)seed);
  const vt_status status = vt_model_parse(s.text, s.used, NULL, &m, &d);
  if (status != VT_OK) fprintf(stderr, "%s\n%s: %u: %s\n", s.text, what, d.line, d.text);
  if (status != VT_OK) return 0;
  subject x = {.m = m, .what = what, .seed = seed};
  uint64_t state = seed;
  int same = run_with_passes(&x, "bind,lower", "reference:0", x.digest);
  same = same && check_each_pass_left_out(&x) && check_random_pass_orders(&x, &state);
  if (!same) fprintf(stderr, "%s", s.text);
  vt_model_free(m);
  return same;
}

static void test_example(const char *path, uint32_t n_bind, const vt_binding *bind) {
  vt_model *m = NULL;
  vt_diag d = {0};
  CHECK(vt_model_read(path, NULL, &m, &d) == VT_OK);
  if (m == NULL) return;
  subject x = {.m = m, .n_bind = n_bind, .bind = bind, .what = path};
  CHECK(run_with_passes(&x, "bind,lower", "reference:0", x.digest) && check_each_pass_left_out(&x));
  vt_model_free(m);
}

static void test_examples(void) {
  static const vt_binding sizes[] = {{"B", 2}, {"T", 5}};
  test_example("examples/mlp.vt", 1, sizes);
  test_example("examples/quant_mlp.vt", 1, sizes);
  test_example("examples/cnn.vt", 1, sizes);
  test_example("examples/tiny_transformer.vt", 2, sizes);
  test_example("examples/encoder.vt", 2, sizes);
  test_example("examples/lstm.vt", 2, sizes);
  if (is_long_form()) test_example("examples/resnet18.vt", 1, sizes);
}

int main(int argc, char **argv) {
  const uint64_t only = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
  const uint64_t n = is_long_form() ? (SANITIZED ? 40 : 400) : (SANITIZED ? 4 : 12);
  for (uint64_t seed = 1; only == 0 && seed <= n; seed++) CHECK(test_generated_model(seed));
  if (only != 0) CHECK(test_generated_model(only));
  if (only == 0) test_examples();
  TEST_DONE();
}
