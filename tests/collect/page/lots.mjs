// What lot decides on a device: lots.mjs LOTS RANDOMIZE, with a list of cases on standard input: weights and the random bytes,
// what was drawn before and a changed questionnaire, how often to draw anew, what is sent of a truth, asked or not, or what
// is then asked, and told of the arm.
import { readFileSync } from "node:fs";

const [lots, randomize] = await Promise.all(process.argv.slice(2).map((path) => import(path)));
const placed = (weights, bytes) => {
  let at = 0;
  const system = (size) => Uint8Array.from(bytes.slice(at, (at += size)));
  return lots.lot(weights, { below: randomize.below, system });
};
const fitted = (before, questionnaire) => lots.fitting(before, lots.draws(questionnaire, randomize), questionnaire);
const sent = (drawn, questionnaire, asked) => {
  const { value } = lots.taken({ questionnaire }, drawn).lots;
  return value("check_truth", { questions: questionnaire.items, relevant: () => asked });
};
const shown = (drawn, questionnaire) => {
  const survey = lots.taken({ questionnaire }, drawn);
  return [survey.questionnaire.items, survey.lots.names, survey.lots.told({ locale: "de-AT" })];
};
const told = JSON.parse(readFileSync(0)).map(({ weights, bytes, before, drawn, asked, times, questionnaire }) => {
  if (times) return Array.from({ length: times }, () => lots.draws(questionnaire, randomize));
  if (drawn && asked === undefined) return shown(drawn, questionnaire);
  return weights ? placed(weights, bytes) : drawn ? sent(drawn, questionnaire, asked) : fitted(before, questionnaire);
});
process.stdout.write(JSON.stringify(told));
