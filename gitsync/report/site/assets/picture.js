"use strict";
// Draws boxes and the lines between them as SVG, in a frame that zooms and scrolls.
(() => {
  const { draw, make } = gitsync.dom;
  const { path, route, tip } = gitsync.layout;
  const CROWDED = 100; // boxes; with more, lines are faint until one of their ends is pointed at
  const [MARGIN, BUS, ZOOMS] = [8, 10, [0.25, 0.4, 0.55, 0.7, 0.85, 1, 1.25, 1.6, 2, 2.5]];
  const SIZE = { width: 236, height: 40, stepX: 300, stepY: 52 };
  const READABLE = 0.4; // the zoom at which text can still be read; a graph begins no smaller
  const [NAME, KIND] = [28, 34]; // characters that a box has room for
  const LINES = [
    ["owns", "owner"],
    ["needs", "refers to, or depends on"],
    ["sets", "sets or takes a value"],
  ];
  const LINE = { owner: "owns", reference: "needs", "depends-on": "needs", order: "needs", set: "sets" };

  const shortenTo = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

  const drawBox = (box, [x, y], chosen) =>
    draw(
      "a",
      {
        class: `box tone-${box.look.tone}${chosen ? " chosen" : ""}${box.outside ? " outside" : ""}`,
        href: box.href,
        "data-node": box.name,
        tabindex: box.href ? null : "-1",
      },
      draw("title", {}, `${box.kind}/${box.title}: ${box.look.word}${box.look.means ? `, ${box.look.means}` : ""}`),
      draw("rect", { x, y, width: SIZE.width, height: SIZE.height, rx: 5 }),
      draw("text", { class: "sign", x: x + 15, y: y + 25 }, box.look.sign),
      draw("text", { class: "name", x: x + 30, y: y + 17 }, shortenTo(box.title, NAME)),
      draw("text", { class: "kind", x: x + 30, y: y + 31 }, shortenTo(box.kind, KIND)),
    );

  const drawOwner = (corners, [child, owner]) => {
    const [[x, y], [ownerX, ownerY]] = [corners.get(child), corners.get(owner)];
    const middle = SIZE.height / 2;
    const start = [ownerX + SIZE.width, ownerY + middle];
    const end = [x, y + middle];
    const points = start[1] === end[1] ? [start, end] : [start, [x - BUS, start[1]], [x - BUS, end[1]], end];
    return draw("path", { class: "owns", d: path(points) });
  };

  // The ways of a grid of boxes, and those of a neighbourhood, in which all lead from one column to the next.
  const routeGrid = (placed, references) =>
    route(
      placed.corners,
      references.map(([start, end]) => [start, end]),
      SIZE,
    ).map((points) => [path(points), tip(points)]);
  const routeColumns = (placed, references) =>
    references.map(([start, end]) => {
      const [[x, y], [toX, toY]] = [placed.corners.get(start), placed.corners.get(end)].map(([left, top]) => [
        left,
        top + SIZE.height / 2,
      ]);
      const [from, to] = [
        [x, y],
        [toX + SIZE.width, toY],
      ];
      const middle = (from[0] + to[0]) / 2;
      return [`M${from[0]} ${from[1]}C${middle} ${from[1]} ${middle} ${to[1]} ${to[0]} ${to[1]}`, tip([from, to])];
    });

  const picture = (name, boxes, placed, { owners, references, chosen, ways }) => {
    const line = (start, end, ...parts) => draw("g", { "data-from": start, "data-to": end }, ...parts);
    const [width, height] = [
      placed.width - (SIZE.stepX - SIZE.width) + 2 * MARGIN + 40,
      placed.height - (SIZE.stepY - SIZE.height) + 2 * MARGIN + 12,
    ];
    const drawn = draw(
      "svg",
      {
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
        role: "group",
        "aria-label": name,
        class: boxes.size > CROWDED ? "crowded" : false,
      },
      draw(
        "g",
        { transform: `translate(${MARGIN} ${MARGIN})` },
        owners.map(([child, owner]) => line(child, owner, drawOwner(placed.corners, [child, owner]))),
        references.map(([start, end, kind], at) =>
          line(
            start,
            end,
            draw("path", { class: LINE[kind] || "needs", d: ways[at][0] }),
            draw("path", { class: kind === "owner" ? "tip owns-tip" : "tip", d: ways[at][1] }),
          ),
        ),
        [...boxes.values()].map((box) => drawBox(box, placed.corners.get(box.name), box.name === chosen)),
      ),
    );
    return { drawn, width, height };
  };

  const legend = (kinds) =>
    make(
      "p",
      { class: "legend" },
      LINES.filter(([line]) => kinds.has(line)).map(([line, means]) =>
        make(
          "span",
          {},
          draw("svg", { width: 34, height: 10, "aria-hidden": "true" }, draw("path", { class: line, d: "M1 5L33 5" })),
          ` ${means}`,
        ),
      ),
    );

  // The drawing in a box that scrolls, with what makes it larger and smaller.
  const frame = ({ drawn, width, height }, fits) => {
    const box = make(
      "div",
      {
        class: "scroller",
        tabindex: "0",
        role: "region",
        "aria-label": "Graph. Plus and minus zoom, 0 fits it in, arrows scroll.",
      },
      drawn,
    );
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
    const bar = make(
      "div",
      { class: "buttons zoom", role: "group", "aria-label": "Zoom" },
      button("−", "Smaller (-)", smaller),
      button("+", "Larger (+)", larger),
      button("Fit", "Fit it in (0)", fit),
      button("1:1", "1:1, the original size (1)", () => set(1)),
      shown,
    );
    box.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
      event.preventDefault();
      keys[event.key]();
    });
    box.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        set(zoom * (event.deltaY < 0 ? 1.1 : 1 / 1.1));
      },
      { passive: false },
    );
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
        line.classList.toggle(
          "marked",
          Boolean(box) && (line.dataset.from === box.dataset.node || line.dataset.to === box.dataset.node),
        );
      }
    };
    drawn.addEventListener("mouseover", mark);
    drawn.addEventListener("focusin", mark);
  };

  gitsync.picture = { CROWDED, LINE, SIZE, frame, legend, picture, routeColumns, routeGrid };
})();
