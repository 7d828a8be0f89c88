"use strict";
// The overview: a card for each target, those with failures first.
(() => {
  const { bar, code, fact, make, draw, number, out, plural, breakable } = gitsync.dom;
  const { ago, exit, state, worst } = gitsync.words;
  const { address, encode, shorten } = gitsync.estate;
  const FEW = 4; // lines of a list, before "and so many more"
  const DAY = 86400000;
  const LATE = DAY; // an agent without a success for so long is pointed out
  const DAYS = 90;

  const looksOf = (counts) => counts.map(([word, count]) => [state(word), count]).filter(([, count]) => count);
  const count = (target, test) => target.counts.reduce((sum, [word, many]) => sum + (test(state(word)) ? many : 0), 0);
  const worstOf = (target) => worst(looksOf(target.counts).map(([look]) => look));
  const runFailed = (target) => Boolean(target.run) && exit(target.run.exitCode).tone === "stop";
  const toneOf = (target) => (target.trust || runFailed(target) ? "stop" : worstOf(target).tone);

  const filtered = (target, words) => {
    const query = new URLSearchParams(words.map((word) => ["state", word]));
    if (target) query.set("target", target);
    return `#/tree?${query}`;
  };

  const more = (list, all, href) =>
    all > list.length
      ? [make("li", { class: "note" }, make("a", { href }, `and ${number(all - list.length)} more`))]
      : [];

  const resource = (target, key) => make("a", { href: address(target, key) }, breakable(shorten(key)));

  const part = (title, ...items) =>
    items.flat().length
      ? make("div", { class: "part-of-card" }, make("h3", {}, title), make("ul", {}, ...items))
      : null;

  const failures = (target) => {
    const all = count(target, (look) => look.tone === "stop");
    const shown = target.failures.slice(0, FEW);
    const words = looksOf(target.counts)
      .filter(([look]) => look.tone === "stop")
      .map(([look]) => look.word);
    return part(
      `Failed (${number(Math.max(all, target.failures.length))})`,
      shown.map((one) =>
        make(
          "li",
          { class: `tone-${state(one.state).tone}` },
          make("span", { class: "mark" }, `${state(one.state).sign} `),
          resource(target.id, one.key),
          make("span", { class: "said" }, [one.reason, one.message].filter(Boolean).join(": ")),
        ),
      ),
      shown.length ? more(shown, Math.max(all, target.failures.length), filtered(target.id, words)) : [],
    );
  };

  const drift = (target) => {
    const shown = target.drift.slice(0, FEW);
    const all = Math.max(target.drift.length, target.days.length ? target.days[target.days.length - 1][2] : 0);
    return part(
      `Open drift (${number(all)})`,
      shown.map((one) =>
        make(
          "li",
          { class: "tone-drift" },
          make("span", { class: "mark" }, `${state(one.verdict).sign} `),
          resource(target.id, one.key),
          make("span", { class: "note" }, " since ", ago(one.since)),
        ),
      ),
      shown.length ? more(shown, all, "#/drift") : [],
    );
  };

  const holds = (target) => {
    const shown = target.holds.slice(0, FEW);
    return part(
      `Held (${number(target.holds.length)})`,
      shown.map((one) =>
        make(
          "li",
          { class: "tone-wait" },
          make("span", { class: "mark" }, `${state("held").sign} `),
          resource(target.id, one.key),
          make("span", { class: "note" }, ` until ${one.until}`, one.reason ? `: ${one.reason}` : ""),
        ),
      ),
      more(shown, target.holds.length, filtered(target.id, ["held"])),
    );
  };

  // The values of each of the last days; a day without a commit has those of the day before.
  const daily = (days, column) => {
    const end = Date.parse(days[days.length - 1][0]);
    const start = Math.max(Date.parse(days[0][0]), end - (DAYS - 1) * DAY);
    const values = [];
    let at = 0;
    for (let day = start; day <= end; day += DAY) {
      while (at + 1 < days.length && Date.parse(days[at + 1][0]) <= day) at += 1;
      values.push(days[at][column]);
    }
    return values;
  };

  const line = (title, tone, values) => {
    const [width, height] = [160, 30];
    const [low, high] = [tone === "fine" ? Math.min(...values) : 0, Math.max(...values, 1)];
    const x = (day) => (values.length > 1 ? (day * width) / (values.length - 1) : width);
    const y = (value) => (high === low ? height / 2 : height - 2 - ((value - low) / (high - low)) * (height - 4));
    const points = values.map((value, day) => `${day ? "L" : "M"}${x(day).toFixed(1)} ${y(value).toFixed(1)}`).join("");
    const now = values[values.length - 1];
    return make(
      "div",
      { class: `trend tone-${tone}` },
      make("dt", {}, title),
      make(
        "dd",
        {},
        make("strong", {}, number(now)),
        draw(
          "svg",
          {
            viewBox: `0 0 ${width} ${height}`,
            preserveAspectRatio: "none",
            role: "img",
            "aria-label": `${title} over ${plural(values.length, "day")}: from ${number(values[0])} to ${number(now)}, at most ${number(Math.max(...values))}`,
          },
          draw("path", {
            class: "area",
            d: `${values.length > 1 ? points : `M0 ${y(now)}L${width} ${y(now)}`}L${width} ${height}L0 ${height}z`,
          }),
          draw("path", { class: "line", d: values.length > 1 ? points : `M0 ${y(now)}L${width} ${y(now)}` }),
        ),
      ),
    );
  };

  const trends = (target) =>
    target.days.length
      ? make(
          "dl",
          { class: "trends" },
          line("Resources", "fine", daily(target.days, 1)),
          line("Open drift", "drift", daily(target.days, 2)),
          line("Failed", "stop", daily(target.days, 3)),
        )
      : null;

  const heartbeats = (target) =>
    target.heartbeats.map(([agent, at]) => {
      const late = Date.now() - Date.parse(at) > LATE;
      const who = target.heartbeats.length > 1 || target.agents.length > 1 ? ` of ${agent}` : "";
      return fact(`Last success${who}`, late ? make("span", { class: "mark tone-drift" }, "! ", ago(at)) : ago(at));
    });

  const lastRun = (run, target) => {
    if (!run) return null;
    const commit = run.revision
      ? out(target.commitUrl && `${target.commitUrl}${run.revision}`, code(run.revision.slice(0, 12)))
      : null;
    const done = run.outcomes.map(([word, many]) => `${number(many)} ${word}`).join(", ");
    return fact(
      "Last run on record",
      `${run.command || "run"} `,
      commit ? [make("span", {}, "of "), commit, " "] : "",
      ago(run.at),
      make("span", { class: "note" }, ` ${[done, exit(run.exitCode).means].filter(Boolean).join("; ")}`),
    );
  };

  const legend = (target) =>
    make(
      "ul",
      { class: "legend" },
      looksOf(target.counts).map(([look, many]) =>
        make(
          "li",
          {},
          make(
            "a",
            { href: filtered(target.id, [look.word]), class: `tone-${look.tone}`, title: look.means },
            make("span", { class: "sign", "aria-hidden": "true" }, look.sign),
            ` ${number(many)} ${look.word}`,
          ),
        ),
      ),
    );

  const card = (target) =>
    make(
      "article",
      { class: `target-card tone-${toneOf(target)}`, "aria-labelledby": `target-${target.id}` },
      make(
        "header",
        {},
        make(
          "h2",
          { id: `target-${target.id}` },
          make("a", { href: `#/tree?target=${encode(target.id)}` }, target.title),
        ),
        target.source === target.title ? null : make("p", { class: "note" }, breakable(target.source)),
        make("p", { class: "note" }, breakable([target.branch, target.agents.join(", ")].filter(Boolean).join(" · "))),
      ),
      make("p", { class: "headline" }, target.headline),
      target.trust ? make("p", { class: "alert tone-stop" }, target.trust) : null,
      bar(looksOf(target.counts)),
      legend(target),
      make("dl", { class: "facts" }, heartbeats(target), lastRun(target.run, target)),
      failures(target),
      drift(target),
      holds(target),
      trends(target),
      target.notes.map((note) => make("p", { class: "note" }, note)),
    );

  const ORDER = ["stop", "delete", "drift", "change", "new", "wait", "rest", "fine"];
  const urgency = (target) => (target.trust ? -1 : ORDER.indexOf(toneOf(target)));

  const sum = (targets) => {
    const sums = new Map();
    for (const [word, many] of targets.flatMap((target) => target.counts)) sums.set(word, (sums.get(word) || 0) + many);
    return [...sums]
      .map(([word, many]) => [state(word), many])
      .filter(([, many]) => many)
      .sort(([one], [other]) => one.rank - other.rank);
  };

  // One target has its own headline; of several, those are counted that need somebody.
  const headline = (targets) => {
    if (targets.length === 1 && targets[0].headline) return targets[0].headline;
    const having = (test, words) => {
      const found = targets.filter(test).length;
      return found ? `${number(found)} ${words}` : "";
    };
    const parts = [
      having((target) => toneOf(target) === "stop", "failed"),
      having((target) => target.drift.length, "with open drift"),
      having((target) => toneOf(target) === "wait", "waiting"),
    ];
    return `${plural(targets.length, "target")}: ${parts.filter(Boolean).join(", ") || "all fine"}`;
  };

  const newest = (targets) =>
    targets
      .flatMap((target) => [...target.heartbeats.map(([, at]) => at), target.run ? target.run.at : ""])
      .filter(Boolean)
      .sort()
      .pop();

  const tiles = (counts) =>
    make(
      "ul",
      { class: "tiles" },
      counts.map(([look, many]) =>
        make(
          "li",
          { class: `tone-${look.tone}` },
          make(
            "a",
            { href: filtered("", [look.word]) },
            make("span", { class: "figure" }, number(many)),
            make("span", { class: "tile-title" }, `${look.sign} ${look.word}`),
            make("span", { class: "tile-verdicts" }, look.means),
          ),
        ),
      ),
    );

  const overview = async () => {
    const site = await gitsync.load("site");
    if (!site) return null;
    if (!site.targets.length) {
      return {
        title: "Nothing to show",
        content: [
          make("h1", {}, "Nothing to show"),
          make("p", {}, "No status branch was read. Run gitsync site with a SOURCE that a sync has recorded."),
        ],
      };
    }
    const counts = sum(site.targets);
    const all = counts.reduce((total, [, many]) => total + many, 0);
    const last = newest(site.targets);
    const title = headline(site.targets);
    const ordered = [...site.targets].sort((one, other) => urgency(one) - urgency(other));
    return {
      title,
      content: [
        make(
          "div",
          { class: "top" },
          make(
            "p",
            { class: "kicker" },
            plural(all, "resource"),
            last ? [make("span", {}, "· last run or heartbeat"), ago(last)] : "",
          ),
          make("h1", {}, title),
          tiles(counts),
          bar(counts),
        ),
        make("div", { class: "target-cards" }, ordered.map(card)),
      ],
    };
  };

  gitsync.pages = new Map([["overview", overview]]);
})();
