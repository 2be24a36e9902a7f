import { IncusError, translateFailure } from './translate-error.js';

/** Messages that Incus 6.0.4 and LXD 5.0.2 have sent. */
const MESSAGES: readonly [status: number, text: string, code: string][] = [
  [404, 'Failed to fetch instance "nope" in project "default": Instance not found', 'INSTANCE_NOT_FOUND'],
  [404, 'Instance not found', 'INSTANCE_NOT_FOUND'],
  [
    404,
    'Failed to fetch snapshot "a" of instance "web" in project "default": Instance_snapshot not found',
    'SNAPSHOT_NOT_FOUND',
  ],
  [
    404,
    'Failed to fetch snapshot "a" of instance "web" in project "default": InstanceSnapshot not found',
    'SNAPSHOT_NOT_FOUND',
  ],
  [500, 'Snapshot web/none does not exist', 'SNAPSHOT_NOT_FOUND'],
  [500, 'Snapshot not found', 'SNAPSHOT_NOT_FOUND'],
  [409, 'Snapshot "s1" already in use', 'ALREADY_EXISTS'],
  [500, 'Cannot restore custom volume used by running instances', 'WRONG_STATE'],
  [404, 'Image alias not found', 'IMAGE_NOT_FOUND'],
  [404, 'Image "abcdefabcdef" not found', 'IMAGE_NOT_FOUND'],
  [400, 'Image not provided for instance creation', 'IMAGE_NOT_FOUND'],
  [404, 'Storage pool volume not found', 'VOLUME_NOT_FOUND'],
  [400, 'Failed initializing instance: Failed loading storage pool: Storage pool not found', 'VOLUME_NOT_FOUND'],
  [404, 'Failed loading project: Project not found', 'INVALID_INPUT'],
  [409, 'Volume by that name already exists', 'ALREADY_EXISTS'],
  [400, 'UNIQUE constraint failed: instances.project_id, instances.name', 'ALREADY_EXISTS'],
  [400, 'This "instances" entry already exists', 'ALREADY_EXISTS'],
  [400, 'Failed to create instance delete operation: Instance is busy running a "stop" operation', 'BUSY'],
  [500, 'Invalid PID "-1"', 'BUSY'],
  [400, 'Failed to create instance update operation: A matching non-reusable operation has now succeeded', 'BUSY'],
  [400, 'The instance is already running', 'WRONG_STATE'],
  [400, 'The instance is already stopped', 'WRONG_STATE'],
  [400, 'Instance is running', 'WRONG_STATE'],
  [500, 'write /var/lib/incus/storage-pools/default/x: no space left on device', 'INSUFFICIENT_STORAGE'],
  [400, 'Reached maximum number of instances of type "container" in project "tight"', 'REJECTED_BY_BACKEND'],
  [
    500,
    'Failed checking if allowed: Reached maximum aggregate value "256MiB" for "limits.memory" in project "small"',
    'REJECTED_BY_BACKEND',
  ],
  [500, 'setting cgroup item for the container failed', 'WRONG_STATE'],
  [400, 'Failed getting remote image info: Failed getting image: connection refused', 'BACKEND_FAILED'],
  [400, 'Invalid instance name: Name must not start with "-" character', 'REJECTED_BY_BACKEND'],
  [412, 'Precondition failed', 'CONFLICT'],
  [403, 'not authorized', 'BACKEND_FORBIDDEN'],
  [500, 'something else', 'BACKEND_FAILED'],
];

test.each(MESSAGES)('%i %s becomes %3$s', (status, text, code) => {
  const error = translateFailure('lab', { status, text });
  expect(error).toMatchObject({ code, failure: { status, text } });
  expect(error.message).toMatch(/^lab: .*\.$/);
});

test('a message of the server stays recognizable', () => {
  const error: unknown = translateFailure('lab', { status: 500, text: 'context deadline exceeded' });
  expect(IncusError.has(error, /deadline/)).toBe(true);
  expect(IncusError.has(error, /other/)).toBe(false);
  expect(IncusError.has(new Error('deadline'), /deadline/)).toBe(false);
});

test('a message with control characters and several lines is plain text', () => {
  const { message } = translateFailure('lab', { status: 400, text: 'bad\u001b[31m\nname' });
  expect(message).not.toContain('\u001b');
});
