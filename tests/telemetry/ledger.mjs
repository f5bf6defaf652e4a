// Replays what naysay's ledger recorded through the ledger of web apps; reads cases on stdin, writes what came out.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { LedgerError, Ledger, after, cost, digest, further, kept, most, redrawn, report, streamed } = await import(
  new URL("ledger.mjs", pathToFileURL(process.argv[3]))
);
const { channel, draw } = await import(new URL("randomize.js", pathToFileURL(process.argv[3])));
const octets = (hex) => Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));

/** A storage in memory, as localStorage is one; it may answer late. */
function stored(text = null) {
  return { getItem: async () => text, setItem: async (_, given) => void (text = given), read: () => text };
}

const TASKS = {
  replay: ({ designs }) =>
    designs.map(({ json, vectors }) =>
      vectors.map(({ bytes, truth }) => {
        const [all, stream] = [octets(bytes), (size) => all.slice((stream.read += size) - size, stream.read)];
        stream.read = 0;
        return { answer: redrawn(json.design, draw(json.design.first, truth, stream), stream), read: stream.read };
      }),
    ),
  accounts: ({ key, accounts }) =>
    Promise.all(
      accounts.map(async ({ json, part, rule, kept: known }) => {
        const design = channel(json.design, part);
        const hash = await digest(design);
        const of = (label, act) => streamed(octets(key), "q", hash, label, act);
        const memos = await Promise.all(known.map(([truth]) => kept(design, truth, of)));
        const price = { ...cost(design, rule), rule };
        const costs = [1, 2, 5, 100].map((n) => [after(price, n), most(price, n)]);
        return { digest: hash, values: price.values, kept: memos, costs, per_change: further(price, 100) };
      }),
    ),
  async acts({ text, cap, days, acts }) {
    const [storage, told] = [stored(text), []];
    const book = new Ledger(storage, { cap, clock: () => days * 86_400 });
    for (const { design, truth, asked, ...rest } of acts) {
      const before = storage.read();
      try {
        told.push({ said: asked ? await book.oneOf(asked, rest) : await book.answer(design, truth, rest), spent: await book.spent() });
      } catch (error) {
        told.push({ refused: error.message, by: error.constructor.name, same: storage.read() === before });
      }
    }
    const spent = await book.spent().catch((error) => error.message);
    return { told, spent, text: storage.read() };
  },
  /** Answers that are asked at once, of a storage that answers late; each has a ledger of its own, as two tabs have. */
  async together({ cap, acts, locks }) {
    if (!locks) Object.defineProperty(globalThis, "navigator", { value: {} });
    const { getItem, ...rest } = stored();
    const storage = { ...rest, getItem: (name) => new Promise((done) => setTimeout(() => done(getItem(name)), 20)) };
    const told = await Promise.allSettled(
      acts.map(({ design, truth, ...how }) => new Ledger(storage, { cap, clock: () => 0 }).answer(design, truth, how)),
    );
    return { told: told.map(({ reason }) => reason?.message ?? null), text: storage.read() };
  },
  async life({ text, design, memory, days }) {
    const clock = () => clock.day * 86_400;
    clock.day = days;
    const [storage, said, refused] = [stored(text), [], []];
    const book = (options) => new Ledger(storage, { cap: 4, clock, ...options });
    const tried = async (act) => {
      const before = storage.read();
      try {
        said.push(await act());
      } catch (error) {
        refused.push([error instanceof LedgerError, error.message, storage.read() === before]);
      }
    };
    await Promise.all([1, 2].map((wave) => tried(() => book().answer(design, "a", { question: "q", wave, rule: "kept" }))));
    await tried(() => book().answer(memory, "a", { question: "m", wave: 1 }));
    const spent = await book().spent();
    await tried(() => book().answer(design, "a", { question: "q", wave: 1, rule: "kept" }));
    await tried(() => book().answer(design, "z", { question: "q", wave: 3 }));
    await tried(() => book().answer(design, "a", { question: "q", wave: 3, rule: "memory" }));
    await tried(() => book().oneOf({ one: [design, "a"], two: [design, "b"] }, { wave: 1 }));
    await tried(() => book({ cap: 9 }).spent());
    const whole = storage.read();
    clock.day -= 1;
    await tried(() => book().answer(design, "a", { question: "q", wave: 4 }));
    clock.day += 1;
    for (const spoilt of [whole.slice(0, -9), whole.slice(0, 30), "", whole.replace('"q"', '"p"')]) {
      await storage.setItem("", spoilt);
      await tried(() => book().answer(design, "a", { question: "q", wave: 5 }));
    }
    await storage.setItem("", whole);
    await tried(() => book().oneOf({ one: [design, "a"], two: [memory, "b"] }, { wave: 2 }));
    await tried(async () => report(memory, "a"));
    const number = { kind: "window", low: 0, high: 100, decimals: 0, steps: 10, width: 3, inside: 3, outside: 1, clip: true };
    await tried(() => book().answer(number, "50", { question: "n", wave: 1, rule: "kept" }));
    await tried(() => book().answer(design, "a", { question: "new", wave: 1 }));
    return { said, refused, spent, whole };
  },
};

const cases = JSON.parse(readFileSync(0, "utf-8"));
process.stdout.write(JSON.stringify(await TASKS[process.argv[2]](cases)));
