// What the page's own module makes of answers: its tasks come on stdin, the bodies go out as JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { body } = await import(pathToFileURL(process.argv[3]));
const TASKS = {
  bodies: ({ survey, hash, cases }) => cases.map(({ id, answers }) => body(survey, hash, id, answers)),
  numbers: (texts) => texts.map((text) => JSON.stringify(Number(text))),
};
process.stdout.write(JSON.stringify(TASKS[process.argv[2]](JSON.parse(readFileSync(0, "utf-8")))));
