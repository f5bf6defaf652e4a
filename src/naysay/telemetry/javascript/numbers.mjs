// Numbers between two bounds, and hierarchies, for apps that report them; the respondent's page does not load this module.
import { below, categories, draw, system } from "./randomize.js";

/** The report on a number, such as "12.5", under a design of the kind "window". */
export function drawNumber(design, truth, source = system) {
  const [, sign, whole, part = ""] = /^(-?)(\d+)(?:\.(\d*))?$/.exec(String(truth)) ?? [];
  if (whole === undefined) throw new RangeError(`${truth} is not a decimal number; write it as x.toFixed(${design.decimals})`);
  const [low, high, k, w, a, b] = ["low", "high", "steps", "width", "inside", "outside"].map((name) => BigInt(design[name]));
  const digits = BigInt(whole + part.padEnd(design.decimals + 1, "0").slice(0, design.decimals + 1));
  let z = ((digits + 5n) / 10n) * (sign ? -1n : 1n);
  if (design.clip) z = z < low ? low : z > high ? high : z;
  if (z < low || z > high) throw new RangeError(`${truth} does not lie between the bounds of the design`);
  const [span, scaled] = [high - low, (z - low) * k];
  const i = scaled / span + (below(span, source) < scaled % span ? 1n : 0n);
  const u = below(a * w + b * k, source);
  const other = (u - a * w) / b;
  return String(u < a * w ? i + u / a : other < i ? other : other + w);
}

/** The report on a category under a hierarchy, at a level that lot gives: the level, and the response at it. */
export function drawLevel(design, truth, source = system) {
  const { level, design: own } = design.levels[Number(below(BigInt(design.levels.length), source))];
  return { level, response: drawGroup(own, truth, source) };
}

/** The response on a category at one level of a hierarchy. */
export function drawGroup(design, truth, source = system) {
  const place = categories(design).indexOf(truth);
  if (place < 0) throw new RangeError(`${truth} is not a category`);
  return draw(design.design, Math.floor(place / design.width), source);
}
