// Replays vectors of conditions through the respondent's page; what JSON cannot write is given as {number: text}.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { evaluate } = await import(pathToFileURL(process.argv[3]));
const { vectors, answers, sent, today } = JSON.parse(readFileSync(0, "utf-8"));

const written = (value) => {
  if (typeof value !== "number" || (Number.isFinite(value) && !Object.is(value, -0))) return value;
  return { number: Object.is(value, -0) ? "-0" : String(value) };
};
const context = { own: answers["."], today, answer: (name) => answers[name], sent: (name) => sent[name] };

process.stdout.write(JSON.stringify(vectors.map(({ expression }) => written(evaluate(expression, context)))));
