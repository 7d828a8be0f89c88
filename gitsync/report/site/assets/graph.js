"use strict";
// Draws what needs what: a namespace, a resource group, or the neighbourhood of a resource.
(() => {
  const { make, number, plural } = gitsync.dom;
  const { state } = gitsync.words;
  const { address, encode, scopeOf, shorten } = gitsync.estate;
  const { placeAround, placeForest } = gitsync.layout;
  const { CROWDED, LINE, SIZE, frame, legend, picture, routeColumns, routeGrid } = gitsync.picture;
  const MOST = 300; // boxes; above that the most urgent are drawn
  const AROUND = 30; // boxes at each side of a resource

  const makeBox = (estate, row) => ({
    name: String(row),
    title: estate.tree.name[row],
    kind: estate.kind(row),
    look: state(estate.state(row)),
    href: address(estate.target(row).id, estate.key(row)),
  });

  // A box of what no record has: a key of another repository, or an ARM id.
  const makeStranger = (name) => {
    const key = name.startsWith("/")
      ? `${name.split("/").slice(-2)[0]}/${name.slice(name.lastIndexOf("/") + 1)}`
      : shorten(name);
    const [kind, ...rest] = key.split("/");
    return {
      name,
      title: rest.join("/"),
      kind,
      look: { word: "not in the site", sign: "○", tone: "rest", means: "" },
      href: "",
    };
  };

  // An owner has no second line, and no line leads from what it is above already.
  const splitEdges = (rows, edges) => {
    const owners = new Map();
    for (const [from, to, kind] of edges)
      if (kind === "owner" && rows.has(from) && rows.has(to) && from !== to && !owners.has(from)) owners.set(from, to);
    for (const row of owners.keys()) {
      const seen = new Set();
      for (let at = row; owners.has(at); at = owners.get(at)) {
        if (seen.has(at)) {
          owners.delete(at);
          break;
        }
        seen.add(at);
      }
    }
    const isAbove = (one, other) => {
      for (let at = owners.get(other); at !== undefined; at = owners.get(at)) if (at === one) return true;
      return false;
    };
    const known = new Set();
    const references = edges.filter(([from, to, kind]) => {
      const name = `${from} ${to} ${LINE[kind]}`;
      if (kind === "owner" || from === to || !rows.has(from) || !rows.has(to) || isAbove(to, from) || known.has(name))
        return false;
      known.add(name);
      return true;
    });
    return { owners, references };
  };

  // The most urgent resources of a scope, where it has too many; and what they refer to elsewhere.
  const chooseRows = (estate, all, edges) => {
    const rank = (row) => estate.tree.state[row];
    const known = new Set(all);
    const rows = new Set(
      all.length > MOST ? [...all].sort((one, other) => rank(one) - rank(other)).slice(0, MOST) : all,
    );
    const others = new Set(
      edges.filter(([from, to]) => rows.has(from) && !rows.has(to) && !known.has(to)).map(([, to]) => to),
    );
    return { rows, others: new Set([...others].slice(0, Math.max(0, MOST - rows.size))) };
  };

  const drawRows = (estate, name, all, edges) => {
    const { rows: own, others } = chooseRows(estate, all, edges);
    const rows = new Set([...others, ...own]);
    const { owners, references } = splitEdges(rows, edges);
    const children = new Map();
    for (const row of rows) {
      if (!owners.has(row)) continue;
      const owner = owners.get(row);
      if (!children.has(owner)) children.set(owner, []);
      children.get(owner).push(row);
    }
    const placed = placeForest(
      children,
      [...rows].filter((row) => !owners.has(row)),
      SIZE,
    );
    const boxes = new Map(
      [...rows].map((row) => [row, { ...makeBox(estate, row), name: row, outside: others.has(row) }]),
    );
    const kinds = new Set([...(owners.size ? ["owns"] : []), ...references.map(([, , kind]) => LINE[kind])]);
    const ways = routeGrid(placed, references);
    const framed = frame(picture(name, boxes, placed, { owners: [...owners], references, chosen: null, ways }), true);
    const hidden = all.length - own.size;
    return {
      open: framed.open,
      content: [
        legend(kinds),
        framed.content,
        others.size
          ? make("p", { class: "note" }, "Boxes with a broken line are in other namespaces or resource groups.")
          : null,
        hidden > 0 ? make("p", { class: "note" }, `… and ${plural(hidden, "more resource")}, not drawn.`) : null,
      ],
    };
  };

  const neighbourhood = (estate, target, key, refersTo, referredBy) => {
    const boxes = new Map();
    const add = (name) => {
      const row = estate.find(target, name);
      if (!boxes.has(name)) boxes.set(name, { ...(row >= 0 ? makeBox(estate, row) : makeStranger(name)), name });
      return name;
    };
    add(key);
    const side = (rows) =>
      [...new Set(rows.map(([name]) => name))].filter((name) => name !== key && !boxes.has(name)).slice(0, AROUND);
    const before = side(refersTo);
    before.forEach(add);
    const after = side(referredBy);
    after.forEach(add);
    if (boxes.size < 2) return null;
    const placed = placeAround(key, before, after, SIZE);
    const shown = (rows) => rows.filter(([name]) => boxes.has(name) && name !== key);
    const seen = new Set();
    const references = [
      ...shown(refersTo).map(([name, kind]) => [key, name, kind]),
      ...shown(referredBy).map(([name, kind]) => [name, key, kind]),
    ].filter(
      ([start, end, kind]) => !seen.has(`${start} ${end} ${LINE[kind]}`) && seen.add(`${start} ${end} ${LINE[kind]}`),
    );
    const kinds = new Set(references.map(([, , kind]) => LINE[kind]));
    return make(
      "div",
      {},
      legend(kinds),
      frame(
        picture(`Around ${shorten(key)}`, boxes, placed, {
          owners: [],
          references,
          chosen: key,
          ways: routeColumns(placed, references),
        }),
        false,
      ).content,
    );
  };

  // The namespace and the resource group of a resource, as [address, kind, title].
  const scopesOf = (estate, row) => {
    const [target, namespace] = [estate.target(row).id, estate.namespace(row)];
    const { subscription, group } = scopeOf(estate.armId(row));
    const hash = (...parts) => `#/graph/${[target, ...parts].map(encode).join("/")}`;
    const found = [[hash("namespace", namespace), "Namespaces", namespace]];
    return group
      ? [...found, [hash("group", subscription.toLowerCase(), group.toLowerCase()), "Resource groups", group]]
      : found;
  };

  // Those of all targets, each with its resources.
  const listScopes = (estate) => {
    const scopes = new Map();
    for (let row = 0; row < estate.count; row += 1) {
      for (const [hash, kind, title] of scopesOf(estate, row)) {
        if (!scopes.has(hash)) scopes.set(hash, { hash, kind, title, target: estate.target(row).title, rows: [] });
        scopes.get(hash).rows.push(row);
      }
    }
    return scopes;
  };

  const chooser = (scopes, hash, several) => {
    const select = make(
      "select",
      { name: "graph-of" },
      ["Namespaces", "Resource groups"].map((kind) =>
        make(
          "optgroup",
          { label: kind },
          [...scopes.values()]
            .filter((scope) => scope.kind === kind)
            .sort((one, other) => one.title.localeCompare(other.title, "en", { numeric: true }))
            .map((scope) =>
              Object.assign(
                make(
                  "option",
                  {},
                  `${gitsync.dom.clean(scope.title)}${several ? `, ${gitsync.dom.clean(scope.target)}` : ""} (${number(scope.rows.length)})`,
                ),
                { value: scope.hash },
              ),
            ),
        ),
      ),
    );
    select.value = hash;
    select.addEventListener("change", () => {
      location.hash = select.value;
    });
    return make(
      "form",
      { class: "choose", "aria-label": "What the graph shows" },
      make("label", {}, make("span", {}, "Namespace or resource group"), select),
    );
  };

  // What shows first: the scope with the most resources that a person can still look over.
  const fitting = ({ rows }) => (rows.length <= CROWDED ? rows.length : 1 / rows.length);

  const page = async (route) => {
    const estate = await gitsync.estate.open();
    const found = (await gitsync.load("edges")) || { kinds: [], edges: [] };
    const scopes = listScopes(estate);
    const first = [...scopes.values()].reduce((one, other) => (fitting(other) > fitting(one) ? other : one), {
      rows: [],
      hash: "",
    });
    const hash = route.parts.length ? `#/graph/${route.parts.map(encode).join("/")}` : first.hash;
    const scope = scopes.get(hash);
    if (!scope)
      return route.parts.length
        ? null
        : { title: "Graph", content: [make("h1", {}, "Graph"), make("p", {}, "There is nothing to draw.")] };
    const edges = found.edges.map(([from, to, kind]) => [from, to, found.kinds[kind]]);
    const { content, open } = drawRows(estate, `Graph of ${scope.title}`, scope.rows, edges);
    const several = new Set([...scopes.values()].map((one) => one.target)).size > 1;
    return {
      title: `Graph of ${scope.title}`,
      content: [make("h1", {}, "Graph of ", scope.title), chooser(scopes, hash, several), ...content].filter(Boolean),
      opened: open,
    };
  };

  gitsync.graph = { neighbourhood, scopesOf };
  gitsync.pages.set("graph", page);
})();
