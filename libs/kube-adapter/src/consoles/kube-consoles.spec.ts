import type { KubevirtVersion } from '@headgate/kubevirt-sandbox';
import { readUntil } from '@headgate/testing';
import { SandboxHarness } from '../testing/sandbox-harness.contract.js';

describe('a screen that is opened for a picture', () => {
  let harness: SandboxHarness | undefined;
  afterEach(async () => {
    await harness?.close();
    harness = undefined;
  });

  test.each<[KubevirtVersion, string]>([
    ['1.9', 'BUSY'],
    ['1.7', 'BUSY'],
    ['1.5', 'NOT_SUPPORTED'],
  ])('keeps the session of another program on KubeVirt %s: %s', async (kubevirtVersion, code) => {
    harness = await SandboxHarness.open({ simulation: { kubevirtVersion } });
    const consoles = harness.backend.require('consoles');
    const ref = await harness.givenVm('Running');
    const other = await consoles.openVnc(ref);
    expect(await readUntil(other, /\n/)).toMatch(/^RFB 003\./);
    await expect(consoles.openVnc(ref, { keepOthers: true })).rejects.toMatchObject({ code });
    expect(other.destroyed).toBe(false);
    other.destroy();
  });

  test('is opened while no other program has it', async () => {
    harness = await SandboxHarness.open();
    const ref = await harness.givenVm('Running');
    const stream = await harness.backend.require('consoles').openVnc(ref, { keepOthers: true });
    expect(await readUntil(stream, /\n/)).toMatch(/^RFB 003\./);
    stream.destroy();
  });
});
