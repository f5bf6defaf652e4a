// What lot decides on a device, for given random bytes: lots.mjs LOTS RANDOMIZE, with [{weights, bytes}] on standard input.
import { readFileSync } from "node:fs";

const [lots, randomize] = await Promise.all(process.argv.slice(2).map((path) => import(path)));
const told = JSON.parse(readFileSync(0)).map(({ weights, bytes }) => {
  let at = 0;
  const system = (size) => Uint8Array.from(bytes.slice(at, (at += size)));
  return lots.lot(weights, { below: randomize.below, system });
});
process.stdout.write(JSON.stringify(told));
