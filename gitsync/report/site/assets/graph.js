"use strict";
// Draws what needs what: a namespace, a resource group, or the neighbourhood of a resource.
(() => {
  const { draw, make, number, plural } = gitsync.dom;
  const { state } = gitsync.words;
  const { address, encode, scopeOf, shorten } = gitsync.estate;
  const { path, placeAround, placeForest, route, tip } = gitsync.layout;
  const MOST = 300; // boxes; above that the most urgent are drawn
  const CROWDED = 100; // boxes; with more, lines are faint until one of their ends is pointed at
  const AROUND = 30; // boxes at each side of a resource
  const [MARGIN, BUS, ZOOMS] = [8, 10, [0.25, 0.4, 0.55, 0.7, 0.85, 1, 1.25, 1.6, 2, 2.5]];
  const SIZE = { width: 236, height: 40, stepX: 300, stepY: 52 };
  const READABLE = 0.4; // the zoom at which text can still be read; a graph begins no smaller
  const [NAME, KIND] = [28, 34]; // characters that a box has room for
  const LINES = [["owns", "owner"], ["needs", "refers to, or depends on"], ["sets", "sets or takes a value"]];
  const LINE = { owner: "owns", reference: "needs", "depends-on": "needs", order: "needs", value: "sets", set: "sets" };

  const shortenTo = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

  const drawBox = (box, [x, y], chosen) => draw("a", { class: `box tone-${box.look.tone}${chosen ? " chosen" : ""}${box.outside ? " outside" : ""}`, href: box.href, "data-node": box.name, tabindex: box.href ? null : "-1" },
    draw("title", {}, `${box.kind}/${box.title}: ${box.look.word}${box.look.means ? `, ${box.look.means}` : ""}`),
    draw("rect", { x, y, width: SIZE.width, height: SIZE.height, rx: 5 }),
    draw("text", { class: "sign", x: x + 15, y: y + 25 }, box.look.sign),
    draw("text", { class: "name", x: x + 30, y: y + 17 }, shortenTo(box.title, NAME)),
    draw("text", { class: "kind", x: x + 30, y: y + 31 }, shortenTo(box.kind, KIND)));

  const drawOwner = (corners, [child, owner]) => {
    const [[x, y], [ownerX, ownerY]] = [corners.get(child), corners.get(owner)];
    const middle = SIZE.height / 2;
    const start = [ownerX + SIZE.width, ownerY + middle];
    const end = [x, y + middle];
    const points = start[1] === end[1] ? [start, end] : [start, [x - BUS, start[1]], [x - BUS, end[1]], end];
    return draw("path", { class: "owns", d: path(points) });
  };

  // The ways of a grid of boxes, and those of a neighbourhood, in which all lead from one column to the next.
  const routeGrid = (placed, references) => route(placed.corners, references.map(([start, end]) => [start, end]), SIZE)
    .map((points) => [path(points), tip(points)]);
  const routeColumns = (placed, references) => references.map(([start, end]) => {
    const [[x, y], [toX, toY]] = [placed.corners.get(start), placed.corners.get(end)].map(([left, top]) => [left, top + SIZE.height / 2]);
    const [from, to] = [[x, y], [toX + SIZE.width, toY]];
    const middle = (from[0] + to[0]) / 2;
    return [`M${from[0]} ${from[1]}C${middle} ${from[1]} ${middle} ${to[1]} ${to[0]} ${to[1]}`, tip([from, to])];
  });

  const picture = (name, boxes, placed, { owners, references, chosen, ways }) => {
    const line = (start, end, ...parts) => draw("g", { "data-from": start, "data-to": end }, ...parts);
    const [width, height] = [placed.width - (SIZE.stepX - SIZE.width) + 2 * MARGIN + 40, placed.height - (SIZE.stepY - SIZE.height) + 2 * MARGIN + 12];
    const drawn = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": name, class: boxes.size > CROWDED ? "crowded" : false },
      draw("g", { transform: `translate(${MARGIN} ${MARGIN})` },
        owners.map(([child, owner]) => line(child, owner, drawOwner(placed.corners, [child, owner]))),
        references.map(([start, end, kind], at) => line(start, end,
          draw("path", { class: LINE[kind] || "needs", d: ways[at][0] }), draw("path", { class: kind === "owner" ? "tip owns-tip" : "tip", d: ways[at][1] }))),
        [...boxes.values()].map((box) => drawBox(box, placed.corners.get(box.name), box.name === chosen))));
    return { drawn, width, height };
  };

  const legend = (kinds) => make("p", { class: "legend" }, LINES.filter(([line]) => kinds.has(line)).map(([line, means]) => make("span", {},
    draw("svg", { width: 34, height: 10, "aria-hidden": "true" }, draw("path", { class: line, d: "M1 5L33 5" })), ` ${means}`)));

  // The drawing in a box that scrolls, with what makes it larger and smaller.
  const frame = ({ drawn, width, height }, fits) => {
    const box = make("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "Graph. Plus and minus zoom, 0 fits it in, arrows scroll." }, drawn);
    let zoom = 1;
    const set = (value) => {
      const middle = [(box.scrollLeft + box.clientWidth / 2) / zoom, (box.scrollTop + box.clientHeight / 2) / zoom];
      zoom = Math.min(2.5, Math.max(0.1, value));
      drawn.setAttribute("width", width * zoom);
      drawn.setAttribute("height", height * zoom);
      box.scrollLeft = middle[0] * zoom - box.clientWidth / 2;
      box.scrollTop = middle[1] * zoom - box.clientHeight / 2;
      shown.textContent = `${Math.round(zoom * 100)}%`;
    };
    const larger = () => set(ZOOMS.find((one) => one > zoom + 0.01) || 2.5);
    const smaller = () => set([...ZOOMS].reverse().find((one) => one < zoom - 0.01) || zoom);
    const fit = () => set(Math.min(1, (box.clientWidth - 2) / width, (innerHeight * 0.78) / height));
    const open = () => set(Math.max(READABLE, Math.min(1, (box.clientWidth - 2) / width)));
    const keys = { "+": larger, "=": larger, "-": smaller, 0: fit, 1: () => set(1) };
    const button = (text, label, act) => {
      const one = make("button", { type: "button", "aria-label": label, title: label }, text);
      one.addEventListener("click", act);
      return one;
    };
    const shown = make("span", { class: "count" }, "100%");
    const bar = make("div", { class: "buttons zoom", role: "group", "aria-label": "Zoom" },
      button("−", "Smaller (-)", smaller), button("+", "Larger (+)", larger), button("Fit", "Fit it in (0)", fit), button("1:1", "1:1, the original size (1)", () => set(1)), shown);
    box.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
      event.preventDefault();
      keys[event.key]();
    });
    box.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      set(zoom * (event.deltaY < 0 ? 1.1 : 1 / 1.1));
    }, { passive: false });
    drag(box);
    highlight(drawn);
    return { content: make("div", { class: "graph" }, fits ? bar : null, box), open };
  };

  const drag = (box) => {
    let from = null;
    box.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse" || event.button !== 0 || event.target.closest("a")) return;
      from = [event.clientX + box.scrollLeft, event.clientY + box.scrollTop];
      box.setPointerCapture(event.pointerId);
      box.classList.add("dragged");
    });
    box.addEventListener("pointermove", (event) => {
      if (!from) return;
      [box.scrollLeft, box.scrollTop] = [from[0] - event.clientX, from[1] - event.clientY];
    });
    const end = () => {
      from = null;
      box.classList.remove("dragged");
    };
    box.addEventListener("pointerup", end);
    box.addEventListener("pointercancel", end);
  };

  // The lines of the box that the pointer or the focus is on stand out.
  const highlight = (drawn) => {
    const mark = (event) => {
      const box = event.target.closest("[data-node]");
      for (const line of drawn.querySelectorAll("g[data-from]")) {
        line.classList.toggle("marked", Boolean(box) && (line.dataset.from === box.dataset.node || line.dataset.to === box.dataset.node));
      }
    };
    drawn.addEventListener("mouseover", mark);
    drawn.addEventListener("focusin", mark);
  };

  const makeBox = (estate, row) => ({
    name: String(row), title: estate.tree.name[row], kind: estate.kind(row), look: state(estate.state(row)),
    href: address(estate.target(row).id, estate.key(row)),
  });

  // A box of what no record has: a key of another repository, or an ARM id.
  const makeStranger = (name) => {
    const key = name.startsWith("/") ? `${name.split("/").slice(-2)[0]}/${name.slice(name.lastIndexOf("/") + 1)}` : shorten(name);
    const [kind, ...rest] = key.split("/");
    return { name, title: rest.join("/"), kind, look: { word: "not in the site", sign: "○", tone: "rest", means: "" }, href: "" };
  };

  // An owner has no second line, and no line leads from what it is above already.
  const splitEdges = (rows, edges) => {
    const owners = new Map();
    for (const [from, to, kind] of edges) if (kind === "owner" && rows.has(from) && rows.has(to) && from !== to && !owners.has(from)) owners.set(from, to);
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
      if (kind === "owner" || from === to || !rows.has(from) || !rows.has(to) || isAbove(to, from) || known.has(name)) return false;
      known.add(name);
      return true;
    });
    return { owners, references };
  };

  // The most urgent resources of a scope, where it has too many; and what they refer to elsewhere.
  const chooseRows = (estate, all, edges) => {
    const rank = (row) => estate.tree.state[row];
    const rows = new Set(all.length > MOST ? [...all].sort((one, other) => rank(one) - rank(other)).slice(0, MOST) : all);
    const others = new Set(edges.filter(([from, to]) => rows.has(from) && !rows.has(to) && !all.includes(to)).map(([, to]) => to));
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
    const placed = placeForest(children, [...rows].filter((row) => !owners.has(row)), SIZE);
    const boxes = new Map([...rows].map((row) => [row, { ...makeBox(estate, row), name: row, outside: others.has(row) }]));
    const kinds = new Set([...(owners.size ? ["owns"] : []), ...references.map(([, , kind]) => LINE[kind])]);
    const ways = routeGrid(placed, references);
    const framed = frame(picture(name, boxes, placed, { owners: [...owners], references, chosen: null, ways }), true);
    const hidden = all.length - own.size;
    return {
      open: framed.open,
      content: [legend(kinds), framed.content, others.size ? make("p", { class: "note" }, "Boxes with a broken line are in other namespaces or resource groups.") : null,
        hidden > 0 ? make("p", { class: "note" }, `… and ${plural(hidden, "more resource")}, not drawn.`) : null],
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
    const side = (rows) => [...new Set(rows.map(([name]) => name))].filter((name) => name !== key && !boxes.has(name)).slice(0, AROUND);
    const before = side(refersTo);
    before.forEach(add);
    const after = side(referredBy);
    after.forEach(add);
    if (boxes.size < 2) return null;
    const placed = placeAround(key, before, after, SIZE);
    const shown = (rows) => rows.filter(([name]) => boxes.has(name) && name !== key);
    const seen = new Set();
    const references = [...shown(refersTo).map(([name, kind]) => [key, name, kind]), ...shown(referredBy).map(([name, kind]) => [name, key, kind])]
      .filter(([start, end, kind]) => !seen.has(`${start} ${end} ${LINE[kind]}`) && seen.add(`${start} ${end} ${LINE[kind]}`));
    const kinds = new Set(references.map(([, , kind]) => LINE[kind]));
    return make("div", {}, legend(kinds), frame(picture(`Around ${shorten(key)}`, boxes, placed, { owners: [], references, chosen: key, ways: routeColumns(placed, references) }), false).content);
  };

  // The namespace and the resource group of a resource, as [address, kind, title].
  const scopesOf = (estate, row) => {
    const [target, namespace] = [estate.target(row).id, estate.namespace(row)];
    const { subscription, group } = scopeOf(estate.armId(row));
    const hash = (...parts) => `#/graph/${[target, ...parts].map(encode).join("/")}`;
    const found = [[hash("namespace", namespace), "Namespaces", namespace]];
    return group ? [...found, [hash("group", subscription.toLowerCase(), group.toLowerCase()), "Resource groups", group]] : found;
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
    const select = make("select", { name: "graph-of" }, ["Namespaces", "Resource groups"].map((kind) => make("optgroup", { label: kind },
      [...scopes.values()].filter((scope) => scope.kind === kind).sort((one, other) => one.title.localeCompare(other.title, "en", { numeric: true })).map((scope) => Object.assign(
        make("option", {}, `${gitsync.dom.clean(scope.title)}${several ? `, ${gitsync.dom.clean(scope.target)}` : ""} (${number(scope.rows.length)})`), { value: scope.hash })))));
    select.value = hash;
    select.addEventListener("change", () => { location.hash = select.value; });
    return make("form", { class: "choose", "aria-label": "What the graph shows" }, make("label", {}, make("span", {}, "Namespace or resource group"), select));
  };

  // What shows first: the scope with the most resources that a person can still look over.
  const fitting = ({ rows }) => (rows.length <= CROWDED ? rows.length : 1 / rows.length);

  const page = async (route) => {
    const estate = await gitsync.estate.open();
    const found = (await gitsync.load("edges")) || { kinds: [], edges: [] };
    const scopes = listScopes(estate);
    const first = [...scopes.values()].reduce((one, other) => (fitting(other) > fitting(one) ? other : one), { rows: [], hash: "" });
    const hash = route.parts.length ? `#/graph/${route.parts.map(encode).join("/")}` : first.hash;
    const scope = scopes.get(hash);
    if (!scope) return route.parts.length ? null : { title: "Graph", content: [make("h1", {}, "Graph"), make("p", {}, "There is nothing to draw.")] };
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
