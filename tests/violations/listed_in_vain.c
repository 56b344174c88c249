/* SPDX-License-Identifier: Apache-2.0
 * listed_in_vain.c - lists the op add as supported but refuses every step of it, so that a plan
 * made from the list fails. */
#include "violation.h"

static const char *const ops[] = {"neg", "add", NULL};

static int is_not_add(const vt_bk_step *s) { return s->op != VT_OP_add; }

const violation vt_violation = {
    .about = "lists what it never runs", .ops = ops, .accepts = is_not_add};
