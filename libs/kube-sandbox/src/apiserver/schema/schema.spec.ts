import { applyDefaults } from './apply-defaults.js';
import { prune } from './prune.js';
import {
  anything,
  intOrString,
  integer,
  listBy,
  mapOf,
  object,
  oneOf,
  string,
  withDefault,
} from './schema-builders.js';
import type { StructuralSchema } from './structural-schema.js';
import { validateSchema } from './validate-schema.js';

const schema: StructuralSchema = object(
  {
    size: { ...integer(), minimum: 1 },
    mode: withDefault('auto', oneOf(['auto', 'manual'])),
    labels: mapOf(string()),
    free: anything(),
    disks: listBy(
      ['name'],
      object({ name: string(), bus: withDefault('virtio', string()), capacity: intOrString() }, ['name']),
    ),
  },
  ['size'],
);

const messages = (value: unknown) =>
  validateSchema(value, schema, 'spec').map(({ field, message }) => `${field}: ${message}`);

describe('prune', () => {
  test('removes unknown fields and returns their paths', () => {
    const draft = { size: 1, x: 1, labels: { any: 'a' }, free: { any: { thing: 1 } }, disks: [{ name: 'a', y: 2 }] };
    expect(prune(draft, schema)).toEqual(['x', 'disks[0].y']);
    expect(draft).toEqual({ size: 1, labels: { any: 'a' }, free: { any: { thing: 1 } }, disks: [{ name: 'a' }] });
  });
});

describe('applyDefaults', () => {
  test('sets absent fields, including those of list items, and keeps given ones', () => {
    const draft = { size: 1, disks: [{ name: 'a' }, { name: 'b', bus: 'sata' }] };
    applyDefaults(draft, schema);
    expect(draft).toEqual({
      size: 1,
      mode: 'auto',
      disks: [
        { name: 'a', bus: 'virtio' },
        { name: 'b', bus: 'sata' },
      ],
    });
  });
});

describe('validateSchema', () => {
  test('accepts a valid object', () => {
    expect(
      messages({
        size: 2,
        mode: 'manual',
        disks: [
          { name: 'a', capacity: '1Gi' },
          { name: 'b', capacity: 5 },
        ],
      }),
    ).toEqual([]);
  });

  test.each([
    [{}, 'spec.size: Required value'],
    [{ size: 'big' }, 'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"'],
    [{ size: 0 }, 'spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1'],
    [{ size: 1, mode: 'x' }, 'spec.mode: Unsupported value: "x": supported values: "auto", "manual"'],
    [{ size: 1, disks: [{}] }, 'spec.disks[0].name: Required value'],
    [{ size: 1, disks: [{ name: 'a' }, { name: 'a' }] }, 'spec.disks[1]: Duplicate value: {"name":"a"}'],
    [
      { size: 1, disks: [{ name: 'a', capacity: true }] },
      'spec.disks[0].capacity: Invalid value: "boolean": spec.disks[0].capacity in body must be of type integer,string: "boolean"',
    ],
  ])('refuses %j', (value, message) => {
    expect(messages(value)).toEqual([message]);
  });
});
