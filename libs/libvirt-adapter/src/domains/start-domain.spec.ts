import type { ProgramResult, RunProgram } from '../programs/run-program.js';
import { ownDomainXml, UUID } from '../testing/domain-xml.js';
import { FakeLibvirt } from '../testing/fake-libvirt.js';
import { VirshConnection } from '../virsh/virsh-connection.js';
import { startDomain } from './start-domain.js';

const ENDED = "error: Failed to start domain 'web'\nerror: operation failed: domain is no longer running\n";

describe('startDomain', () => {
  let libvirt: FakeLibvirt;
  /** Texts of starts that fail, consumed in order. */
  let failures: string[];
  let starts: number;
  /** Called when a start fails. */
  let onFailure: () => void;

  const run: RunProgram = (program, args, ...rest) => {
    if (!args.includes('start')) return libvirt.run(program, args, ...rest);
    starts++;
    const stderr = failures.shift();
    if (stderr === undefined) return libvirt.run(program, args, ...rest);
    onFailure();
    return Promise.resolve<ProgramResult>({ code: 1, stdout: '', stderr });
  };
  const start = (): Promise<void> => startDomain(new VirshConnection({ uri: 'qemu:///system', run }).domains, UUID);

  beforeEach(() => {
    libvirt = new FakeLibvirt();
    libvirt.add(ownDomainXml());
    failures = [];
    starts = 0;
    onFailure = () => undefined;
  });

  test('starts again when QEMU ended while it started', async () => {
    failures = [ENDED];
    await start();
    expect(libvirt.changes).toEqual([`start ${UUID}`]);
    expect(starts).toBe(2);
  });

  test('reports a QEMU that ends a second time', async () => {
    failures = [ENDED, ENDED];
    await expect(start()).rejects.toMatchObject({
      code: 'WRONG_STATE',
      message: expect.stringContaining('QEMU ended'),
    });
    expect(starts).toBe(2);
  });

  test('does not repeat a start that another program was faster with', async () => {
    failures = [
      'error: Domain is already active\nerror: Requested operation is not valid: domain is already running\n',
    ];
    onFailure = () => libvirt.add(ownDomainXml(), 'running (booted)');
    await expect(start()).rejects.toMatchObject({ code: 'WRONG_STATE' });
    expect(starts).toBe(1);
  });

  test('does not start a domain that was removed meanwhile', async () => {
    failures = [ENDED];
    onFailure = () => libvirt.domains.delete(UUID);
    await expect(start()).rejects.toMatchObject({ code: 'WRONG_STATE' });
    expect(starts).toBe(1);
  });

  test('does not repeat a start that failed for another reason', async () => {
    failures = ['error: Failed to start domain\nerror: internal error: process exited while connecting to monitor\n'];
    await expect(start()).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
    expect(starts).toBe(1);
  });
});
