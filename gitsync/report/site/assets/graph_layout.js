"use strict";
// Lays out graphs as the report does (gitsync/report/html/picture_layout.py): a forest of owners has a column for each
// step down and a row for each leaf. Lines run in the channels between boxes and never cross one.
(() => {
  const ROWS = 36; // of a column; above that there are two, and three at most
  const MOST_COLUMNS = 3;
  const ACROSS = 5; // boxes beside each other that a page has room for
  const [BEGIN, END, LANE, CORNER] = [6, 18, 5, 4];
  const [LEAVES, REACHES] = [0.75, 0.3]; // of the height of a box; the line of its owner is in the middle

  // Column and row of each box of a tree; an owner is in the row of its first child.
  const placeTree = (children, root) => {
    const cells = new Map();
    const waiting = [[root, 0, true]];
    let row = -1;
    while (waiting.length) {
      const [name, depth, opens] = waiting.pop();
      row += opens;
      cells.set(name, [depth, row]);
      const below = (children.get(name) || []).map((child, at) => [child, depth + 1, at > 0]);
      waiting.push(...below.reverse());
    }
    return { cells, rows: row + 1, deep: Math.max(...[...cells.values()].map(([depth]) => depth)) + 1 };
  };

  const placeColumns = (trees, columns, size) => {
    const share = trees.reduce((sum, tree) => sum + tree.rows, 0) / columns;
    const corners = new Map();
    let [left, row, tallest, deepest] = [0, 0, 0, 0];
    for (const tree of trees) {
      if (row && row + tree.rows / 2 > share) [left, row, deepest] = [left + deepest * size.stepX, 0, 0];
      for (const [name, [depth, at]] of tree.cells)
        corners.set(name, [left + depth * size.stepX, (row + at) * size.stepY]);
      row += tree.rows;
      [tallest, deepest] = [Math.max(tallest, row), Math.max(deepest, tree.deep)];
    }
    return { corners, width: left + deepest * size.stepX, height: tallest * size.stepY };
  };

  const placeForest = (children, roots, size) => {
    const trees = roots.map((root) => placeTree(children, root));
    const rows = trees.reduce((sum, tree) => sum + tree.rows, 0);
    for (let columns = Math.min(MOST_COLUMNS, Math.ceil(rows / ROWS)); columns > 1; columns -= 1) {
      const placed = placeColumns(trees, columns, size);
      if (placed.width <= ACROSS * size.stepX) return placed;
    }
    return placeColumns(trees, 1, size);
  };

  // What a resource needs at its left, what needs it at its right, and itself between them.
  const placeAround = (middle, before, after, size) => {
    const corners = new Map();
    const rows = Math.max(before.length, after.length, 1);
    const column = (names, at) =>
      names.forEach((name, row) =>
        corners.set(name, [at * size.stepX, Math.floor(row + (rows - names.length) / 2) * size.stepY]),
      );
    const columns = [before, [middle], after].filter((names) => names.length);
    columns.forEach(column);
    return { corners, width: columns.length * size.stepX, height: rows * size.stepY };
  };

  const chooseChannels = ([column, row], [toColumn, toRow]) => {
    const fromLeft = toColumn > column;
    const last = fromLeft ? toColumn - 1 : toColumn;
    return { first: column, across: last === column ? null : toRow - (row < toRow ? 1 : 0), last, fromLeft };
  };

  // For each channel the lanes of the boxes that ways in it lead to, in the order in which they come.
  const assignLanes = (uses) => {
    const lanes = new Map();
    for (const [channels, end] of uses) {
      for (const channel of channels) {
        if (!lanes.has(channel)) lanes.set(channel, new Map());
        const own = lanes.get(channel);
        if (!own.has(end)) own.set(end, own.size);
      }
    }
    return lanes;
  };

  const computeX = (lanes, end, channel, size) => {
    const room = size.stepX - size.width - BEGIN - END;
    return channel * size.stepX + size.width + BEGIN + lanes.get(end) * Math.min(LANE, room / lanes.size);
  };

  const computeY = (lanes, end, channel, size) => {
    const room = size.stepY - size.height;
    return channel * size.stepY + size.height + (room * (lanes.get(end) + 1)) / (lanes.size + 1);
  };

  // The points of each way, from a box to the one that it refers to; every part is horizontal or vertical.
  const route = (corners, references, size) => {
    const cell = (name) => corners.get(name).map((at, axis) => Math.round(at / (axis ? size.stepY : size.stepX)));
    const ways = references.map(([start, end]) => chooseChannels(cell(start), cell(end)));
    const ends = references.map(([, end]) => end);
    const columns = assignLanes(ways.map((way, at) => [[way.first, way.last], ends[at]]));
    const rows = assignLanes(ways.map((way, at) => [way.across === null ? [] : [way.across], ends[at]]));
    return ways.map((way, at) => {
      const [start, end] = references[at];
      const [[x, y], [toX, toY]] = [corners.get(start), corners.get(end)];
      const [leaves, reaches] = [y + size.height * LEAVES, toY + size.height * REACHES];
      const first = computeX(columns.get(way.first), end, way.first, size);
      const last = computeX(columns.get(way.last), end, way.last, size);
      const points = [
        [x + size.width, leaves],
        [first, leaves],
      ];
      if (way.across !== null) {
        const middle = computeY(rows.get(way.across), end, way.across, size);
        points.push([first, middle], [last, middle]);
      }
      return [...points, [last, reaches], [way.fromLeft ? toX : toX + size.width, reaches]];
    });
  };

  const measure = ([x, y], [otherX, otherY]) => Math.abs(x - otherX) + Math.abs(y - otherY);
  const approach = (corner, other, distance) => {
    const length = measure(corner, other);
    const share = length ? distance / length : 0;
    return [corner[0] + (other[0] - corner[0]) * share, corner[1] + (other[1] - corner[1]) * share];
  };
  const point = (at) => at.map((value) => String(Math.round(value * 10) / 10)).join(" ");

  // An SVG path through points, with round corners.
  const path = (points) => {
    const parts = [`M${point(points[0])}`];
    for (let at = 1; at < points.length - 1; at += 1) {
      const [before, corner, after] = points.slice(at - 1, at + 2);
      const radius = Math.min(CORNER, measure(before, corner) / 2, measure(corner, after) / 2);
      parts.push(
        `L${point(approach(corner, before, radius))}Q${point(corner)} ${point(approach(corner, after, radius))}`,
      );
    }
    return `${parts.join("")}L${point(points[points.length - 1])}`;
  };

  const tip = (points) => {
    const [[x, y], [before]] = [points[points.length - 1], points[points.length - 2]];
    const back = x + (before > x ? 7 : -7);
    return `M${point([x, y])}L${point([back, y - 3.5])}L${point([back, y + 3.5])}z`;
  };

  gitsync.layout = { path, placeAround, placeForest, route, tip };
})();
