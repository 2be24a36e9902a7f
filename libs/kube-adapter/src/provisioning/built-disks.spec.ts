import { access } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { VmSpec } from '@headgate/domain-contracts';
import { recordingReporter } from '@headgate/testing';
import { SandboxHarness, type SandboxHarnessOptions } from '../testing/sandbox-harness.contract.js';

const GIB = 1024 ** 3;
const CONTENT = 'the bytes of a disk that was built';
const OWN_ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch;

describe('VMs from disks of bootc images', () => {
  let harness: SandboxHarness;
  let proxy: Server | undefined;

  const open = async (options: SandboxHarnessOptions = {}): Promise<void> => {
    harness = await SandboxHarness.open({ uploads: true, ...options });
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
    await open({ backend: { uploadProxy: { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` } } });
  };
  const provisioning = () => harness.backend.require('provisioning');
  const specOf = async (overrides: Partial<VmSpec> = {}): Promise<VmSpec> => ({
    ref: harness.freshRef(),
    cpu: 1,
    memoryBytes: GIB,
    diskBytes: GIB,
    start: false,
    source: { kind: 'bootc', image: 'registry.example.org/os:1', disk: await harness.givenFile(CONTENT) },
    ...overrides,
  });
  const dataVolumes = () => harness.sandbox.store.list('datavolumes.cdi.kubevirt.io');

  test('get the bytes of the disk through the upload proxy, with all other fields of the request', async () => {
    await open();
    const spec = await specOf({ cloudInit: '#cloud-config\nhostname: built\n' });
    expect(provisioning().sources().bootc).toBe(true);
    expect((await provisioning().planCreate(spec)).refusals).toEqual([]);
    const { remaining } = await provisioning().create(spec);
    await remaining?.(recordingReporter());
    await harness.becomes(spec.ref, 'Stopped');
    const disk = await harness.backend.require('diskExport').open(spec.ref, 'raw.gz', new AbortController().signal);
    expect(gunzipSync(await buffer(disk)).toString()).toBe(CONTENT);
    expect(JSON.stringify(await provisioning().planDelete(spec.ref))).toContain('DataVolume');
    const manifest = await harness.backend.require('inventory').manifest(spec.ref, { masked: false });
    expect(JSON.stringify(manifest)).toContain('hostname: built');
    // The caller owns the file.
    await access(spec.source.kind === 'bootc' ? (spec.source.disk ?? '') : '');
  });

  test('start when their disk is ready', async () => {
    await open();
    const spec = await specOf({ start: true });
    await (await provisioning().create(spec)).remaining?.(recordingReporter());
    await harness.becomes(spec.ref, 'Running');
  });

  test('are removed with their disk when the upload fails', async () => {
    await openWithProxy((request, response) => {
      request.resume();
      response.writeHead(413).end();
    });
    const spec = await specOf();
    const { remaining } = await provisioning().create(spec);
    await expect(remaining?.(recordingReporter())).rejects.toMatchObject({ code: 'REJECTED_BY_BACKEND' });
    await harness.recorder.until(() => harness.recorder.vm(spec.ref) === undefined);
    expect(dataVolumes()).toEqual([]);
  });

  test('are removed with their disk when the task is canceled', async () => {
    const abort = new AbortController();
    await openWithProxy(() => abort.abort(new Error('canceled')));
    const spec = await specOf();
    const { remaining } = await provisioning().create(spec);
    await expect(remaining?.({ ...recordingReporter(), signal: abort.signal })).rejects.toThrow();
    await harness.recorder.until(() => harness.recorder.vm(spec.ref) === undefined);
    expect(dataVolumes()).toEqual([]);
  });

  test('are refused without a disk, and where CDI accepts no uploads', async () => {
    await open();
    const spec = await specOf({ source: { kind: 'bootc', image: 'registry.example.org/os:1' } });
    await expect(provisioning().create(spec)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
    expect(harness.recorder.vm(spec.ref)).toBeUndefined();
    await harness.close();
    await open({ simulation: { without: ['cdi', 'snapshots'] } });
    expect(provisioning().sources().bootc).toMatch(/CDI/);
    await expect(provisioning().create(await specOf())).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
  });

  test('are refused on nodes of another architecture', async () => {
    await open();
    const [node] = harness.sandbox.store.list('nodes');
    const name = node?.metadata.name ?? '';
    const other = OWN_ARCHITECTURE === 'amd64' ? 'arm64' : 'amd64';
    harness.sandbox.store.patch('nodes', { name }, (draft: object) => {
      Object.assign((draft as { status: { nodeInfo: object } }).status.nodeInfo, { architecture: other });
    });
    const { refusals } = await provisioning().planCreate(await specOf({ node: name }));
    expect(refusals).toMatchObject([{ code: 'NOT_SUPPORTED', reason: expect.stringContaining(other) as string }]);
  });
});
