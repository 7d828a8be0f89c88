"use strict";
// Loads the files of `data/` when a page needs them. Each is a script with one call of gitsyncData, since browsers
// fetch nothing for a page that was opened from a disk.
(() => {
  const loaded = new Map();
  const waiting = new Map();

  globalThis.gitsyncData = (path, content) => loaded.set(path, content);

  // The content of data/PATH.js, as a promise; null where there is no such file.
  const load = (path) => {
    if (loaded.has(path)) return Promise.resolve(loaded.get(path));
    if (!waiting.has(path)) {
      waiting.set(
        path,
        new Promise((done) => {
          const script = document.createElement("script");
          script.src = `data/${path}.js`;
          script.addEventListener("load", () => done(loaded.has(path) ? loaded.get(path) : null));
          script.addEventListener("error", () => done(null));
          document.head.append(script);
        }),
      );
    }
    return waiting.get(path);
  };

  gitsync.load = load;
})();
