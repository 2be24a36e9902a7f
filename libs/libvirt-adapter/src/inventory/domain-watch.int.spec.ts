import { SystemClock } from '@headgate/domain-contracts';
import { InventoryRecorder, PrivateLibvirtd, stopwatch } from '@headgate/testing';
import { LibvirtBackend } from '../libvirt-backend.js';
import { foreignDomainXml } from '../testing/domain-xml.js';
import { whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { Virsh } from '../virsh/virsh.js';

const missing =
  (await whyLibvirtIsUnavailable()) ??
  (process.getuid?.() === 0 ? undefined : 'only root can start a libvirtd as another user');
const describeWithLibvirt = missing === undefined ? describe : describe.skip;
const timeoutMs = 120_000;

describeWithLibvirt(
  `a libvirtd that stops and comes back${missing === undefined ? '' : `: skipped, ${missing}`}`,
  () => {
    let daemon: PrivateLibvirtd;
    let backend: LibvirtBackend;
    let recorder: InventoryRecorder;

    beforeEach(async () => {
      daemon = await PrivateLibvirtd.create();
      await daemon.start();
      backend = LibvirtBackend.open({
        context: 'local',
        uri: daemon.uri,
        dataDir: '/nonexistent',
        clock: new SystemClock(),
      });
      recorder = InventoryRecorder.over(backend.require('inventory'));
      await recorder.whenListed();
    }, timeoutMs);
    afterEach(async () => {
      await recorder?.stop();
      await backend?.close();
      await daemon?.close();
    }, timeoutMs);

    const ref = { kind: 'vm', context: 'local', namespace: 'local', name: 'hgtest-comes-back' } as const;
    const define = (xml: string): Promise<string> =>
      new Virsh({ uri: daemon.uri }).withXml(xml, (file) => ['define', file]);

    test(
      'has the same VM again when it is defined with its UUID, and another one with another UUID',
      async () => {
        const virsh = new Virsh({ uri: daemon.uri });
        const uidOf = async (uuid: string): Promise<string> => {
          await define(foreignDomainXml({ name: ref.name, uuid }));
          const { uid } = await recorder.untilVm(ref, ({ status }) => status === 'Stopped');
          await virsh.run(['undefine', ref.name]);
          await recorder.until(() => recorder.vm(ref) === undefined);
          return uid;
        };
        const [one, two] = ['7a1f0c52-9d3e-4b61-8f7e-0d1c2b3a4e5f', '0b8c6a1e-54d2-4f3b-9a77-c1e2d3f4a5b6'] as const;
        expect([await uidOf(one), await uidOf(two), await uidOf(one)]).toEqual([one, two, one]);
      },
      timeoutMs,
    );

    test(
      'is reported as lost, and listed again within 5 s of its return',
      async () => {
        await daemon.kill();
        await recorder.until(() => recorder.calls.includes('lost BACKEND_UNREACHABLE'));
        await expect(backend.require('power').apply(ref, 'start')).rejects.toMatchObject({
          code: 'BACKEND_UNREACHABLE',
        });

        await daemon.start();
        await define(foreignDomainXml({ name: ref.name }));
        const untilListed = stopwatch();
        await recorder.untilVm(ref, ({ status }) => status === 'Stopped');
        expect(untilListed()).toBeLessThan(5000);
        expect(recorder.calls.filter((call) => call.startsWith('lost'))).toHaveLength(1);
      },
      timeoutMs,
    );

    test(
      'is reported as lost within 10 s when it hangs, and listed again when it resumes',
      async () => {
        const untilLost = stopwatch();
        daemon.freeze();
        await recorder.until(() => recorder.calls.includes('lost BACKEND_UNREACHABLE'));
        expect(untilLost()).toBeLessThan(10_000);
        const untilListed = stopwatch();
        daemon.thaw();
        await recorder.until(() => recorder.calls.at(-1) === 'listed');
        expect(untilListed()).toBeLessThan(5000);
      },
      timeoutMs,
    );
  },
);
