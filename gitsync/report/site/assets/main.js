"use strict";
// Shows the page that the address names. The back button works, since each page is a part of the address after `#`.
(() => {
  const { make } = gitsync.dom;
  const main = document.querySelector("main");
  const scrolls = new Map(); // how far a page was scrolled when it was left
  let turn = 0;
  let shown = "";
  let fresh = true; // the next page was chosen by a link, and not by the back button

  const read = (hash) => {
    const [path, query] = hash.replace(/^#\/?/, "").split("?", 2);
    try {
      const [name, ...parts] = path.split("/").map(decodeURIComponent);
      return { name: name || "overview", parts, query: new URLSearchParams(query || "") };
    } catch {
      return { name: "", parts: [], query: new URLSearchParams() };
    }
  };

  const missing = () => ({
    title: "Not found",
    content: [
      make("h1", {}, "Not found"),
      make("p", {}, "The site has no such page. ", make("a", { href: "#/" }, "Go to the overview"), "."),
    ],
  });

  const mark = (name) => {
    for (const link of document.querySelectorAll("nav a")) {
      if (link.dataset.page === name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  };

  const show = async () => {
    const [mine, route, first] = [(turn += 1), read(location.hash), shown === ""];
    if (!first) scrolls.set(shown, scrollY);
    main.setAttribute("aria-busy", "true");
    const page = gitsync.pages.get(route.name);
    const { title, content, opened } = (page && (await page(route))) || missing();
    if (mine !== turn) return; // another page was chosen since
    main.replaceChildren(...content);
    main.dataset.page = route.name;
    main.removeAttribute("aria-busy");
    document.title = `${gitsync.dom.clean(title)} (gitsync site)`;
    mark(route.name);
    const heading = main.querySelector("h1");
    heading.tabIndex = -1;
    if (!first) heading.focus({ preventScroll: true });
    scrollTo(0, fresh ? 0 : scrolls.get(location.hash) || 0);
    [shown, fresh] = [location.hash || "#/", false];
    if (opened) opened();
  };

  // What narrows a page is in its address, without a step of its own for the back button.
  gitsync.rewrite = (hash) => {
    history.replaceState(null, "", hash);
    shown = hash;
  };

  const begin = async () => {
    gitsync.words.read(await gitsync.load("words"));
    const site = await gitsync.load("site");
    for (const link of document.querySelectorAll("nav [data-if]"))
      link.parentElement.hidden = !site || !site.has[link.dataset.if];
    await show();
  };

  history.scrollRestoration = "manual";
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link) return;
    fresh = true;
    if (link.classList.contains("skip")) {
      event.preventDefault();
      main.querySelector("h1").focus();
    }
  });
  addEventListener("hashchange", show);
  addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const field = document.querySelector("main [type=search]");
    if (field) gitsync.focusSearch();
    else location.hash = "#/tree?find";
  });
  begin();
})();
