// Tokens as the respondent's page takes them, with its own invitation.js and its own chance: reads letters, and what the
// server responded, on stdin; writes the requests and, where there are responses, the tokens.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { Invitation } = await import(pathToFileURL(process.argv[3]));
const { system } = await import("../../../src/naysay/telemetry/javascript/randomize.js");

/** One device: what it remembers, and what a browser has, as far as the module asks for it. */
async function device(survey, letter, kept, response) {
  const memory = { tokens: async (edit) => (edit(kept), kept) };
  const requests = [];
  Object.assign(globalThis, {
    addEventListener: () => {},
    location: { hash: `#${letter}`, pathname: "/s/kinds" },
    history: { state: null, replaceState: () => {} },
    fetch: async (address, { body, method }) => {
      requests.push({ address, body, method });
      if (!response) throw new TypeError("the connection broke");
      return { ok: true, json: async () => response };
    },
  });
  const invitation = await Invitation.of(survey, memory, "/s/kinds", { make: () => {}, system });
  const why = await invitation.take({});
  return { kept, requests, why, token: invitation.token };
}

const { survey, letters, kept = [], responses = [] } = JSON.parse(readFileSync(0, "utf-8"));
const told = [];
for (const [place, letter] of letters.entries()) told.push(structuredClone(await device(survey, letter, kept[place] ?? {}, responses[place])));
process.stdout.write(JSON.stringify(told));
