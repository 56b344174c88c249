/* SPDX-License-Identifier: Apache-2.0
 * listed_in_vain.c - an op is listed, so that the list is longer, and no step of it is ever taken:
 * whoever plans by the list plans for nothing. */
#include "violation.h"

static const char *const ops[] = {"neg", "add", NULL};

static int is_taken(const vt_bk_step *s) { return s->op != VT_OP_add; }

const violation vt_violation = {
    .about = "lists what it never runs", .ops = ops, .is_taken = is_taken};
