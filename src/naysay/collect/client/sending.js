// The one message that leaves this device: its bytes, and the page that sends them until they are acknowledged.

import { button, make } from "./elements.js";

/** The message: compact JSON, filled up with blanks to the length that everyone's has. */
export function body(survey, hash, id, answers, token) {
  const content = { naysay: "answers", version: 1, survey: hash, id, token, answers, padding: "" }; // JSON has no undefined
  const missing = survey.body_length - new TextEncoder().encode(JSON.stringify(content)).length;
  if (missing < 0) throw new RangeError(); // the answers are longer than this survey allows
  return JSON.stringify({ ...content, padding: " ".repeat(missing) });
}

/** Sends the bytes once: {day, stored} where they are taken, {wait, reason} to try again later, {code, message} if refused. */
export async function send(url, bytes) {
  let answer;
  try {
    answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: bytes,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(30_000),
    });
  } catch {
    return { wait: 0, reason: "offline" };
  }
  const content = (await answer.json().catch(() => null)) ?? {};
  if (answer.ok && day(content.day)) return { day: content.day, stored: content.stored };
  if (answer.ok || answer.status >= 500 || [408, 429].includes(answer.status))
    return { wait: Number(answer.headers.get("retry-after")) || 0, reason: "unavailable" };
  return { code: content.error?.code || String(answer.status), message: content.error?.message ?? "" };
}

/** Whether a server gave a day that there is. */
const day = (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && Number.isFinite(Date.parse(text));

const PAUSES = [3, 6, 12, 30, 60]; // seconds between tries, unless the server names a longer pause

/** The page while bytes are being sent: tries until they are acknowledged or refused. */
export function delivery(bytes, { texts, memory, url, preview, changed }) {
  const heading = make("h1", { tabindex: "-1" }, texts.say("sending.title"));
  const told = make("div", { role: "status", class: "told" });
  const again = button(texts.say("sending.retry"), () => attempt(), { class: "main", hidden: true });
  const change = button(texts.say("sending.change"), () => memory.release().then(changed), { hidden: true });
  let [tries, timer, underway] = [0, null, false];

  async function attempt() {
    if (underway || !element.isConnected) return;
    underway = true;
    clearTimeout(timer);
    say("sending.title", texts.say("sending.busy"));
    again.hidden = true;
    // A preview draws anew for each version of a questionnaire. Sent, these draws would tell the truth together.
    const result = preview ? { day: new Date().toISOString().slice(0, 10) } : await send(url, bytes);
    underway = false;
    if (result.day && (result.stored || preview)) await memory.acknowledge({ ...result, content: bytes }).then(changed);
    else if (result.code) refused(result);
    else await memory.wait(), waiting({ wait: 0, reason: "unavailable", ...result });
  }
  function waiting({ wait, reason }) {
    const kept = texts.say(memory.lasting ? "sending.safe" : "sending.unsafe");
    say("sending.notYet", texts.say(`sending.${reason}`), kept);
    again.hidden = false;
    const pause = Math.max(PAUSES[Math.min(tries++, PAUSES.length - 1)], Math.min(wait, 600));
    timer = setTimeout(attempt, 1000 * pause);
  }
  function refused({ code, message }) {
    const why = code === "closed" ? texts.say("sending.closed") : texts.say("sending.refusedWhy", { message });
    say("sending.refused", why);
    change.hidden = code === "closed";
  }
  function say(title, ...lines) {
    heading.textContent = texts.say(title);
    told.replaceChildren(make("p", { class: "spoken" }, texts.say(title)), ...lines.map((line) => make("p", {}, line)));
  }

  addEventListener("online", attempt);
  const element = make("div", { class: "sending" }, heading, told, make("div", { class: "actions" }, again, change));
  return { content: element, shown: attempt };
}
