/* SPDX-License-Identifier: Apache-2.0
 * einsum_test.c - tests einsum against its definition, restated label by label: S for one operand,
 * D for two in the order of the equation's labels, more operands from the left. Tests diagonals,
 * axes that broadcast, gradients of two operands bit for bit, decompositions, and type rules. A
 * label table is a contiguous tensor with one axis for each label. S is the order in which sums
 * are added, D that in which products are (docs/numerics.md). */
#include "trace_test.h"

enum { F32 = VT_DTYPE_F32, F64 = VT_DTYPE_F64, MOST = 4096, LETTERS = 128 };
#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

typedef struct problem {
  const char *equation;
  uint32_t n;          /* number of operands */
  const char *term[5]; /* labels of the operands, then of the result, with `...` written out; the
                          label '1' is an axis of length 1 that broadcasts */
  const char *order;   /* all labels in the order in which they first appear */
  const char *lengths; /* length of each label's axis, as in "a2b3" */
} problem;

static const problem problems[] = {
    {"ij->ji", 1, {"ij", "ji"}, "ij", "i3j4"},
    {"ij->i", 1, {"ij", "i"}, "ij", "i3j3"},
    {"jik->i", 1, {"jik", "i"}, "jik", "i2j9k9"},
    {"->", 1, {"", ""}, "", ""},
    {"ii->i", 1, {"ii", "i"}, "i", "i5"},
    {"iji->j", 1, {"iji", "j"}, "ij", "i5j3"},
    {"i...->...", 1, {"ixy", "xy"}, "ixy", "i7x2y3"},
    {"ij,jk->ik", 2, {"ij", "jk", "ik"}, "ijk", "i3j7k2"},
    {"ij,jk->ki", 2, {"ij", "jk", "ki"}, "ijk", "i2j9k3"},
    {"ij, jk -> ik", 2, {"ij", "jk", "ik"}, "ijk", "i1j3k1"},
    {"jik,lkj->il", 2, {"jik", "lkj", "il"}, "jikl", "i2j9k9l2"},
    {"kj,kl->", 2, {"kj", "kl", ""}, "kjl", "k9j7l6"},
    {"j,l->", 2, {"j", "l", ""}, "jl", "j17l18"},
    {"i,j->ji", 2, {"i", "j", "ji"}, "ij", "i3j4"},
    {"bij,bjk->bik", 2, {"bij", "bjk", "bik"}, "bijk", "b2i2j3k2"},
    {"iij,jkk->ki", 2, {"iij", "jkk", "ki"}, "ijk", "i2j5k3"},
    {"...ij,...jk->...ik", 2, {"xij", "jk", "xik"}, "xijk", "x2i2j3k2"},
    {"...ij,...jk->...ik", 2, {"x1ij", "yjk", "xyik"}, "xyijk", "x2y3i2j3k1"},
    {"i...,...i->...", 2, {"ix1", "yi", "xy"}, "ixy", "i6x2y3"},
    {"abcdefgh,abcdefgh->h", 2, {"abcdefgh", "abcdefgh", "h"}, "abcdefgh", "a2b2c1d2e2f2g2h2"},
    {"acegikmo,b->b", 2, {"acegikmo", "b", "b"}, "acegikmob", "a2b2c1e2g2i1k2m1o2"},
    {"aceg,bdfh->", 2, {"aceg", "bdfh", ""}, "acegbdfh", "a2b2c2d2e2f1g2h2"},
    {"ij,jk,kl->il", 3, {"ij", "jk", "kl", "il"}, "ijkl", "i2j3k5l2"},
    {"ij,k,j->i", 3, {"ij", "k", "j", "i"}, "ijk", "i2j4k5"},
    {"ab,bc,ca->", 3, {"ab", "bc", "ca", ""}, "abc", "a3b4c5"},
    {"i,j,k,ijk->k", 4, {"i", "j", "k", "ijk", "k"}, "ijk", "i3j2k4"},
    {"ij,jk->ik", 2, {"ij", "jk", "ik"}, "ijk", "i2j0k3"},
    {"ij,jk->ik", 2, {"ij", "jk", "ik"}, "ijk", "i0j2k3"},
    {"ij,jk->ik", 2, {"ij", "jk", "ik"}, "ijk", "i1j2305k1"},
};

static int64_t label_length(const problem *p, char label) {
  const char *at = strchr(p->lengths, label);
  return label == '1' ? 1 : at == NULL ? 0 : (int64_t)atoi(at + 1);
}

static vt_attr_einsum einsum_attrs(const char *equation) {
  vt_attr_einsum a = {.size = sizeof a, .order = VT_ORDER_FMA256};
  snprintf(a.equation.v, sizeof a.equation.v, "%s", equation);
  return a;
}

static vt_view new_operand_of_term(const problem *p, uint32_t term, uint32_t dtype, int layout) {
  int64_t dim[8] = {0};
  const uint32_t rank = (uint32_t)strlen(p->term[term]);
  for (uint32_t i = 0; i < rank; i++) dim[i] = label_length(p, p->term[term][i]);
  return view_new(dtype, rank, dim, layout);
}

/* ---- the definition ---- */

typedef struct label_table { /* a contiguous tensor with one axis per label */
  char label[10];            /* the labels of its axes, in order */
  double v[MOST];
} label_table;

static int64_t table_index(const problem *p, const char *labels, const int64_t *at) {
  int64_t i = 0;
  for (; *labels != 0; labels++)
    i = i * label_length(p, *labels) + (*labels == '1' ? 0 : at[(int)*labels]);
  return i;
}

static int64_t label_table_size(const problem *p, const char *labels) {
  int64_t n = 1;
  for (; *labels != 0; labels++) n *= label_length(p, *labels);
  return n;
}

static void index_to_label_coordinates(const problem *p, const char *labels, int64_t index,
                                       int64_t *at) {
  for (size_t k = strlen(labels); k-- > 0; index /= label_length(p, labels[k]))
    at[(int)labels[k]] = index % label_length(p, labels[k]);
}

/* Writes to `out`, in the equation's order, the labels that occur in `first` or `second`: those
 * that occur in `kept` too if `take_kept` is 1, and the others if `take_kept` is 0. */
static void pick_labels(const problem *p, const char *first, const char *second, const char *kept,
                        int take_kept, char *out) {
  for (const char *s = p->order; *s != 0; s++)
    if ((strchr(first, *s) != NULL || strchr(second, *s) != NULL) &&
        (strchr(kept, *s) != NULL) == take_kept)
      *out++ = *s;
  *out = 0;
}

/* Copies an operand to a label table. Two axes of the operand with the same label become one axis,
 * which has the diagonal. */
static void copy_to_label_table(const problem *p, uint32_t term, const vt_view *x,
                                label_table *out) {
  int64_t at[LETTERS] = {0};
  pick_labels(p, p->term[term], "", p->order, 1, out->label);
  for (int64_t i = 0; i < label_table_size(p, out->label); i++) {
    index_to_label_coordinates(p, out->label, i, at);
    out->v[i] = number_at(x, table_index(p, p->term[term], at));
  }
}

static double sum_in_order_s(uint32_t dtype, const double *x, int64_t n) {
  static float narrow[MOST];
  for (int64_t i = 0; i < n; i++) narrow[i] = (float)x[i];
  return dtype == F32 ? (double)s_f32(narrow, n) : s_f64(x, n);
}

static double dot_in_order_d(uint32_t dtype, const double *x, const double *y, int64_t n) {
  static float a[MOST], b[MOST];
  for (int64_t i = 0; i < n; i++) a[i] = (float)x[i], b[i] = (float)y[i];
  return dtype == F32 ? (double)d_f32(a, b, NULL, n) : d_f64(x, y, NULL, n);
}

/* Sums over the labels that are not in `kept`: the elements of table a in order S if b is NULL,
 * else the products of the elements of a and b in order D. */
static void contract_tables(const problem *p, uint32_t dtype, const label_table *a,
                            const label_table *b, const char *kept, label_table *out) {
  static double x[MOST], y[MOST];
  char summed[10];
  int64_t at[LETTERS] = {0};
  pick_labels(p, a->label, b == NULL ? "" : b->label, kept, 0, summed);
  pick_labels(p, a->label, b == NULL ? "" : b->label, kept, 1, out->label);
  const int64_t n = label_table_size(p, summed);
  for (int64_t i = 0; i < label_table_size(p, out->label); i++) {
    index_to_label_coordinates(p, out->label, i, at);
    for (int64_t k = 0; k < n; k++) {
      index_to_label_coordinates(p, summed, k, at);
      x[k] = a->v[table_index(p, a->label, at)];
      if (b != NULL) y[k] = b->v[table_index(p, b->label, at)];
    }
    if (b != NULL) out->v[i] = dot_in_order_d(dtype, x, y, n);
    if (b == NULL) out->v[i] = summed[0] == 0 ? x[0] : sum_in_order_s(dtype, x, n);
  }
}

static void evaluate_einsum(const problem *p, const vt_view *in, label_table *out) {
  static label_table now, next, made;
  copy_to_label_table(p, 0, &in[0], &now);
  if (p->n == 1) contract_tables(p, in[0].dtype, &now, NULL, p->term[1], out);
  for (uint32_t i = 1; i < p->n; i++) {
    char kept[50] = "";
    for (uint32_t k = i + 1; k <= p->n; k++) strcat(kept, p->term[k]);
    copy_to_label_table(p, i, &in[i], &next);
    contract_tables(p, in[0].dtype, &now, &next, kept, &made);
    *out = now = made;
  }
}

static uint64_t bits_of_number(uint32_t dtype, double x) {
  return dtype == F32 ? vt_f32_bits((float)x) : vt_f64_bits(x);
}

static void compare_with_table(const problem *p, const char *labels, const vt_view *got,
                               const label_table *want) {
  int64_t at[LETTERS] = {0};
  CHECK(count_of_view(got) == label_table_size(p, labels));
  for (int64_t i = 0; i < count_of_view(got); i++) {
    index_to_label_coordinates(p, labels, i, at);
    const double x = want->v[table_index(p, want->label, at)];
    if (!expect_bits(p->equation, got, i, bits_of_number(got->dtype, x))) return;
  }
}

static void test_einsum_results(void) {
  static label_table want;
  uint64_t state = 51;
  for (int64_t i = 0; i < COUNT(problems); i++)
    for (int mix = 0; mix < 2 * LAYOUTS; mix++) {
      const problem *p = &problems[i];
      const vt_attr_einsum a = einsum_attrs(p->equation);
      vt_view in[4];
      test_seed = state;
      for (uint32_t k = 0; k < p->n; k++) {
        in[k] = new_operand_of_term(p, k, mix % 2 ? F64 : F32, (mix / 2 + (int)k) % LAYOUTS);
        in[k] = mix < 2 ? fill_any(in[k], &state) : fill_ordinary(in[k], &state);
      }
      const run_result r = run_op(VT_OP_einsum, &a, in, p->n, mix / 2);
      CHECK(r.status == VT_OK);
      evaluate_einsum(p, in, &want);
      if (r.status == VT_OK) compare_with_table(p, p->term[p->n], &r.out, &want);
      check_decomposition(VT_OP_einsum, &a, in, p->n);
      free_held();
    }
}

/* ---- gradients ---- */

/* Checks the gradient of one of two operands. It is the product of dy and the other operand, summed
 * in order D over the labels that this operand does not have, in the order of the equation. Along
 * labels that neither dy nor the other operand has, the gradient is broadcast. */
static void check_operand_gradient(const problem *p, const vt_view *in, uint32_t operand,
                                   const vt_view *dy, const vt_view *got) {
  static label_table d, other, want;
  copy_to_label_table(p, 2, dy, &d);
  copy_to_label_table(p, 1 - operand, &in[1 - operand], &other);
  contract_tables(p, dy->dtype, &d, &other, p->term[operand], &want);
  compare_with_table(p, p->term[operand], got, &want);
}

static int has_repeated_label(const char *label) {
  for (; *label != 0; label++)
    if (strchr(label + 1, *label) != NULL) return 1;
  return 0;
}

static void test_gradients_by_formula(void) {
  uint64_t state = 52;
  for (int64_t i = 0; i < 2 * COUNT(problems); i++) {
    const problem *p = &problems[i / 2];
    const vt_attr_einsum a = einsum_attrs(p->equation);
    const uint32_t dtype = i % 2 ? F64 : F32;
    if (p->n != 2) continue;
    vt_view in[2], dy = new_operand_of_term(p, 2, dtype, DENSE);
    fill_any(dy, &state);
    for (uint32_t k = 0; k < 2; k++)
      in[k] = fill_ordinary(new_operand_of_term(p, k, dtype, DENSE), &state);
    eager_begin();
    const uint32_t ids[2] = {eager_add_copy(&in[0]), 1}, second = eager_add_copy(&in[1]);
    const uint32_t y = eager_run_op(&eager.b, VT_OP_einsum, ids, 2, &a),
                   d_out = eager_add_copy(&dy);
    uint32_t d_in[2] = {VT_NO_VALUE, VT_NO_VALUE};
    const vt_gradient g = {&eager.b, ids, &y, 2, 1, &a, &d_out, d_in};
    CHECK(second == 1);
    vt_op_get(VT_OP_einsum)->grad(&g);
    for (uint32_t k = 0; k < 2; k++) {
      CHECK(d_in[k] < eager.n && vt_type_equal(&eager.type[d_in[k]], &eager.type[k]));
      if (d_in[k] < eager.n && !has_repeated_label(p->term[k]))
        check_operand_gradient(p, in, k, &dy, &eager.value[d_in[k]]);
    }
    eager_end(p->equation);
    free_held();
  }
}

static void test_gradients_by_differences(void) {
  uint64_t state = 53;
  for (int64_t i = 0; i < COUNT(problems) - 1; i++) {
    const problem *p = &problems[i];
    const vt_attr_einsum a = einsum_attrs(p->equation);
    vt_view in[4];
    for (uint32_t k = 0; k < p->n; k++) {
      in[k] = new_operand_of_term(p, k, F64, DENSE);
      for (int64_t e = 0; e < count_of_view(&in[k]); e++)
        put_number(&in[k], e, random_on_grid(&state));
    }
    for (uint32_t k = 0; k < p->n; k++)
      check_gradient_by_difference(VT_OP_einsum, &a, in, p->n, k, 0.25, 1e-12, &state);
    free_held();
  }
}

/* ---- type rules ---- */

#define E(text) (&(const vt_attr_einsum){sizeof(vt_attr_einsum), {text}, VT_ORDER_FMA256})

static void test_type_rules(void) {
  const vt_attr_einsum other = {.size = sizeof other, .equation = {"i->i"}, .order = 2};
  vt_attr_einsum endless = {.size = sizeof endless, .order = VT_ORDER_FMA256};
  memset(endless.equation.v, 'a', sizeof endless.equation.v);
  const rule_case cases[] = {
      {VT_OP_einsum, E("ij,jk->ik"), "f32[B, T]; f32[T, V]", "f32[B, V]"},
      {VT_OP_einsum, E("...ij,...jk->...ik"), "f64[B, 1, 3, T]; f64[V, T, 2]", "f64[B, V, 3, 2]"},
      {VT_OP_einsum, E("->"), "f32[]", "f32[]"},
      {VT_OP_einsum, E("aZ->Za"), "f32[2, 3]", "f32[3, 2]"},
      {VT_OP_einsum, E("ij,jk->ik"), "f32[2, 3]; f32[4, 5]",
       "!verify: axis 0 of operand 2, f32[4, 5]: label 'j' has another length"},
      {VT_OP_einsum, E("ij,jk->ik"), "f32[2, 1]; f32[4, 5]", "!verify: label 'j' has another"},
      {VT_OP_einsum, E("ii->i"), "f32[2, 3]", "!verify: label 'i' has another length"},
      {VT_OP_einsum, E("...,...->..."), "f32[2, 3]; f32[2, 4]", "!verify: does not broadcast"},
      {VT_OP_einsum, E("ij->i"), "f32[2, 3, 4]", "!verify: where the equation names 2 axes"},
      {VT_OP_einsum, E("ij...->i..."), "f32[2]", "!verify: where the equation names 2 axes"},
      {VT_OP_einsum, E("ij,jk->ik"), "f32[2, 3]", "!verify: the equation has 2 operands where 1"},
      {VT_OP_einsum, E("ij->ik"), "f32[2, 3]", "!verify: label 'k' of the result is in no operand"},
      {VT_OP_einsum, E("ij->ii"), "f32[2, 3]", "!verify: label 'i' occurs twice in the result"},
      {VT_OP_einsum, E("ij"), "f32[2, 3]", "!verify: no '->' before its result"},
      {VT_OP_einsum, E("ij-"), "f32[2, 3]", "!verify: no '->' before its result"},
      {VT_OP_einsum, E("ij->i->j"), "f32[2, 3]", "!verify: goes on after its result"},
      {VT_OP_einsum, E("ij->i,j"), "f32[2, 3]", "!verify: goes on after its result"},
      {VT_OP_einsum, E("i1->i"), "f32[2, 3]", "!verify: the equation has a '1'"},
      {VT_OP_einsum, E("i..->i"), "f32[2, 3]", "!verify: a '.' that is not part of '...'"},
      {VT_OP_einsum, E("...i...->i"), "f32[2, 3]", "!verify: '...' twice in one term"},
      {VT_OP_einsum, E("...i->i"), "f32[2, 3]", "!verify: '...', but its result has not"},
      {VT_OP_einsum, E("abcdefghi->a"), "f32[2]", "!verify: more than 8 axes of one tensor"},
      {VT_OP_einsum, E("abcde,fghij->abcdefgh"), "f32[1, 1, 1, 1, 1]; f32[1, 1, 1, 1, 1]",
       "f32[1, 1, 1, 1, 1, 1, 1, 1]"},
      {VT_OP_einsum, E("abcde,fghij,eij->abcd"),
       "f32[1, 1, 1, 1, 1]; f32[1, 1, 1, 1, 1]; f32[1, 1, 1]", "f32[1, 1, 1, 1]"},
      {VT_OP_einsum, E("abcde,fghij,fghij->abcde"),
       "f32[1, 1, 1, 1, 1]; f32[1, 1, 1, 1, 1]; f32[1, 1, 1, 1, 1]",
       "!verify: operands 1 to 2 contracted have more than 8 axes"},
      {VT_OP_einsum, E("a,b,c,d,e,f,g,h,i->"), "f32[1]", "!verify: more than 8 operands"},
      {VT_OP_einsum, E("i->i"), "i32[2]", "!verify: expected f32 or f64"},
      {VT_OP_einsum, &other, "f32[2]", "!verify: order 2 of a contraction"},
      {VT_OP_einsum, &endless, "f32[2]", "!verify: the equation has no end"},
  };
  CHECK_RULES(cases);
}

int main(void) {
  test_einsum_results();
  test_gradients_by_formula();
  test_gradients_by_differences();
  test_type_rules();
  TEST_DONE();
}
