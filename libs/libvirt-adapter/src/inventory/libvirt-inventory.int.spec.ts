import { InventoryRecorder, readUntil } from '@headgate/testing';
import { foreignDomainXml } from '../testing/domain-xml.js';
import { LibvirtUnderTest, whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';

const missing = await whyLibvirtIsUnavailable();
const describeWithLibvirt = missing === undefined ? describe : describe.skip;

describeWithLibvirt(`a foreign domain on libvirt${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let libvirt: LibvirtUnderTest;
  beforeEach(async () => void (libvirt = await LibvirtUnderTest.open()));
  afterEach(() => libvirt?.close());

  test('is listed, watched and operated like any other', async () => {
    const backend = libvirt.backend();
    const recorder = InventoryRecorder.over(backend.require('inventory'));
    await recorder.whenListed();
    const ref = libvirt.refOf(libvirt.freshName());
    await libvirt.define(foreignDomainXml({ name: ref.name }));
    const vm = await recorder.untilVm(ref, ({ status }) => status === 'Stopped');
    expect(vm).toMatchObject({ cpu: 1, memoryBytes: 128 * 1024 ** 2, tags: [], isTemplate: false, diskBytes: 0 });

    const power = backend.require('power');
    await power.apply(ref, 'start');
    await recorder.untilVm(ref, ({ status, node }) => status === 'Running' && node !== undefined);
    const vnc = await backend.require('consoles').openVnc(ref);
    expect(await readUntil(vnc, /\n/)).toMatch(/^RFB 003\.008/);
    vnc.destroy();
    const { stream } = await backend.require('consoles').openSerial(ref);
    await power.apply(ref, 'restart', { force: true });
    stream.destroy();
    await recorder.untilVm(ref, ({ status }) => status === 'Running');
    await power.apply(ref, 'pause');
    await recorder.untilVm(ref, ({ status }) => status === 'Paused');
    await power.apply(ref, 'unpause');
    await power.apply(ref, 'stop');
    await recorder.untilVm(ref, ({ status }) => status === 'Stopping');
    await power.apply(ref, 'stop', { force: true });
    await recorder.untilVm(ref, ({ status }) => status === 'Stopped');
    await recorder.stop();
  });
});
