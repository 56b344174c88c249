/* SPDX-License-Identifier: Apache-2.0
 * weight_names_test.c - tests the maps that rename tensors: every small pattern against a matcher
 * that tries everything, the rules of a map, and what is refused. */
#include <string.h>
#include "vt_test.h"
#include "vt_text.h"
#include "weight_list.h"

/* ---- lists without files ---- */

/* Makes a list of empty tensors with these names, separated by blanks, and renames them. */
static vt_status rename_names(const char *names, const char *map, vt_alloc a, vt_weight_list *out,
                              vt_diag *d) {
  char text[256];
  const char *list[64];
  vt_tensor t[64];
  uint32_t n = 0;
  char data[1] = {0};
  char *save = NULL;
  snprintf(text, sizeof text, "%s", names);
  for (char *w = strtok_r(text, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save)) {
    t[n] = (vt_tensor){.dtype = VT_DTYPE_U8, .rank = 1, .dim = {0}, .data = data};
    list[n++] = w;
  }
  *d = (vt_diag){.code = VT_OK};
  return vt_weight_list_copy(n, list, t, map, a, out, d);
}

/* Checks the names after renaming, which are in ascending order, and those before. */
static void check_renamed(const char *names, const char *map, const char *want) {
  vt_fault f = {.left = 0};
  vt_weight_list l;
  vt_diag d;
  char got[512] = "";
  const vt_status s = rename_names(names, map, vt_fault_alloc(&f), &l, &d);
  CHECK(s == VT_OK && d.code == VT_OK);
  for (uint32_t i = 0; s == VT_OK && i < l.n_entries; i++) {
    const size_t n = strlen(got);
    snprintf(got + n, sizeof got - n, "%s%s<%s", i > 0 ? " " : "", l.entries[i].name,
             l.entries[i].name_read);
  }
  CHECK(strcmp(got, want) == 0);
  if (strcmp(got, want) != 0) fprintf(stderr, "  '%s', not '%s' %s\n", got, want, d.text);
  if (s == VT_OK) vt_weight_list_done(&l);
  CHECK(f.live == 0);
}

static void check_refused(const char *names, const char *map, vt_status want, uint32_t line,
                          const char *says) {
  vt_fault f = {.left = 0};
  vt_weight_list l;
  vt_diag d;
  const vt_status s = rename_names(names, map, vt_fault_alloc(&f), &l, &d);
  CHECK(s == want && d.line == line && strstr(d.text, says) != NULL && f.live == 0);
  if (s != want || d.line != line || strstr(d.text, says) == NULL)
    fprintf(stderr, "  %s, line %u: %s\n", vt_status_name(s), d.line, d.text);
}

/* ---- rules ---- */

static void test_rules(void) {
  check_renamed("a b", "", "a<a b<b");
  check_renamed("a b", "# only a comment\n\n \t\n", "a<a b<b");
  check_renamed("a b", "a = c", "b<b c<a");
  check_renamed("a b", "  a\t=c  # and why\r\nb=a", "a<b c<a");
  check_renamed("a b", "a = b\nb = a", "a<b b<a");
  check_renamed("a#b c", "a#b = d#e", "c<c d#e<a#b");
  /* the first rule that matches wins */
  check_renamed("h.0.w h.1.w", "h.1.w = last\nh.*.w = w*", "last<h.1.w w0<h.0.w");
  /* a rule without a name drops what it matches */
  check_renamed("a b.x b.y c", "b.* =\na = z", "c<c z<a");
  check_renamed("a", "a =", "");
  /* names after renaming may be those that other tensors had */
  check_renamed("x.0 x.1", "x.0 = x.1\nx.1 = x.0", "x.0<x.1 x.1<x.0");
}

static void test_stars(void) {
  check_renamed("h.0.w", "h.*.w = layer.*.weight", "layer.0.weight<h.0.w");
  check_renamed("h.10.attn.c h.9.attn.c", "h.*.attn.* = *", "10<h.10.attn.c 9<h.9.attn.c");
  check_renamed("a.b.c", "*.*.* = *-*.*", "a-b.c<a.b.c");
  check_renamed("layer12.w", "layer*.w = l.*.w", "l.12.w<layer12.w");
  check_renamed("a_b_c", "*_* = *.*", "a.b_c<a_b_c"); /* a star takes as little as possible */
  check_renamed("aXbXc", "*X*X* = *.*.*", "a.b.c<aXbXc");
  check_renamed("\xc3\xa4.w", "*.w = *\xc3\xb6", "\xc3\xa4\xc3\xb6<\xc3\xa4.w");
  /* a star matches no dot, and at least one byte */
  check_renamed("a.b ab", "a* = x", "a.b<a.b x<ab");
  check_renamed("a ab", "a* = x", "a<a x<ab");
  check_renamed("w*w", "*w = *", "w*<w*w"); /* stars in names of tensors are ordinary bytes */
  check_renamed("a.b.c.d.e.f.g.h", "*.*.*.*.*.*.*.* = ********", "abcdefgh<a.b.c.d.e.f.g.h");
  check_renamed("a.b", "*.* = *", "a<a.b"); /* stars of the pattern may be left over */
}

static void test_bad_maps(void) {
  check_refused("a", "a = a\nb\n", VT_FORMAT, 2, "has no '=' between pattern and name");
  check_refused("a", "\n\n = b", VT_FORMAT, 3, "has the form 'pattern = name'");
  check_refused("a", "a\x01 = b", VT_FORMAT, 1, "has the form 'pattern = name'");
  check_refused("a", "a = \xff", VT_FORMAT, 1, "has the form 'pattern = name'");
  check_refused("a", "a = b\n** = c", VT_FORMAT, 2, "two stars follow each other");
  check_refused("a", "a = *", VT_FORMAT, 1, "the name has more stars than the pattern");
  check_refused("a", "a = b\n#\n*.* = *.*.*", VT_FORMAT, 3, "more stars than the pattern");
  check_refused("a", "*.*.*.*.*.*.*.*.* = a", VT_LIMIT, 1, "a pattern has 9 stars, more than 8");
  check_refused("a b", "a = c\nB = d", VT_NAME, 2, "no tensor matches 'B', or an earlier rule");
  check_refused("a.w", "a.* = c\na.w = d", VT_NAME, 2, "no tensor matches 'a.w'");
  check_refused("a b", "a = b", VT_NAME, 0,
                "two tensors have the name 'b': 'a' of the tensors given "
                "and 'b' of the tensors given");
  check_refused("a.0 a.1", "a.* = a", VT_NAME, 0, "two tensors have the name 'a': 'a.0' of ");
  char line[VT_MAP_LINE_MAX + 8];
  memset(line, 'a', sizeof line);
  line[VT_MAP_LINE_MAX + 1] = '\0';
  check_refused("a", line, VT_LIMIT, 1, "a line of the map has 1001 bytes, more than 1000");
}

/* The diag has the line itself and a suggestion. */
static void test_diag(void) {
  vt_weight_list l;
  vt_diag d;
  CHECK(rename_names("h.0.weight", "# x\nh.*.wieght = w.*", vt_alloc_default(), &l, &d) == VT_NAME);
  CHECK(d.line == 2 && d.column == 1 && strcmp(d.source, "h.*.wieght = w.*") == 0);
  CHECK(strcmp(d.hint, "did you mean 'h.0.weight'?") == 0);
}

static void test_limits(void) {
  vt_text t;
  vt_text_init(&t, vt_alloc_default());
  for (int i = 0; i <= VT_MAP_RULES_MAX; i++) vt_text_add(&t, "a=b\n");
  check_refused("a", t.s, VT_LIMIT, 0, "the map has more than 10000 rules");
  while (t.n <= VT_MAP_LIMIT) vt_text_add(&t, "#%900s\n", "");
  check_refused("a", t.s, VT_LIMIT, 0, "the map has ");
  vt_text_done(&t);
}

static void test_failing_allocations(void) {
  for (long k = 1;; k++) {
    vt_fault f = {.left = k};
    vt_weight_list l;
    vt_diag d;
    const vt_status s = rename_names("a.1 b c", "a.* = x.*\nb =\n", vt_fault_alloc(&f), &l, &d);
    if (s == VT_OK) {
      CHECK(k > 6 && l.n_entries == 2);
      vt_weight_list_done(&l);
      CHECK(f.live == 0);
      return;
    }
    CHECK(s == VT_NOMEM && d.code == VT_NOMEM && f.live == 0);
    if (s != VT_NOMEM) return;
  }
}

/* ---- every small pattern ---- */

/* What star k matched, and how often stars were tried. */
typedef struct trial {
  const char *begin[VT_MAP_STARS_MAX];
  size_t n[VT_MAP_STARS_MAX];
} trial;

/* Tries every length of every star, the shortest first. */
static int matches_slowly(const char *p, const char *s, int star, trial *t) {
  if (*p == '\0') return *s == '\0';
  if (*p != '*') return *p == *s && matches_slowly(p + 1, s + 1, star, t);
  for (size_t n = 1; s[n - 1] != '\0' && s[n - 1] != '.'; n++) {
    t->begin[star] = s;
    t->n[star] = n;
    if (matches_slowly(p + 1, s + n, star + 1, t)) return 1;
  }
  return 0;
}

/* Word number `code` over an alphabet, of `n` letters. */
static void spell(char *out, const char *alphabet, unsigned letters, unsigned code, size_t n) {
  for (size_t i = 0; i < n; i++, code /= letters) out[i] = alphabet[code % letters];
  out[n] = '\0';
}

static unsigned power(unsigned x, size_t n) {
  unsigned v = 1;
  while (n-- > 0) v *= x;
  return v;
}

/* Renames one name by one pattern, with every star in brackets, and compares it with the slow
 * matcher. */
static void compare_pattern(const char *pattern, const char *name) {
  static const char *const brackets[] = {"!", "<*>", "<*><*>", "<*><*><*>"};
  char map[64], want[64] = "";
  trial t;
  size_t stars = 0;
  for (const char *c = pattern; *c != '\0'; c++) stars += *c == '*';
  const int matches = matches_slowly(pattern, name, 0, &t);
  if (!matches) snprintf(want, sizeof want, "%s", name);
  if (matches && stars == 0) snprintf(want, sizeof want, "!");
  for (size_t i = 0; matches && i < stars; i++) {
    const size_t n = strlen(want);
    snprintf(want + n, sizeof want - n, "<%.*s>", (int)t.n[i], t.begin[i]);
  }
  snprintf(map, sizeof map, "%s = %s\n", pattern, brackets[stars]);
  vt_weight_list l;
  vt_diag d;
  const vt_status s = rename_names(name, map, vt_alloc_default(), &l, &d);
  CHECK(s == (matches ? VT_OK : VT_NAME));
  if (s != VT_OK) return;
  CHECK(strcmp(l.entries[0].name, want) == 0);
  if (strcmp(l.entries[0].name, want) != 0)
    fprintf(stderr, "  %s on %s: %s, not %s\n", pattern, name, l.entries[0].name, want);
  vt_weight_list_done(&l);
}

static void test_every_small_pattern(void) {
  const size_t longest = vt_test_is_long() ? 6 : 5;
  for (size_t n = 1; n <= 5; n++) {
    for (unsigned code = 0; code < power(4, n); code++) {
      char pattern[8], name[8];
      spell(pattern, "a.*b", 4, code, n);
      if (strstr(pattern, "**") != NULL) continue;
      for (size_t k = 1; k <= longest; k++)
        for (unsigned word = 0; word < power(3, k); word++) {
          spell(name, "a.b", 3, word, k);
          compare_pattern(pattern, name);
        }
    }
  }
}

int main(void) {
  test_rules();
  test_stars();
  test_bad_maps();
  test_diag();
  test_limits();
  test_failing_allocations();
  test_every_small_pattern();
  TEST_DONE();
}
