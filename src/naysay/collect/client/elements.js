// Makes parts of the page out of text and attributes only: no markup is ever read from a string.

let made = 0;

/** A new element. Attributes that are null or false are left out; `on…` are listeners; children are nodes or text. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const MOST = 24; // texts that are laid out unseen, the longest of them

/** The text of parts, each a node or text. */
export const written = (parts) => parts.map((part) => part.textContent ?? part).join("");

/** Lays out, unseen and unread, all that may come to stand where `one` stands, so that nothing moves when it does. */
export function room(around, one, all) {
  const longest = [...new Map(all.map((parts) => [written(parts), parts]))].sort(([a], [b]) => b.length - a.length).slice(0, MOST);
  const kept = [...around.children].filter((each) => !each.matches(".may"));
  around.replaceChildren(...kept, ...longest.map(([, parts]) => make("p", { class: `${one.className} may away`, "aria-hidden": "true" }, parts)));
}

/** An id that no other element has. */
export const fresh = (stem) => `${stem}-${(made += 1)}`;

/** A button that does something on this page. */
export const button = (words, onclick, attributes = {}) => make("button", { type: "button", onclick, ...attributes }, words);

/** A radio button or checkbox with its label, large enough for a thumb. */
export function option({ type = "radio", group, checked = false, onchange, describedby = null }, ...label) {
  const id = fresh("option");
  const input = make("input", { type, id, name: group, autocomplete: "off", onchange, "aria-describedby": describedby });
  input.checked = checked;
  return make("div", { class: "option" }, input, make("label", { for: id }, ...label));
}
