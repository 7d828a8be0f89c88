"use strict";
// Makes elements. What the data has is only ever set as text or as an attribute, never as markup.
const gitsync = {};
(() => {
  const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;
  const NOT_A_LINE_END = /[^\P{C}\n\t]|\p{Zl}|\p{Zp}/gu;
  const SVG = "http://www.w3.org/2000/svg";
  const LINKS = /^(#\/|https:\/\/)/;

  const spell = (character) => `\\u${character.codePointAt(0).toString(16).padStart(4, "0")}`;

  // One line, with control and direction characters spelled out, as all forms of a report show them.
  const clean = (text) => String(text).replace(UNPRINTABLE, spell);
  const cleanLines = (text) => String(text).replace(NOT_A_LINE_END, spell);

  const fill = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes)) {
      if (value === false || value === null || value === undefined) continue;
      if (name === "href" && !LINKS.test(value)) continue;
      element.setAttribute(name, value === true ? "" : clean(value));
    }
    element.append(
      ...children
        .flat(Infinity)
        .filter((child) => child !== null && child !== undefined && child !== "")
        .map((child) => (child instanceof Node ? child : document.createTextNode(clean(child)))),
    );
    return element;
  };

  const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
  const draw = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

  // Paths and ids may break after a slash, rather than inside a word.
  const breakable = (text) =>
    clean(text)
      .split(/(?<=\/)(?=[^/\s])/)
      .flatMap((part, number) => (number ? [make("wbr"), part] : [part]));

  const code = (text) => (text ? make("code", {}, breakable(text)) : null);

  const lines = (text) => {
    const block = make("pre", { tabindex: "0" });
    block.textContent = cleanLines(text);
    return block;
  };

  // Links that leave the site: only https, and without telling the other side where they were.
  const out = (address, ...shown) =>
    address && address.startsWith("https://")
      ? make("a", { class: "out", href: address, rel: "noreferrer" }, ...shown)
      : make("span", {}, ...shown);

  const badge = (look) =>
    make(
      "span",
      { class: `badge tone-${look.tone}`, title: look.means },
      make("span", { "aria-hidden": "true" }, look.sign),
      ` ${look.word}`,
    );

  const fact = (term, ...value) => {
    const shown = value.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== "");
    return shown.length ? make("div", {}, make("dt", {}, term), make("dd", {}, shown)) : null;
  };

  const table = (name, titles, rows) =>
    make(
      "table",
      { class: `list ${name}` },
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          titles.map((title) => make("th", { scope: "col" }, title)),
        ),
      ),
      make(
        "tbody",
        {},
        rows.map((cells) =>
          make(
            "tr",
            {},
            cells.map((cell, number) =>
              make(number ? "td" : "th", number ? { "data-title": titles[number] } : { scope: "row" }, cell),
            ),
          ),
        ),
      ),
    );

  // A bar of [look, number] pairs, as wide as its page.
  const bar = (counts) => {
    const all = counts.reduce((sum, [, number]) => sum + number, 0);
    let start = 0;
    const parts = counts
      .filter(([, number]) => number)
      .map(([look, number]) => {
        const width = (100 * number) / all;
        start += width;
        return draw("rect", {
          x: `${(start - width).toFixed(2)}%`,
          width: `${width.toFixed(2)}%`,
          height: "100%",
          class: `part tone-${look.tone}`,
        });
      });
    return draw("svg", { class: "bar", "aria-hidden": "true" }, parts);
  };

  const section = (name, title, count, ...children) =>
    make(
      "section",
      { id: name, "aria-labelledby": `${name}-title` },
      make(
        "h2",
        { id: `${name}-title` },
        title,
        count === null ? null : make("span", { class: "count" }, ` ${number(count)}`),
      ),
      ...children,
    );

  const number = (value) => value.toLocaleString("en");
  const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

  // `make` and what is above the rest decide what is safe; a page uses nothing else to show data.
  gitsync.dom = { badge, bar, breakable, clean, code, draw, fact, lines, make, number, out, plural, section, table };
})();
