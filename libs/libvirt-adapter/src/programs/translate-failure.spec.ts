import type { ErrorCode } from '@headgate/domain-contracts';
import { translateFailure } from './translate-failure.js';

const failed = (stderr: string) => ({ code: 1, stdout: '', stderr });

describe('translateFailure', () => {
  // Output of virsh 9.0.
  test.each<[string, ErrorCode, string]>([
    ["error: failed to get domain 'nope'\n", 'INSTANCE_NOT_FOUND', 'nope'],
    [
      "error: failed to connect to the hypervisor\nerror: Failed to connect socket to '/run/libvirt/libvirt-sock': No such file or directory\n",
      'BACKEND_UNREACHABLE',
      'libvirtd',
    ],
    [
      "error: failed to connect to the hypervisor\nerror: Failed to connect socket to '/run/libvirt/libvirt-sock': Permission denied\n",
      'BACKEND_FORBIDDEN',
      'group libvirt',
    ],
    [
      'error: failed to connect to the hypervisor\nerror: Cannot recv data: ssh: connect to host 127.0.0.1 port 22: Connection refused: Connection reset by peer\n',
      'BACKEND_UNREACHABLE',
      'connect to host 127.0.0.1 port 22: Connection refused',
    ],
    [
      'error: Disconnected from qemu:///system due to end of file\nerror: internal error: client socket is closed\n',
      'BACKEND_UNREACHABLE',
      'libvirtd',
    ],
    ["error: Failed to create vol v1\nerror: storage volume 'v1' exists already\n", 'ALREADY_EXISTS', 'v1'],
    [
      "error: failed to get vol 'v2'\nerror: Storage volume not found: no storage vol with matching path 'v2'\n",
      'VOLUME_NOT_FOUND',
      'v2',
    ],
    [
      "error: failed to get pool 'nopool'\nerror: Storage pool not found: no storage pool with matching name 'nopool'\n",
      'VOLUME_NOT_FOUND',
      'storage pool nopool',
    ],
    ['error: cannot write data: No space left on device\n', 'INSUFFICIENT_STORAGE', 'full'],
    ['error: operation failed: domain is no longer running\n', 'WRONG_STATE', 'QEMU ended'],
    ['error: Guest agent is not responding: QEMU guest agent is not connected\n', 'GUEST_AGENT_UNREACHABLE', 'agent'],
    [
      "error: Failed to start domain 'web'\nerror: Cannot access storage file '/images/web.qcow2' (as uid:64055, gid:107): No such file or directory\n",
      'VOLUME_NOT_FOUND',
      '/images/web.qcow2',
    ],
    [
      "error: operation failed: domain 'web' already exists with uuid 2c749204-8322-4dfd-b324-cb2e556e0e9a\n",
      'ALREADY_EXISTS',
      'web',
    ],
    [
      "error: operation failed: pool 'headgate' already exists with uuid 2c749204-8322-4dfd-b324-cb2e556e0e9a\n",
      'ALREADY_EXISTS',
      'headgate',
    ],
    [
      'error: Timed out during operation: cannot acquire state change lock (held by monitor=remoteDispatchDomainCreate)\n',
      'BUSY',
      'busy',
    ],
    [
      'error: Failed to define domain from /tmp/x\nerror: unsupported configuration: no such bus\n',
      'REJECTED_BY_BACKEND',
      'no such bus',
    ],
    ['error: Unable to read from monitor: Connection reset by peer\n', 'WRONG_STATE', 'QEMU ended'],
    ['error: Unable to write to monitor: Broken pipe\n', 'WRONG_STATE', 'QEMU ended'],
    ['error: something new\n', 'BACKEND_FAILED', 'something new'],
  ])('translates %j to %s', (stderr, code, mention) => {
    const error = translateFailure('virsh', failed(stderr));
    expect(error.code).toBe(code);
    expect(error.message).toContain(mention);
  });

  test('explains how to install a missing program', () => {
    const error = translateFailure('virsh', { ...failed(''), code: null, missing: true });
    expect(error).toMatchObject({
      code: 'BACKEND_UNREACHABLE',
      message: expect.stringContaining('npm start -- --local'),
    });
  });

  test('distinguishes a hanging libvirt from an unreachable one', () => {
    expect(translateFailure('virsh', { ...failed(''), code: null, ended: 'timeout' }).code).toBe('BACKEND_TIMEOUT');
  });
});
