/* SPDX-License-Identifier: Apache-2.0
 * embed.c - prints standard input as the numbers of a C array. */
#include <stdio.h>

int main(void) {
  int c, n = 0;
  while ((c = getchar()) != EOF) printf("%d,%s", c, ++n % 24 == 0 ? "\n" : "");
  putchar('\n'); /* a source file must end with a newline */
  return ferror(stdin) || n == 0 || fflush(stdout) != 0;
}
