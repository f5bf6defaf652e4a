// Draws responses exactly as a design's JSON publishes them. The rules stand in words under "drawing" in that JSON; the
// same random bytes give the same response in Python (tests/reference/drawing_vectors.json).
//
// Chances are BigInt, because weighted subsets need more than 53 bits. Draws whose bounds are at most 2^53, the most that a
// design's weights may sum to, are made with numbers: these are exact there, and ten times as fast.

/** Random bytes from the browser's cryptographic source: the only source that respondents' draws ever use. */
export const system = (size) => crypto.getRandomValues(new Uint8Array(size));

/** A uniform integer below `bound`, a number or a BigInt, by rejection (the rule "integer"). `source(n)` gives n random bytes. */
export function below(bound, source) {
  if (typeof bound === "number") return under(bound, source);
  if (bound <= EXACT) return BigInt(under(Number(bound), source));
  const bits = (bound - 1n).toString(2).length;
  for (;;) {
    const number = bigEndian(source(Math.ceil(bits / 8))) & ((1n << BigInt(bits)) - 1n);
    if (number < bound) return number;
  }
}

const EXACT = 2n ** 53n;

/** The same for a number of at most 2^53. */
function under(bound, source) {
  if (bound === 1) return 0;
  const high = Math.floor((bound - 1) / 2 ** 32);
  const bits = high ? 64 - Math.clz32(high) : 32 - Math.clz32(bound - 1);
  const size = Math.ceil(bits / 8);
  const first = 255 >> (8 * size - bits); // the bits of the first byte that are not cleared
  for (;;) {
    const octets = source(size);
    let number = octets[0] & first;
    for (let place = 1; place < size; place++) number = number * 256 + octets[place];
    if (number < bound) return number;
  }
}

/** The system's random bytes for one draw, read ahead: a call costs more than the bytes. What is left over is forgotten. */
function ahead() {
  let [octets, at, next] = [new Uint8Array(0), 0, 64];
  return (size) => {
    if (at + size > octets.length) [octets, at, next] = [system(Math.max(next, size)), 0, 1024];
    return octets.subarray(at, (at += size));
  };
}

/** Bytes in hexadecimal. */
export const hex = (bytes) => Array.from(new Uint8Array(bytes), (octet) => octet.toString(16).padStart(2, "0")).join("");

/** `size` random bytes in hexadecimal. */
export const hexadecimal = (size, source = system) => hex(source(size));

/** The design that draws at this level: one of an offer of levels, one of several samples, or the design itself. */
export function channel(design, level = null) {
  const offered = design.levels ?? design.samples;
  if (!offered) return design;
  const entry = offered.find((each) => String(each.level ?? each.sample) === String(level));
  if (!entry) throw new RangeError(`there is no level ${level}`);
  return entry.design;
}

/** The categories of a design, in order; pairs for a product. */
export function categories(design) {
  const { kind } = design;
  if (kind === "levels" || kind === "samples") return categories((design.levels ?? design.samples)[0].design);
  if (kind === "mixture") return categories(design.components[0]);
  if (kind === "then" || kind === "both") return categories(design.first);
  if (kind === "product")
    return categories(design.first).flatMap((a) => categories(design.second).map((b) => [a, b]));
  return "size" in design.categories ? Array.from({ length: design.categories.size }, (_, place) => place) : design.categories;
}

/** The response, as text, of a person whose true category is `truth`. */
export function draw(design, truth, source = system) {
  const place = placeOf(design, truth);
  if (place < 0) throw new RangeError(`${JSON.stringify(truth)} is not a category`);
  return text(design, DRAW[design.kind](design, place, source === system ? ahead() : source));
}

/** The number of a true category, without a list of those that are only counted; below 0 where there is none. */
export function placeOf(design, truth) {
  const counted = design.named ? NAMES : design.categories?.size;
  if (counted && Number.isInteger(truth) && 0 <= truth && truth < counted) return truth;
  if (typeof truth !== "object") return categories(design).indexOf(truth);
  const key = JSON.stringify(truth);
  return categories(design).findIndex((category) => JSON.stringify(category) === key);
}

/** The categories that a response, as text, leaves possible, in order. */
export function possible(design, response) {
  const [said, { at }] = [parsed(design, response), chances(design)];
  return categories(design).filter((_, place) => at(place, said) > 0n);
}

/** Two different categories to be shown to a respondent who draws by hand, every pair with equal chances. */
export function shown(design, source = system) {
  const everyone = { kind: "subset", categories: categories(design), discards: 2, truthful: false };
  return DRAW.subset(everyone, 0, source).map((place) => everyone.categories[place]);
}

// A response is a position in a table, a sorted list of positions in a set, or a pair of responses.

const DRAW = {
  table: (design, truth, source) => lot(design.columns[truth], below(design.denominator, source)),
  two_option: (design, truth, source) => DRAW.table(design, truth, source),
  pattern({ own, other, categories: { length: t } }, truth, source) {
    const u = below(own + (t - 1) * other, source);
    if (u < truth * other) return quotientOf(u, other);
    return u < truth * other + own ? truth : quotientOf(u - own, other) + 1;
  },
  subset(design, truth, source) {
    const t = design.categories.length;
    const order = design.truthful ? others(t, truth) : Array.from({ length: t }, (_, place) => place);
    let needed = design.discards;
    const discarded = order.filter((_, visited) => {
      const taken = below(order.length - visited, source) < needed;
      if (taken) needed -= 1;
      return taken;
    });
    return discarded.sort((a, b) => a - b);
  },
  weighted_subset(design, truth, source) {
    const order = design.weights.map((weight, place) => [place, BigInt(weight)]).filter(([place]) => place !== truth);
    let needed = design.discards;
    return order.flatMap(([place, weight], visited) => {
      const rest = order.slice(visited + 1).map(([, other]) => other);
      const u = below(products(needed, [weight, ...rest]), source);
      if (u >= weight * products(needed - 1, rest)) return [];
      needed -= 1;
      return [place];
    });
  },
  subset_selection({ size, inside, outside, ...design }, truth, source) {
    const t = sizeOf(design);
    const u = below(inside * size + outside * (t - size), source);
    const drawn = new Set(); // keeps the order in which candidates were drawn
    for (let j = t - 1 - size; j < t - 1; j++) {
      const v = below(j + 1, source);
      drawn.add(drawn.has(v) ? j : v);
    }
    const named = Uint32Array.from(drawn, (candidate) => candidate + (candidate >= truth)); // these sort as numbers
    const place = below(size, source);
    if (u < inside * size) named[place] = truth;
    return Array.from(named.sort());
  },
  affine(design, truth, source) {
    const { base: g, inside: a, outside: b } = design;
    const reach = g ** Number(digitsOf(design));
    const small = 2 * reach <= Number.MAX_SAFE_INTEGER; // so that s * g is exact, too
    const s = below(small ? (reach - 1) / (g - 1) : (BigInt(g) ** digitsOf(design) - 1n) / BigInt(g - 1), source);
    const u = below(a + (g - 1) * b, source);
    const h = Number(hashed(design, s, small ? truth : BigInt(truth)));
    const other = u < a ? 0 : quotientOf(u - a, b);
    const value = u < a ? h : other < h ? other : other + 1;
    return small ? s * g + value : Number(s * BigInt(g) + BigInt(value));
  },
  unary(design, truth, source) {
    const drawn = categories(design).map(() => below(2 ** 32, source));
    return drawn.flatMap((u, place) => (u < (place === truth ? design.own : design.other) ? [place] : []));
  },
  mixture(design, truth, source) {
    const part = design.components[lot(design.weights, below(design.weights.reduce((sum, weight) => sum + weight), source))];
    return DRAW[part.kind](part, truth, source);
  },
  then(design, truth, source) {
    const between = DRAW[design.first.kind](design.first, truth, source);
    return DRAW[design.second.kind](design.second, between, source);
  },
  product(design, truth, source) {
    const size = categories(design.second).length;
    const [first, second] = [Math.floor(truth / size), truth % size];
    return [
      DRAW[design.first.kind](design.first, first, source),
      DRAW[design.second.kind](design.second, second, source),
    ];
  },
  both(design, truth, source) {
    return [design.first, design.second].map((part) => DRAW[part.kind](part, truth, source));
  },
};

const CHANCES = {
  table: ({ columns, denominator }) => ({
    whole: BigInt(denominator),
    at: (place, said) => BigInt(columns[place][said] ?? 0), // of a label that is no response, none
  }),
  two_option: (design) => CHANCES.table(design),
  pattern: ({ own, other, categories: { length: t } }) => ({
    whole: BigInt(own) + (BigInt(t) - 1n) * BigInt(other),
    at: (place, said) => BigInt(place === said ? own : said < 0 ? 0 : other), // of a label that is no response, none
  }),
  subset({ categories: { length: t }, discards, truthful }) {
    const whole = products(discards, Array(truthful ? t - 1 : t).fill(1n));
    return { whole, at: (place, said) => (truthful && said.includes(place) ? 0n : 1n) };
  },
  weighted_subset({ weights, discards }) {
    const all = weights.map(BigInt);
    const sums = all.map((_, place) => products(discards, all.filter((_, other) => other !== place)));
    const whole = sums.reduce((product, sum) => product * sum);
    const at = (place, said) => said.reduce((product, other) => product * all[other], whole / sums[place]);
    return { whole, at: (place, said) => (said.includes(place) ? 0n : at(place, said)) };
  },
  subset_selection(design) {
    const t = categories(design).length;
    const [k, a, b] = [design.size, design.inside, design.outside].map(BigInt);
    const sets = products(design.size - 1, Array(t - 1).fill(1n)); // those that hold a given category; k/t of all
    return { whole: (a * k + b * (BigInt(t) - k)) * sets, at: (place, said) => k * (said.includes(place) ? a : b) };
  },
  affine(design) {
    const [g, a, b] = [design.base, design.inside, design.outside].map(BigInt);
    const hashes = (g ** digitsOf(design) - 1n) / (g - 1n);
    const at = (place, said) => (hashed(design, BigInt(said) / g, BigInt(place)) === BigInt(said) % g ? a : b);
    return { whole: hashes * (a + (g - 1n) * b), at };
  },
  unary(design) {
    const [p, q, one] = [BigInt(design.own), BigInt(design.other), 2n ** 32n];
    const t = categories(design).length;
    const at = (place, said) => {
      const true_ = said.includes(place);
      const others = said.length - Number(true_);
      return (true_ ? p : one - p) * q ** BigInt(others) * (one - q) ** BigInt(t - 1 - others);
    };
    return { whole: one ** BigInt(t), at };
  },
  mixture({ weights, components }) {
    const parts = components.map(chances);
    const shares = weights.map(BigInt);
    const whole = parts.reduce((product, part) => product * part.whole, 1n);
    const at = (place, said) => (part, i) => shares[i] * part.at(place, said) * (whole / part.whole);
    return { whole: whole * total(shares), at: (place, said) => total(parts.map(at(place, said))) };
  },
  then({ first, second }) {
    const [one, other] = [chances(first), chances(second)];
    const between = (place, said) => space(first).labels.map((_, state) => one.at(place, state) * other.at(state, said));
    return { whole: one.whole * other.whole, at: (place, said) => total(between(place, said)) };
  },
  product({ first, second }) {
    const [one, other] = [chances(first), chances(second)];
    const size = categories(second).length;
    const at = (place, said) => one.at(Math.floor(place / size), said[0]) * other.at(place % size, said[1]);
    return { whole: one.whole * other.whole, at };
  },
  both({ first, second }) {
    const [one, other] = [chances(first), chances(second)];
    return { whole: one.whole * other.whole, at: (place, said) => one.at(place, said[0]) * other.at(place, said[1]) };
  },
};

/** The chances of a design as integers: `at(place, said)` of a category and a response, over `whole`. */
export const chances = (design) => CHANCES[design.kind](design);

/** A design in the form in which it is hashed: a pattern of few categories as the table with its weights, which draws the same. */
export function asTable(design) {
  const { kind, categories: labels, own, other } = design;
  if (kind !== "pattern" || !(labels.length <= 256)) return design;
  const columns = labels.map((_, column) => labels.map((_, row) => (row === column ? own : other)));
  return { kind: "table", categories: labels, responses: labels, denominator: own + (labels.length - 1) * other, columns };
}

const NAMES = 2 ** 48;

/** How many categories a design lists, or counts. */
export const sizeOf = ({ categories: { size, length } }) => size ?? length;

/** The least number of digits, in the base of an affine design, in which all categories differ. */
export function digitsOf(design) {
  const domain = design.named ? NAMES : sizeOf(design);
  let digits = 1;
  for (let reach = design.base; reach < domain; reach *= design.base) digits++;
  return BigInt(digits);
}

/** Σ αᵢ xᵢ modulo g, for hash number s and a category's number, both in digits of base g, and both numbers or BigInt. */
export function hashed(design, s, number) {
  const as = typeof s === "number" ? Number : BigInt;
  const g = as(design.base);
  let [fewer, lead, sum] = [as(0), as(1), as(0)]; // the hashes of fewer digits, and the leading power
  for (; fewer + lead <= s; lead *= g) fewer += lead;
  for (let alpha = lead + s - fewer; alpha; alpha = quotientOf(alpha, g), number = quotientOf(number, g)) sum += (alpha % g) * (number % g);
  return sum % g;
}

/** Whole times that one integer goes into another; exact for numbers, too. */
const quotientOf = (one, other) => (one - (one % other)) / other;

const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0n);

/** The first row whose running sum exceeds u. */
function lot(weights, u) {
  let sum = 0;
  return weights.findIndex((weight) => (sum += weight) > u);
}

/** x+1, x+2, … modulo t, x left out. */
const others = (t, x) => Array.from({ length: t - 1 }, (_, step) => (x + 1 + step) % t);

/** The sum over the subsets of that size of the products of their weights. */
export function products(size, weights) {
  if (size < 0) return 0n;
  const sums = [1n, ...Array(size).fill(0n)];
  for (const weight of weights) for (let k = size; k > 0; k--) sums[k] += weight * sums[k - 1];
  return sums[size];
}

const bigEndian = (octets) => octets.reduce((number, octet) => (number << 8n) | BigInt(octet), 0n);

/** The categories for which a response, as text, speaks: one that is likelier where the truth is among them; else null. */
export function supported(design, response) {
  if (!(design.kind in SPOKEN)) return null;
  const [said, { at }] = [parsed(design, response), chances(design)];
  const weights = categories(design).map((_, place) => at(place, said));
  const most = weights.reduce((one, other) => (other > one ? other : one));
  return categories(design).filter((_, place) => weights[place] === most && weights.some((weight) => weight < most));
}

/** The chance that a response speaks for the true category, as a pair of integers; null for designs of other kinds. */
export const spoken = (design) => SPOKEN[design.kind]?.(design) ?? null;

const SPOKEN = {
  subset_selection({ size, inside, outside, ...design }) {
    const [k, a, b] = [size, inside, outside].map(BigInt);
    return [a * k, a * k + b * (BigInt(categories(design).length) - k)];
  },
  affine: ({ base, inside, outside }) => [BigInt(inside), BigInt(inside) + (BigInt(base) - 1n) * BigInt(outside)],
  unary: ({ own }) => [BigInt(own), 2n ** 32n],
};

/** The labels of a design's responses, and how many of them a response is a set of; null for pairs. */
export function space(design) {
  if (design.kind === "mixture") return space(design.components[0]);
  if (design.kind === "then") return space(design.second);
  if (design.responses) return { labels: design.responses.map(String), set: 0 };
  if (design.kind === "affine") return { labels: [], set: 0, number: true };
  const set = design.discards ?? design.size ?? (design.kind === "unary" ? categories(design).length : 0);
  return design.categories ? { labels: categories(design).map(String), set } : null;
}

/** Whether a response of this design, or at some level of this offer, is a set of categories. */
export const sets = (design) =>
  design.levels ? design.levels.some((entry) => sets(entry.design)) : (space(design)?.set ?? 0) > 0;

/** A response as text, without a list of the categories that it does not name. */
function text({ kind, first, second, components, responses, categories: known }, said) {
  if (kind === "mixture") return text(components[0], said);
  if (kind === "then") return text(second, said);
  if (kind === "affine") return String(said);
  if (responses) return String(responses[said]);
  if (!known) return `${text(first, said[0])} × ${text(second, said[1])}`;
  const label = (place) => String(known.size ? place : known[place]);
  return Array.isArray(said) ? said.map(label).join(";") || ";" : label(said);
}

function parsed(design, response) {
  const words = space(design);
  if (!words) {
    const [first, second] = response.split(" × ");
    return [parsed(design.first, first), parsed(design.second, second)];
  }
  if (words.number) return Number(response);
  if (words.set) return response.split(";").filter(Boolean).map((label) => words.labels.indexOf(label));
  return words.labels.indexOf(response);
}
