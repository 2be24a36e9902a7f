import { FixedClock } from '@headgate/testing';
import { LibvirtBackend } from '../libvirt-backend.js';
import { LibvirtUnderTest, whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';

const missing = await whyLibvirtIsUnavailable();
const describeWithLibvirt = missing === undefined ? describe : describe.skip;

describeWithLibvirt(
  `cluster and diagnostics of a real libvirt${missing === undefined ? '' : `: skipped, ${missing}`}`,
  () => {
    let libvirt: LibvirtUnderTest;
    let backend: LibvirtBackend;
    beforeEach(async () => {
      libvirt = await LibvirtUnderTest.open();
      backend = libvirt.backend();
    });
    afterEach(() => libvirt?.close());

    test('reports the node, its versions and its storage capabilities', async () => {
      const [node] = await backend.require('cluster').nodes();
      expect(node).toMatchObject({
        ready: true,
        roles: 'hypervisor',
        kubelet: expect.stringMatching(/^libvirt \d.*, QEMU \d/),
        arch: expect.stringMatching(/^\w+$/),
      });
      expect(await backend.require('cluster').storage()).toEqual({
        storageClass: 'headgate',
        canExpand: false,
        canSnapshot: false,
      });
    });

    test('warns about software emulation, creates a missing pool, and passes the other checks', async () => {
      await backend.require('diagnostics').fix();
      const checks = await backend.require('diagnostics').checks();
      const status = Object.fromEntries(checks.map((check) => [check.name, check.status]));
      expect(status).toMatchObject({ libvirt: 'ok', qemu: 'ok', acceleration: 'warning', virtlogd: 'ok' });
      expect(checks.find(({ name }) => name === 'libvirt')?.message).toContain('responds over its RPC protocol');
      expect(status['storage-pool']).not.toBe('error');
      for (const check of checks) expect(check.status === 'ok' || check.remedy !== '').toBe(true);
    });

    test('reports failed checks and does not throw when libvirt is unreachable', async () => {
      const gone = LibvirtBackend.open({
        context: 'gone',
        uri: 'qemu+unix:///system?socket=/nonexistent/libvirt-sock',
        dataDir: libvirt.dataDir,
        clock: new FixedClock(),
        accelerator: () => Promise.resolve('tcg'),
      });
      const checks = await gone.require('diagnostics').checks();
      expect(checks.find(({ name }) => name === 'libvirt')).toMatchObject({
        status: 'error',
        message: expect.stringContaining('libvirtd'),
        fixable: false,
      });
      await gone.close();
    });
  },
);
