// Whether this page is alone with what was published. Its bytes may be genuine and a header of the server's still adds a
// sheet of styles or fetches another document; or another page of the website holds this one, and reads along.

const FILES = /^\/client\/\w+\/[\w/]+\.js$/;
const ENDS = ["/survey.json", "/key", "/token", "/answers"];

/** What was loaded beside the page's own files, as an address; undefined where nothing was. */
export function stranger(address) {
  const sheets = [...document.styleSheets].map(({ href }) => href).filter(Boolean); // the page's own one has no address
  const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
  return [...sheets, ...loaded.filter((name) => !expected(new URL(name), address))][0];
}

/** Extensions of the browser have addresses of their own kind. */
const expected = ({ protocol, origin, pathname }, address) =>
  !protocol.startsWith("http") || (origin === location.origin && (FILES.test(pathname) || ENDS.some((end) => pathname === address + end)));

/** Whether another page has opened this one, or shows it in a frame. */
export const hasHolder = () => Boolean(globalThis.opener) || globalThis.top !== globalThis;

/** Calls back whenever something has been loaded. */
export const watch = (changed) => new PerformanceObserver(changed).observe({ type: "resource" });
