// How respondents carry a design out themselves: with a coin, a die, or an innocuous question. Read from the integers
// alone: what people are told to do gives just these chances. `way_by_hand` in Python says the same
// (tests/collect/page/test_by_hand.py).

import { categories, chances, space } from "../../telemetry/javascript/randomize.js";

/**
 * How a design is carried out by hand; null where people cannot. `sensitive` is how many of `sides` lead to the
 * sensitive question, where a coin (2 sides) or a die (6) decides which one is answered.
 *
 * @returns {{ name: "crosswise" | "triangular" | "unrelated" | "coins" | "options", sensitive?: number, sides?: number } | null}
 */
export function wayByHand(design, innocuous) {
  const names = categories(design).map(String);
  const told = space(design);
  if (!told || told.set || (innocuous && (names.length !== 2 || told.labels.length !== 2))) return null;
  const { whole, at } = chances(design);
  if (!innocuous) return tossed(design, names, told.labels, whole, at);
  const [a, b, c, d] = [at(0, 0), at(1, 0), at(0, 1), at(1, 1)]; // of the first and the second response
  if (told.labels.every((label, place) => label === names[place])) return b && c ? lots(a - b, whole) : null;
  if (a === d && b === c && a && b && a !== b) return { name: "crosswise" };
  return !c && b && d ? { name: "triangular" } : null;
}

/** A coin or a die decides which of two questions is answered. */
function lots(sensitive, whole) {
  for (const sides of [2n, 6n])
    if (sensitive > 0n && sensitive < whole && (sensitive * sides) % whole === 0n)
      return { name: "unrelated", sensitive: Number((sensitive * sides) / whole), sides: Number(sides) };
  return null;
}

/** Two coins, or one of two options that are shown. */
function tossed(design, names, labels, whole, at) {
  if (names.length > 2 && !(design.kind === "two_option" && design.shown === 2)) return null;
  if (names.length !== labels.length || !labels.every((label, place) => label === names[place])) return null;
  const [parts, mine, other] = names.length === 2 ? [4n, 3n, 1n] : [BigInt(names.length - 1), 0n, 1n];
  const held = names.every((_, x) => names.every((_, y) => at(x, y) * parts === whole * (x === y ? mine : other)));
  return held ? { name: names.length === 2 ? "coins" : "options" } : null;
}

/** Who may carry a private question's design out: the first is what the page begins with. */
export const modes = ({ private: how }) => how.modes ?? ["device"];
