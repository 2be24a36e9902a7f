import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import type { DiskExport, InstanceRef } from '@headgate/domain-contracts';
import { NAMESPACE, SandboxHarness } from '../testing/sandbox-harness.contract.js';

const never = new AbortController().signal;

describe('the export of a disk of a cluster', () => {
  let harness: SandboxHarness;
  let exports: DiskExport;
  let vm: InstanceRef;

  beforeEach(async () => {
    harness = await SandboxHarness.open();
    exports = harness.backend.require('diskExport');
    vm = await harness.givenVmWithDisk();
  });
  afterEach(() => harness.close());

  const listed = (resource: string) => harness.sandbox.store.list(resource, { namespace: NAMESPACE });
  const offers = () => listed('virtualmachineexports.export.kubevirt.io');
  const closed = (stream: { once(event: 'close', listener: () => void): unknown }) =>
    new Promise<void>((resolve) => stream.once('close', resolve));

  test('has an export object and a Secret of its own, which end with the stream', async () => {
    const stream = await exports.open(vm, 'raw.gz', never);
    const [offer, ...others] = offers();
    expect(others).toEqual([]);
    expect(offer).toMatchObject({
      metadata: { labels: { 'svc.dev/vm': vm.name } },
      spec: { source: { kind: 'PersistentVolumeClaim' }, ttlDuration: '12h' },
    });
    const secrets = listed('secrets').filter(({ metadata }) => metadata.name === offer?.metadata.name);
    expect(secrets[0]?.metadata.ownerReferences).toEqual([expect.objectContaining({ uid: offer?.metadata.uid })]);
    const end = closed(stream);
    await buffer(stream);
    await end;
    expect(offers()).toEqual([]);
  });

  test('ends when the reader leaves halfway, and removes nothing else', async () => {
    const other = await harness.givenVmWithDisk();
    const kept = await exports.open(other, 'raw.gz', never);
    const stream = await exports.open(vm, 'raw.gz', never);
    const end = closed(stream);
    stream.on('error', () => undefined).destroy();
    await end;
    expect(offers().map(({ metadata }) => metadata.labels?.['svc.dev/vm'])).toEqual([other.name]);
    const claims = listed('persistentvolumeclaims').length;
    const endOfOther = closed(kept);
    kept.on('error', () => undefined).destroy();
    await endOfOther;
    expect([offers().length, listed('persistentvolumeclaims').length]).toEqual([0, claims]);
  });

  test('that is canceled before it is ready leaves nothing behind', async () => {
    const gone = new AbortController();
    harness.sandbox.store.subscribe('virtualmachineexports.export.kubevirt.io', ({ type }) => {
      if (type === 'ADDED') gone.abort(new Error('The client has left.'));
    });
    await expect(exports.open(vm, 'raw.gz', gone.signal)).rejects.toThrow('The client has left.');
    expect(offers()).toEqual([]);
  });

  test('is removed with its VM', async () => {
    const stream = await exports.open(vm, 'raw.gz', never);
    const failed = once(
      stream.on('error', () => undefined),
      'close',
    );
    await harness.backend.require('provisioning').delete(vm);
    expect(offers()).toEqual([]);
    stream.destroy();
    await failed;
  });

  test('is refused for a container disk, whose content is an image of a registry', async () => {
    const volatile = await harness.givenVm('Stopped');
    await expect(exports.check(volatile, 'raw.gz')).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
      message: expect.stringContaining('not a volume'),
    });
  });
});

describe('a cluster without exports', () => {
  test('says which feature gate is missing', async () => {
    const harness = await SandboxHarness.open({
      simulation: { kubevirtVersion: '1.8', cluster: { featureGates: [] } },
    });
    const vm = await harness.givenVmWithDisk();
    await expect(harness.backend.require('diskExport').check(vm, 'raw.gz')).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
      message: expect.stringContaining('VMExport'),
    });
    await harness.close();
  });
});
