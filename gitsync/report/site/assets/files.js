"use strict";
// Coverage and audit: what `gitsync unmanaged` and `gitsync audit` left as JSON.
(() => {
  const { badge, bar, breakable, code, make, number, plural, section, table } = gitsync.dom;
  const { origin, time } = gitsync.words;
  const MOST = 1000; // rows

  const parse = async (path) => {
    const site = await gitsync.load("site");
    const found = site.has[path] ? await gitsync.load(path) : null;
    return (found ? found.files : []).map(([name, text]) => {
      try {
        return [name, JSON.parse(text)];
      } catch {
        return [name, null];
      }
    });
  };

  const list = (value) => (Array.isArray(value) ? value : []);
  const count = (value) => (typeof value === "number" ? value : 0);
  const text = (value) => (value === null || value === undefined || typeof value === "object" ? "" : String(value));
  const left = (rows) =>
    rows > MOST ? make("p", { class: "note" }, `and ${plural(rows - MOST, "more row")}; the file has all.`) : null;
  const unread = (name) => make("p", { class: "alert tone-stop" }, `${name} is not JSON.`);
  const several = (files, name) => (files.length > 1 ? make("h2", {}, code(name)) : null);

  // Who it was; people are not named.
  const author = (change) => {
    const found = change && typeof change === "object" ? change : {};
    const who = found.author === "person" ? "a person" : text(found.name) || text(found.label) || text(found.author);
    return [who, found.at ? [" ", time(text(found.at))] : ""];
  };

  const covered =
    (files) =>
    ([name, found]) => {
      if (!found) return unread(name);
      const [managed, unmanaged] = [count(found.managed), count(found.unmanaged)];
      const counts = [
        [origin("unmanaged"), unmanaged],
        [origin("managed"), managed],
      ];
      const [kinds, resources] = [list(found.kinds), list(found.resources)];
      return make(
        "div",
        {},
        several(files, name),
        make(
          "p",
          { class: "headline" },
          `${number(managed)} of ${plural(managed + unmanaged, "resource")} managed: ${(count(found.share) * 100).toFixed(1)}%`,
        ),
        bar(counts),
        [...list(found.gaps), ...list(found.doubts)].map((gap) => make("p", { class: "note" }, text(gap))),
        kinds.length
          ? section(
              "kinds",
              "By kind",
              kinds.length,
              table(
                "coverage-list",
                ["Kind", "Unmanaged", "Managed"],
                kinds.map((kind) => [text(kind.kind), number(count(kind.unmanaged)), number(count(kind.managed))]),
              ),
            )
          : null,
        resources.length
          ? section(
              "unmanaged",
              "Unmanaged",
              resources.length,
              table(
                "coverage-list",
                ["Resource", "Type", "Resource group", "Created"],
                resources
                  .slice(0, MOST)
                  .map((one) => [
                    code(text(one.armId)),
                    breakable(text(one.kind) || text(one.type)),
                    text(one.resourceGroup),
                    author(one.created),
                  ]),
              ),
            )
          : null,
        left(resources.length),
      );
    };

  const coverage = async () => {
    const files = await parse("coverage");
    if (!files.length) return null;
    return { title: "Coverage", content: [make("h1", {}, "Coverage"), ...files.map(covered(files))] };
  };

  const audited =
    (files) =>
    ([name, found]) => {
      if (!found) return unread(name);
      const operations = list(found.operations);
      return make(
        "div",
        {},
        several(files, name),
        make(
          "p",
          {},
          "From ",
          time(text(found.since)),
          " until ",
          time(text(found.until)),
          `: ${plural(operations.length, "operation")}.`,
        ),
        list(found.gaps).map((gap) => make("p", { class: "note" }, text(gap))),
        table(
          "audit-list",
          ["Origin", "Operation", "Resource", "Author"],
          operations
            .slice(0, MOST)
            .map((one) => [
              badge(origin(text(one.origin))),
              [text(one.verb), one.open ? make("span", { class: "mark tone-drift" }, " open") : ""],
              breakable(text(one.armId)),
              author(one.author),
            ]),
        ),
        left(operations.length),
      );
    };

  const audit = async () => {
    const files = await parse("audit");
    if (!files.length) return null;
    return { title: "Audit", content: [make("h1", {}, "Audit"), ...files.map(audited(files))] };
  };

  gitsync.pages.set("coverage", coverage);
  gitsync.pages.set("audit", audit);
})();
