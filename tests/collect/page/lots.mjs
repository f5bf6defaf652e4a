// What lot decides on a device: lots.mjs LOTS RANDOMIZE, with a list of cases on standard input: weights and the random bytes,
// or what was drawn before and a changed questionnaire.
import { readFileSync } from "node:fs";

const [lots, randomize] = await Promise.all(process.argv.slice(2).map((path) => import(path)));
const drawn = (weights, bytes) => {
  let at = 0;
  const system = (size) => Uint8Array.from(bytes.slice(at, (at += size)));
  return lots.lot(weights, { below: randomize.below, system });
};
const fitted = (before, questionnaire) => lots.fitting(before, lots.draws(questionnaire, randomize), questionnaire);
const told = JSON.parse(readFileSync(0)).map(({ weights, bytes, before, questionnaire }) => (weights ? drawn(weights, bytes) : fitted(before, questionnaire)));
process.stdout.write(JSON.stringify(told));
