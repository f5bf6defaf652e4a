// A ledger for web apps: what the answers of one device have cost, what it may still say, and the answers that it keeps.
// The respondent's page does not load this module. `naysay.telemetry.ledger` does the same in Python, from the same words
// (docs/how-to/waves.md) and the same vectors (tests/reference/memory_vectors.json), and reads the same text.
import { asTable, below, categories, chances, channel, digitsOf, draw, hashed, hex, placeOf, products, sizeOf, space, system } from "./randomize.js";
import { nameOf } from "./names.mjs";
import { drawGroup, drawNumber } from "./numbers.mjs";
import { reporter as ofPrefixes } from "./prefixes.mjs";

/** The ledger refuses: nothing was drawn, nothing was charged, and what is stored is as it was. */
export class LedgerError extends Error {}

const MEMO = "a design that remembers draws its memo once, and keeps it for all waves: answer by itself with Ledger.answer";
const ALONE = ["remembered", "window", "grouped", "prefixes"]; // drawn by modules of their own
const VERSION = 2;
const DAY = 86_400;
const ROUNDING = 1e-9;
const LINES = { at_most: "atMost", unchanged: "unchanged" };
const waiting = new Map(); // the last act on each name, for environments without Web Locks

/** The ledger in a storage such as localStorage: anything with getItem and setItem, which may be asynchronous. */
export class Ledger {
  constructor(storage, { name = "naysay", cap = null, days = 365, of = "at_most", clock = () => Date.now() / 1000, source = system } = {}) {
    if ((cap !== null && !(cap > 0 && cap < Infinity)) || !(days >= 1) || !(of in LINES))
      throw new LedgerError(`a cap must be positive, over one day or more; got ${cap}, ${days} and ${of}`);
    Object.assign(this, { storage, name, clock, source, cap: cap === null ? null : { epsilon: cap, days, of } });
  }

  /** The answer for a wave, as text, after it was charged and stored. */
  async answer(design, truth, { question, wave, rule = null, level = null }) {
    const node = channel(design, level);
    checkParts(node);
    const asked = rule ?? (node.kind === "remembered" ? "memory" : "fresh");
    if (!["fresh", "kept", "memory"].includes(asked) || (asked === "memory") !== (node.kind === "remembered"))
      throw new LedgerError(`rule ${rule} does not fit a design of kind ${node.kind}; ${node.kind === "remembered" ? "memory fits" : "fresh and kept fit"}`);
    if (asked === "kept" && node.kind === "window")
      throw new LedgerError(
        `${question} asks for a number, which cannot be kept: a number that moves a little would be drawn anew each time, and the draws would show it; draw it anew`,
      );
    const { by } = await reporter(node, truth);
    const design_ = await digest(node);
    const key = await this.#charge(question, design_, asked, cost(node, asked), wave);
    if (asked === "fresh") return by(this.source);
    const memo = await kept(node, truth, (label, act) => streamed(key, question, design_, label, act));
    return asked === "memory" ? redrawn(node, memo, this.source) : memo;
  }

  /** [question, answer] of one question by lot, drawn anew, from {question: [design, truth]}. It costs the largest ε. */
  async oneOf(asked, { wave }) {
    const names = Object.keys(asked);
    if (!names.length) throw new LedgerError("one question or more is needed to draw one by lot");
    const nodes = names.map((name) => channel(asked[name][0]));
    if (nodes.some(({ kind }) => kind === "remembered")) throw new LedgerError(MEMO);
    nodes.forEach(checkParts);
    const reporters = await Promise.all(nodes.map((node, place) => reporter(node, asked[names[place]][1])));
    const price = { epsilon: Math.max(...nodes.map((node) => cost(node, "fresh").epsilon)), values: 0, memo: null };
    const together = await sha256((await Promise.all(nodes.map(digest))).join(""));
    await this.#charge(names.join(" | "), together, "fresh", price, wave);
    const place = Number(below(BigInt(names.length), this.source));
    return [names[place], reporters[place].by(this.source)];
  }

  /** { unchanged, perChange, atMost }: ε of the period's answers. */
  spent() {
    return this.#alone(async () => this.#sum(await this.#load()));
  }

  #charge(question, design, rule, price, wave) {
    return this.#alone(async () => {
      const body = await this.#load();
      const mine = body.questions.filter((each) => each.question === question);
      if (mine.some(({ waves }) => waves.some(([used]) => used === String(wave))))
        throw new LedgerError(`wave ${wave} of ${question} was answered; send that answer again`);
      let entry = mine.find((each) => each.design === design && each.rule === rule);
      if (!entry) {
        entry = { question, design, rule, ...price, epsilon: finite(price.epsilon), waves: [] };
        body.questions.push(entry);
      }
      entry.values = price.values;
      delete entry.uncertain;
      entry.waves.push([String(wave), body.day]);
      if (this.cap) {
        const after = this.#sum(body)[LINES[this.cap.of]];
        if (after > this.cap.epsilon + ROUNDING) {
          const old = body.questions.filter(({ uncertain }) => uncertain).map((each) => each.question);
          const shared = rule === "kept" && price.values === null && entry.waves.length > 1;
          throw new LedgerError(
            `${question} is refused: ε would be ${after === Infinity ? "∞" : after.toPrecision(4)} within ${this.cap.days} days, and at most ${this.cap.epsilon} is allowed` +
              (shared ? "; kept answers of an affine design show which values share a hash (k_ary has no hash)" : "") +
              (old.length
                ? `; an older ledger did not write whether values of ${old.join(", ")} can share a hash, so that they are charged as if they did until the question is answered again`
                : ""),
          );
        }
      }
      await this.storage.setItem(this.name, await sealed(body));
      return octetsOf(body.key);
    });
  }

  #sum(body) {
    const since = this.cap ? body.day - this.cap.days : -Infinity;
    const found = { unchanged: 0, perChange: 0, atMost: 0 };
    for (const entry of body.questions) {
      const n = entry.waves.filter(([, day]) => day > since).length;
      found.unchanged += after(entry, n);
      found.perChange = Math.max(found.perChange, further(entry, n));
      found.atMost += most(entry, n);
    }
    return found;
  }

  async #load() {
    const day = Math.floor(this.clock() / DAY);
    const text = await this.storage.getItem(this.name);
    if (text === null || text === undefined)
      return { naysay: "ledger", version: VERSION, key: hex(this.source(32)), cap: this.cap, day, questions: [] };
    const body = await opened(text, this.name);
    if (JSON.stringify(body.cap) !== JSON.stringify(this.cap))
      throw new LedgerError(`${this.name} was made with the cap ${JSON.stringify(body.cap)}, not ${JSON.stringify(this.cap)}`);
    if (day < body.day) {
      const [now, before] = [day, body.day].map((each) => new Date(each * DAY * 1000).toISOString().slice(0, 10));
      throw new LedgerError(
        `the clock goes back: it says ${now}, and the ledger was used on ${before}; set the clock right (nothing was drawn, nothing is lost)`,
      );
    }
    return { ...body, day };
  }

  #alone(act) {
    const locks = globalThis.navigator?.locks;
    if (locks) return locks.request(`naysay ledger ${this.name}`, act);
    const turn = (waiting.get(this.name) ?? Promise.resolve()).then(act, act);
    waiting.set(this.name, turn.catch(() => {}));
    return turn;
  }
}

const utf8 = (text) => new TextEncoder().encode(text);
const octetsOf = (text) => Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
const sha256 = async (text) => hex(await crypto.subtle.digest("SHA-256", utf8(text)));
const finite = (value) => (Number.isFinite(value) ? value : null);

async function hmac(key, text) {
  const made = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", made, utf8(text)));
}

async function sealed(body) {
  const line = JSON.stringify(body);
  return `${line}\n${hex(await hmac(octetsOf(body.key), line))}\n`;
}

async function opened(text, name) {
  const [line, check, rest, ...more] = String(text).split("\n");
  let body = null;
  try {
    body = JSON.parse(line);
    if (rest !== "" || more.length || hex(await hmac(octetsOf(body.key), line)) !== check) body = null;
  } catch {
    body = null;
  }
  if (body === null)
    throw new LedgerError(
      `the ledger ${name} is damaged: cut short or changed. It was left as it is: put a copy back, or remove it (answers are then drawn anew, and charged from zero)`,
    );
  if (body.naysay !== "ledger" || ![1, VERSION].includes(body.version))
    throw new LedgerError(`${name} is no ledger of version 1 or ${VERSION}`);
  return body.version === 1 ? renewed(body) : body;
}

/** A ledger of version 1 as one of this version: until a question is answered again, its values count as sharing a hash. */
function renewed(body) {
  const questions = body.questions.map((each) => (each.rule === "fresh" ? each : { ...each, values: null, uncertain: true }));
  return { ...body, version: VERSION, questions };
}

/** Refuse a design whose parts only modules of their own can draw, before anything is charged. */
function checkParts(node) {
  for (const part of [node.first, node.second, ...(node.components ?? [])].filter(Boolean)) {
    if (part.kind === "remembered") throw new LedgerError(MEMO);
    if (ALONE.includes(part.kind))
      throw new LedgerError(`a design of kind ${part.kind} is asked by itself, not as a part of another: this client cannot draw it there`);
    checkParts(part);
  }
}

/** The number of a true category, and how a report on it (of a design that remembers, its memo) is drawn from a source.
 * Throws a RangeError where the design does not know it. */
async function reporter(node, truth) {
  if (node.kind === "remembered") return reporter(node.first, truth);
  if (node.kind === "prefixes") return ofPrefixes(node, truth);
  if (node.kind === "window") drawNumber(node, truth);
  const known = node.named ? await nameOf(truth) : truth;
  const place = node.kind === "window" ? null : placeOf(node, known);
  if (place < 0) throw new RangeError(`${JSON.stringify(truth)} is not a category`);
  return { place, by: (source) => report(node, known, source) };
}

/** A report drawn anew. A design that remembers is refused: its memo must be kept, which only `Ledger.answer` does. */
export function report(design, truth, source = system) {
  if (design.kind === "remembered") throw new LedgerError(MEMO);
  if (design.kind === "prefixes")
    throw new LedgerError("a heavy hitter is reported by Ledger.answer, or by report of naysay-draw/prefixes");
  checkParts(design);
  return ({ window: drawNumber, grouped: drawGroup }[design.kind] ?? draw)(design, truth, source);
}

/** One more report of a memo, both as text. */
export function redrawn({ first, second }, memo, source = system) {
  const [keep, whole] = [BigInt(second.keep), BigInt(second.whole)];
  const labels = space(first).labels;
  const setOf = (places) => places.map((place) => labels[place]).join(";") || ";";
  if (first.kind === "unary") {
    const named = memo.split(";");
    const bits = labels.map((label) => [below(whole, source) < keep, below(2n, source) === 1n, named.includes(label)]);
    return setOf(bits.flatMap(([stays, other, before], place) => ((stays ? before : other) ? [place] : [])));
  }
  const stays = below(whole, source) < keep;
  if (first.kind === "subset_selection") {
    const drawn = new Set();
    for (let j = labels.length - first.size; j < labels.length; j++) {
      const v = Number(below(BigInt(j + 1), source));
      drawn.add(drawn.has(v) ? j : v);
    }
    return stays ? memo : setOf([...drawn].sort((a, b) => a - b));
  }
  const v = below(BigInt(first.base ?? labels.length), source);
  if (stays) return memo;
  return first.base ? String((BigInt(memo) / BigInt(first.base)) * BigInt(first.base) + v) : labels[Number(v)];
}

/** The response that is kept for a value; of a design that remembers, its memo. `of(label, act)` gives a source to act. */
export async function kept(design, truth, of) {
  const node = design.kind === "remembered" ? design.first : design;
  const { place, by } = await reporter(node, truth);
  if (node.kind !== "affine") return of(`value ${place}`, by);
  const [g, a, b] = [node.base, node.inside, node.outside].map(BigInt);
  const s = await of("hash", (source) => below((g ** digitsOf(node) - 1n) / (g - 1n), source));
  const h = hashed(node, s, BigInt(place));
  const u = await of(`value ${h}`, (source) => below(a + (g - 1n) * b, source));
  const other = (u - a) / b;
  return String(s * g + (u < a ? h : other < h ? other : other + 1n));
}

const SHORT = new RangeError("more random bytes are needed");

/** What `act` makes of the bytes that only this key gives: block i is HMAC-SHA256 of the JSON of [question, design, label, i]. */
export async function streamed(key, question, design, label, act) {
  for (let blocks = 4; ; blocks *= 4) {
    const texts = Array.from({ length: blocks }, (_, i) => JSON.stringify([question, design, label, i]));
    const octets = (await Promise.all(texts.map((text) => hmac(key, text)))).flatMap((block) => [...block]);
    let read = 0;
    try {
      return act((size) => {
        if ((read += size) > octets.length) throw SHORT;
        return Uint8Array.from(octets.slice(read - size, read));
      });
    } catch (error) {
      if (error !== SHORT) throw error;
    }
  }
}

const TOLD = ["name", "notes", "protocol", "alternatives"];

/** SHA-256 of what draws: the design without names and notes, keys in order, no spaces. A pattern of at most 256 categories
 * is hashed as its table, except as a memo: kept answers outlive the shorter form. */
export function digest(node) {
  const bare = (value, memo = false) => {
    if (Array.isArray(value)) return value.map((each) => bare(each));
    if (value === null || typeof value !== "object") return value;
    const told = Object.entries(memo ? value : asTable(value)).filter(([key]) => !TOLD.includes(key));
    return Object.fromEntries(told.sort(([one], [other]) => (one < other ? -1 : 1)).map(([key, part]) => [key, bare(part, value.kind === "remembered")]));
  };
  return sha256(JSON.stringify(bare(node)));
}

// What answers cost: prices.py says it in Python.

/** ε of one answer, how many values have draws of their own (null where values can share one), and for a memory
 * [ln p, ln q, ln ρ] of each piece. */
export function cost(node, rule) {
  const first = node.kind === "remembered" ? node.first : node;
  const values = valuesOf(first);
  if (rule !== "memory") return { epsilon: epsilon(node), values, memo: null };
  const [keep, whole] = [BigInt(node.second.keep), BigInt(node.second.whole)];
  const memo = pieces(first).map(({ p, q, n }) => [ln(...p), ln(...q), ln(keep * n + whole - keep, whole - keep)]);
  return { epsilon: after({ rule, memo }, 1), values, memo };
}

/** How many values have draws of their own; null for a hash with fewer values than there are categories. */
function valuesOf(node) {
  if (node.kind === "window") return node.steps + 1;
  if (node.kind === "prefixes") return Math.min(2 ** node.prefixes.at(-1), 2 ** 53);
  return node.kind === "affine" && (node.named || sizeOf(node) > node.base) ? null : categories(node).length;
}

/** ε of n answers about one value. */
export function after(entry, n) {
  if (!n) return 0;
  if (entry.rule !== "memory") return (entry.epsilon ?? Infinity) * (entry.rule === "kept" ? 1 : n);
  return entry.memo.reduce((sum, [p, q, rho]) => sum + plusOne(grown(p, n * rho)) - plusOne(grown(q, n * rho)), 0);
}

/** What a change of the value adds at most to n answers. */
export function further(entry, n) {
  if (entry.rule === "fresh" || !n) return 0;
  if (entry.values === null) return entry.rule === "kept" ? Infinity : most(entry, n) - after(entry, n);
  return lifetime(entry);
}

/** ε of all answers about one value. */
const lifetime = (entry) => (entry.rule === "kept" ? after(entry, 1) : entry.memo.reduce((sum, [p, q]) => sum + p - q, 0));

/** The most that n answers can tell about the values, besides showing that a value changed; prices.py has the reason. */
export function most(entry, n) {
  if (entry.rule === "fresh" || n < 2) return after(entry, n);
  if (entry.values !== null) {
    const separate = Math.min(n, entry.values) * lifetime(entry);
    if (entry.rule === "kept") return separate;
    let highest = 0;
    for (let k = 1; k <= n; k++) highest = Math.max(highest, after(entry, k) / k);
    return Math.min(separate, n * highest);
  }
  if (entry.rule === "kept") return Infinity;
  let sum = 0;
  for (const [p, q, rho] of entry.memo)
    for (let j = 0; j < n; j++) sum += plusOne(grown(p, (j + 1) * rho)) - plusOne(grown(p, j * rho), grown(q, rho));
  return sum;
}

/** ln(p (ρ^w - 1)), for ln p and w ln ρ. */
const grown = (log, power) => (power ? log + power + Math.log1p(-Math.exp(-power)) : -Infinity);

/** ln(1 + Σ x), for logarithms of x. */
function plusOne(...logs) {
  const [top, ...rest] = [0, ...logs].sort((one, other) => other - one);
  return top + Math.log1p(rest.reduce((sum, log_) => sum + Math.exp(log_ - top), 0));
}

/** ε of one answer; where there is no closed form, a bound. */
export function epsilon(node) {
  switch (node.kind) {
    case "subset_selection":
    case "affine":
    case "window":
      return ln(BigInt(node.inside), BigInt(node.outside));
    case "unary":
      return pieces(node).reduce((sum, { p, q }) => sum + ln(...p) - ln(...q), 0);
    case "remembered":
      return cost(node, "memory").epsilon;
    case "grouped": // the group, or how much of the value is told, says nothing of it
    case "prefixes":
      return epsilon(node.design);
    case "product":
    case "both":
      return epsilon(node.first) + epsilon(node.second);
    case "subset":
    case "weighted_subset":
      return (node.truthful ?? true) ? Infinity : 0;
    case "then": // what is drawn from an answer tells no more than the answer
      return epsilon(node.first);
    case "mixture":
      return mixed(node);
    case "pattern":
      return largest([[BigInt(node.own), BigInt(node.other)]]);
    default:
      return tabled(node);
  }
}

function mixed(node) {
  const { components, weights } = node;
  if (components.every(({ kind }) => kind === "subset")) {
    const [t, k] = [BigInt(components[0].categories.length), BigInt(components[0].discards)];
    let [noise, true_] = [0n, 0n];
    components.forEach(({ truthful }, place) => (truthful ? (true_ += BigInt(weights[place])) : (noise += BigInt(weights[place]))));
    return noise ? ln(true_ * t + noise * (t - k), noise * (t - k)) : Infinity;
  }
  if (components.every(({ kind }) => ["table", "two_option", "pattern"].includes(kind))) return tabled(node);
  return Math.max(...components.map(epsilon));
}

function tabled(node) {
  const { at } = chances(node);
  return largest(space(node).labels.map((_, said) => categories(node).map((_, place) => at(place, said))));
}

/** The largest ln of the ratio of two chances in one row. */
function largest(rows) {
  const ends = rows.map((row) => [row.reduce((a, b) => (a > b ? a : b)), row.reduce((a, b) => (a < b ? a : b))]);
  return Math.max(...ends.filter(([above]) => above).map(([above, below_]) => (below_ ? ln(above, below_) : Infinity)));
}

/** { p, q, n } of each piece of a memo: chances as pairs of integers, and among how many noise draws. */
function pieces(node) {
  if (node.kind === "unary") {
    const [p, q, one] = [BigInt(node.own), BigInt(node.other), 2n ** 32n];
    return [
      { p: [p, one], q: [q, one], n: 2n },
      { p: [one - q, one], q: [one - p, one], n: 2n },
    ];
  }
  if (node.kind === "affine") {
    const whole = BigInt(node.inside) + BigInt(node.base - 1) * BigInt(node.outside);
    return [{ p: [BigInt(node.inside), whole], q: [BigInt(node.outside), whole], n: BigInt(node.base) }];
  }
  const t = BigInt(categories(node).length);
  if (node.kind === "subset_selection") {
    const [k, a, b] = [node.size, node.inside, node.outside].map(BigInt);
    const sets = products(node.size, Array(Number(t)).fill(1n));
    const whole = (a * k + b * (t - k)) * sets;
    return [{ p: [a * t, whole], q: [b * t, whole], n: sets }];
  }
  const [own, other] = (node.columns ? node.columns[0].slice(0, 2) : [node.own, node.other]).map(BigInt);
  const whole = own + (t - 1n) * other;
  return [{ p: [own, whole], q: [other, whole], n: t }];
}

const ln = (above, below_) => log(above) - log(below_);

/** The logarithm of an integer of any size. */
function log(number) {
  const digits = number.toString(16);
  const rest = Math.max(digits.length - 13, 0);
  return Math.log(Number.parseInt(digits.slice(0, 13), 16) + fraction(digits.slice(13, 20))) + rest * Math.log(16);
}

const fraction = (digits) => (digits ? Number.parseInt(digits, 16) / 16 ** digits.length : 0);
