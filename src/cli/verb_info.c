/* SPDX-License-Identifier: Apache-2.0
 * verb_info.c - volta info MODEL: prints the dims, ports and parameters of a model. A type is shown
 * with numbers if all its dims are bound, otherwise as declared. A reader evaluates the dims in the
 * text of a type with the bound values; each dim is a sum of products of factors, "2*B*T - 1". */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli_info.h"
#include "cli_json.h"
#include "cli_model.h"

/* ---- dims as numbers ---- */

/* The state of evaluating the dims in the text of a type. */
typedef struct reader {
  const char *at; /* position in the text */
  const cli_bind *bind;
  int ok; /* becomes 0 at the first dim that is not bound */
} reader;

static int accept_char(reader *r, char c) {
  r->at += strspn(r->at, " ");
  if (*r->at != c) return 0;
  r->at++;
  return 1;
}

static int64_t read_factor(reader *r) {
  r->at += strspn(r->at, " ");
  const size_t n = strcspn(r->at, " +-*,]");
  const char *start = r->at;
  r->at += n;
  if (*start >= '0' && *start <= '9') return strtoll(start, NULL, 10);
  const vt_binding *b = n > 0 ? cli_bind_find(r->bind, start, n) : NULL;
  r->ok &= b != NULL;
  return b != NULL ? b->value : 0;
}

static int64_t read_product(reader *r) {
  int64_t v = read_factor(r);
  while (r->ok && accept_char(r, '*')) r->ok &= !__builtin_mul_overflow(v, read_factor(r), &v);
  return v;
}

static int64_t read_sum(reader *r) {
  int64_t v = 0;
  int minus = accept_char(r, '-'), more = 1;
  while (more) {
    const int64_t p = read_product(r);
    r->ok &= minus ? !__builtin_sub_overflow(v, p, &v) : !__builtin_add_overflow(v, p, &v);
    minus = accept_char(r, '-');
    more = r->ok && (minus || accept_char(r, '+'));
  }
  return v;
}

/* Writes the type of a port as a tensor without data; returns 0 if a dim is not bound. */
static int bound_port_type(const vt_port_info *p, const cli_bind *bind, vt_tensor *out) {
  vt_tensor t = {.dtype = p->dtype, .rank = p->rank};
  const char *open = strchr(p->type, '[');
  reader r = {.at = open != NULL ? open + 1 : "", .bind = bind, .ok = p->rank <= VT_MAX_RANK};
  for (uint32_t i = 0; i < p->rank && r.ok; i++) {
    t.dim[i] = read_sum(&r);
    r.ok &= t.dim[i] >= 0 && accept_char(&r, i + 1 < p->rank ? ',' : ']');
  }
  if (r.ok) *out = t;
  return r.ok;
}

/* ---- the report ---- */

/* A model and the totals of its parameters. */
typedef struct view {
  const vt_model *m;
  const cli_bind *bind;
  const vt_bundle *bundle;  /* the bundle that the model is from, or NULL */
  uint32_t params;          /* number of parameters */
  uint64_t elements, bytes; /* total of all parameters */
  int counted;              /* 0: a dim of a parameter is not bound, so the totals are unknown */
} view;

static const char *const kind_name[] = {[VT_PORT_INPUT] = "input",
                                        [VT_PORT_PARAM] = "param",
                                        [VT_PORT_OUTPUT] = "output",
                                        [VT_PORT_STATE] = "state"};

static void port_type_text(const view *v, const vt_port_info *p, char out[CLI_TYPE_SIZE]) {
  vt_tensor t;
  if (bound_port_type(p, v->bind, &t))
    cli_type_text(&t, out);
  else
    snprintf(out, CLI_TYPE_SIZE, "%s", p->type);
}

static vt_status sum_params(view *v, cli_error *e) {
  v->counted = 1;
  for (uint32_t i = 0; i < vt_model_ports(v->m); i++) {
    vt_port_info p;
    vt_tensor t;
    uint64_t n, bytes;
    VT_TRY(vt_model_port(v->m, i, &p));
    if (p.kind != VT_PORT_PARAM) continue;
    v->params++;
    v->counted &= bound_port_type(&p, v->bind, &t);
    if (!v->counted) continue;
    VT_TRY(vt_tensor_bytes(&t, &n, &bytes, &e->diag));
    if (__builtin_add_overflow(v->elements, n, &v->elements) ||
        __builtin_add_overflow(v->bytes, bytes, &v->bytes))
      return VT_FAIL(&e->diag, VT_LIMIT, "the parameters have more than 2^64-1 elements or bytes");
  }
  return VT_OK;
}

static int has_dim(const vt_model *m, const char *name) {
  for (uint32_t i = 0; i < vt_model_dims(m); i++)
    if (strcmp(vt_model_dim(m, i), name) == 0) return 1;
  return 0;
}

/* Refuses the same bindings that creating a program would refuse. */
static vt_status check_bind(const view *v, cli_error *e) {
  const int64_t most = (int64_t)1 << 40;
  for (uint32_t i = 0; i < v->bind->n; i++) {
    const vt_binding *b = &v->bind->row[i];
    if (!has_dim(v->m, b->name))
      return VT_FAIL(&e->diag, VT_BIND, "the model has no symbolic dimension '%s'", b->name);
    if (b->value < 0 || b->value > most)
      return VT_FAIL(&e->diag, VT_BIND,
                     "the dimension '%s' is bound to %" PRId64 ", outside 0..2^40", b->name,
                     b->value);
  }
  return VT_OK;
}

static void print_dims(const view *v) {
  if (vt_model_dims(v->m) == 0) return;
  cli_print("dims");
  for (uint32_t i = 0; i < vt_model_dims(v->m); i++) {
    const char *name = vt_model_dim(v->m, i);
    const vt_binding *b = cli_bind_find(v->bind, name, strlen(name));
    cli_print(" %s", name);
    if (b != NULL) cli_print("=%" PRId64, b->value);
  }
  cli_print("\n");
}

static vt_status print_ports(const view *v) {
  for (uint32_t i = 0; i < vt_model_ports(v->m); i++) {
    vt_port_info p;
    char type[CLI_TYPE_SIZE];
    VT_TRY(vt_model_port(v->m, i, &p));
    port_type_text(v, &p, type);
    cli_print("%-6s %s: %s%s%s\n", kind_name[p.kind], p.name, type, p.extra[0] != '\0' ? " " : "",
              p.extra);
  }
  return VT_OK;
}

static vt_status print_text(const view *v) {
  uint8_t hash[32];
  char hex[CLI_HEX_SIZE];
  vt_model_hash(v->m, hash);
  cli_hex(hash, hex);
  cli_print("model %s\nhash %s\nnodes %u\n", vt_model_name(v->m), hex, vt_model_nodes(v->m));
  print_dims(v);
  VT_TRY(print_ports(v));
  cli_print("parameters: ");
  cli_print_count(v->params, "tensor");
  if (v->counted) {
    cli_print(", ");
    cli_print_count(v->elements, "element");
    cli_print(", ");
    cli_print_count(v->bytes, "byte");
  }
  if (!v->counted) cli_print("; --bind the dims to count their elements");
  cli_print("\n");
  return VT_OK;
}

static json_t *json_dims(const view *v) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < vt_model_dims(v->m); i++) {
    const char *name = vt_model_dim(v->m, i);
    const vt_binding *b = cli_bind_find(v->bind, name, strlen(name));
    cli_json_append(list, json_pack("{s:s, s:o}", "name", name, "value",
                                    b != NULL ? json_integer(b->value) : json_null()));
  }
  return list;
}

static json_t *json_ports(const view *v) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < vt_model_ports(v->m); i++) {
    vt_port_info p;
    char type[CLI_TYPE_SIZE];
    if (vt_model_port(v->m, i, &p) != VT_OK) continue;
    port_type_text(v, &p, type);
    cli_json_append(list, json_pack("{s:s, s:s, s:s, s:s}", "kind", kind_name[p.kind], "name",
                                    p.name, "type", type, "extra", p.extra));
  }
  return list;
}

static vt_status print_json(const view *v, cli_error *e) {
  uint8_t hash[32];
  vt_model_hash(v->m, hash);
  json_t *params =
      json_pack("{s:i, s:o, s:o}", "tensors", (int)v->params, "elements",
                v->counted ? json_integer((json_int_t)v->elements) : json_null(), "bytes",
                v->counted ? json_integer((json_int_t)v->bytes) : json_null());
  json_t *root = json_pack("{s:s, s:o, s:i, s:o, s:o, s:o}", "model", vt_model_name(v->m), "hash",
                           cli_json_hex(hash), "nodes", (int)vt_model_nodes(v->m), "dims",
                           json_dims(v), "ports", json_ports(v), "parameters", params);
  if (v->bundle != NULL) cli_json_set(root, "bundle", cli_bundle_manifest(v->bundle));
  return cli_json_print(root, e);
}

/* Prints an object of texts, one line each. */
static void print_pairs(const char *what, json_t *pairs) {
  const char *key;
  json_t *value;
  json_object_foreach(pairs, key, value) {
    cli_print("%s ", what);
    cli_print_escaped(key);
    cli_print(": ");
    cli_print_escaped(json_string_value(value));
    cli_print("\n");
  }
}

/* Prints the manifest of a bundle. */
static vt_status print_bundle(const vt_bundle *b, cli_error *e) {
  json_t *manifest = cli_bundle_manifest(b), *file;
  const char *name;
  if (manifest == NULL) return cli_no_memory(e);
  cli_print("numerics %" JSON_INTEGER_FORMAT "\nweights %s\n",
            json_integer_value(json_object_get(manifest, "numerics")),
            json_string_value(json_object_get(manifest, "weights")));
  json_object_foreach(json_object_get(manifest, "files"), name, file)
      cli_print("file %s: %" JSON_INTEGER_FORMAT " bytes\n", name,
                json_integer_value(json_object_get(file, "size")));
  print_pairs("metadata", json_object_get(manifest, "metadata"));
  print_pairs("digest", json_object_get(manifest, "digests"));
  json_decref(manifest);
  return VT_OK;
}

static vt_status report_model(view *v, int as_json, cli_error *e) {
  VT_TRY(check_bind(v, e));
  VT_TRY(sum_params(v, e));
  if (as_json) return print_json(v, e);
  VT_TRY(print_text(v));
  return v->bundle != NULL ? print_bundle(v->bundle, e) : VT_OK;
}

vt_status cli_info_report(const char *path, const cli_bind *bind, int as_json, cli_error *e) {
  cli_model m;
  VT_TRY(cli_model_open(path, &m, e));
  e->path = path;
  view v = {.m = m.model, .bind = bind, .bundle = m.bundle};
  const vt_status s = report_model(&v, as_json, e);
  cli_model_close(&m);
  return s;
}

vt_status verb_info(const cli_args *a, cli_error *e) {
  cli_bind bind;
  VT_TRY(cli_bind_parse(a, &bind, e));
  const vt_status s = cli_info_report(a->operands[0], &bind, cli_flag_value(a, "json") != NULL, e);
  cli_bind_free(&bind);
  return s;
}
