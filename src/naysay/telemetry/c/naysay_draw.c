/* See naysay_draw.h. Written from the rules that stand in a design's JSON (docs/reference/drawing.md). */

#include "naysay_draw.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST ((uint64_t)1 << 53) /* of the numbers in a design */
#define DEEPEST 64                  /* values within values */

typedef struct {
  jmp_buf failure;
  naysay_random random;
  void *context;
  char *answer;
  size_t size, length;
  void *work; /* the one piece of memory that is allocated at a time */
  FILE *file; /* /dev/urandom, where it was opened */
} task;

static void fail(task *s, int code) { longjmp(s->failure, -code); }

/* JSON: a value is a pointer to its first character. `after` checks a text once; the others read what was checked. */

static const char *blank(const char *p) { return p + strspn(p, " \t\n\r"); }

static long hexadecimal(const char *p) { /* of four digits; -1 if they are none */
  long number = 0;
  for (int i = 0; i < 4; i++) {
    const char *digits = "0123456789abcdefABCDEF", *found = p[i] ? strchr(digits, p[i]) : NULL;
    if (!found) return -1;
    number = number * 16 + (found - digits < 16 ? found - digits : found - digits - 6);
  }
  return number;
}

/* The UTF-8 of the next character of a string, behind *p; 0 at its end, -1 where it is no string. */
static int character(const char **p, unsigned char out[4]) {
  const char *escapes = "\"\\/bfnrt", *meant = "\"\\/\b\f\n\r\t", *found;
  unsigned char c = (unsigned char)*(*p)++;
  if (c == '"') return 0;
  if (c < 32) return -1;
  out[0] = c;
  if (c != '\\') { /* with the bytes that belong to it */
    int size = 1;
    while (c >= 0x80 && size < 4 && ((unsigned char)**p & 0xc0) == 0x80) out[size++] = (unsigned char)*(*p)++;
    return size;
  }
  c = (unsigned char)*(*p)++;
  if (c && (found = strchr(escapes, c))) return out[0] = (unsigned char)meant[found - escapes], 1;
  long code = c == 'u' ? hexadecimal(*p) : -1;
  if (code < 0) return -1;
  *p += 4;
  if (code >= 0xd800 && code < 0xe000) { /* a pair of surrogates, or nothing */
    long low = code < 0xdc00 && (*p)[0] == '\\' && (*p)[1] == 'u' ? hexadecimal(*p + 2) : -1;
    if (low < 0xdc00 || low >= 0xe000) return -1;
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00), *p += 6;
  }
  int size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (int i = size - 1; i > 0; i--, code >>= 6) out[i] = (unsigned char)(0x80 | (code & 0x3f));
  out[0] = (unsigned char)(size == 1 ? code : (0xf00 >> size & 0xff) | code);
  return size;
}

static const char *after_string(const char *p) {
  unsigned char out[4];
  int size;
  if (*p++ != '"') return NULL;
  while ((size = character(&p, out)) > 0) continue;
  return size ? NULL : p;
}

static const char *after_number(const char *p) {
  size_t digits;
  p += *p == '-';
  if (!(digits = strspn(p, "0123456789")) || (*p == '0' && digits > 1)) return NULL;
  p += digits;
  if (*p == '.') {
    if (!(digits = strspn(++p, "0123456789"))) return NULL;
    p += digits;
  }
  if (*p == 'e' || *p == 'E') {
    p++, p += *p == '+' || *p == '-';
    if (!(digits = strspn(p, "0123456789"))) return NULL;
    p += digits;
  }
  return p;
}

/* Where a value ends; NULL if it is no JSON. */
static const char *after(const char *p, int depth) {
  static const char *words[] = {"true", "false", "null"};
  if (depth > DEEPEST) return NULL;
  if (*p == '"') return after_string(p);
  for (int i = 0; i < 3; i++)
    if (!strncmp(p, words[i], strlen(words[i]))) return p + strlen(words[i]);
  if (*p != '[' && *p != '{') return after_number(p);
  char end = *p == '[' ? ']' : '}';
  p = blank(p + 1);
  if (*p == end) return p + 1;
  for (;;) {
    if (end == '}') {
      if (!(p = after_string(p)) || *(p = blank(p)) != ':') return NULL;
      p = blank(p + 1);
    }
    if (!(p = after(p, depth + 1))) return NULL;
    p = blank(p);
    if (*p == end) return p + 1;
    if (*p++ != ',') return NULL;
    p = blank(p);
  }
}

static const char *next(const char *value) { return blank(after(value, 0)); } /* a comma, a colon or an end */

static const char *first(const char *list) { return list && *list == '[' && *blank(list + 1) != ']' ? blank(list + 1) : NULL; }

static const char *following(const char *item) { /* of a list */
  return *(item = next(item)) == ',' ? blank(item + 1) : NULL;
}

static int same(const char *one, const char *other) { /* whether two scalars are the same category */
  if (*one != '"' || *other != '"') {
    size_t size = (size_t)(after(one, 0) - one);
    return strchr("[{", *one) == NULL && size == (size_t)(after(other, 0) - other) && !memcmp(one, other, size);
  }
  for (one++, other++;;) {
    unsigned char left[4], right[4];
    int size = character(&one, left);
    if (character(&other, right) != size || memcmp(left, right, (size_t)size)) return 0;
    if (!size) return 1;
  }
}

static const char *member(const char *object, const char *name) { /* the last of that name, which is plain ASCII */
  const char *found = NULL;
  if (!object || *object != '{' || *(object = blank(object + 1)) == '}') return NULL;
  for (;;) {
    const char *value = blank(next(object) + 1);
    if (!strncmp(object + 1, name, strlen(name)) && object[1 + strlen(name)] == '"') found = value;
    if (*(value = next(value)) != ',') return found;
    object = blank(value + 1);
  }
}

static int is(const char *value, const char *text) {
  return value && *value == '"' && !strncmp(value + 1, text, strlen(text)) && value[1 + strlen(text)] == '"';
}

/* Numbers of a design, in arithmetic that never wraps. */

static int whole(const char *value, uint64_t *number) {
  size_t digits = value ? strspn(value, "0123456789") : 0;
  if (!digits || digits > 16 || value + digits != after(value, 0)) return 0;
  return (*number = strtoull(value, NULL, 10)) <= LARGEST;
}

static uint64_t natural(task *s, const char *value) {
  uint64_t number;
  if (!whole(value, &number)) fail(s, NAYSAY_NO_DESIGN);
  return number;
}

static uint64_t field(task *s, const char *node, const char *name) { return natural(s, member(node, name)); }

static uint64_t times(task *s, uint64_t a, uint64_t b) {
  if (b && a > UINT64_MAX / b) fail(s, NAYSAY_NO_DESIGN);
  return a * b;
}

static uint64_t plus(task *s, uint64_t a, uint64_t b) {
  if (a > UINT64_MAX - b) fail(s, NAYSAY_NO_DESIGN);
  return a + b;
}

static void *room(task *s, uint64_t count, size_t size) { /* zeros; what was there is gone */
  free(s->work);
  s->work = count <= SIZE_MAX / size ? calloc(count ? (size_t)count : 1, size) : NULL;
  if (!s->work) fail(s, NAYSAY_NO_MEMORY);
  return s->work;
}

/* Randomness: the rule "integer". */

static uint64_t below(task *s, uint64_t bound) {
  int bits = 0;
  if (!bound) fail(s, NAYSAY_NO_DESIGN);
  if (bound == 1) return 0;
  while (bits < 64 && (bound - 1) >> bits) bits++;
  for (;;) {
    unsigned char octets[8];
    uint64_t number = 0;
    int count = (bits + 7) / 8;
    if (s->random(s->context, octets, (size_t)count)) fail(s, NAYSAY_NO_BYTES);
    for (int i = 0; i < count; i++) number = number << 8 | octets[i];
    number &= UINT64_MAX >> (64 - bits);
    if (number < bound) return number;
  }
}

/* The text of the answer. */

static void say(task *s, const void *text, size_t size) {
  if (size >= s->size - s->length) fail(s, NAYSAY_NO_SPACE);
  memcpy(s->answer + s->length, text, size);
  s->length += size;
}

static void say_number(task *s, uint64_t number) {
  char digits[21];
  say(s, digits, (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)number));
}

static const char *label(task *s, const char *list, uint64_t place) {
  const char *item = first(list);
  while (item && place--) item = following(item);
  if (!item) fail(s, NAYSAY_NO_DESIGN);
  return item;
}

static void say_label(task *s, const char *item) {
  if (*item == '"') {
    unsigned char out[4];
    int size;
    item++;
    while ((size = character(&item, out)) > 0) say(s, out, (size_t)size);
  } else if (*item == 't' || *item == 'f') {
    say(s, *item == 't' ? "True" : "False", *item == 't' ? 4 : 5);
  } else {
    say(s, item, (size_t)(after(item, 0) - item));
  }
}

static void say_set(task *s, const char *categories, const char *in, uint64_t t) {
  size_t start = s->length;
  const char *item = first(categories); /* or NULL: numbers name themselves */
  for (uint64_t place = 0; place < t; place++, item = item ? following(item) : NULL)
    if (in[place]) {
      if (s->length > start) say(s, ";", 1);
      if (item) say_label(s, item);
      else say_number(s, place);
    }
  if (s->length == start) say(s, ";", 1);
}

/* Designs. */

static uint64_t count(task *s, const char *categories) {
  uint64_t t = 0;
  if (categories && *categories == '{') return field(s, categories, "size");
  for (const char *item = first(categories); item; item = following(item)) t++;
  if (!t) fail(s, NAYSAY_NO_DESIGN);
  return t;
}

static const char *leaf(const char *node) { /* the node that lists the categories of a chain or a mixture */
  for (;;) {
    const char *kind = member(node, "kind");
    if (is(kind, "mixture")) node = first(member(node, "components"));
    else if (is(kind, "then") || is(kind, "both")) node = member(node, "first");
    else return node;
  }
}

static uint64_t categories(task *s, const char *node) {
  node = leaf(node);
  const char *kind = member(node, "kind");
  if (is(kind, "window")) return field(s, node, "steps") + 1;
  if (is(kind, "product")) return times(s, categories(s, member(node, "first")), categories(s, member(node, "second")));
  return count(s, member(node, "categories"));
}

static int64_t integer(task *s, const char *value) {
  int negative = value && *value == '-';
  int64_t number = (int64_t)natural(s, value ? value + negative : NULL);
  return negative ? -number : number;
}

/* The first half of the rule "window": a decimal number as a point of the grid. */
static uint64_t grid_point(task *s, const char *node, const char *truth) {
  int64_t low = integer(s, member(node, "low")), high = integer(s, member(node, "high")), z = 0;
  long shift = (long)field(s, node, "decimals"), power = 0;
  const char *p = truth + (*truth == '"'), *end = after_number(p);
  if (!end || (*truth == '"' ? *end != '"' : end != after(truth, 0))) fail(s, NAYSAY_NO_TRUTH);
  if (high <= low || shift > 99) fail(s, NAYSAY_NO_DESIGN);
  int negative = *p == '-', behind = 0, up = 0, huge = 0;
  const char *exponent = p + strcspn(p, "eE\"");
  if (exponent < end) power = strtol(exponent + 1, NULL, 10);
  if (power > 999999) power = 999999;
  if (power < -999999) power = -999999;
  shift += power;
  long before = (long)strspn(p + negative, "0123456789"); /* digits before the point */
  for (p += negative; p < end && *p != 'e' && *p != 'E'; p++) {
    if (*p == '.') continue;
    if (behind++ == before + shift) up = *p >= '5'; /* the first digit that is left out */
    if (behind <= before + shift && !huge) z = z * 10 + (*p - '0'), huge = z > (int64_t)LARGEST;
  }
  for (long zeros = before + shift - behind; zeros > 0 && z && !huge; zeros--) z *= 10, huge = z > (int64_t)LARGEST;
  z = huge ? (int64_t)LARGEST + 1 : z + up;
  if (negative) z = -z;
  if (z < low || z > high) {
    const char *clip = member(node, "clip");
    if (!clip || *clip != 't') fail(s, NAYSAY_NO_TRUTH);
    z = z < low ? low : high;
  }
  uint64_t units = (uint64_t)(high - low), scaled = times(s, (uint64_t)(z - low), field(s, node, "steps"));
  return scaled / units + (below(s, units) < scaled % units);
}

static uint64_t position(task *s, const char *node, const char *truth) {
  node = leaf(node);
  const char *kind = member(node, "kind"), *labels = member(node, "categories"), *item, *named = member(node, "named");
  uint64_t place = 0;
  if (is(kind, "window")) return grid_point(s, node, truth);
  if (is(kind, "product")) {
    const char *one = first(truth), *other = one ? following(one) : NULL, *second = member(node, "second");
    if (!other || following(other)) fail(s, NAYSAY_NO_TRUTH);
    place = times(s, position(s, member(node, "first"), one), categories(s, second));
    return plus(s, place, position(s, second, other));
  }
  if (named && *named == 't') fail(s, NAYSAY_NO_DESIGN);
  if (labels && *labels == '{') {
    if (!whole(truth, &place) || place >= field(s, labels, "size")) fail(s, NAYSAY_NO_TRUTH);
    return place;
  }
  for (item = first(labels); item && !same(item, truth); item = following(item)) place++;
  if (!item) fail(s, labels ? NAYSAY_NO_TRUTH : NAYSAY_NO_DESIGN);
  return place;
}

static uint64_t running_sum(task *s, const char *weights, uint64_t u) { /* the first place where it exceeds u */
  uint64_t sum = 0, place = 0;
  for (const char *item = first(weights); item; item = following(item), place++)
    if ((sum = plus(s, sum, natural(s, item))) > u) return place;
  fail(s, NAYSAY_NO_DESIGN);
  return 0;
}

static void subset(task *s, const char *node, uint64_t x) {
  const char *labels = member(node, "categories"), *truthful = member(node, "truthful");
  uint64_t t = count(s, labels), k = field(s, node, "discards"), ahead = truthful && *truthful == 't';
  char *in = room(s, t, 1);
  for (uint64_t left = t - ahead, place = ahead ? (x + 1) % t : 0; left; left--, place = (place + 1) % t)
    if (below(s, left) < k) in[place] = 1, k--;
  if (k) fail(s, NAYSAY_NO_DESIGN);
  say_set(s, labels, in, t);
}

static void weighted_subset(task *s, const char *node, uint64_t x) {
  const char *labels = member(node, "categories"), *item = first(member(node, "weights"));
  uint64_t t = count(s, labels), k = field(s, node, "discards");
  if (k >= t) fail(s, NAYSAY_NO_DESIGN);
  /* first the weights, then for each place the sums e(0), ..., e(k) over the places behind it, then the set */
  uint64_t *weights = room(s, plus(s, times(s, t, k + 3), k + 1), sizeof *weights), *sums = weights + t;
  char *in = (char *)(sums + (t + 1) * (k + 1));
  for (uint64_t i = 0; i < t; i++, item = item ? following(item) : NULL) weights[i] = natural(s, item);
  sums[t * (k + 1)] = 1;
  for (uint64_t i = t; i--;) {
    uint64_t *here = sums + i * (k + 1), *behind = here + k + 1;
    memcpy(here, behind, (size_t)(k + 1) * sizeof *here);
    for (uint64_t c = 1; c <= k && i != x; c++) here[c] = plus(s, behind[c], times(s, weights[i], behind[c - 1]));
  }
  uint64_t needed = k;
  for (uint64_t i = 0; i < t; i++)
    if (i != x) {
      uint64_t u = below(s, sums[i * (k + 1) + needed]);
      if (needed && u < times(s, weights[i], sums[(i + 1) * (k + 1) + needed - 1])) in[i] = 1, needed--;
    }
  say_set(s, labels, in, t);
}

static void subset_selection(task *s, const char *node, uint64_t x) {
  const char *labels = member(node, "categories");
  uint64_t t = count(s, labels), k = field(s, node, "size"), a = field(s, node, "inside"), b = field(s, node, "outside");
  if (k < 1 || k >= t || x >= t) fail(s, NAYSAY_NO_DESIGN);
  uint64_t inside = times(s, a, k), u = below(s, plus(s, inside, times(s, b, t - k)));
  uint64_t *drawn = room(s, plus(s, k, t), sizeof *drawn);
  char *in = (char *)(drawn + k);
  for (uint64_t i = 0, j = t - 1 - k; i < k; i++, j++) { /* Floyd 1987: k of the t - 1 others */
    uint64_t v = below(s, j + 1);
    drawn[i] = in[v] ? j : v;
    in[drawn[i]] = 1;
  }
  uint64_t place = below(s, k);
  memset(in, 0, (size_t)t);
  for (uint64_t i = 0; i < k; i++) in[u < inside && i == place ? x : drawn[i] + (drawn[i] >= x)] = 1;
  say_set(s, labels, in, t);
}

static uint64_t affine(task *s, const char *node, uint64_t x) {
  uint64_t t = count(s, member(node, "categories")), g = field(s, node, "base"), a = field(s, node, "inside");
  uint64_t b = field(s, node, "outside"), power = 1, hashes = 0, lead = 1, fewer = 0, h = 0;
  if (g < 2 || g > UINT32_MAX) fail(s, NAYSAY_NO_DESIGN);
  do hashes = plus(s, hashes, power), power = times(s, power, g); /* (g^m - 1) / (g - 1), the least m with g^m >= t */
  while (power < t);
  uint64_t hash = below(s, hashes), u = below(s, plus(s, a, times(s, g - 1, b)));
  while (fewer + lead <= hash) fewer += lead, lead *= g; /* the block of vectors with this leading digit */
  for (uint64_t alpha = lead + hash - fewer; alpha; alpha /= g, x /= g) h = (h + alpha % g * (x % g)) % g;
  uint64_t o = u < a ? 0 : (u - a) / b;
  return plus(s, times(s, hash, g), u < a ? h : o < h ? o : o + 1);
}

static uint64_t window(task *s, const char *node, uint64_t i) {
  uint64_t w = field(s, node, "width"), a = field(s, node, "inside"), b = field(s, node, "outside");
  uint64_t inside = times(s, a, w), u = below(s, plus(s, inside, times(s, b, field(s, node, "steps"))));
  if (u < inside) return i + u / a;
  return (u - inside) / b < i ? (u - inside) / b : (u - inside) / b + w;
}

static void unary(task *s, const char *node, uint64_t x) {
  const char *labels = member(node, "categories");
  uint64_t t = count(s, labels), own = field(s, node, "own"), other = field(s, node, "other");
  char *in = room(s, t, 1);
  for (uint64_t place = 0; place < t; place++) in[place] = below(s, (uint64_t)1 << 32) < (place == x ? own : other);
  say_set(s, labels, in, t);
}

/* Draws from a node, and says the response, unless another design draws from it: then its number is wanted. */
static uint64_t draw(task *s, const char *node, uint64_t x, int aloud) {
  const char *kind = member(node, "kind"), *labels = NULL, *one = member(node, "first"), *other = member(node, "second");
  uint64_t y = 0;
  if (is(kind, "table") || is(kind, "two_option")) {
    y = running_sum(s, label(s, member(node, "columns"), x), below(s, field(s, node, "denominator")));
    labels = member(node, "responses");
  } else if (is(kind, "pattern")) {
    labels = member(node, "categories");
    uint64_t own = field(s, node, "own"), others = field(s, node, "other"), before = times(s, x, others);
    uint64_t u = below(s, plus(s, own, times(s, count(s, labels) - 1, others)));
    y = u < before ? u / others : u < plus(s, before, own) ? x : (u - own) / others + 1;
  } else if (is(kind, "affine") || is(kind, "window")) {
    y = is(kind, "affine") ? affine(s, node, x) : window(s, node, x);
    if (aloud) say_number(s, y);
    return y;
  } else if (is(kind, "then")) {
    return draw(s, other, draw(s, one, x, 0), aloud);
  } else if (is(kind, "mixture")) {
    const char *weights = member(node, "weights");
    uint64_t sum = 0;
    for (const char *item = first(weights); item; item = following(item)) sum = plus(s, sum, natural(s, item));
    return draw(s, label(s, member(node, "components"), running_sum(s, weights, below(s, sum))), x, aloud);
  } else if (is(kind, "grouped")) {
    uint64_t width = field(s, node, "width");
    if (!width) fail(s, NAYSAY_NO_DESIGN);
    return draw(s, member(node, "design"), x / width, aloud);
  } else if (!aloud) { /* a set or a pair is no category of another design */
    fail(s, NAYSAY_NO_DESIGN);
  } else if (is(kind, "subset")) {
    subset(s, node, x);
  } else if (is(kind, "weighted_subset")) {
    weighted_subset(s, node, x);
  } else if (is(kind, "subset_selection")) {
    subset_selection(s, node, x);
  } else if (is(kind, "unary")) {
    unary(s, node, x);
  } else if (is(kind, "product") || is(kind, "both")) {
    uint64_t size = is(kind, "both") ? 1 : categories(s, other);
    draw(s, one, x / size, 1);
    say(s, " \xc3\x97 ", 4);
    draw(s, other, is(kind, "both") ? x : x % size, 1);
  } else {
    fail(s, NAYSAY_NO_DESIGN);
  }
  if (labels && aloud && *labels == '{') say_number(s, y); /* of a domain that is only counted */
  else if (labels && aloud) say_label(s, label(s, labels, y));
  return y;
}

/* The node that draws: the design itself, or that of the level or sample. */
static const char *channel(task *s, const char *document, const char *part) {
  static const char *several[][3] = {
      {"levels", "levels", "level"}, {"hierarchy", "levels", "level"}, {"samples", "samples", "sample"}};
  const char *node = member(document, "design"), *kind = member(node, "kind"), *item;
  uint64_t version = 0;
  if (!is(member(document, "naysay"), "design") || !whole(member(document, "version"), &version) || version != 1)
    fail(s, NAYSAY_NO_DESIGN);
  for (int i = 0; i < 3; i++)
    if (is(kind, several[i][0])) {
      for (item = first(member(node, several[i][1])); item; item = following(item)) {
        const char *name = member(item, several[i][2]);
        if (name && same(name, part)) return member(item, "design");
      }
      fail(s, NAYSAY_NO_PART);
    }
  return node;
}

static const char *checked(task *s, const char *text, int code) {
  const char *end = text ? after(text = blank(text), 0) : NULL;
  if (!end || *blank(end)) fail(s, code);
  return text;
}

static int system_bytes(void *context, unsigned char *bytes, size_t wanted) {
  FILE **file = context;
  if (!*file && (*file = fopen("/dev/urandom", "rb"))) setvbuf(*file, NULL, _IONBF, 0); /* reads no byte too many */
  return !*file || fread(bytes, 1, wanted, *file) != wanted;
}

long naysay_draw(const char *design, const char *truth, const char *part, naysay_random random, void *context, char *answer,
                 size_t size) {
  task *s = size ? calloc(1, sizeof *s) : NULL;
  if (!s) return size ? NAYSAY_NO_MEMORY : NAYSAY_NO_SPACE;
  s->random = random ? random : system_bytes, s->context = random ? context : &s->file;
  s->answer = answer, s->size = size;
  memset(answer, 0, size);
  int code = setjmp(s->failure);
  if (!code) {
    design = checked(s, design, NAYSAY_NO_DESIGN), truth = checked(s, truth, NAYSAY_NO_TRUTH);
    const char *node = channel(s, design, checked(s, part ? part : "null", NAYSAY_NO_PART));
    draw(s, node, position(s, node, truth), 1);
  } else {
    memset(answer, 0, size);
  }
  long result = code ? -code : (long)s->length;
  if (s->file) fclose(s->file);
  free(s->work);
  free(s);
  return result;
}

const char *naysay_draw_problem(long code) {
  static const char *problems[] = {"there is no problem",
                                   "this is no design of version 1, or none that this library draws",
                                   "the truth is no category of this design",
                                   "this design has no such level or sample",
                                   "there were too few random bytes",
                                   "the answer does not fit",
                                   "there is no memory left"};
  return problems[code < 0 && code >= NAYSAY_NO_MEMORY ? -code : 0];
}

#ifdef NAYSAY_DRAW_COMMAND
int main(int words, char **word) {
  static char answer[1 << 20];
  if (words != 3 && words != 4) return fputs("naysay-draw DESIGN TRUTH [PART], all three in JSON\n", stderr), 2;
  long length = naysay_draw(word[1], word[2], words == 4 ? word[3] : NULL, NULL, NULL, answer, sizeof answer);
  if (length < 0) return fprintf(stderr, "naysay-draw: %s\n", naysay_draw_problem(length)), 2;
  return fwrite(answer, 1, (size_t)length, stdout) != (size_t)length || putchar('\n') == EOF || fflush(stdout) ? 3 : 0;
}
#endif
