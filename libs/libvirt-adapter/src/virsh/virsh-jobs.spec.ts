import { FakeLibvirt } from '../testing/fake-libvirt.js';
import { UUID } from '../testing/domain-xml.js';

describe('VirshJobs', () => {
  let libvirt: FakeLibvirt;

  beforeEach(() => {
    libvirt = new FakeLibvirt();
  });

  const jobs = () => libvirt.connection().jobs;
  const fail = (command: string, message: string): void =>
    void libvirt.scripted.set(command, { code: 1, stderr: `error: Requested operation is not valid: ${message}\n` });

  test('reports whether a domain has a job', async () => {
    libvirt.scripted.set('domjobinfo', { stdout: 'Job type:         None        \n' });
    expect(await jobs().current(UUID)).toBeUndefined();
    libvirt.scripted.set('domjobinfo', { stdout: 'Job type:         Unbounded   \nTime elapsed:     5  ms\n' });
    expect(await jobs().current(UUID)).toEqual({ fraction: null });
  });

  test('a domain that is not running has none, and one without a job can be asked to end it', async () => {
    fail('domjobinfo', 'domain is not running');
    expect(await jobs().current(UUID)).toBeUndefined();
    fail('domjobabort', 'no job is active on the domain');
    await jobs().abort(UUID);
  });

  test('reports a libvirt that does not answer', async () => {
    const stopped =
      "error: failed to connect to the hypervisor\nerror: Failed to connect socket to '/x/libvirt-sock': No such file";
    for (const command of ['domjobinfo', 'domjobabort']) libvirt.scripted.set(command, { code: 1, stderr: stopped });
    await expect(jobs().current(UUID)).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    await expect(jobs().abort(UUID)).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
  });
});

test('a migration through virsh alone is refused with the reason', async () => {
  await expect(new FakeLibvirt().connection().migrations.open()).rejects.toMatchObject({
    code: 'NOT_SUPPORTED',
    message: expect.stringMatching(/RPC protocol/),
  });
});
