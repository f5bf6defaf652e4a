// Seals states of many sizes with the page's own script, and opens them again; writes the bytes of each box.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { Sealer } = await import(pathToFileURL(process.argv[3]));
const { key, sizes } = JSON.parse(readFileSync(0, "utf-8"));
const sealer = await Sealer.of(key, "nowhere");
const boxes = [];
for (const size of sizes) {
  const state = "x".repeat(size);
  const box = await sealer.seal(state);
  boxes.push([box.sealed.length / 2, (await sealer.open(box)) === state]);
}
process.stdout.write(JSON.stringify(boxes));
