"use strict";
// The tree: subscriptions, resource groups, resources and their children, with the worst state at each level.
(() => {
  const { badge, make, number, plural } = gitsync.dom;
  const { state } = gitsync.words;
  const { address } = gitsync.estate;
  const { fillForm, formatQuery, makeForm, readForm } = gitsync.filters;
  const FEW = 150; // resources, which are all unfolded from the start
  const MANY = 40; // nodes above what is not fine; up to so many are unfolded from the start
  // What is kept for the way back to this page.
  const kept = { open: new Set(), folded: new Set(), at: null, top: 0, query: "", begun: false };

  // The nodes with a resource that fits, or with one below them.
  const choose = (estate, fits) => {
    const chosen = new Set();
    let count = 0;
    for (let row = 0; row < estate.count; row += 1) {
      if (!fits(row)) continue;
      count += 1;
      for (let node = estate.own[row]; node && !chosen.has(node); node = node.parent) chosen.add(node);
    }
    return { chosen, count };
  };

  // The rows that are in view when one scrolls through all: an array of nodes.
  const flatten = (top, isOpen, isShown) => {
    const found = [];
    const waiting = [...top.children].reverse();
    while (waiting.length) {
      const node = waiting.pop();
      if (!isShown(node)) continue;
      found.push(node);
      if (node.children.length && isOpen(node))
        for (let at = node.children.length - 1; at >= 0; at -= 1) waiting.push(node.children[at]);
    }
    return found;
  };

  const walk = (node, visit) => {
    const waiting = [node];
    while (waiting.length) {
      const one = waiting.pop();
      visit(one);
      waiting.push(...one.children);
    }
  };

  // Subscriptions are open from the start, and so is what has something to look at below it, unless that is much.
  const openFirst = (estate) => {
    if (estate.count <= FEW) {
      walk(estate.top, (node) => kept.open.add(node));
      return;
    }
    for (const node of estate.top.children) kept.open.add(node);
    const urgent = new Set();
    for (let row = 0; row < estate.count; row += 1) {
      if (["fine", "rest"].includes(state(estate.state(row)).tone)) continue;
      for (let node = estate.own[row].parent; node && node.parent; node = node.parent) urgent.add(node);
    }
    if (urgent.size <= MANY) for (const node of urgent) kept.open.add(node);
  };

  const below = (estate, node, several) => {
    const parts = [];
    node.counts.forEach((many, index) => {
      const look = state(estate.tree.states[index]);
      if (many && look.tone !== "fine")
        parts.push(make("span", { class: `tone-${look.tone}` }, `${look.sign} ${number(many)} ${look.word}`));
    });
    const target = node.row >= 0 && several ? make("span", { class: "origin" }, estate.target(node.row).title) : null;
    return make(
      "span",
      { class: "below" },
      target,
      parts.slice(0, 4),
      make("span", { class: "count" }, number(node.count)),
    );
  };

  // What distinguishes resources of one name, as far as there are several.
  const origin = (estate, row, several) =>
    [estate.tree.namespaces.length > 1 ? estate.namespace(row) : "", several ? estate.target(row).title : ""]
      .filter(Boolean)
      .join(" · ");

  const renderRow = (estate, node, id, { open, active, several }) => {
    const worst = state(estate.tree.states[node.worst] || "");
    const folds = node.children.length > 0;
    const siblings = node.parent.children;
    const title =
      node.row >= 0
        ? make(
            "a",
            { class: "name", href: address(estate.target(node.row).id, estate.key(node.row)), tabindex: "-1" },
            node.title,
          )
        : make("span", { class: "name" }, node.title);
    const own = node.row >= 0 ? state(estate.state(node.row)) : null;
    const row = make(
      "div",
      {
        class: `row tone-${worst.tone}${active ? " active" : ""}${node.row < 0 ? " scope" : ""}`,
        id,
        role: "treeitem",
        "aria-level": node.depth + 1,
        "aria-setsize": siblings.length,
        "aria-posinset": siblings.indexOf(node) + 1,
        "aria-selected": active ? "true" : "false",
        ...(folds ? { "aria-expanded": open ? "true" : "false" } : {}),
      },
      make("span", { class: "fold-sign", "aria-hidden": "true" }, folds ? (open ? "▾" : "▸") : ""),
      make("span", { class: "sign", title: worst.means, "aria-hidden": "true" }, worst.sign),
      title,
      make("span", { class: "type" }, node.type),
      folds
        ? below(estate, node, several)
        : own
          ? make("span", { class: "below origin" }, origin(estate, node.row, several))
          : "",
      own && (own.tone !== "fine" || worst !== own) ? badge(own) : "",
    );
    row.style.setProperty("--depth", node.depth);
    return row;
  };

  const run = (estate, form, box, route) => {
    let [fits, chosen, nodes, timer] = [null, null, [], 0];
    const field = (name) => form.elements.namedItem(name);
    const isOpen = (node) => (fits ? !kept.folded.has(node) : kept.open.has(node));
    const severalTargets = () => Boolean(field("target")) && !field("target").value;
    const isShown = (node) => !fits || chosen.has(node);
    const list = gitsync.virtual(box, (position) =>
      renderRow(estate, nodes[position], `row-${position}`, {
        open: isOpen(nodes[position]),
        active: nodes[position] === kept.at,
        several: severalTargets(),
      }),
    );

    const select = (position, reveal = true) => {
      const before = nodes.indexOf(kept.at);
      kept.at = nodes[position] || null;
      if (reveal && position >= 0) list.reveal(position);
      for (const one of [before, position]) list.redraw(one);
      if (position >= 0) box.setAttribute("aria-activedescendant", `row-${position}`);
      else box.removeAttribute("aria-activedescendant");
    };

    const draw = () => {
      nodes = flatten(estate.top, isOpen, isShown);
      list.show(nodes.length);
      const position = nodes.indexOf(kept.at);
      if (position >= 0) box.setAttribute("aria-activedescendant", `row-${position}`);
      else box.removeAttribute("aria-activedescendant");
      form.nextElementSibling.hidden = nodes.length > 0;
    };

    const narrow = () => {
      fits = readForm(estate, form);
      kept.query = formatQuery(form);
      kept.folded.clear();
      const found = fits ? choose(estate, fits) : { chosen: null, count: estate.count };
      chosen = found.chosen;
      const all = plural(estate.count, "resource");
      field("count").textContent = fits ? `${number(found.count)} of ${all}` : all;
      draw();
    };

    const fold = (node, open) => {
      const set = fits ? kept.folded : kept.open;
      if (open === Boolean(fits)) set.delete(node);
      else set.add(node);
      draw();
    };

    const foldAll = (open) => {
      const set = fits ? kept.folded : kept.open;
      set.clear();
      if (open !== Boolean(fits)) walk(estate.top, (node) => node.children.length && set.add(node));
      draw();
      box.scrollTop = 0;
    };

    const enter = (node) => {
      if (node.row >= 0) {
        kept.top = box.scrollTop;
        location.hash = address(estate.target(node.row).id, estate.key(node.row));
      } else fold(node, !isOpen(node));
    };

    const step = (key, position, node) => {
      const last = nodes.length - 1;
      switch (key) {
        case "ArrowDown":
          return Math.min(last, position + 1);
        case "ArrowUp":
          return Math.max(0, position - 1);
        case "Home":
          return 0;
        case "End":
          return last;
        case "PageDown":
          return Math.min(last, position + list.page());
        case "PageUp":
          return Math.max(0, position - list.page());
        case "ArrowRight":
          if (!node || !node.children.length) return position;
          if (isOpen(node)) return position + 1;
          fold(node, true);
          return position;
        case "ArrowLeft":
          if (!node) return position;
          if (node.children.length && isOpen(node)) {
            fold(node, false);
            return position;
          }
          return node.parent === estate.top ? position : nodes.indexOf(node.parent);
        default:
          return null;
      }
    };

    box.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const position = nodes.indexOf(kept.at);
      if ((event.key === "Enter" || event.key === " ") && kept.at) {
        event.preventDefault();
        if (event.key === "Enter") enter(kept.at);
        else fold(kept.at, !isOpen(kept.at));
        return;
      }
      const next = step(event.key, position, kept.at);
      if (next === null || !nodes.length) return;
      event.preventDefault();
      select(next);
    });
    box.addEventListener("focus", () => kept.at || select(0));
    box.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (!row) return;
      const position = Number(row.id.slice("row-".length));
      const node = nodes[position];
      if (event.target.closest("a")) {
        [kept.at, kept.top] = [node, box.scrollTop];
        return;
      }
      select(position, false);
      if (node.children.length) fold(node, !isOpen(node));
      else enter(node);
    });
    box.addEventListener(
      "scroll",
      () => {
        kept.top = box.scrollTop;
      },
      { passive: true },
    );

    form.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        gitsync.rewrite(formatQuery(form));
        box.scrollTop = 0;
        narrow();
      }, 60);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () =>
      setTimeout(() => {
        gitsync.rewrite("#/tree");
        fillForm(form, new URLSearchParams());
        narrow();
      }),
    );
    field("text").addEventListener("keydown", (event) => {
      if (event.key === "Escape") form.reset();
      else if (event.key === "ArrowDown") box.focus();
    });
    field("unfold").addEventListener("click", () => foldAll(true));
    field("fold").addEventListener("click", () => foldAll(false));
    gitsync.focusSearch = () => {
      form.querySelector("#narrow").open = true;
      field("text").focus();
    };

    return () => {
      fillForm(form, route.query);
      if (kept.query !== formatQuery(form)) kept.top = 0;
      const under = estate.nodes.get((route.query.get("at") || "").toLowerCase());
      if (under && under !== estate.top) {
        for (let node = under; node.parent; node = node.parent) kept.open.add(node);
        kept.at = under;
      }
      narrow();
      box.scrollTop = kept.top;
      if (under && under !== estate.top) {
        select(nodes.indexOf(under));
        box.focus();
      }
      if (route.query.has("find")) gitsync.focusSearch();
    };
  };

  const tree = async (route) => {
    const estate = await gitsync.estate.open();
    if (!kept.begun) openFirst(estate);
    kept.begun = true;
    const form = makeForm(estate);
    const box = make("div", { class: "tree", role: "tree", tabindex: "0", "aria-label": "Resources" });
    return {
      title: "Tree",
      content: [
        make("h1", {}, "Tree"),
        make(
          "div",
          { class: "columns" },
          make(
            "div",
            { class: "side" },
            form,
            make("p", { class: "note", hidden: true }, "Nothing fits these filters."),
          ),
          box,
        ),
      ],
      opened: run(estate, form, box, route),
    };
  };

  gitsync.pages.set("tree", tree);
})();
