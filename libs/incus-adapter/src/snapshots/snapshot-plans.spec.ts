import { instanceObject } from '../contracts/instance-object.contract.js';
import { creationPlan, deletionPlan, restorePlan } from './snapshot-plans.js';

const disk = (path: string, source: string) => ({ type: 'disk', path, pool: 'fast', source });
const instance = instanceObject({
  expanded_devices: { root: { type: 'disk', path: '/', pool: 'fast' }, data: disk('/data', 'web-ct-data') },
});
const volume = { pool: 'fast', project: 'default', name: 'web-ct-data' };
const root = { name: 'one', created_at: '2026-11-28T15:20:09.06338426Z', config: {} };
const details = (plan: { steps: readonly { detail: string }[] }): string[] => plan.steps.map(({ detail }) => detail);
const DATA = '/data: the volume web-ct-data in the storage pool fast.';
const NONE = { roots: [], data: undefined };

test('a snapshot has both halves, and warns that they are not of one moment while the container runs', () => {
  const plan = creationPlan({ instance, volume }, { name: 'one' }, NONE);
  expect(details(plan)).toEqual([DATA, 'The root of web.']);
  expect(plan.warnings).toEqual([
    expect.stringMatching(/^web runs: \/data and the root are saved one after the other/),
  ]);
  const stopped = instanceObject({ ...instance, status: 'Stopped' });
  expect(creationPlan({ instance: stopped, volume }, { name: 'one' }, NONE).warnings).toEqual([]);
});

test('says that a volume at /data which belongs to another container is not included', () => {
  const plan = creationPlan({ instance }, { name: 'one' }, NONE);
  expect(details(plan)).toEqual(['The root of web.']);
  expect(plan.warnings).toEqual(['The disk data at /data is not in the snapshot.']);
});

test('a restore without the half of the volume says so, and leaves that out of its steps', () => {
  const without = restorePlan({ instance, volume }, { root, hasData: false });
  expect(details(without)).toEqual(['web', 'The root of web.', 'web']);
  expect(without.warnings).toContain('The snapshot one does not include /data: the volume web-ct-data stays as it is.');
  const complete = restorePlan({ instance, volume }, { root, hasData: true });
  expect(details(complete)).toEqual(['web', DATA, 'The root of web.', 'web']);
  expect(complete.warnings).toEqual(['The configuration and the tags of web become those of the snapshot.']);
});

test('a deletion leaves the snapshot of a volume alone that was not taken with it', () => {
  expect(details(deletionPlan({ instance, volume }, { root, hasData: false }))).toEqual(['The root of web.']);
});
