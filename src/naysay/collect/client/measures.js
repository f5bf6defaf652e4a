// What an answer tells, from the integers that draw it and from nothing else. Numbers are rounded up: what a respondent
// is told is never less than what holds. A fraction is a pair of integers; over 0 it is infinite.

import { categories, channel, chances, products, space } from "../../telemetry/javascript/randomize.js";

const ONE = 10n ** 30n; // the unit of logarithms
const [LISTED, WEIGHED] = [200_000n, 5_000n]; // responses that are looked at one by one, and of weighted sets
const LOUD = 20n; // odds that grow further tell a lot

/** A fraction in hundredths, rounded up; null for ∞. */
export const up = ([a, b]) => (b ? Number((100n * a + b - 1n) / b) / 100 : null);

/** A fraction as a number. */
export const quotient = ([a, b]) => (b ? Number((a << 128n) / b) / 2 ** 128 : Infinity);

const times = ([a, b], [c, d]) => [a * c, b * d];
const above = ([a, b], [c, d]) => a * d > c * b;
const larger = (one, other) => (above(other, one) ? other : one);

/** ε, the logarithm of a fraction of one or more, as a fraction that is never too small. */
export function logarithm([a, b]) {
  if (!b) return [1n, 0n];
  let doubled = 0n;
  for (; a > 2n * b; b *= 2n) doubled += 1n;
  return [doubled * series(1n, 3n) + series(a - b, a + b), ONE];
}

/** ln((y + x) / (y - x)) = 2 (x/y + (x/y)³/3 + …), every term rounded up. */
function series(x, y) {
  let [sum, power] = [1n, (2n * ONE * x) / y + 1n];
  for (let n = 1n; power > 1n; n += 2n) {
    sum += power / n + 1n;
    power = (power * x * x) / (y * y) + 1n;
  }
  return x ? sum : 0n;
}

/** Whether one response of a design stands for all. */
const alike = ({ kind, components }) => ["subset", "pattern", "subset_selection"].includes(kind) || (kind === "mixture" && components.every(alike));

const subsets = (t, size, from = 0) =>
  size ? Array.from({ length: t - from - size + 1 }, (_, step) => from + step).flatMap((one) => subsets(t, size - 1, one + 1).map((rest) => [one, ...rest])) : [[]];

/** Responses among which the one that tells most is, each with how many it stands for; for 0 it stands for the worst. */
function listing(design) {
  const { labels, set } = space(design);
  if (design.kind === "unary") return sizes(labels.length);
  if (design.kind === "affine") return coded(design);
  if (!set) return alike(design) ? [[0, BigInt(labels.length)]] : labels.map((_, place) => [place, 1n]);
  const all = products(set, labels.map(() => 1n));
  if (alike(design)) return [[[...labels.keys()].slice(0, set), all]];
  const weighed = design.kind === "weighted_subset";
  if (all <= (weighed ? WEIGHED : LISTED)) return subsets(labels.length, set).map((said) => [said, 1n]);
  if (!weighed) throw new RangeError(); // too many to look at
  const heaviest = [...labels.keys()].sort((one, other) => design.weights[other] - design.weights[one]);
  return [[heaviest.slice(1, set + 1), 0n]];
}

/** One set of each size, with how many there are; renaming the categories changes no chance. */
const sizes = (t) => Array.from({ length: t + 1 }, (_, size) => [[...Array(size).keys()], products(size, Array(t).fill(1n))]);

/** All responses of an affine design. */
function coded(design) {
  const { whole } = chances(design);
  const size = (whole / (BigInt(design.inside) + (BigInt(design.base) - 1n) * BigInt(design.outside))) * BigInt(design.base);
  if (size > LISTED) throw new RangeError(); // too many to look at
  return Array.from({ length: Number(size) }, (_, said) => [said, 1n]);
}

/**
 * What an answer under a design tells: how many categories stay possible at least and at most, `ratio` e^ε, `odds` the
 * largest posterior over prior odds where all categories were equally likely, `bits` on average then (where that is
 * `rough`, at most), `capacity` at most whatever was known before.
 */
export function measures(design) {
  const [{ whole, at }, listed, t] = [chances(design), listing(design), categories(design).length];
  const bits = Array(t).fill(0);
  let [least, most, ratio, odds, worst] = [t, 0, [1n, 1n], [1n, 1n], 0];
  for (const [said, many] of listed) {
    const row = bits.map((_, place) => at(place, said));
    const stay = row.filter((weight) => weight > 0n).length;
    if (!stay) continue;
    const [sum, high, low] = row.reduce(([sum, high, low], each) => [sum + each, each > high ? each : high, each < low ? each : low], [0n, 0n, row[0]]);
    [least, most] = [Math.min(least, stay), Math.max(most, stay)];
    [ratio, odds] = [larger(ratio, [high, low]), larger(odds, [high * BigInt(t - 1), sum - high])];
    worst = Math.max(worst, Math.log2(quotient([high * BigInt(t), sum])));
    for (const [place, weight] of row.entries())
      if (weight) bits[place] += quotient([weight * many, whole]) * Math.log2(quotient([weight * BigInt(t), sum]));
  }
  const told = { categories: t, still_possible: [least, most], reveals: least === 1, ratio, odds, epsilon: logarithm(ratio) };
  const loud = least > 1 && above(ratio[1] ? ratio : odds, [LOUD, 1n]);
  if (!listed[0][1]) return { ...told, loud, rough: true, bits: worst, capacity: Math.log2(t) };
  const average = bits.reduce((sum, each) => sum + each, 0) / t;
  return { ...told, loud, bits: average, capacity: alike(design) || design.kind === "unary" ? average : Math.max(...bits) };
}

const known = new WeakMap();

/** The levels of a private question, most private first, each with what an answer at it tells. */
export function offered(question) {
  if (!known.has(question)) known.set(question, levelsOf(question.private));
  return known.get(question);
}

function levelsOf({ design, by_hand: byHand }) {
  const levels = design.design.levels?.map(({ level }) => String(level)) ?? [null];
  return levels.map((level) => ({ level, by_hand: byHand.includes(level), ...measures(channel(design.design, level)) }));
}

/** What all private answers of one person tell together, each at the level that tells most. */
export function together(questions) {
  let [ratio, odds, bits, rough] = [[1n, 1n], [1n, 1n], 0, false];
  for (const question of questions) {
    const levels = offered(question);
    const many = question.kind === "select_multiple" ? question.choices.length : 1;
    const most = Math.log2(levels.length) + Math.max(...levels.map(({ capacity }) => capacity));
    bits += many * Math.min(Math.log2(levels[0].categories), most);
    rough ||= levels.some((level) => level.rough);
    odds = levels.reduce((worst, level) => larger(worst, level.odds), odds);
    const worst = levels.reduce((worst, level) => larger(worst, level.ratio), [1n, 1n]);
    for (let each = 0; each < many; each++) ratio = times(ratio, worst);
  }
  return { ratio, odds, bits, rough, epsilon: logarithm(ratio) };
}
