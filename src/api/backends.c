/* SPDX-License-Identifier: Apache-2.0
 * backends.c - the table of devices for tools: each built-in device, or the device of a plug-in,
 * with what it declares and which ops it runs. */
#include <stdio.h>
#include <string.h>
#include "prepare.h"
#include "volta/volta_tools.h"

_Static_assert((int)VT_CAPABILITY_COUNT == (int)VT_CAPABILITIES, "the api names every capability");

const char *vt_capability_name(uint32_t i) {
  const vt_capability *c = vt_capability_at(i);
  return c != NULL ? c->name : NULL;
}

const char *vt_capability_about(uint32_t i) {
  const vt_capability *c = vt_capability_at(i);
  return c != NULL ? c->help : NULL;
}

/* Writes the name of device `i`, where the devices of all backends are numbered one after another,
 * and returns 1; returns 0 if there is no such device. A backend that has no device on this machine
 * counts as one device, whose row says why it cannot be opened. */
static int find_device_name(uint32_t i, char *name, size_t n) {
  for (uint32_t b = 0; b < vt_registry_backend_count(); b++) {
    const char *backend;
    uint32_t devices;
    if (vt_registry_backend_at(b, &backend, &devices, NULL) != VT_OK) continue;
    if (devices == 0) devices = 1;
    if (i < devices) {
      snprintf(name, n, "%s:%u", backend, i);
      return 1;
    }
    i -= devices;
  }
  return 0;
}

uint32_t vt_backend_count(void) {
  char name[80];
  uint32_t n = 0;
  while (find_device_name(n, name, sizeof name)) n++;
  return n;
}

static void count_listed_ops(const vt_device *dev, vt_backend_row *row) {
  uint32_t n_prims = 0;
  for (uint32_t i = 0; i < vt_op_total(); i++) {
    const vt_op_info *op = vt_op_at(i);
    const uint32_t has = vt_device_lists_op(dev, op->number) != 0;
    n_prims += op->prim;
    *(op->prim ? &row->prims : &row->comps) += has;
  }
  row->complete = row->prims == n_prims;
}

/* Returns a bit set: bit i says whether the device declares the capability that
 * vt_capability_name(i) names. */
static uint32_t capability_bits(const vt_bk_caps *caps) {
  uint32_t bits = 0;
  for (uint32_t i = 0; i < VT_CAPABILITIES; i++)
    if ((caps->has & vt_capability_at(i)->bit) != 0) bits |= 1u << i;
  return bits;
}

static void describe_device(const vt_device *dev, vt_backend_row *row) {
  const vt_bk_caps *caps = vt_device_caps(dev);
  row->available = 1;
  snprintf(row->name, sizeof row->name, "%s", vt_device_name(dev));
  snprintf(row->about, sizeof row->about, "%s", caps->about);
  row->capabilities = capability_bits(caps);
  row->strict = caps->determinism == VT_BK_DETERMINISM_STRICT;
  row->infers = (caps->serves & VT_BK_INFERENCE) != 0;
  row->trains = (caps->serves & VT_BK_TRAINING) != 0;
  row->alignment = caps->alignment;
  row->dense_only = caps->dense_only != 0;
  row->shares_host = caps->shares_host != 0;
  row->memory = caps->memory;
  row->admission = vt_device_plugin_digest(dev) == NULL ? VT_BACKEND_BUILT_IN
                   : vt_device_unadmitted(dev)          ? VT_BACKEND_UNADMITTED
                                                        : VT_BACKEND_ADMITTED;
  count_listed_ops(dev, row);
}

/* Opens the device that `o` names and fills in its row. A plug-in without a certificate is opened
 * too, because nothing runs on it. */
static void open_and_fill_row(const vt_options *o, vt_backend_row *row) {
  const vt_policy waived = {.size = sizeof waived, .admission = VT_ADMISSION_WAIVED};
  vt_options options = *o;
  vt_device *dev = NULL;
  vt_diag why = {0};
  options.policy = &waived;
  if (vt_options_open_device(&options, vt_alloc_default(), &dev, &why) == VT_OK) {
    describe_device(dev, row);
  } else {
    row->status = why.code;
    snprintf(row->about, sizeof row->about, "%.150s", why.text);
  }
  vt_device_close(dev);
}

/* Copies as much of a row as fits the caller's struct, which an older header may have declared
 * smaller. */
static void copy_row_that_fits(const vt_backend_row *row, vt_backend_row *out) {
  const uint32_t size = out->size < sizeof *row ? out->size : (uint32_t)sizeof *row;
  memcpy(out, row, size);
  out->size = size;
}

vt_status vt_backend_row_at(uint32_t i, vt_backend_row *out, vt_diag *d) {
  vt_backend_row row = {.size = out->size};
  if (!find_device_name(i, row.name, sizeof row.name))
    return VT_FAIL(d, VT_BACKEND, "there is no backend number %u", i);
  open_and_fill_row(&(vt_options){.size = sizeof(vt_options), .backend = row.name}, &row);
  copy_row_that_fits(&row, out);
  return VT_OK;
}

void vt_backend_row_of(const vt_options *o, vt_backend_row *out) {
  vt_alloc a;
  const vt_options options = vt_options_copy(o, &a);
  vt_backend_row row = {.size = out->size};
  snprintf(row.name, sizeof row.name, "%s", options.backend != NULL ? options.backend : "");
  open_and_fill_row(&options, &row);
  copy_row_that_fits(&row, out);
}
