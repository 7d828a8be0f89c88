"use strict";
// Reads data/tree: the resources as rows, their ARM ids, and the nodes where they hang: subscription, resource group,
// resource, child. What no resource of a target is has a node of its own, too.
(() => {
  const ELSEWHERE = "Outside of subscriptions";

  // An address has no half of a character.
  const wellFormed = (text) => text.replace(/\p{Cs}/gu, "\ufffd");
  const encode = (text) => encodeURIComponent(wellFormed(text));

  const build = (tree, site) => {
    const targets = tree.targets.map((id) => site.targets.find((target) => target.id === id) || { id, title: id });
    const ids = new Array(tree.name.length).fill(null);

    const armId = (row) => {
      if (ids[row] !== null) return ids[row];
      if (tree.segment[row] < 0) return (ids[row] = "");
      ids[row] = ""; // ends a circle, which a status branch that somebody wrote may have
      const above = tree.parent[row] >= 0 ? armId(tree.parent[row]) : tree.scopes[tree.scope[row]] || "";
      ids[row] = above + tree.segments[tree.segment[row]] + (tree.azureName[row] || tree.name[row]);
      return ids[row];
    };

    const key = (row) => `${tree.kinds[tree.kind[row]]}/${tree.namespaces[tree.namespace[row]]}/${tree.name[row]}`;
    const rows = new Map();
    for (let row = 0; row < tree.name.length; row += 1)
      rows.set(wellFormed(`${tree.targets[tree.target[row]]} ${key(row)}`), row);

    return {
      tree,
      targets,
      count: tree.name.length,
      armId,
      key,
      kind: (row) => tree.kinds[tree.kind[row]].split(".")[0],
      group: (row) => tree.kinds[tree.kind[row]].split(".").slice(1).join("."),
      namespace: (row) => tree.namespaces[tree.namespace[row]],
      state: (row) => tree.states[tree.state[row]],
      target: (row) => targets[tree.target[row]],
      agent: (row) => tree.agents[tree.agent[row]] || "",
      find: (target, name) => {
        const row = rows.get(wellFormed(`${target} ${name}`));
        return row === undefined ? -1 : row;
      },
    };
  };

  // The parts of an ARM id: subscription and resource group, each "" where it has none.
  const SCOPE = /^\/subscriptions\/([^/]+)(?:\/resourcegroups\/([^/]+))?/i;
  const scopeOf = (id) => {
    const [, subscription, group] = SCOPE.exec(id) || ["", "", ""];
    return { subscription, group: group || "" };
  };

  // The id that a resource hangs below: without its last type and name, and without what names their provider.
  const parentOf = (id) => {
    const parts = id.split("/");
    const above = parts.slice(0, -2);
    return (/^providers$/i.test(above[above.length - 2] || "") ? above.slice(0, -2) : above).join("/");
  };

  const typeOf = (id) => {
    const type = id.split("/").slice(-2)[0];
    if (/^subscriptions$/i.test(type)) return "Subscription";
    return /^resourcegroups$/i.test(type) ? "Resource group" : type;
  };

  // A node of the tree; `row` is -1 where no resource is.
  const makeNode = (row, title, type) => ({
    row,
    title,
    type,
    parent: null,
    children: [],
    depth: 0, // top-level nodes have 0
    count: 0,
    counts: null,
    worst: Infinity, // of the resources at and below it, by position in the states
  });

  const hang = (estate) => {
    const top = makeNode(-1, "", "");
    const nodes = new Map([["", top]]); // by id, in lower case
    const ofTarget = new Map(); // by target and id: two targets may have the same, such as two emulators
    const own = []; // by row
    const attach = (node, parent) => {
      node.parent = parent;
      parent.children.push(node);
      return node;
    };
    const name = (row, id) => `${estate.tree.target[row]} ${id.toLowerCase()}`;
    for (let row = 0; row < estate.count; row += 1) {
      const id = estate.armId(row).toLowerCase();
      own.push(makeNode(row, estate.tree.name[row], estate.kind(row)));
      if (!SCOPE.test(id)) continue;
      if (!nodes.has(id)) nodes.set(id, own[row]);
      if (!ofTarget.has(name(row, id))) ofTarget.set(name(row, id), own[row]);
    }

    const above = (id) => (SCOPE.test(id) ? parentOf(id) : "");
    // The node of an id, with those above it.
    const locate = (id) => {
      const found = nodes.get(id.toLowerCase());
      if (found) return found.parent || found === top ? found : attach(found, locate(above(id)));
      const node = makeNode(-1, id.slice(id.lastIndexOf("/") + 1), typeOf(id));
      nodes.set(id.toLowerCase(), node);
      return attach(node, locate(above(id)));
    };

    // The node of a namespace, for what is in no subscription.
    const elsewhere = (namespace) => {
      const name = ` ${namespace}`;
      if (!nodes.has(name)) nodes.set(name, attach(makeNode(-1, namespace, ELSEWHERE), top));
      return nodes.get(name);
    };

    for (let row = 0; row < estate.count; row += 1) {
      const [node, id] = [own[row], estate.armId(row)];
      if (node.parent) continue;
      if (!SCOPE.test(id)) attach(node, elsewhere(estate.namespace(row)));
      else attach(node, ofTarget.get(name(row, parentOf(id))) || locate(parentOf(id)));
    }
    estate.nodes = nodes;
    estate.own = own;
    return summarize(top, estate);
  };

  const ORDER = new Intl.Collator("en", { numeric: true });

  // Number the states below each node, sort its children and set how deep it is; from the leaves up, without recursion.
  const summarize = (top, estate) => {
    const order = [top];
    for (let at = 0; at < order.length; at += 1) {
      const node = order[at];
      for (const child of node.children) {
        child.depth = node === top ? 0 : node.depth + 1;
        order.push(child);
      }
      if (node.children.length > 1) {
        node.children.sort(
          (one, other) =>
            ORDER.compare(one.type === ELSEWHERE ? "~" : "", other.type === ELSEWHERE ? "~" : "") ||
            ORDER.compare(one.title, other.title) ||
            ORDER.compare(one.type, other.type) ||
            one.row - other.row,
        );
      }
    }
    for (let at = order.length - 1; at >= 0; at -= 1) {
      const node = order[at];
      const state = node.row >= 0 ? estate.tree.state[node.row] : Infinity;
      node.counts = node.children.length ? new Uint32Array(estate.tree.states.length) : null;
      node.count = node.row >= 0 ? 1 : 0;
      node.worst = state;
      if (node.counts && node.row >= 0) node.counts[state] += 1;
      for (const child of node.children) {
        node.count += child.count;
        if (child.worst < node.worst) node.worst = child.worst;
        if (child.counts)
          child.counts.forEach((number, index) => {
            node.counts[index] += number;
          });
        else node.counts[child.worst] += 1;
      }
    }
    return top;
  };

  let built = null;
  const open = async () => {
    if (built) return built;
    const [site, tree] = await Promise.all([gitsync.load("site"), gitsync.load("tree")]);
    built = build(tree, site);
    built.top = hang(built);
    return built;
  };

  // Where a resource has its page. Each part is encoded, as names may have any character.
  const address = (target, name) => {
    const [kind, namespace, ...rest] = name.split("/");
    const [word, ...group] = kind.split(".");
    return `#/resource/${[target, namespace, group.join("."), word, rest.join("/")].map(encode).join("/")}`;
  };
  const keyOf = ([namespace, group, kind, name]) => `${group ? `${kind}.${group}` : kind}/${namespace}/${name}`;
  const shorten = (name) => {
    const [kind, , ...rest] = name.split("/");
    return `${kind.split(".")[0]}/${rest.join("/")}`;
  };

  gitsync.estate = { address, encode, keyOf, open, scopeOf, shorten };
})();
