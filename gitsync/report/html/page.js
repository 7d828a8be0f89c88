"use strict";
// Narrows the list of resources, and shows in the picture what belongs together. All its data is in the page.
(() => {
  const form = document.getElementById("filters");
  if (!form) return;
  const resources = [...document.querySelectorAll(".resource")];
  const sections = [...document.querySelectorAll(".part-of-list")];
  const folds = [...document.querySelectorAll("#quiet, .rest")].map((one) => [one, one.open]);
  const narrowing = document.getElementById("narrow");
  const field = (name) => form.elements.namedItem(name);
  const cut = document.querySelector(".left-out") ? " on this page" : "";
  const texts = new Map();

  const textOf = (resource) => {
    if (!texts.has(resource)) {
      const { verdict, kind, namespace } = resource.dataset;
      texts.set(resource, `${resource.textContent} ${verdict} ${kind} ${namespace}`.toLowerCase());
    }
    return texts.get(resource);
  };

  const chosen = () => {
    const verdicts = new Set([...form.querySelectorAll("[name=verdict]:checked")].map((box) => box.value));
    const words = field("text").value.toLowerCase().split(/\s+/).filter(Boolean);
    const selects = [...form.querySelectorAll("select")].filter((select) => select.value);
    const any = verdicts.size + words.length + selects.length > 0;
    const fits = (resource) =>
      (!verdicts.size || verdicts.has(resource.dataset.verdict)) &&
      selects.every((select) => resource.dataset[select.name] === select.value) &&
      words.every((word) => textOf(resource).includes(word));
    return { any, fits };
  };

  const narrow = () => {
    const { any, fits } = chosen();
    let count = 0;
    for (const resource of resources) {
      const shown = !any || fits(resource);
      if (resource.hidden === shown) resource.hidden = !shown;
      count += shown;
    }
    for (const section of sections) section.hidden = any && !section.querySelector(".resource:not([hidden])");
    for (const [one, open] of folds) one.open = any || open;
    document.getElementById("none").hidden = count > 0;
    const [some, all] = [count.toLocaleString("en"), resources.length.toLocaleString("en")];
    field("count").textContent = (any ? `${some} of ${all} resources` : `${all} resources`) + cut;
  };

  const fold = (open) => {
    for (const card of document.querySelectorAll(".card:not([hidden])")) card.open = open;
  };

  let waiting = 0;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(narrow, 60);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(narrow));
  field("unfold").addEventListener("click", () => fold(true));
  field("fold").addEventListener("click", () => fold(false));

  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      narrowing.open = true;
      field("text").focus();
    } else if (event.key === "Escape" && event.target === field("text")) {
      form.reset();
    }
  });

  // A link to a resource or a part of the page shows it, folded or filtered away as it may be.
  const reveal = () => {
    const target = /^#[a-z][a-z0-9-]*$/.test(location.hash) && document.getElementById(location.hash.slice(1));
    if (!target) return;
    if (target.tagName === "SECTION") {
      if (target.hidden) form.reset();
      for (const one of target.querySelectorAll(":scope > .fold")) one.open = true;
      return;
    }
    if (!target.classList.contains("resource")) return;
    if (target.hidden) form.reset();
    if (target.hidden) target.hidden = false;
    for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    target.scrollIntoView({ block: "center" });
  };
  addEventListener("hashchange", reveal);

  const graph = document.getElementById("graph");
  const mark = (node) => {
    for (const line of graph.querySelectorAll("g[data-from]")) {
      line.classList.toggle("marked", Boolean(node) && (line.dataset.from === node || line.dataset.to === node));
    }
  };
  const nodeOf = (event) => event.target.closest("[data-node]");
  graph.addEventListener("mouseover", (event) => mark(nodeOf(event) && nodeOf(event).dataset.node));
  graph.addEventListener("mouseleave", () => mark(null));
  graph.addEventListener("click", (event) => {
    const tile = event.target.closest("[data-group]");
    if (!tile || !field("group")) return;
    form.reset();
    field("group").value = tile.dataset.group;
    setTimeout(narrow);
  });

  addEventListener("beforeprint", () => fold(true));

  narrowing.open = matchMedia("(min-width: 62rem)").matches;
  form.hidden = false;
  narrow();
  reveal();
})();
