import { dirname } from 'node:path';

/**
 * The rooms that each room imports from. A room is a folder, or a file next to folders: such files, for example the
 * entry of a library, serve or use the folders around them one by one.
 *
 * @param {readonly { source: string; dependencies: readonly { resolved: string }[] }[]} modules
 * @returns {Map<string, Set<string>>}
 */
export function roomGraph(modules) {
  const parents = new Set(modules.flatMap(({ source }) => ancestorsOf(dirname(source))));
  const roomOf = (file) => (parents.has(dirname(file)) ? file : dirname(file));
  const sources = new Set(modules.map(({ source }) => source));
  const graph = new Map();
  for (const { source, dependencies } of modules) {
    const room = roomOf(source);
    const targets = graph.get(room) ?? new Set();
    graph.set(room, targets);
    for (const { resolved } of dependencies)
      if (sources.has(resolved) && roomOf(resolved) !== room) targets.add(roomOf(resolved));
  }
  return graph;
}

function ancestorsOf(folder) {
  const parent = dirname(folder);
  return parent === folder ? [] : [parent, ...ancestorsOf(parent)];
}

/**
 * The sets of rooms of which each imports from each other one, directly or through others.
 *
 * @param {Map<string, Set<string>>} graph
 * @returns {string[][]} sorted
 */
export function knotsOf(graph) {
  const reachable = new Map([...graph.keys()].map((folder) => [folder, reachedFrom(graph, folder)]));
  const knots = new Map();
  for (const [folder, reached] of reachable) {
    if (!reached.has(folder)) continue;
    const knot = [...reached].filter((other) => reachable.get(other)?.has(folder)).sort();
    knots.set(knot.join('\n'), knot);
  }
  return [...knots.values()].sort(([first], [second]) => first.localeCompare(second));
}

function reachedFrom(graph, folder) {
  const reached = new Set();
  const waiting = [...(graph.get(folder) ?? [])];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    waiting.push(...(graph.get(next) ?? []));
  }
  return reached;
}

/**
 * @param {Map<string, Set<string>>} graph
 * @param {{ root: string, tiers: readonly (readonly string[])[] }} order folders in `root` from the bottom to the top:
 *   `*` are those without a name there, `*.ts` the files next to them
 * @returns {string[]} a sentence for each folder that imports from a tier above its own
 */
export function outOfOrder(graph, { root, tiers }) {
  const placeOf = (name) => tiers.findIndex((names) => names.includes(name));
  const tierOf = (room) => {
    if (!room.startsWith(`${root}/`)) return -1;
    const [name = '', ...rest] = room.slice(root.length + 1).split('/');
    if (rest.length === 0 && name.endsWith('.ts')) return placeOf('*.ts');
    return placeOf(name) === -1 ? placeOf('*') : placeOf(name);
  };
  return [...graph].flatMap(([room, targets]) =>
    [...targets]
      .filter((target) => room.startsWith(`${root}/`) && tierOf(target) > tierOf(room))
      .map((target) => `${room} imports from ${target}, which is above it in the order of the folders.`),
  );
}
