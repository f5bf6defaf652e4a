/* One private report in C: the designs for many categories, drawn by the rules that stand in a design's JSON.

   cc -O2 -o draw draw.c
   ./draw pattern          CATEGORIES OWN OTHER            TRUTH
   ./draw subset_selection CATEGORIES SIZE INSIDE OUTSIDE  TRUTH
   ./draw affine           CATEGORIES BASE INSIDE OUTSIDE  TRUTH
   ./draw window           UNITS STEPS WIDTH INSIDE OUTSIDE  TRUTH

   The numbers are those of the JSON; TRUTH is the number of the true category, from 0. For a window UNITS is high - low,
   and TRUTH is the number, in whole units above low. It prints the numbers of the
   categories that the report names (of an affine design or a window the report itself). Random bytes are the system's; with a last
   argument "-" they come from standard input, to replay test vectors, and the number of bytes read is printed, too. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *bytes;
static unsigned long octets;

static uint64_t below(uint64_t bound) { /* the rule "integer" */
  int bits = 0;
  if (bound == 1) return 0;
  while ((bound - 1) >> bits) bits++;
  for (;;) {
    uint64_t number = 0;
    for (int i = 0; i < (bits + 7) / 8; i++, octets++) {
      int octet = getc(bytes);
      if (octet == EOF) exit(3); /* never answer without randomness */
      number = number << 8 | (uint64_t)octet;
    }
    number &= ((uint64_t)1 << bits) - 1;
    if (number < bound) return number;
  }
}

static uint64_t pattern(uint64_t t, uint64_t own, uint64_t other, uint64_t x) {
  uint64_t u = below(own + (t - 1) * other);
  if (u < x * other) return u / other;
  return u < x * other + own ? x : (u - own) / other + 1;
}

static uint64_t affine(uint64_t t, uint64_t g, uint64_t a, uint64_t b, uint64_t x) {
  uint64_t power = 1, hashes = 0, lead = 1, first = 0, h = 0;
  while (power < t) hashes += power, power *= g; /* (g^m - 1) / (g - 1) for the least m with g^m >= t */
  uint64_t s = below(hashes), u = below(a + (g - 1) * b);
  while (first + lead <= s) first += lead, lead *= g; /* the block of vectors with this leading digit */
  for (uint64_t alpha = lead + s - first; alpha; alpha /= g, x /= g) h = (h + alpha % g * (x % g)) % g;
  uint64_t o = u < a ? 0 : (u - a) / b;
  return s * g + (u < a ? h : o < h ? o : o + 1);
}

static uint64_t window(uint64_t units, uint64_t k, uint64_t w, uint64_t a, uint64_t b, uint64_t z) {
  uint64_t i = z * k / units, rest = z * k % units;
  i += below(units) < rest; /* by lot the point of the grid below the number, or the one above */
  uint64_t u = below(a * w + b * k), o = u < a * w ? 0 : (u - a * w) / b;
  return u < a * w ? i + u / a : o < i ? o : o + w;
}

static void subset(uint64_t t, uint64_t k, uint64_t a, uint64_t b, uint64_t x, char *in) {
  uint64_t *named = malloc(k * sizeof *named), u = below(a * k + b * (t - k));
  for (uint64_t i = 0, j = t - 1 - k; i < k; i++, j++) { /* Floyd 1987: k of the t - 1 others */
    uint64_t v = below(j + 1);
    named[i] = in[v] ? j : v;
    in[named[i]] = 1;
  }
  memset(in, 0, t);
  uint64_t place = below(k);
  for (uint64_t i = 0; i < k; i++) in[u < a * k && i == place ? x : named[i] + (named[i] >= x)] = 1;
  free(named);
}

int main(int count, char **words) {
  uint64_t n[6];
  int set = count > 1 && !strcmp(words[1], "subset_selection"), line = count > 1 && !strcmp(words[1], "affine");
  int number = count > 1 && !strcmp(words[1], "window");
  int need = number ? 6 : set || line ? 5 : 4, replay = count == need + 3 && !strcmp(words[need + 2], "-");
  if (count < 2 || (!set && !line && !number && strcmp(words[1], "pattern")) || (count != need + 2 && !replay)) return 2;
  for (int i = 0; i < need; i++) { /* "3x" or "" is no number, and must not become a truth */
    const char *word = words[i + 2];
    if (!*word || strlen(word) > 16 || word[strspn(word, "0123456789")]) return 2;
    n[i] = strtoull(word, NULL, 10);
  }
  if ((set && (n[1] < 1 || n[1] >= n[0])) || (line && n[1] < 2)) return 2;
  if (n[need - 1] >= n[0] + number || !(bytes = replay ? stdin : fopen("/dev/urandom", "rb"))) return 2;
  if (set) {
    char *in = calloc(n[0], 1);
    subset(n[0], n[1], n[2], n[3], n[4], in);
    for (uint64_t j = 0, first = 1; j < n[0]; j++)
      if (in[j]) printf(first ? "%llu" : " %llu", (unsigned long long)j), first = 0;
    free(in);
  } else if (number) {
    printf("%llu", (unsigned long long)window(n[0], n[1], n[2], n[3], n[4], n[5]));
  } else {
    printf("%llu", (unsigned long long)(line ? affine(n[0], n[1], n[2], n[3], n[4]) : pattern(n[0], n[1], n[2], n[3])));
  }
  if (replay) printf("\n%lu", octets);
  putchar('\n');
  return fflush(stdout) ? 3 : 0;
}
