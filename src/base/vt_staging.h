/* SPDX-License-Identifier: Apache-2.0
 * vt_staging.h - a temporary folder beside a target, in which a file or a whole folder is prepared
 * that then replaces the target in one step. A reader, and a process that is killed at any moment,
 * leave or see the old target or the new one.
 *
 *   models/net.vtz                 the target
 *   models/.net.vtz.volta-812-0/   the staging folder of process 812, which holds a lock on it
 *
 * The lock ends with its process, so the next writer of the same target knows which staging folders
 * were left behind, and removes them. */
#ifndef VT_STAGING_H
#define VT_STAGING_H
#include "volta/volta_status.h"

enum { VT_STAGING_NAME = 256, VT_STAGING_PATH = 4096 };

typedef struct vt_staging {
  int parent; /* descriptor of the folder of the target; -1 when closed */
  int folder; /* descriptor of the staging folder, where files are created */
  int exists; /* 1: there was a target when staging began */
  char target[VT_STAGING_NAME], name[VT_STAGING_NAME]; /* both are names in `parent` */
  char path[VT_STAGING_PATH]; /* path of the target, with symbolic links resolved */
} vt_staging;

/* Makes the staging folder for the target `path`, and removes those that killed processes left. */
vt_status vt_staging_open(const char *path, vt_staging *out, vt_diag *d) VT_NODISCARD;
/* Makes the staging folder itself the target. A folder that exists is exchanged with it in one step
 * and then removed; the caller has made sure that it may be. Where the file system cannot exchange
 * two folders this is VT_IO and changes nothing. The files must have been synced. */
vt_status vt_staging_publish_folder(vt_staging *s, vt_diag *d) VT_NODISCARD;
/* Makes the file `name` of the staging folder the target, which must not be a folder. */
vt_status vt_staging_publish_file(vt_staging *s, const char *name, vt_diag *d) VT_NODISCARD;
/* Removes the staging folder with the files in it, and closes it. May be called twice. */
void vt_staging_close(vt_staging *s);
/* Syncs an open folder, so that the names in it survive a crash of the machine. */
vt_status vt_folder_sync(int folder, const char *path, vt_diag *d) VT_NODISCARD;
#endif
