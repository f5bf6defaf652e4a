// Answers the first private question in Firefox, by the option at a place: runs are [address, place]. Tells of each
// whether it could be answered.
import puppeteer from "puppeteer-core";

const [, , firefox, given] = process.argv;
const browser = await puppeteer.launch({ browser: "firefox", executablePath: firefox, headless: true, args: ["-no-remote"] });
const KEEP = () => {
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (how) {
    return (window.tree = attach.call(this, how));
  };
};
const pause = (time) => new Promise((done) => setTimeout(done, time));
const found = (page, selector) => page.evaluateHandle((what) => (window.tree ?? document).querySelector(what), selector);

async function there(page, selector) {
  for (let tries = 0; tries < 100; tries += 1) {
    const element = (await found(page, selector)).asElement();
    if (element) return element;
    await pause(100);
  }
  throw new Error(`${selector} does not come`);
}
const click = async (page, selector) => (await there(page, selector)).click();

try {
  const people = [];
  for (const [address, place] of JSON.parse(given)) {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    await page.evaluateOnNewDocument(KEEP);
    await page.goto(address);
    await there(page, "main");
    people.push({ page, place });
  }
  await pause(500);
  const answered = [];
  for (const { page, place } of people) {
    await page.bringToFront();
    const asks = await page.evaluate(() => Boolean((window.tree ?? document).querySelector(".welcome")));
    if (asks) {
      await click(page, ".welcome .actions .main");
      await there(page, "#q-practice");
      await click(page, ".step > .actions .main");
      await click(page, `#q-income .option:nth-of-type(${place}) label`);
      await click(page, ".how summary");
      await there(page, ".how p");
    }
    answered.push(asks);
  }
  await pause(900);
  process.stdout.write(JSON.stringify(answered));
} finally {
  await browser.close();
}
