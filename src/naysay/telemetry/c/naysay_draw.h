/* One private answer in C: a design's JSON in, the bytes of the answer out. Needs nothing but the C library.

   As a library:  cc -O2 -shared -fPIC -o libnaysay_draw.so naysay_draw.c
   As a command:  cc -O2 -DNAYSAY_DRAW_COMMAND -o naysay-draw naysay_draw.c
                  ./naysay-draw "$(cat design.json)" '"slow"'

   It draws tables, patterns, subsets, weighted subsets, subset selection, affine and unary designs, windows of numbers, and
   what is made of them: mixtures, chains, products, both, groups, levels, hierarchies and samples. It refuses designs that
   remember (their memo must be kept), hashed names and prefixes (their text must be in NFC). */

#ifndef NAYSAY_DRAW_H
#define NAYSAY_DRAW_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  NAYSAY_NO_DESIGN = -1, /* the text is no design of version 1, or none that this library draws */
  NAYSAY_NO_TRUTH = -2,  /* the truth is no category of the design */
  NAYSAY_NO_PART = -3,   /* the design has no such level or sample */
  NAYSAY_NO_BYTES = -4,  /* there were too few random bytes: there is no answer without them */
  NAYSAY_NO_SPACE = -5,  /* the answer does not fit */
  NAYSAY_NO_MEMORY = -6
};

/* Fills `bytes` with `count` random bytes of a cryptographic source; anything but 0 is a failure. */
typedef int (*naysay_random)(void *context, unsigned char *bytes, size_t count);

/* The answer of one person or device.

   design   the JSON of design.to_json(), in UTF-8
   truth    the true category as JSON: "slow", 17, ["yes", "a"] of two questions; of a window the number, 12.5 or "12.5"
   part     the level or sample as JSON; NULL is null
   random   where random bytes come from; NULL is /dev/urandom. Other sources are for tests
   answer   receives the text of the answer in UTF-8, and a zero byte; after a failure it holds zeros only
   size     the bytes at `answer`, the zero byte included

   Gives the number of bytes of the answer, or one of the negative numbers above. It may be called by many threads at once. */
long naysay_draw(const char *design, const char *truth, const char *part, naysay_random random, void *context, char *answer,
                 size_t size);

/* What a negative number says, in a sentence. */
const char *naysay_draw_problem(long code);

#ifdef __cplusplus
}
#endif

#endif
