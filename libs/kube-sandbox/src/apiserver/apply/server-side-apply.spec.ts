import { ApiError } from '../api-error.js';
import type { KubeObject } from '../kube-object.js';
import { rootSchema } from '../schema/object-meta-schema.js';
import { integer, listBy, mapOf, object, string } from '../schema/schema-builders.js';
import { recordUpdate } from './managed-fields.js';
import { serverSideApply } from './server-side-apply.js';

interface Machine extends KubeObject {
  spec: { size?: number; image?: string; disks?: { name: string; bus?: string }[]; notes?: Record<string, string> };
}

const schema = rootSchema(
  object({
    spec: object({
      size: integer(),
      image: string(),
      notes: mapOf(string()),
      disks: listBy(['name'], object({ name: string(), bus: string() })),
    }),
  }),
);

const config = (spec: Machine['spec']): Machine => ({
  apiVersion: 'lab.dev/v1',
  kind: 'Machine',
  metadata: { name: 'a' },
  spec,
});

function apply(live: Machine | undefined, manager: string, spec: Machine['spec'], force = false): Machine {
  return serverSideApply({
    configuration: config(spec),
    live,
    schema,
    manager: { name: manager, operation: 'Apply', apiVersion: 'lab.dev/v1' },
    force,
    time: '2026-01-01T00:00:00Z',
    skip: [],
  }) as Machine;
}

const owners = (object: Machine) =>
  Object.fromEntries((object.metadata.managedFields ?? []).map(({ manager, fieldsV1 }) => [manager, fieldsV1]));

describe('serverSideApply', () => {
  test('records the owner of each field', () => {
    const created = apply(undefined, 'me', { size: 1, disks: [{ name: 'root', bus: 'virtio' }] });
    expect(created.metadata.managedFields).toEqual([
      {
        manager: 'me',
        operation: 'Apply',
        apiVersion: 'lab.dev/v1',
        time: '2026-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:spec': { 'f:size': {}, 'f:disks': { 'k:{"name":"root"}': { '.': {}, 'f:name': {}, 'f:bus': {} } } },
        },
      },
    ]);
  });

  test('refuses to change a field of another manager and reports it', () => {
    const live = apply(undefined, 'you', { size: 1, image: 'x' });
    const run = () => apply(live, 'me', { size: 2 });
    expect(run).toThrow(ApiError);
    expect(run).toThrow('Apply failed with 1 conflict: conflict with "you": .spec.size');
  });

  test('shares ownership when both managers apply the same value', () => {
    const both = apply(apply(undefined, 'you', { size: 1 }), 'me', { size: 1 });
    expect(owners(both)).toEqual({ you: { 'f:spec': { 'f:size': {} } }, me: { 'f:spec': { 'f:size': {} } } });
  });

  test('takes over fields with force', () => {
    const live = apply(apply(undefined, 'you', { size: 1, image: 'x' }), 'me', { size: 2 }, true);
    expect(live.spec).toEqual({ size: 2, image: 'x' });
    expect(owners(live)).toEqual({ you: { 'f:spec': { 'f:image': {} } }, me: { 'f:spec': { 'f:size': {} } } });
  });

  test('removes fields that the manager no longer applies, unless another manager owns them', () => {
    const first = apply(undefined, 'me', { size: 1, image: 'x', disks: [{ name: 'a', bus: 'sata' }, { name: 'b' }] });
    const shared = apply(first, 'you', { image: 'x', disks: [{ name: 'b' }] });
    expect(apply(shared, 'me', { size: 1 }).spec).toEqual({ size: 1, image: 'x', disks: [{ name: 'b' }] });
  });

  test('removes an item together with its fields that have no owner', () => {
    const first = apply(undefined, 'me', { size: 1, disks: [{ name: 'a' }] });
    first.spec.disks![0]!.bus = 'defaulted';
    expect(apply(first, 'me', { size: 1 }).spec).toEqual({ size: 1 });
  });
});

describe('recordUpdate', () => {
  test('makes the manager of an update the only owner of the changed fields', () => {
    const live = apply(undefined, 'you', { size: 1, image: 'x', notes: { a: '1' } });
    const draft: Machine = structuredClone(live);
    draft.spec = { size: 5, image: 'x' };
    recordUpdate(
      draft,
      live,
      schema,
      { name: 'editor', operation: 'Update', apiVersion: 'lab.dev/v1' },
      '2026-01-01T00:00:01Z',
    );
    expect(owners(draft)).toEqual({ you: { 'f:spec': { 'f:image': {} } }, editor: { 'f:spec': { 'f:size': {} } } });
  });
});
