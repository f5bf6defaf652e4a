/* Draws from whatever stands on standard input, three texts that end with a zero byte at a time; run with sanitizers. */

#include "naysay_draw.h"

#include <stdio.h>
#include <stdlib.h>

static int few(void *context, unsigned char *bytes, size_t count) { /* the bytes 1, 2, ...; they end after 4,000 */
  unsigned *given = context;
  for (size_t i = 0; i < count; i++) bytes[i] = (unsigned char)++*given;
  return *given > 4000;
}

int main(void) {
  static char input[1 << 16];
  long counts[2] = {0, 0};
  size_t length = 0;
  char *texts[3];
  int octet, part = 0;
  char *start = input;
  while ((octet = getchar()) != EOF) {
    if (length == sizeof input) return 2;
    input[length++] = (char)octet;
    if (octet) continue;
    texts[part++] = start, start = input + length;
    if (part < 3) continue;
    unsigned given = 0;
    size_t space = counts[0] % 3 ? 300 : 4;
    char *exact[3], *answer = malloc(space); /* of their own, so that reading behind an end is seen */
    for (int i = 0; i < 3; i++) {
      size_t size = (size_t)(i < 2 ? texts[i + 1] - texts[i] : start - texts[i]);
      exact[i] = malloc(size);
      for (size_t j = 0; j < size; j++) exact[i][j] = texts[i][j];
    }
    counts[naysay_draw(exact[0], exact[1], exact[2], few, &given, answer, space) < 0]++;
    for (int i = 0; i < 3; i++) free(exact[i]);
    free(answer);
    part = 0, length = 0, start = input;
  }
  return printf("%ld %ld\n", counts[0], counts[1]) < 0;
}
