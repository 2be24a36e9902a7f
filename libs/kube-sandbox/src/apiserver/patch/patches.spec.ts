import { ApiError } from '../api-error.js';
import { listBy, listOf, object, setOf, string } from '../schema/schema-builders.js';
import { applyJsonPatch } from './json-patch.js';
import { applyMergePatch } from './merge-patch.js';
import { applyStrategicMergePatch } from './strategic-merge-patch.js';

describe('applyJsonPatch', () => {
  test('adds, replaces, moves, copies and removes', () => {
    const patch = [
      { op: 'add', path: '/labels/team.example~1tag', value: 'true' },
      { op: 'add', path: '/list/1', value: 'between' },
      { op: 'add', path: '/list/-', value: 'last' },
      { op: 'copy', from: '/list/0', path: '/first' },
      { op: 'move', from: '/old', path: '/new' },
      { op: 'replace', path: '/size', value: 2 },
      { op: 'remove', path: '/labels/gone' },
    ];
    const target = { labels: { gone: 'x' }, list: ['a', 'b'], old: 1, size: 1 };
    expect(applyJsonPatch(target, patch)).toEqual({
      labels: { 'team.example/tag': 'true' },
      list: ['a', 'between', 'b', 'last'],
      first: 'a',
      new: 1,
      size: 2,
    });
    expect(target.list).toEqual(['a', 'b']);
  });

  test.each([
    [[{ op: 'test', path: '/size', value: 2 }]],
    [[{ op: 'remove', path: '/absent' }]],
    [[{ op: 'replace', path: '/absent', value: 1 }]],
    [[{ op: 'add', path: '/absent/child', value: 1 }]],
    [[{ op: 'add', path: '/list/7', value: 1 }]],
  ])('refuses %j with 422', (patch) => {
    const run = () => applyJsonPatch({ size: 1, list: [] }, patch);
    expect(run).toThrow('the server rejected our request due to an error in our request');
    expect(run).toThrow(ApiError);
  });
});

describe('applyMergePatch', () => {
  test('merges objects, removes with null and replaces lists', () => {
    expect(
      applyMergePatch({ a: { x: 1, y: 2 }, list: [1, 2] }, { a: { y: null, z: 3 }, list: [9], b: { c: null, d: 4 } }),
    ).toEqual({
      a: { x: 1, z: 3 },
      list: [9],
      b: { d: 4 },
    });
  });
});

describe('applyStrategicMergePatch', () => {
  const schema = object({
    containers: listBy(['name'], object({ name: string(), image: string(), args: listOf(string()) })),
    finalizers: setOf(string()),
    args: listOf(string()),
  });
  const target = {
    containers: [
      { name: 'a', image: '1' },
      { name: 'b', image: '1' },
    ],
    finalizers: ['x'],
    args: ['1', '2'],
  };
  const patched = (patch: object) => applyStrategicMergePatch(target, patch, schema);

  test('merges items of a keyed list by their key and appends new ones', () => {
    expect(
      patched({
        containers: [
          { name: 'b', image: '2' },
          { name: 'c', image: '1' },
        ],
      }),
    ).toMatchObject({
      containers: [
        { name: 'a', image: '1' },
        { name: 'b', image: '2' },
        { name: 'c', image: '1' },
      ],
    });
  });

  test('joins sets and replaces atomic lists', () => {
    expect(patched({ finalizers: ['y', 'x'], args: ['3'] })).toMatchObject({ finalizers: ['x', 'y'], args: ['3'] });
  });

  test('applies the directives delete, replace and deleteFromPrimitiveList', () => {
    expect(patched({ containers: [{ name: 'a', $patch: 'delete' }] })).toMatchObject({ containers: [{ name: 'b' }] });
    expect(patched({ containers: [{ name: 'z' }, { $patch: 'replace' }] })).toMatchObject({
      containers: [{ name: 'z' }],
    });
    expect(patched({ '$deleteFromPrimitiveList/finalizers': ['x'] })).toMatchObject({ finalizers: [] });
  });

  test('orders items by setElementOrder', () => {
    const { containers } = patched({
      '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }],
      containers: [{ name: 'a', image: '2' }],
    }) as typeof target;
    expect(containers).toEqual([
      { name: 'b', image: '1' },
      { name: 'a', image: '2' },
    ]);
  });

  test('refuses an item without its key', () => {
    expect(() => patched({ containers: [{ image: '2' }] })).toThrow(
      'map: map[image:2] does not contain declared merge key: name',
    );
  });
});
