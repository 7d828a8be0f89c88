"use strict";
// Words, signs and durations as all forms of a report have them: data/words.js is made of the tables of the report.
(() => {
  const UNKNOWN = { sign: "·", tone: "rest", means: "" };
  let words = { states: [], events: [], origins: [], exits: [], sides: {}, steps: [] };
  const tables = { states: new Map(), events: new Map(), origins: new Map() };

  const read = (content) => {
    words = content;
    for (const table of Object.keys(tables)) {
      content[table].forEach(([word, sign, tone, means], rank) =>
        tables[table].set(word, { word, sign, tone, means, rank }),
      );
    }
  };

  // How the two sides of a difference are called.
  const sides = (name) => words.sides[name];

  // How a run ended, by its exit code; nothing to mention for one that succeeded.
  const exit = (code) => {
    const found = words.exits.find(([one]) => one === code);
    if (!code) return { tone: "rest", means: "" };
    return { tone: found ? found[1] : "stop", means: `exit code ${code}${found && found[2] ? `: ${found[2]}` : ""}` };
  };

  const find = (table, word) => tables[table].get(word) || { ...UNKNOWN, word, rank: words[table].length };
  const state = (word) => find("states", word);
  const event = (word) => find("events", word);
  const origin = (word) => find("origins", word);
  const worst = (looks) => looks.reduce((one, other) => (other.rank < one.rank ? other : one), state(""));

  // A duration in its largest units: `90s`, `12m`, `3h`, `2d4h`.
  const duration = (seconds) => {
    const [, unit, letter, smaller, smallerLetter] = words.steps.find(([limit]) => limit === null || seconds < limit);
    const rest = smaller ? Math.floor((seconds % unit) / smaller) : 0;
    return `${Math.floor(seconds / unit)}${letter}${rest ? `${rest}${smallerLetter}` : ""}`;
  };

  const between = (since, until) => duration(Math.max(0, Math.round((until - since) / 1000)));

  // How long ago a time is. A time to come is shown as it is: a clock is wrong then.
  const age = (iso) => {
    const since = Date.parse(iso);
    if (Number.isNaN(since)) return gitsync.dom.clean(iso);
    const now = Date.now();
    return since > now ? iso : `${between(since, now)} ago`;
  };

  const lasted = (since, until) => {
    const [start, end] = [Date.parse(since), until ? Date.parse(until) : Date.now()];
    return Number.isNaN(start) || Number.isNaN(end) ? "" : between(start, end);
  };

  const moment = (iso) => String(iso).replace(/T(\d\d:\d\d)\S*$/, " $1 UTC");
  const time = (iso, shown) =>
    iso ? gitsync.dom.make("time", { datetime: iso, title: iso }, shown || moment(iso)) : null;
  const ago = (iso) => time(iso, age(iso));

  gitsync.words = { ago, age, event, exit, lasted, origin, read, sides, state, time, worst };
})();
