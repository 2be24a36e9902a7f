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
    [[{ op: 'replace', path: '/absent/child', value: 1 }]],
    [[{ op: 'replace', path: '/list/0', value: 1 }]],
    [[{ op: 'replace', path: '', value: 1 }]],
    [[{ op: 'move', from: '/absent', path: '/size' }]],
    [[{ op: 'add', path: '/absent/child', value: 1 }]],
    [[{ op: 'add', path: '', value: {} }]],
    [[{ op: 'add', path: '/list/7', value: 1 }]],
    [[{ op: 'add', path: '/list/-2', value: 1 }]],
    [[{ op: 'add', path: '/list/first', value: 1 }]],
    [[{ op: 'add', path: '/size/unit', value: 1 }]],
    [[{ op: 'jump', path: '/size' }]],
    [[{ path: '/size' }]],
    [[{ op: 'add', value: 1 }]],
  ])('refuses %j with 422', (patch) => {
    const run = () => applyJsonPatch({ size: 1, list: [] }, patch);
    expect(run).toThrow('the server rejected our request due to an error in our request');
    expect(run).toThrow(ApiError);
  });
});

describe('applyJsonPatch, as the library of the API server', () => {
  const apply = (operation: object) => applyJsonPatch({ size: 1, list: ['a', 'b'], none: null }, [operation]);

  test.each([
    ['replaces an absent key', { op: 'replace', path: '/new', value: 2 }, { new: 2 }],
    ['replaces the whole document', { op: 'replace', path: '', value: { size: 7 } }, { size: 7 }],
    ['counts from the end', { op: 'replace', path: '/list/-1', value: 'z' }, { list: ['a', 'z'] }],
    ['adds before the end', { op: 'add', path: '/list/-1', value: 'z' }, { list: ['a', 'b', 'z'] }],
    ['removes from the end', { op: 'remove', path: '/list/-2' }, { list: ['b'] }],
    ['ignores text before the first slash', { op: 'add', path: 'x/size', value: 5 }, { size: 5 }],
    ['copies an absent key as null', { op: 'copy', from: '/absent', path: '/size' }, { size: null }],
    ['adds null without a value', { op: 'add', path: '/size' }, { size: null }],
    ['passes a test of an absent key against null', { op: 'test', path: '/absent', value: null }, { size: 1 }],
    ['passes a test of the document', { op: 'test', path: '', value: { size: 1, list: ['a', 'b'], none: null } }, {}],
  ])('%s', (_rule, operation, expected) => {
    expect(apply(operation)).toMatchObject(expected);
  });

  test('stores a key that is named like the prototype', () => {
    const patched = apply({ op: 'add', path: '/__proto__', value: { isAdmin: true } }) as { isAdmin?: boolean };
    expect(patched.isAdmin).toBeUndefined();
    expect(Object.keys(patched)).toContain('__proto__');
  });

  test.each([[[null]], [['add']], [[{ op: 'add', path: 5 }]], [{ op: 'add' }]])('refuses %j with 400', (patch) => {
    let code: number | undefined;
    try {
      applyJsonPatch({}, patch);
    } catch (error) {
      code = (error as ApiError).code;
    }
    expect(code).toBe(400);
  });

  test('refuses more than 10,000 operations with 413', () => {
    const patch = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/size', value: 1 }));
    expect(() => applyJsonPatch({ size: 1 }, patch)).toThrow(
      'The allowed maximum operations in a JSON patch is 10000, got 10001',
    );
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
