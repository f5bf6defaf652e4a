// Reports of values that nobody has listed (heavy hitters), for apps; the respondent's page does not load this module.

import { nameOf } from "./names.mjs";
import { below, draw, system } from "./randomize.js";

/** The bits of a value, as a text of 0s and 1s (the rule "prefixes"). Numbers above 2^53 are given as BigInt. */
export function bitsOf({ prefixes, length, alphabet }, value) {
  const total = prefixes.at(-1);
  const [places, width, most] = length ? written(value, alphabet, length) : [[BigInt(value)], total, 1];
  const least = length ? 1n : 0n;
  if (places.length > most || places.some((place) => place < least || place >= 1n << BigInt(width)))
    throw new RangeError(`${value} is no value of this design`);
  return places.map((place) => place.toString(2).padStart(width, "0")).join("").padEnd(total, "0");
}

function written(value, alphabet, length) {
  const text = value.normalize("NFC");
  if (!alphabet) return [Array.from(new TextEncoder().encode(text), BigInt), 8, length];
  const known = Array.from(alphabet);
  const places = Array.from(text, (character) => BigInt(known.indexOf(character) + 1));
  return [places, known.length.toString(2).length, length];
}

/** The number of a value (of all its bits), and how a report on it is drawn from a source. */
export async function reporter(design, value) {
  const bits = bitsOf(design, value);
  const names = await Promise.all(design.prefixes.map((end) => nameOf(bits.slice(0, end))));
  const by = (source) => {
    const group = Number(below(BigInt(names.length), source));
    return `${group + 1};${draw(design.design, names[group], source)}`;
  };
  return { place: BigInt(`0b${bits}`), by };
}

/** A report as text: the group that the device draws, and a number, joined by ";". */
export const report = async (design, value, source = system) => (await reporter(design, value)).by(source);
