import { instanceObject } from '../contracts/instance-object.contract.js';
import { toContainer } from './to-container.js';

const HOST = { name: 'box-1', cpus: 8, memoryBytes: 2 ** 34 };
const shown = (overrides: Parameters<typeof instanceObject>[0] = {}) =>
  toContainer('lab', instanceObject(overrides), HOST);

test('a container without limits has the size of its host', () => {
  expect(shown()).toEqual({
    ref: { kind: 'ct', context: 'lab', namespace: 'default', name: 'web' },
    backend: 'incus',
    uid: 'dda33808-efbf-4907-a43f-0ed5d4ad3d51',
    phase: 'Running',
    ready: true,
    image: 'tiny',
    cpu: 8,
    memoryBytes: 2 ** 34,
    privileged: false,
    tags: [],
    createdAt: '2026-11-28T15:20:09.063Z',
    node: 'box-1',
  });
});

test('limits and privileges of its profiles count', () => {
  const expanded_config = { 'limits.cpu': '0-1', 'limits.memory': '1GiB', 'security.privileged': 'true' };
  expect(shown({ expanded_config })).toMatchObject({ cpu: 2, memoryBytes: 2 ** 30, privileged: true });
});

test.each([
  ['Stopped', 'Stopped', false],
  ['Frozen', 'Running', false],
  ['Starting', 'Pending', false],
  ['Stopping', 'Running', false],
  ['Error', 'Failed', false],
  ['Levitating', 'Unknown', false],
] as const)('the status %s is the phase %s', (status, phase, ready) => {
  expect(shown({ status })).toMatchObject({ phase, ready });
});

test('only a container that is not stopped has a node, in a cluster that of the member', () => {
  expect(shown({ status: 'Stopped' }).node).toBeUndefined();
  expect(shown({ location: 'member-2' }).node).toBe('member-2');
});

test('the requested image is shown, or else the description or the fingerprint', () => {
  expect(shown({ config: { 'user.headgate.image': 'debian', 'image.description': 'Debian 12' } }).image).toBe('debian');
  expect(shown({ config: { 'volatile.base_image': 'e2bc68ee00d1ca08766f' } }).image).toBe('e2bc68ee00d1');
  expect(shown({ config: {} }).image).toBe('');
});

test('only tags that the API accepts are shown, sorted', () => {
  const config = {
    'user.headgate.tag.web': 'true',
    'user.headgate.tag.Blue.1': 'true',
    'user.headgate.tag.off': 'false',
    'user.headgate.tag.not a tag': 'true',
    'user.tag.other': 'true',
  };
  expect(shown({ config }).tags).toEqual(['Blue.1', 'web']);
});

test('names that the API does not have are converted, and stay apart', () => {
  const names = ['Web', 'wEb'].map((name, index) => shown({ name, config: { 'volatile.uuid': `${index}2345678-` } }));
  expect(names.map(({ ref }) => ref.name)).toEqual(['web-02345678', 'web-12345678']);
  const projects = ['Lab_1', 'Lab.1'].map((project) => shown({ project }).ref.namespace);
  expect(projects[0]).toMatch(/^lab-1-[0-9a-f]{8}$/);
  expect(projects[0]).not.toBe(projects[1]);
});

test('a copy that a move has not completed is pending, with the reason', () => {
  const config = { 'user.headgate.operation': 'move web 0b3a2d0e-0000-4000-8000-000000000001' };
  expect(shown({ config, status: 'Stopped' })).toMatchObject({ phase: 'Pending', ready: false });
  expect(shown({ config, status: 'Stopped' }).reason).toBe('It is being moved here, and is not complete.');
  const other = { 'user.headgate.operation': 'clone web 1' };
  expect(shown({ config: other, status: 'Stopped' }).phase).toBe('Stopped');
});
