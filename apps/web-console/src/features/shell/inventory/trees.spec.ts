import { compileQuery, LISTED_FIELDS, parseQuery } from '@headgate/instance-query';
import { buildStoppedVm, buildVm } from '../../../testing/build-vm.js';
import { nodeStartingWith, visibleNodes } from '../../../shared/tree/visible-nodes.js';
import { folderTree } from './folder-tree.js';
import { placeOf, placeTree } from './place-tree.js';
import { countBy, signatureOf, type TreeNode } from './tree-node.js';

const vms = [
  buildVm({ name: 'a', folder: 'prod/web', context: 'prod', namespace: 'one', node: 'node-10' }),
  buildVm({ name: 'b', folder: 'prod/web', context: 'prod', namespace: 'one', node: 'node-2' }),
  buildVm({ name: 'c', folder: 'prod', context: 'prod', namespace: 'two', node: 'node-2' }),
  buildStoppedVm({ name: 'd', folder: 'production', context: 'lab', namespace: 'one' }),
  buildVm({ name: 'e', context: 'lab', namespace: 'one', node: 'node-2' }),
];
const folders = () => folderTree(countBy(vms, ({ folder }) => folder ?? ''));
const places = () => placeTree(countBy(vms, placeOf));

/** Each node as "label count", below it its children, indented. */
const drawn = (nodes: readonly TreeNode[], indent = ''): string[] =>
  nodes.flatMap(({ label, count, children }) => [`${indent}${label} ${count}`, ...drawn(children, `${indent}  `)]);
const all = (nodes: readonly TreeNode[]): TreeNode[] => nodes.flatMap((node) => [node, ...all(node.children)]);

test('folders count the VMs of the folders in them, and VMs in no folder come last', () =>
  expect(drawn(folders())).toEqual(['prod 3', '  web 2', 'production 1', 'In no folder 1']));

test('places are contexts, namespaces, and nodes in natural order; a VM without a node counts above', () =>
  expect(drawn(places())).toEqual([
    'lab 2',
    '  one 2',
    '    node-2 1',
    'prod 3',
    '  one 2',
    '    node-2 1',
    '    node-10 1',
    '  two 1',
    '    node-2 1',
  ]));

test.each([...all(folders()), ...all(places())].map((node) => [node.query, node.count] as const))(
  'the query %s finds exactly as many VMs as its node counts',
  (query, count) =>
    expect(vms.filter(compileQuery(parseQuery(query), { ...LISTED_FIELDS, words: () => '' }))).toHaveLength(count),
);

test('the signature changes with a number, and not with the order of the VMs', () => {
  const signature = (entries: typeof vms) => signatureOf(countBy(entries, placeOf));
  expect(signature(vms.toReversed())).toBe(signature(vms));
  expect(signature(vms.slice(1))).not.toBe(signature(vms));
});

describe('the visible nodes', () => {
  test('are those whose parents are all open', () => {
    const shown = visibleNodes(folders(), new Set(['prod', 'elsewhere']));
    expect(shown.map(({ node, level, position, siblings }) => [node.id, level, position, siblings])).toEqual([
      ['prod', 1, 1, 3],
      ['prod/web', 2, 1, 1],
      ['production', 1, 2, 3],
      ['', 1, 3, 3],
    ]);
    expect(shown[1]?.parent).toBe('prod');
  });

  test('are found by the first letters of their names, from the current one on', () => {
    const shown = visibleNodes(folders(), new Set());
    expect(nodeStartingWith(shown, 0, 'p')?.node.id).toBe('production');
    expect(nodeStartingWith(shown, 1, 'P')?.node.id).toBe('prod');
    expect(nodeStartingWith(shown, 0, 'produ')?.node.id).toBe('production');
    expect(nodeStartingWith(shown, 0, 'prod')?.node.id).toBe('prod');
    expect(nodeStartingWith(shown, 0, 'x')).toBeUndefined();
  });
});
