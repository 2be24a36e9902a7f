import type { EventObject } from '../api/incus-objects.js';
import { touchedInstances } from './touched-instances.js';

const lifecycle = (action: string, source: string, context?: object): EventObject => ({
  type: 'lifecycle',
  timestamp: '2026-11-28T15:20:09Z',
  project: 'lab',
  metadata: { action, source, context },
});
const operation = (status_code: number, resources: object | null): EventObject => ({
  type: 'operation',
  timestamp: '2026-11-28T15:20:09Z',
  project: 'lab',
  metadata: { status_code, resources },
});

test('a lifecycle event names its instance, also for one of its snapshots', () => {
  const web = [{ project: 'lab', name: 'web' }];
  expect(touchedInstances(lifecycle('instance-started', '/1.0/instances/web'))).toEqual(web);
  expect(touchedInstances(lifecycle('instance-snapshot-created', '/1.0/instances/web/snapshots/s'))).toEqual(web);
});

test('the project of the source counts before that of the event', () => {
  expect(touchedInstances(lifecycle('instance-started', '/1.0/instances/web?project=other'))).toEqual([
    { project: 'other', name: 'web' },
  ]);
});

test('a renamed instance is read under both names', () => {
  const event = lifecycle('instance-renamed', '/1.0/instances/new', { old_name: 'old' });
  expect(touchedInstances(event)).toEqual([
    { project: 'lab', name: 'new' },
    { project: 'lab', name: 'old' },
  ]);
});

test('a changed profile may change any instance', () => {
  expect(touchedInstances(lifecycle('profile-updated', '/1.0/profiles/default'))).toBe('all');
});

test('an operation names its instances only at its end, in the words of both engines', () => {
  const resources = { instances: ['/1.0/instances/a', '/1.0/instances/b'] };
  expect(touchedInstances(operation(103, resources))).toEqual([]);
  expect(touchedInstances(operation(200, resources))).toHaveLength(2);
  expect(touchedInstances(operation(400, { containers: ['/1.0/containers/a'] }))).toEqual([
    { project: 'lab', name: 'a' },
  ]);
  expect(touchedInstances(operation(200, null))).toEqual([]);
});

test.each(['', '/', '/1.0/instances', '/1.0/instances/', '/1.0/images/abc', 'nonsense'])(
  'the source %j names no instance',
  (source) => {
    expect(touchedInstances(lifecycle('image-created', source))).toEqual([]);
  },
);

test('an event without metadata that it should have names none', () => {
  expect(touchedInstances({ type: 'lifecycle', timestamp: '', metadata: {} })).toEqual([]);
  expect(touchedInstances({ type: 'logging', timestamp: '', metadata: {} })).toEqual([]);
  expect(touchedInstances(lifecycle('instance-started', '/1.0/instances/%E0%A4%A'))).toHaveLength(1);
});
