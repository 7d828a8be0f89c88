"use strict";
// A resource: what its condition is, what git wants, what Azure showed, what it needs and who needs it, what happened.
(() => {
  const { badge, breakable, code, fact, lines, make, number, out, plural, section, table } = gitsync.dom;
  const { ago, event, state, time } = gitsync.words;
  const { address, encode, keyOf, shorten } = gitsync.estate;
  const EDGES = {
    owner: "owner",
    reference: "refers to",
    "depends-on": "depends on",
    order: "comes after",
    set: "sets a value from",
  };
  const MOST_EVENTS = 60; // of the history, before a click shows the rest

  // A resource by its key, or whatever else is known of it: an ARM id.
  const link = (estate, target, name) =>
    estate.find(target, name) >= 0
      ? make("a", { href: address(target, name), title: name }, breakable(shorten(name)))
      : code(name);

  const commit = (target, id) =>
    id ? out(target.commitUrl && `${target.commitUrl}${id}`, code(id.slice(0, 12))) : null;

  const side = (shown, tag) => {
    if (shown.absent) return make("span", { class: "absent" }, shown.start);
    return make(
      tag,
      {},
      make(
        "code",
        {},
        breakable(shown.start),
        shown.middle ? make("mark", {}, breakable(shown.middle)) : null,
        breakable(shown.end),
      ),
    );
  };

  const changedLines = (rows) => {
    const block = make("pre", { tabindex: "0" });
    rows.forEach(([tag, text], at) => {
      if (at) block.append("\n");
      block.append(["del", "ins", "i"].includes(tag) ? make(tag, {}, text) : gitsync.dom.clean(text));
    });
    return block;
  };

  const differences = (rows, [before, after]) =>
    make(
      "table",
      { class: "diff" },
      make("caption", {}, plural(rows.length, "difference")),
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          ["Path", before, after, "Why"].map((title) => make("th", { scope: "col" }, title)),
        ),
      ),
      make(
        "tbody",
        {},
        rows.map((row) =>
          make(
            "tr",
            {},
            make("th", { scope: "row" }, code(row.path)),
            row.lines.length
              ? make(
                  "td",
                  { colspan: "2" },
                  make("p", { class: "note" }, make("del", {}, `- ${before}`), " ", make("ins", {}, `+ ${after}`)),
                  changedLines(row.lines),
                )
              : [
                  make("td", { class: "live", "data-title": before }, side(row.live, "del")),
                  make("td", { class: "desired", "data-title": after }, side(row.desired, "ins")),
                ],
            make("td", { class: "why", "data-title": row.why ? "Why" : false }, row.why),
          ),
        ),
      ),
    );

  const condition = (found) => {
    if (!found) return make("p", { class: "note" }, "No run has recorded a condition yet.");
    const tone = found.status === "True" ? "fine" : found.severity === "Error" ? "stop" : "wait";
    return [
      found.message ? make("p", { class: `message tone-${tone}` }, found.message) : null,
      found.advice ? make("p", {}, make("strong", {}, "What to do: "), found.advice) : null,
      make(
        "dl",
        { class: "facts" },
        fact("Ready", [found.status, found.severity, found.reason].filter(Boolean).join(" ")),
        fact("Since", time(found.time)),
        fact("Generation", String(found.generation)),
        fact("Request id", code(found.requestId)),
      ),
    ];
  };

  const text = (title, content, open) =>
    content ? make("details", { class: "body", open }, make("summary", {}, title), lines(content)) : null;

  const manifest = (found) =>
    section(
      "manifest",
      "Manifest",
      null,
      make(
        "p",
        {},
        found.path
          ? out(found.url, code(found.line ? `${found.path}:${found.line}` : found.path))
          : make("span", { class: "note" }, "Its file is not recorded."),
      ),
      found.doubt ? make("p", { class: "note" }, found.doubt) : null,
      found.text ? lines(found.text) : null,
    );

  const azure = (resource, look) => {
    const { sent, shown, outside } = resource.body;
    const { outsideRows = [] } = resource;
    if (!sent && !shown && !outside && !resource.differences.length && !resource.outside.length) return null;
    return section(
      "azure",
      "Azure and git",
      null,
      resource.differences.length
        ? [
            make(
              "p",
              { class: "note" },
              look.tone === "fine" ? "As the last run found it, before what it wrote." : "As the last run found it.",
            ),
            differences(resource.differences, gitsync.words.sides("azure")),
          ]
        : make("p", { class: "note" }, "The last sync left no difference on record."),
      resource.outside.length
        ? [
            make("h3", {}, "Changed outside of git"),
            outsideRows.length
              ? differences(outsideRows, gitsync.words.sides("outside"))
              : make(
                  "ul",
                  { class: "names" },
                  resource.outside.map((path) => make("li", {}, code(path))),
                ),
          ]
        : null,
      resource.unverified.length
        ? [
            make("p", { class: "note" }, "Azure does not return, so that these are not compared:"),
            make(
              "ul",
              { class: "names" },
              resource.unverified.map((path) => make("li", {}, code(path))),
            ),
          ]
        : null,
      text("What Azure last showed of git's fields", shown),
      text("What was last sent", sent),
      text("What Azure showed beside git's fields", outside),
    );
  };

  const owners = (estate, row) => {
    const found = [];
    for (let node = estate.own[row].parent; node && node.parent; node = node.parent) found.unshift(node);
    return found;
  };

  const path = (estate, row, target) =>
    make(
      "nav",
      { class: "path", "aria-label": "Path in the tree" },
      make(
        "ol",
        {},
        owners(estate, row).map((node) =>
          make(
            "li",
            {},
            node.row >= 0
              ? make("a", { href: address(target, estate.key(node.row)) }, node.title)
              : make("a", { href: `#/tree?at=${encode(idOf(estate, node))}` }, node.title),
          ),
        ),
      ),
    );

  const idOf = (estate, node) => {
    for (const [id, one] of estate.nodes) if (one === node) return id;
    return "";
  };

  const needs = (estate, target, title, rows) =>
    rows.length
      ? table(
          "needs-list",
          [title, "How", "Field"],
          rows.map(([name, how, field]) => [link(estate, target, name), EDGES[how] || how, code(field)]),
        )
      : null;

  const graphs = (estate, target, row) =>
    make(
      "p",
      { class: "note" },
      "Graph of ",
      gitsync.graph
        .scopesOf(estate, row)
        .flatMap(([hash, , title], at) => [at ? ", " : "", make("a", { href: hash }, title)]),
    );

  const relations = (estate, target, key, resource) => {
    const { refersTo, referredBy } = resource;
    if (!refersTo.length && !referredBy.length) return null;
    return section(
      "relations",
      "What it needs, and who needs it",
      refersTo.length + referredBy.length,
      gitsync.graph.neighbourhood(estate, target, key, refersTo, referredBy),
      needs(estate, target, "Needs", refersTo),
      needs(estate, target, "Needed by", referredBy),
      graphs(estate, target, estate.find(target, key)),
    );
  };

  const children = (estate, row, target) => {
    const below = estate.own[row].children.filter((node) => node.row >= 0);
    return below.length
      ? section(
          "below",
          "Below it",
          below.length,
          make(
            "ul",
            { class: "names" },
            below
              .slice(0, 200)
              .map((node) =>
                make("li", {}, badge(state(estate.state(node.row))), " ", link(estate, target, estate.key(node.row))),
              ),
          ),
        )
      : null;
  };

  const renderEvent =
    (target) =>
    ([at, id, word, more]) =>
      make(
        "li",
        { class: `tone-${event(word).tone}` },
        badge(event(word)),
        time(at),
        commit(target, id),
        more ? make("span", { class: "said" }, more) : null,
      );

  const history = (target, events) => {
    const list = make("ol", { class: "history" }, events.slice(0, MOST_EVENTS).map(renderEvent(target)));
    const rest = events.length - MOST_EVENTS;
    const button = rest > 0 ? make("button", { type: "button" }, `Show ${number(rest)} more`) : null;
    if (button) {
      button.addEventListener("click", () => {
        list.append(...events.slice(MOST_EVENTS).map(renderEvent(target)));
        button.remove();
      });
    }
    return section(
      "history",
      "History",
      events.length,
      events.length ? list : make("p", { class: "note" }, "The status branch has no history of it."),
      button,
      target.begins ? make("p", { class: "note" }, "History begins ", time(target.begins), ".") : null,
    );
  };

  const identity = ({ credential, clientId, tenantId, subscription }) => [
    fact("Credential", credential),
    fact("Client id", code(clientId)),
    fact("Tenant id", code(tenantId)),
    fact("Subscription", code(subscription)),
  ];

  const write = (target, found) =>
    found
      ? [
          fact("Last write", time(found.at), " ", found.revision ? ["at ", commit(target, found.revision)] : ""),
          fact("Correlation id", code(found.correlationId), found.returnedId ? [" ", code(found.returnedId)] : ""),
        ]
      : [];

  const seconds = (value) => (value === null ? "" : `${number(value)}s`);
  const durations = ([create, update]) =>
    fact(
      "Took Azure",
      [create === null ? "" : `${seconds(create)} to create`, update === null ? "" : `${seconds(update)} to update`]
        .filter(Boolean)
        .join(", "),
    );

  const portal = (url) => (/^https:\/\/portal\.[a-z.]+\/#resource\//.test(url) ? out(url, "Open in the portal") : null);

  const facts = (estate, target, resource) =>
    section(
      "more",
      "Facts",
      null,
      make(
        "dl",
        { class: "facts" },
        fact("ARM id", resource.armId ? [code(resource.armId), " ", portal(resource.portal)] : null),
        fact("Owner", resource.owner ? link(estate, target.id, resource.owner) : null),
        fact(
          "API version",
          breakable([resource.apiVersion, resource.armApiVersion].filter(Boolean).join(", in Azure ")),
        ),
        fact("Policy", resource.policy),
        fact("Claim", resource.claim),
        fact(
          "Hold",
          resource.hold ? `until ${resource.hold.until}${resource.hold.reason ? `: ${resource.hold.reason}` : ""}` : "",
        ),
        fact("Exports to", resource.exports.length ? resource.exports.join(", ") : ""),
        identity(resource.identity),
        fact("Agent", resource.agent),
        write(target, resource.lastWrite),
        durations(resource.durations),
        fact("Written by", resource.writes ? plural(resource.writes, "run") : ""),
        fact("Operation", resource.operation),
      ),
    );

  const gone = async (target, key) => {
    const removed = await gitsync.load("removed");
    const found = removed && removed.rows.find(([position, name]) => position === target.position && name === key);
    if (!found) return null;
    const events = await gitsync.load(`history/${target.id}/${found[2]}`);
    return {
      title: shorten(key),
      content: [
        make("p", { class: "kicker" }, target.title),
        make("h1", {}, breakable(shorten(key))),
        make(
          "p",
          { class: "message tone-rest" },
          "No record is left of it: it was deleted, or is no longer managed. ",
          ago(found[3]),
        ),
        history(target, events && Object.hasOwn(events, key) ? events[key] : []),
      ],
    };
  };

  const page = async (route) => {
    const [id, ...parts] = route.parts;
    if (parts.length !== 4) return null;
    const key = keyOf(parts);
    const estate = await gitsync.estate.open();
    const site = await gitsync.load("site");
    const target = site.targets.find((one) => one.id === id);
    if (!target) return null;
    const row = estate.find(id, key);
    if (row < 0) return gone({ ...target, position: site.targets.indexOf(target) }, key);
    const shard = estate.tree.shard[row];
    const [resources, events] = await Promise.all([
      gitsync.load(`resources/${id}/${shard}`),
      gitsync.load(`history/${id}/${shard}`),
    ]);
    const name = estate.key(row); // as the files have it
    const resource = resources && Object.hasOwn(resources, name) ? resources[name] : null;
    if (!resource) return null;
    const look = state(resource.state);
    const held = { ...state("held"), word: resource.hold ? `held until ${resource.hold.until}` : "" };
    return {
      title: `${shorten(key)}: ${look.word}`,
      content: [
        make(
          "div",
          { class: "top" },
          path(estate, row, id),
          make("h1", {}, breakable(estate.tree.name[row])),
          make(
            "p",
            { class: "kicker" },
            badge(resource.hold ? held : look),
            make("strong", {}, estate.kind(row)),
            `· ${estate.namespace(row)} ·`,
            make("span", {}, target.title),
            resource.hold && look.word !== "held" ? badge(look) : "",
          ),
        ),
        resource.trust
          ? make(
              "p",
              { class: "alert tone-stop" },
              `The seal of its record does not fit (${resource.trust}), so somebody may have changed what this page shows.`,
            )
          : null,
        resource.notes.map((note) => make("p", {}, note)),
        section("condition", "Condition", null, condition(resource.condition)),
        azure(resource, look),
        manifest(resource.manifest),
        facts(estate, target, resource),
        relations(estate, id, name, resource),
        children(estate, row, id),
        history(target, events && Object.hasOwn(events, name) ? events[name] : []),
      ]
        .flat()
        .filter(Boolean),
    };
  };

  gitsync.resource = { commit, link };
  gitsync.pages.set("resource", page);
})();
