// Replays recorded random bytes through the package for web apps; reads cases on stdin, writes what came out.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { below, channel, draw, possible, report, shown, spoken, supported } = await import(pathToFileURL(process.argv[3]));
const { nameOf } = await import(new URL("names.mjs", pathToFileURL(process.argv[3])));
const { drawGroup, drawLevel, drawNumber } = await import(new URL("numbers.mjs", pathToFileURL(process.argv[3])));

function recorded(hex) {
  const octets = Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
  const stream = (size) => {
    stream.read += size;
    if (stream.read > octets.length) throw new RangeError("more bytes were read than there are");
    return octets.slice(stream.read - size, stream.read);
  };
  stream.read = 0;
  return stream;
}

const TASKS = {
  beginnings: (cases) =>
    Promise.all(
      cases.map(({ json, vectors }) =>
        Promise.all(
          vectors.map(async ({ truth, bytes }) => {
            const stream = recorded(bytes);
            const answer = await report(json.design, truth, stream);
            return { answer, read: stream.read };
          }),
        ),
      ),
    ),
  replay: ({ designs }) =>
    Promise.all(
      designs.map(({ json, vectors }) =>
        Promise.all(
          vectors.map(async (vector) => {
            const stream = recorded(vector.bytes);
            const design = channel(json.design, vector.level);
            const by = { window: drawNumber, grouped: drawGroup }[design.kind] ?? draw;
            const answer = by(design, design.named ? await nameOf(vector.truth) : vector.truth, stream);
            return { answer, read: stream.read };
          }),
        ),
      ),
    ),
  counts: ({ design, truth, size }) => {
    const counts = {};
    for (let i = 0; i < size; i++) {
      const said = draw(design, truth);
      counts[said] = (counts[said] ?? 0) + 1;
    }
    return counts;
  },
  levels: ({ design, truth, size }) => Array.from({ length: size }, () => drawLevel(design, truth)),
  shown: ({ design, size }) => Array.from({ length: size }, () => shown(design)),
  possible: (cases) => cases.map(({ design, response }) => possible(design, response)),
  supported: (cases) => cases.map(({ design, response }) => ({ names: supported(design, response), chance: spoken(design).map(Number) })),
  integers: (cases) =>
    cases.map(({ bound, bytes }) =>
      [BigInt(bound), BigInt(bound) <= 2n ** 53n ? Number(bound) : BigInt(bound)].map((given) => {
        const all = Uint8Array.from(bytes);
        let place = 0;
        return [String(below(given, (n) => all.slice(place, (place += n)))), place];
      }),
    ),
  below: ({ bound, size }) => Array.from({ length: size }, () => Number(below(BigInt(bound), (n) => crypto.getRandomValues(new Uint8Array(n))))),
};

const input = JSON.parse(readFileSync(0, "utf-8"));
process.stdout.write(JSON.stringify(await TASKS[process.argv[2]](input)));
