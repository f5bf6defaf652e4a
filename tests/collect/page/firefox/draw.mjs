// Draws in Firefox with the page's own module: a file holds a design and truths; writes for each the response,
// the random bytes that were read and the seconds that it took.
import { readFileSync } from "node:fs";
import puppeteer from "puppeteer-core";

const [, , firefox, module, within, given] = process.argv;
const { design, truths } = JSON.parse(readFileSync(given, "utf-8"));
const browser = await puppeteer.launch({ browser: "firefox", executablePath: firefox, headless: true, args: ["-no-remote"] });
try {
  const page = await browser.newPage();
  const found = await page.evaluate(`(${readFileSync(within, "utf-8")})(${JSON.stringify([readFileSync(module, "utf-8"), design, truths])})`);
  process.stdout.write(JSON.stringify(found));
} finally {
  await browser.close();
}
