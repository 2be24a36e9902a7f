import { DomainError, MAX_COMMAND_OUTPUT_BYTES, type InstanceRef } from '@headgate/domain-contracts';
import { LibvirtError } from '@headgate/libvirt-rpc';
import { FixedClock } from '@headgate/testing';
import type { GuestFacts, GuestOperations } from '../connection/guest-operations.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { DomainFinder } from '../domains/domain-finder.js';
import { parseFacts } from '../virsh/virsh-guests.js';
import { LibvirtGuestControl } from './libvirt-guest-control.js';
import { LibvirtGuestInspection } from './libvirt-guest-inspection.js';

const ref: InstanceRef = { kind: 'vm', context: 'local', namespace: 'local', name: 'web' };
const unreachable = { code: 'GUEST_AGENT_UNREACHABLE' };

/** A libvirt with one domain, whose agent answers as the test says. */
function guestsWith(agent: Partial<GuestOperations>) {
  const domains = { lookUp: async () => ({ uuid: 'uuid-1', name: 'web' }) };
  const connection = { domains, guests: agent } as unknown as LibvirtConnection;
  const finder = new DomainFinder('local', connection);
  return {
    inspection: new LibvirtGuestInspection(connection, finder),
    control: new LibvirtGuestControl(connection, finder, new FixedClock()),
  };
}

const facts = (entries: Record<string, string | number>): GuestFacts => new Map(Object.entries(entries));

describe('a hostile guest agent behind libvirt', () => {
  test('gives texts without control characters, cut to a bounded length', async () => {
    const { inspection } = guestsWith({
      facts: async () =>
        facts({
          'os.id': 'debian\u001b[2J\r\n',
          'os.name': 'x'.repeat(4_000_000),
          hostname: 'a\u202eb\u0000',
          'user.count': 1,
          'user.0.name': '\u0007root',
          'user.0.login-time': 1e18,
        }),
    });
    const { os, users } = await inspection.info(ref);
    expect([os.id, os.hostname, os.name.length]).toEqual(['debian[2J', 'ab', 256]);
    expect(users).toEqual([{ name: 'root', loginTime: null }]);
  });

  test('gives no more entries than the limit, whatever count it names', async () => {
    for (const count of [1e9, -1, Number.NaN, 'many' as unknown as number]) {
      const { inspection } = guestsWith({ facts: async () => facts({ 'fs.count': count, 'user.count': count }) });
      const { users, filesystems } = await inspection.info(ref);
      expect(users.length).toBeLessThanOrEqual(100);
      expect(filesystems.length).toBeLessThanOrEqual(100);
    }
  });

  test.each([
    ['BACKEND_UNREACHABLE', 'Broken pipe'],
    ['INSTANCE_NOT_FOUND', 'failed to get domain'],
    ['INSUFFICIENT_STORAGE', 'No space left on device'],
  ] as const)('can not make its error look like %s', async (code, message) => {
    const cause = new LibvirtError(1, 0, message);
    const { inspection } = guestsWith({
      facts: () => Promise.reject(new DomainError(code, message, { cause })),
    });
    await expect(inspection.info(ref)).rejects.toMatchObject(unreachable);
  });

  test('does not hide that libvirt is unreachable, or that the domain is gone', async () => {
    for (const code of ['BACKEND_UNREACHABLE', 'BACKEND_FORBIDDEN', 'INSTANCE_NOT_FOUND'] as const) {
      const { inspection } = guestsWith({ facts: () => Promise.reject(new DomainError(code, 'away')) });
      await expect(inspection.info(ref)).rejects.toMatchObject({ code });
    }
  });

  test.each([
    ['nothing', ''],
    ['text that is not JSON', '\u0000'],
    ['null', 'null'],
    ['a number', '{"return": 7}'],
    ['a process ID of another type', '{"return": {"pid": "1"}}'],
    ['deep nesting', `{"return": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ])('that answers %s to a command is unreachable', async (_title, answer) => {
    const { control } = guestsWith({ command: async () => answer });
    await expect(control.run(ref, { path: '/bin/true', args: [], timeoutMs: 1000 })).rejects.toMatchObject(unreachable);
  });

  test('gives no more output than the limit', async () => {
    const data = Buffer.alloc(3_000_000, 'é').toString('base64');
    const answers = ['{"return": {"pid": 1}}', `{"return": {"exited": true, "exitcode": "x", "out-data": "${data}"}}`];
    const { control } = guestsWith({ command: async () => answers.shift() ?? '' });
    const { exitCode, stdout, isTruncated } = await control.run(ref, { path: '/bin/x', args: [], timeoutMs: 1000 });
    expect([exitCode, isTruncated]).toEqual([null, true]);
    expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(MAX_COMMAND_OUTPUT_BYTES);
  });

  test('can not overwrite a fact with a line break in another one', () => {
    const parsed = parseFacts('os.id               : debian\nos.name             : x\nos.id               : evil\n');
    expect(parsed.get('os.id')).toBe('debian');
  });
});
