import { access } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { ImageRef, ImportedImages } from '@headgate/domain-contracts';
import { recordingReporter } from '@headgate/testing';
import { NAMESPACE, SandboxHarness, type SandboxHarnessOptions } from '../testing/sandbox-harness.contract.js';

const GIB = 1024 ** 3;
const DATA_VOLUMES = 'datavolumes.cdi.kubevirt.io';
const CDI_CONFIGS = 'cdiconfigs.cdi.kubevirt.io';
const CONTENT = 'the bytes of an uploaded disk';

describe('uploads into a cluster', () => {
  let harness: SandboxHarness;
  let images: ImportedImages;
  let proxy: Server | undefined;

  const open = async (options: SandboxHarnessOptions = {}): Promise<void> => {
    harness = await SandboxHarness.open({ uploads: true, ...options });
    images = harness.backend.require('images');
  };
  afterEach(async () => {
    await harness.close();
    proxy?.closeAllConnections();
    proxy?.close();
    proxy = undefined;
  });

  /** Replaces the upload proxy of the cluster. */
  const openWithProxy = async (listener: RequestListener): Promise<void> => {
    proxy = createServer(listener);
    await new Promise<void>((resolve) => proxy?.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    await open({ backend: { uploadProxy: { url } } });
  };
  const freshRef = (): ImageRef => {
    const { context, namespace, name } = harness.freshRef();
    return { context, namespace, name };
  };
  const stored = ({ namespace, name }: ImageRef) => harness.sandbox.store.get(DATA_VOLUMES, { namespace, name });
  const begin = async (ref = freshRef(), content = CONTENT) => {
    const file = await harness.givenFile(content);
    return { ref, file, work: await images.import({ ref, bytes: GIB, origin: { kind: 'upload', file } }) };
  };
  const only = async () => (await images.list())[0];

  test('fill a DataVolume through the upload proxy, and VMs get its bytes', async () => {
    await open();
    const { ref, file, work } = await begin();
    const report = recordingReporter();
    await work(report);
    expect(stored(ref)).toMatchObject({
      spec: { source: { upload: {} } },
      metadata: { labels: { 'svc.dev/kind': 'image' } },
    });
    expect(await only()).toMatchObject({ ref, phase: 'Succeeded', progress: 1, source: 'upload' });
    expect([report.steps, report.fractions.at(-1)]).toEqual([['prepare', 'upload'], 1]);
    // The caller owns the file.
    await access(file);
    const vm = harness.freshRef();
    const entry = { name: ref.name, description: '', containerDisk: '', defaultUser: '', imported: true } as const;
    const size = { cpu: 1, memoryBytes: GIB, diskBytes: GIB };
    const created = await harness.backend
      .require('provisioning')
      .create({ ref: vm, ...size, start: false, source: { kind: 'image', entry } });
    await created.remaining?.(recordingReporter());
    await harness.becomes(vm, 'Stopped');
    const disk = await harness.backend.require('diskExport').open(vm, 'raw.gz', new AbortController().signal);
    expect(gunzipSync(await buffer(disk)).toString()).toBe(CONTENT);
  });

  test('wait until the upload server is ready', async () => {
    await open();
    const ref = freshRef();
    const release = harness.holdImport(ref);
    const { work } = await begin(ref);
    const report = recordingReporter();
    const done = work(report);
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if ((stored(ref) as { status?: { phase?: string } } | undefined)?.status?.phase === 'UploadScheduled')
          resolve();
      };
      harness.sandbox.store.subscribe(DATA_VOLUMES, look);
      look();
    });
    expect(report.steps).toEqual(['prepare']);
    release();
    await done;
    expect((await only())?.phase).toBe('Succeeded');
  });

  test('that fail stay in the list with the reason, until they are deleted', async () => {
    await openWithProxy((request, response) => {
      request.resume();
      response.writeHead(413).end('<h1>413 Request Entity Too Large</h1>');
    });
    const { ref, work } = await begin();
    await expect(work(recordingReporter())).rejects.toMatchObject({ code: 'REJECTED_BY_BACKEND' });
    expect(await only()).toMatchObject({ ref, phase: 'Failed', reason: expect.stringContaining('limits the size') });
    await images.delete(ref);
    expect([await only(), stored(ref)]).toEqual([undefined, undefined]);
  });

  test('end when the image is deleted', async () => {
    let isOpen = false;
    const ended = new Promise<void>((resolve) => {
      void openWithProxy((request) => {
        isOpen = true;
        request.resume();
        request.once('close', resolve);
      }).then(async () => {
        const { ref, work } = await begin(freshRef(), 'x'.repeat(1024 ** 2));
        const failure = expect(work(recordingReporter())).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
        while (!isOpen) await new Promise((next) => setImmediate(next));
        await images.delete(ref);
        await failure;
      });
    });
    await ended;
    expect(await images.list()).toEqual([]);
  });

  test('of a killed service are listed with the remedy', async () => {
    await open();
    harness.sandbox.store.create(DATA_VOLUMES, {
      apiVersion: 'cdi.kubevirt.io/v1beta1',
      kind: 'DataVolume',
      metadata: {
        name: 'left',
        namespace: NAMESPACE,
        labels: { 'svc.dev/kind': 'image' },
        annotations: { 'cdi.kubevirt.io/storage.bind.immediate.requested': 'true' },
      },
      spec: { source: { upload: {} }, storage: { resources: { requests: { storage: '1Gi' } } } },
    } as never);
    while ((await only())?.phase !== 'UploadReady') await new Promise((next) => setImmediate(next));
    expect((await only())?.reason).toMatch(/delete the image and upload the file again/);
  });

  test('refuse archives, which CDI would store as if they were disks', async () => {
    await open();
    const ref = freshRef();
    await expect(begin(ref, `${'a'.repeat(257)}ustar`)).rejects.toMatchObject({
      code: 'INVALID_SOURCE',
      message: expect.stringContaining('OVA'),
    });
    expect(stored(ref)).toBeUndefined();
  });

  test('are refused by the plan when no upload proxy is known', async () => {
    await open();
    harness.sandbox.store.patch(CDI_CONFIGS, { name: 'config' }, (draft: object) => {
      Object.assign(draft, { status: {} });
    });
    const plan = await images.planImport({ ref: freshRef(), bytes: GIB, origin: { kind: 'upload' } });
    expect(plan.refusals).toEqual([
      expect.objectContaining({ code: 'NOT_SUPPORTED', remedy: expect.stringContaining('uploadProxy') }),
    ]);
  });

  test('are planned without creating anything', async () => {
    await open();
    const ref = freshRef();
    const plan = await images.planImport({ ref, bytes: GIB, origin: { kind: 'upload' } });
    expect([plan.steps.map(({ name }) => name), plan.refusals]).toEqual([['create', 'upload'], []]);
    expect(stored(ref)).toBeUndefined();
  });
});
