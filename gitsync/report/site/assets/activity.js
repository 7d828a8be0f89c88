"use strict";
// What happened: the runs that changed the status, by day; and drift, open and past.
(() => {
  const { badge, breakable, fact, make, number, plural, section, table } = gitsync.dom;
  const { ago, event, exit, lasted, state, time } = gitsync.words;
  const { address, shorten } = gitsync.estate;
  const FEW = 8; // resources of an event that show before a click

  const resource = (target, key) => make("a", { href: address(target, key), title: key }, breakable(shorten(key)));

  // What a run did, by event: each with the first of its resources, and a button for the others.
  const groupEvents = (changed) => {
    const groups = new Map();
    for (const one of changed) {
      if (!groups.has(one[1])) groups.set(one[1], []);
      groups.get(one[1]).push(one);
    }
    return [...groups].map(([word, list]) => [event(word), list]).sort(([one], [other]) => one.rank - other.rank);
  };

  const name =
    (run) =>
    ([key, , more]) =>
      make("li", {}, resource(run.target, key), more ? make("span", { class: "note" }, ` ${more}`) : null);

  const renderGroup =
    (run) =>
    ([look, changed]) => {
      const names = make("ul", { class: "names" }, changed.slice(0, FEW).map(name(run)));
      const rest = changed.length - FEW;
      if (rest > 0) {
        const button = make("button", { type: "button" }, `${number(rest)} more`);
        button.addEventListener("click", () => {
          names.append(...changed.slice(FEW).map(name(run)));
          button.parentElement.remove();
        });
        names.append(make("li", {}, button));
      }
      return make("li", {}, badge({ ...look, word: `${number(changed.length)} ${look.word}` }), names);
    };

  const renderRun = (targets) => (run) => {
    const target = targets.get(run.target) || { title: run.target, commitUrl: "" };
    const ended = exit(run.exitCode);
    const hidden = run.count - run.changed.length;
    return make(
      "article",
      { class: `run tone-${ended.tone}` },
      make(
        "h3",
        {},
        time(run.at, run.at.slice(11, 16)),
        " ",
        run.headline || (run.command ? `${run.command} recorded` : "Recorded what it is about to create"),
      ),
      make(
        "p",
        { class: "note" },
        [target.title, run.agent].filter(Boolean).join(" · "),
        run.revision ? [" · revision ", gitsync.resource.commit(target, run.revision)] : "",
        run.commit ? [" · status ", gitsync.resource.commit(target, run.commit)] : "",
        ended.means ? ` · ${ended.means}` : "",
      ),
      run.changed.length ? make("ul", { class: "changes" }, groupEvents(run.changed).map(renderGroup(run))) : null,
      hidden > 0
        ? make("p", { class: "note" }, `and ${plural(hidden, "more event")}, in the histories of the resources.`)
        : null,
    );
  };

  const byDay = (runs) => {
    const days = new Map();
    for (const run of runs) {
      const day = run.at.slice(0, 10);
      if (!days.has(day)) days.set(day, []);
      days.get(day).push(run);
    }
    return [...days];
  };

  const activity = async () => {
    const site = await gitsync.load("site");
    const targets = new Map(site.targets.map((target) => [target.id, target]));
    const list = make("div", { class: "days" });
    const months = [...site.months];
    const button = make("button", { type: "button", class: "earlier" }, "Earlier");
    const more = async () => {
      const month = months.shift();
      const found = month && (await gitsync.load(`activity/${month}`));
      for (const [day, runs] of byDay(found ? found.runs : [])) {
        list.append(section(`day-${day}`, day, runs.length, runs.map(renderRun(targets))));
      }
      button.hidden = months.length === 0;
      if (months.length) button.textContent = `Earlier: ${months[0]}`;
    };
    button.addEventListener("click", more);
    await more();
    const beats = site.targets.flatMap((target) =>
      target.heartbeats.map(([agent, at]) => fact(`${target.title}, ${agent}`, ago(at))),
    );
    return {
      title: "Activity",
      content: [
        make("h1", {}, "Activity"),
        make(
          "p",
          { class: "note" },
          "Runs that changed the status. A run that changes nothing leaves no commit; the heartbeat of its agent shows that it ran.",
        ),
        beats.length ? make("dl", { class: "target" }, beats) : null,
        site.months.length ? list : make("p", {}, "The status branches have no history."),
        button,
      ].filter(Boolean),
    };
  };

  const fields = (paths) =>
    paths.length
      ? make(
          "ul",
          { class: "names" },
          paths.map((path) => make("li", {}, gitsync.dom.code(path))),
        )
      : null;

  const drift = async () => {
    const [site, found] = await Promise.all([gitsync.load("site"), gitsync.load("drift")]);
    const titles = new Map(site.targets.map((target) => [target.id, target.title]));
    const { open, past } = found || { open: [], past: [] };
    const title = open.length ? `${plural(open.length, "resource")} with open drift` : "No open drift";
    const several = site.targets.length > 1;
    const head = several ? ["Resource", "Target"] : ["Resource"];
    const names = (one) =>
      several ? [resource(one.target, one.key), titles.get(one.target) || one.target] : [resource(one.target, one.key)];
    return {
      title,
      content: [
        make("h1", {}, title),
        make(
          "p",
          { class: "note" },
          "Drift is what Azure has that git has not. It is open until a sync restores it, or somebody accepts it.",
        ),
        open.length
          ? section(
              "open",
              "Open",
              open.length,
              table(
                "drift-list",
                [...head, "What", "Since", "For", "Fields"],
                open.map((one) => [
                  ...names(one),
                  badge(state(one.verdict)),
                  time(one.since),
                  lasted(one.since, ""),
                  fields(one.fields),
                ]),
              ),
            )
          : null,
        past.length
          ? section(
              "past",
              "Past",
              past.length,
              table(
                "drift-list",
                [...head, "What", "From", "Until", "Lasted", "How it ended", "Fields"],
                past
                  .slice(0, 500)
                  .map((one) => [
                    ...names(one),
                    badge(state(one.verdict)),
                    time(one.since),
                    time(one.until),
                    lasted(one.since, one.until),
                    badge(event(one.how)),
                    fields(one.fields),
                  ]),
              ),
            )
          : null,
        past.length > 500
          ? make("p", { class: "note" }, `and ${number(past.length - 500)} more, in the histories of the resources.`)
          : null,
      ].filter(Boolean),
    };
  };

  gitsync.pages.set("activity", activity);
  gitsync.pages.set("drift", drift);
})();
