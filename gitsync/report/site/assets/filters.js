"use strict";
// The form that narrows the tree: its fields, what they narrow it to, and the address that keeps them.
(() => {
  const { badge, clean, make, number } = gitsync.dom;
  const { state } = gitsync.words;
  const SELECTS = [
    ["kind", "Kind", (estate) => estate.tree.kinds, (estate, row) => estate.tree.kind[row]],
    ["namespace", "Namespace", (estate) => estate.tree.namespaces, (estate, row) => estate.tree.namespace[row]],
    ["agent", "Agent", (estate) => estate.tree.agents, (estate, row) => estate.tree.agent[row]],
    ["target", "Target", (estate) => estate.tree.targets, (estate, row) => estate.tree.target[row]],
  ];

  const tally = (estate, find) => {
    const times = new Map();
    for (let row = 0; row < estate.count; row += 1) {
      const value = find(estate, row);
      times.set(value, (times.get(value) || 0) + 1);
    }
    return times;
  };

  const label = (estate, name, value) => {
    if (name === "target") return (estate.targets.find((target) => target.id === value) || { title: value }).title;
    return name === "kind" ? value.split(".")[0] : value;
  };

  // A list to choose from; nothing where there is no choice.
  const choice = (estate, [name, title, list, find]) => {
    const times = tally(estate, find);
    const options = list(estate)
      .map((value, index) => [value, label(estate, name, value), times.get(index) || 0])
      .filter(([value, , many]) => value && many)
      .sort(([, one], [, other]) => one.localeCompare(other, "en"));
    if (options.length < 2) return null;
    return make(
      "label",
      {},
      make("span", {}, title),
      make(
        "select",
        { name },
        make("option", { value: "" }, "all"),
        options.map(([value, shown, many]) =>
          Object.assign(make("option", {}, `${clean(shown)} (${number(many)})`), { value }),
        ),
      ),
    );
  };

  const makeForm = (estate) => {
    const times = tally(estate, (_, row) => estate.tree.state[row]);
    return make(
      "form",
      { id: "filters", role: "search", "aria-label": "Resources" },
      make(
        "details",
        { id: "narrow", open: matchMedia("(min-width: 62rem)").matches },
        make("summary", {}, "Filter"),
        make(
          "label",
          { class: "search" },
          make("span", {}, "Search ", make("kbd", {}, "/")),
          make("input", {
            type: "search",
            name: "text",
            placeholder: "name, kind, namespace, id",
            autocomplete: "off",
          }),
        ),
        SELECTS.map((select) => choice(estate, select)),
        make(
          "fieldset",
          {},
          make("legend", {}, "States"),
          estate.tree.states.map((word, index) =>
            times.has(index)
              ? make(
                  "label",
                  {},
                  make("input", { type: "checkbox", name: "state", value: word }),
                  badge(state(word)),
                  make("span", { class: "count" }, number(times.get(index))),
                )
              : null,
          ),
        ),
      ),
      make("output", { name: "count", "aria-live": "polite" }),
      make(
        "div",
        { class: "buttons" },
        make("button", { type: "reset" }, "Show all"),
        make("button", { type: "button", name: "unfold" }, "Unfold"),
        make("button", { type: "button", name: "fold" }, "Fold"),
      ),
    );
  };

  const texts = new Map();
  const textOf = (estate, row) => {
    if (!texts.has(row)) {
      texts.set(
        row,
        `${estate.key(row)} ${estate.armId(row)} ${estate.state(row)} ${estate.target(row).title}`.toLowerCase(),
      );
    }
    return texts.get(row);
  };

  // What the form narrows the tree to; null for all.
  const readForm = (estate, form) => {
    const states = new Set(
      [...form.querySelectorAll("[name=state]:checked")].map((box) => estate.tree.states.indexOf(box.value)),
    );
    const words = form.elements.namedItem("text").value.toLowerCase().split(/\s+/).filter(Boolean);
    const selects = SELECTS.map(([name, , list, find]) => {
      const field = form.elements.namedItem(name);
      return field && field.value ? [list(estate).indexOf(field.value), find] : null;
    }).filter(Boolean);
    if (!states.size && !words.length && !selects.length) return null;
    return (row) =>
      (!states.size || states.has(estate.tree.state[row])) &&
      selects.every(([wanted, find]) => find(estate, row) === wanted) &&
      words.every((word) => textOf(estate, row).includes(word));
  };

  const fillForm = (form, query) => {
    form.elements.namedItem("text").value = query.get("q") || "";
    const states = new Set(query.getAll("state"));
    for (const box of form.querySelectorAll("[name=state]")) box.checked = states.has(box.value);
    for (const select of form.querySelectorAll("select")) {
      const wanted = query.get(select.name) || "";
      select.value = [...select.options].some((option) => option.value === wanted) ? wanted : "";
    }
  };

  const formatQuery = (form) => {
    const query = new URLSearchParams();
    const text = form.elements.namedItem("text").value.trim();
    if (text) query.set("q", text);
    for (const box of form.querySelectorAll("[name=state]:checked")) query.append("state", box.value);
    for (const select of form.querySelectorAll("select")) if (select.value) query.set(select.name, select.value);
    return `#/tree${`${query}` ? `?${query}` : ""}`;
  };

  gitsync.filters = { fillForm, formatQuery, makeForm, readForm };
})();
