// Whether the respondent's page trusts surveys, and what it computes of designs; reads cases on stdin, writes what came out.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const module = await import(pathToFileURL(process.argv[3]));
const exact = (pair) => pair.map(String); // JSON has no integers beyond 2⁵³

const TASKS = {
  ways: (cases) => cases.map(({ design, innocuous }) => module.wayByHand(design, innocuous)),
  flaw: (surveys) => surveys.map((survey) => module.flaw(survey)),
  measures: (designs) =>
    designs.map((design) => {
      const { ratio, odds, epsilon, ...told } = module.measures(design);
      const read = [ratio, odds, epsilon].map((each) => module.up(each));
      return { ...told, ratio: exact(ratio), odds: exact(odds), epsilon: exact(epsilon), read };
    }),
  together: (all) =>
    all.map((questions) => {
      const { ratio, odds, epsilon, bits } = module.together(questions);
      return { ratio: module.quotient(ratio), odds: module.quotient(odds), epsilon: module.quotient(epsilon), bits };
    }),
};

const written = (_, value) => (value === Infinity ? null : value);
process.stdout.write(JSON.stringify(TASKS[process.argv[2]](JSON.parse(readFileSync(0, "utf-8"))), written));
