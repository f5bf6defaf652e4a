// Takes a survey in Firefox from the first page to the receipt, as a person would, and tells what was seen and sent.
import puppeteer from "puppeteer-core";

const [, , firefox, address] = process.argv;
const browser = await puppeteer.launch({ browser: "firefox", executablePath: firefox, headless: true, args: ["-no-remote"] });
const page = await browser.newPage();
const [requests, errors] = [[], []];
// The page is a closed tree; this one is opened, and what is asked of the page is asked of it.
await page.evaluateOnNewDocument(() => {
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (how) {
    return (window.tree = attach.call(this, { ...how, mode: "open" }));
  };
});
let tree;
const opened = async () => (tree = (await page.evaluateHandle(() => window.tree)).asElement());
async function there(selector) {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await (await opened())?.$(selector)) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`${selector} does not come`);
}
page.on("request", (request) => requests.push({ method: request.method(), url: request.url() }));
page.on("pageerror", (error) => errors.push(String(error)));

const TYPED = { numeric: "30", decimal: "3.5", "q-children": "2" };

async function press(selector) {
  const old = await tree.$("main > :last-child");
  await (await tree.$(selector)).click();
  await page.waitForFunction((each) => !each.isConnected, {}, old);
}

/** The inputs of a question that a person would use: the first of each group, and all that is typed. */
async function answer(section) {
  for (const input of await section.$$(".inputs input[type=text], .inputs textarea")) {
    const [mode, question] = await input.evaluate((each) => [each.inputMode, each.closest("section").id]);
    await input.type(TYPED[question] ?? TYPED[mode] ?? "words");
  }
  for (const input of await section.$$(".inputs input[type=date]"))
    await input.evaluate((each) => {
      each.value = "2011-05-01";
      each.dispatchEvent(new Event("input"));
    });
  const groups = new Set();
  for (const input of await section.$$(".inputs input[type=radio], .inputs input[type=checkbox]")) {
    const group = await input.evaluate((each) => each.name);
    if (!groups.has(group)) await input.click();
    groups.add(group);
  }
  for (let choice; (choice = await section.$(".choice")); ) await choice.click();
}

async function fill() {
  const done = new Set();
  for (;;) {
    const sections = await tree.$$(".step .question");
    const open = [];
    for (const section of sections) {
      const id = await section.evaluate((each) => (each.hidden || each.closest("[hidden]") ? null : each.id));
      if (id && !done.has(id)) open.push([id, section]);
    }
    if (!open.length) return;
    done.add(open[0][0]);
    await answer(open[0][1]);
  }
}

const previews = () =>
  tree.$$eval(".exact .bytes", (all) => all.map((each) => each.textContent).filter((text) => !text.endsWith("null")));

try {
  await page.goto(address);
  await there("h1");
  await press(".welcome .actions .main");
  const fragments = [];
  while (!(await tree.$("#confirm"))) {
    await fill();
    fragments.push(...(await previews()));
    await press(".step > .actions .main");
  }
  const shown = await tree.$eval("#exact", (each) => each.textContent);
  const before = requests.length;
  await (await tree.$("#confirm")).click();
  await there("#receipt");
  const receipt = await tree.$eval("#receipt", (each) => each.textContent);
  await page.reload();
  await there("#receipt");
  const stored = await page.evaluate(() => [...Object.entries(localStorage), ...Object.entries(sessionStorage)]);
  process.stdout.write(JSON.stringify({ shown, fragments, receipt, requests, before, errors, stored }));
} finally {
  await browser.close();
}
