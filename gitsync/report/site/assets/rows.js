"use strict";
// A list of which only the rows in view exist, so that 30,000 of them scroll as 30 do. Each has the same height.
(() => {
  const { make } = gitsync.dom;
  const SPARE = 8; // rows above and below those in view

  // `box` scrolls; `render(number)` makes the element of a row. The returned `show(count)` draws again.
  const virtual = (box, render) => {
    const room = make("div", { class: "room", role: "presentation" });
    const drawn = new Map();
    let [count, height, asked] = [0, 0, false];
    box.append(room);

    const range = () => {
      const first = Math.floor(box.scrollTop / height) - SPARE;
      return [Math.max(0, first), Math.min(count, first + Math.ceil(box.clientHeight / height) + 2 * SPARE + 1)];
    };

    const update = () => {
      asked = false;
      if (!height) return;
      const [first, end] = range();
      for (const [number, row] of drawn) {
        if (number < first || number >= end) {
          row.remove();
          drawn.delete(number);
        }
      }
      for (let number = first; number < end; number += 1) {
        if (drawn.has(number)) continue;
        const row = render(number);
        row.style.top = `${number * height}px`;
        drawn.set(number, row);
        room.append(row);
      }
    };

    const request = () => {
      if (asked) return;
      asked = true;
      requestAnimationFrame(update);
    };

    const measure = () => {
      height = parseFloat(getComputedStyle(box).getPropertyValue("--row")) || 36;
    };

    const show = (many) => {
      count = many;
      measure();
      for (const row of drawn.values()) row.remove();
      drawn.clear();
      room.style.height = `${count * height}px`;
      update();
    };

    const redraw = (number) => {
      if (!drawn.has(number)) return;
      drawn.get(number).remove();
      drawn.delete(number);
      request();
    };

    // Scrolls as far as a row needs to be in view.
    const reveal = (number) => {
      const top = number * height;
      if (top < box.scrollTop) box.scrollTop = top;
      else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
      update();
    };

    box.addEventListener("scroll", request, { passive: true });
    new ResizeObserver(() => {
      const before = height;
      measure();
      if (height === before) request();
      else show(count);
    }).observe(box);
    return { page: () => Math.max(1, Math.floor(box.clientHeight / height) - 1), redraw, reveal, show };
  };

  gitsync.virtual = virtual;
})();
