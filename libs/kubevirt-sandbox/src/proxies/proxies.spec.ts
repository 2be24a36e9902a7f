import { request, type ClientRequest } from 'node:http';
import { gunzipSync, gzipSync } from 'node:zlib';
import { listeningCluster } from '../testing/listening-cluster.js';
import { buildVirtualMachine } from '../testing/simulated-cluster.js';

const EXPORTS = '/apis/export.kubevirt.io/v1/namespaces/tailvm/virtualmachineexports';
type Cluster = Awaited<ReturnType<typeof listeningCluster>>;
interface Offer {
  status: {
    phase: string;
    tokenSecretRef: string;
    conditions: object[];
    links?: { external: { volumes: { name: string; formats: { format: string; url: string }[] }[] } };
  };
}

describe('disks that leave and enter the cluster', () => {
  let cluster: Cluster;

  beforeEach(async () => {
    cluster = await listeningCluster();
  });

  afterEach(() => cluster.close());

  const anExport = (name: string) => ({
    apiVersion: 'export.kubevirt.io/v1',
    kind: 'VirtualMachineExport',
    metadata: { name },
    spec: { source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'web' } },
  });

  async function read(name: string): Promise<Offer> {
    return (await cluster.call('GET', `${EXPORTS}/${name}`)).json as unknown as Offer;
  }

  /** The proxy's port opens in real time; everything else uses the driven clock. */
  async function ready(name: string): Promise<Offer> {
    for (;;) {
      cluster.clock.advance(1_000);
      const offer = await read(name);
      if (offer.status?.phase === 'Ready') return offer;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function tokenOf({ status }: Offer): Promise<string> {
    const secret = await cluster.call('GET', `/api/v1/namespaces/tailvm/secrets/${status.tokenSecretRef}`);
    const { token } = secret.json?.['data'] as unknown as { token: string };
    return Buffer.from(token, 'base64').toString();
  }

  test('an export of a stopped VM serves its disk, raw and compressed, to clients with the token', async () => {
    cluster.simulation.seedVm({ name: 'web', status: 'Stopped' });
    await cluster.call('POST', EXPORTS, anExport('e1'));
    const offer = await ready('e1');
    const headers = { 'x-kubevirt-export-token': await tokenOf(offer) };
    const [raw, gzip] = offer.status.links!.external.volumes[0]!.formats.map(({ url }) => url);
    const image = Buffer.from(await (await fetch(raw!, { headers })).arrayBuffer());
    const packed = Buffer.from(await (await fetch(gzip!, { headers })).arrayBuffer());
    expect(gunzipSync(packed).equals(image)).toBe(true);
    expect(image.readUInt16LE(510)).toBe(0xaa55);
    expect((await fetch(raw!)).status).toBe(401);
    const range = await fetch(raw!, { headers: { ...headers, Range: 'bytes=512-525' } });
    expect([range.status, await range.text()]).toEqual([206, 'simulated disk']);
    const service = `/api/v1/namespaces/tailvm/services/https:virt-export-e1:443/proxy/volumes/web-root/disk.img`;
    expect((await cluster.call('GET', service, undefined, headers)).status).toBe(200);
  });

  test('an export of a VM that does not exist is skipped without a token, until it does', async () => {
    await cluster.call('POST', EXPORTS, anExport('e1'));
    cluster.clock.advance(60_000);
    const { status } = await read('e1');
    expect(status).toMatchObject({
      phase: 'Skipped',
      serviceName: 'virt-export-e1',
      virtualMachineName: 'web',
      conditions: [{ type: 'Ready', reason: 'VMNotFound', message: 'Virtual Machine tailvm/web not found' }, {}],
    });
    expect(status).not.toHaveProperty('tokenSecretRef');
    expect((await cluster.call('GET', '/api/v1/namespaces/tailvm/secrets')).json).toMatchObject({ items: [] });
    cluster.simulation.seedVm({ name: 'web', status: 'Stopped' });
    cluster.sandbox.store.patch('virtualmachines.kubevirt.io', { namespace: 'tailvm', name: 'web' }, ({ metadata }) => {
      metadata.labels = { ...metadata.labels, changed: 'true' };
    });
    expect((await ready('e1')).status.tokenSecretRef).toBe('export-token-e1');
  });

  test('an export with a token of its client keeps that', async () => {
    cluster.simulation.seedVm({ name: 'web', status: 'Stopped' });
    const wanted = anExport('e1');
    await cluster.call('POST', EXPORTS, { ...wanted, spec: { ...wanted.spec, tokenSecretRef: 'mine' } });
    expect((await ready('e1')).status.tokenSecretRef).toBe('mine');
    expect((await cluster.call('GET', '/api/v1/namespaces/tailvm/secrets')).json).toMatchObject({ items: [] });
  });

  test('an export waits while the VM runs', async () => {
    cluster.simulation.seedVm({ name: 'web', status: 'Running' });
    await cluster.call('POST', EXPORTS, anExport('e1'));
    cluster.clock.advance(60_000);
    const { status } = await read('e1');
    expect(status).not.toHaveProperty('tokenSecretRef');
    expect({ status }).toMatchObject({
      status: {
        phase: 'Pending',
        conditions: [{ type: 'Ready', reason: 'InUse', message: 'Virtual Machine tailvm/web is running' }, {}],
      },
    });
  });

  const VOLUMES = '/apis/cdi.kubevirt.io/v1beta1/namespaces/tailvm/datavolumes';

  const createVolume = (name: string, source: object, storage = '1Gi') =>
    cluster.call('POST', VOLUMES, {
      apiVersion: 'cdi.kubevirt.io/v1beta1',
      kind: 'DataVolume',
      metadata: { name },
      spec: { source, storage: { resources: { requests: { storage } } } },
    });

  /** The address of the upload proxy, and a token for a claim. */
  async function permission(name: string): Promise<{ url: string; token: string }> {
    const request = await cluster.call(
      'POST',
      '/apis/upload.cdi.kubevirt.io/v1beta1/namespaces/tailvm/uploadtokenrequests',
      {
        apiVersion: 'upload.cdi.kubevirt.io/v1beta1',
        kind: 'UploadTokenRequest',
        metadata: { name },
        spec: { pvcName: name },
      },
    );
    const { token } = request.json?.['status'] as unknown as { token: string };
    const config = await cluster.call('GET', '/apis/cdi.kubevirt.io/v1beta1/cdiconfigs/config');
    const { uploadProxyURL } = config.json?.['status'] as unknown as { uploadProxyURL: string };
    return { url: `${uploadProxyURL}/v1beta1/upload`, token };
  }

  /** Sends bytes to the upload proxy. @returns the status of the response */
  async function upload(name: string, body: Buffer, givenToken?: string): Promise<number> {
    const { url, token } = await permission(name);
    const headers = { Authorization: `Bearer ${givenToken ?? token}` };
    return (await fetch(url, { method: 'POST', body, headers })).status;
  }

  const phaseOf = async (name: string): Promise<unknown> =>
    ((await cluster.call('GET', `${VOLUMES}/${name}`)).json?.['status'] as unknown as { phase: string }).phase;

  /** An upload of more than a socket buffers, whose end is left to the test, once the proxy receives it. */
  async function unfinishedUpload(name: string): Promise<{ sent: ClientRequest; status: Promise<number | string> }> {
    const { url, token } = await permission(name);
    const sent = request(url, { method: 'POST', headers: { Authorization: `Bearer ${token}` } });
    const status = new Promise<number | string>((resolve) => {
      sent.on('response', (response) => resolve(response.resume().statusCode ?? 0));
      sent.on('error', ({ code = '' }: NodeJS.ErrnoException) => resolve(code));
    });
    const bytes = Buffer.alloc(32 * 1024 * 1024, 'first ');
    await new Promise<void>((resolve) => sent.write(bytes, () => resolve()));
    return { sent, status };
  }

  /** The first bytes of a claim, or of the first disk of another source, through an export of its own. */
  async function exported(
    name: string,
    source: object = { apiGroup: '', kind: 'PersistentVolumeClaim', name },
  ): Promise<string> {
    const exportName = `of-${name}`;
    await cluster.call('POST', EXPORTS, { ...anExport(exportName), spec: { source } });
    const offer = await ready(exportName);
    const url = offer.status.links!.external.volumes[0]!.formats[0]!.url;
    const out = await fetch(url, { headers: { 'x-kubevirt-export-token': await tokenOf(offer) } });
    return (await out.text()).slice(0, 100);
  }

  test('an upload fills a DataVolume, and an export returns its bytes', async () => {
    await createVolume('up', { upload: {} });
    cluster.clock.advance(20_000);
    expect((await cluster.call('GET', `${VOLUMES}/up`)).json).toMatchObject({ status: { phase: 'UploadReady' } });
    const body = gzipSync(Buffer.from('disk of mine'));
    expect(await upload('up', body, 'x')).toBe(401);
    expect(await upload('up', body)).toBe(200);
    expect((await cluster.call('GET', `${VOLUMES}/up`)).json).toMatchObject({
      status: { phase: 'Succeeded', progress: '100.0%' },
    });
    expect(await exported('up')).toBe('disk of mine');
  });

  test('a second upload is refused while the first one goes on', async () => {
    await createVolume('up', { upload: {} });
    cluster.clock.advance(20_000);
    const { sent, status } = await unfinishedUpload('up');
    expect(await upload('up', Buffer.from('second'))).toBe(503);
    sent.end('last');
    expect(await status).toBe(200);
    expect(await exported('up')).toMatch(/^first first /);
    expect(await upload('up', Buffer.from('third'))).toBe(503);
  });

  test('an upload that is canceled changes nothing, and another one may follow', async () => {
    await createVolume('up', { upload: {} });
    cluster.clock.advance(20_000);
    const { sent, status } = await unfinishedUpload('up');
    sent.destroy();
    expect(await status).toBe('ECONNRESET');
    // The proxy refuses it until it has noticed the end of the first one.
    while ((await upload('up', Buffer.from('disk of mine'))) === 503) await new Promise(setImmediate);
    expect(await phaseOf('up')).toBe('Succeeded');
    expect(await exported('up')).toBe('disk of mine');
  });

  test('the deletion of a DataVolume ends its upload, and its token is of no use for another one', async () => {
    await createVolume('up', { upload: {} });
    cluster.clock.advance(20_000);
    const { token } = await permission('up');
    const { status } = await unfinishedUpload('up');
    await cluster.call('DELETE', `${VOLUMES}/up`);
    cluster.clock.advance(60_000);
    expect(['ECONNRESET', 'EPIPE']).toContain(await status);
    await createVolume('other', { upload: {} });
    cluster.clock.advance(20_000);
    expect(await upload('other', Buffer.from('disk of mine'), token)).toBe(503);
    expect(await phaseOf('other')).toBe('UploadReady');
  });

  test('an image that exceeds its volume is refused with the words of CDI', async () => {
    await createVolume('up', { upload: {} }, '8Mi');
    cluster.clock.advance(20_000);
    const { url, token } = await permission('up');
    const body = gzipSync(Buffer.alloc(8 * 1024 ** 2 + 1), { level: 1 });
    const answer = await fetch(url, { method: 'POST', body, headers: { Authorization: `Bearer ${token}` } });
    expect([answer.status, await answer.text()]).toEqual([
      400,
      'Saving stream failed: effective image size is larger than the reported available storage: Virtual image size is larger than the reported available storage 8388608. A larger PVC is required.',
    ]);
    expect(await phaseOf('up')).toBe('UploadReady');
  });

  test('copies, snapshots and restores of an uploaded disk have its bytes, also when the original is gone', async () => {
    await createVolume('up', { upload: {} });
    cluster.clock.advance(20_000);
    expect(await upload('up', Buffer.from('disk of mine'))).toBe(200);
    await createVolume('copy', { pvc: { namespace: 'tailvm', name: 'up' } });
    await cluster.call('POST', '/apis/snapshot.storage.k8s.io/v1/namespaces/tailvm/volumesnapshots', {
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshot',
      metadata: { name: 'snap' },
      spec: { source: { persistentVolumeClaimName: 'up' } },
    });
    cluster.clock.advance(60_000);
    expect((await cluster.call('GET', `${VOLUMES}/copy`)).json).toMatchObject({ status: { phase: 'Succeeded' } });
    await cluster.call('DELETE', `${VOLUMES}/up`);
    cluster.clock.advance(60_000);
    await createVolume('restored', { snapshot: { namespace: 'tailvm', name: 'snap' } });
    await createVolume('blank', { blank: {} });
    cluster.clock.advance(60_000);
    for (const name of ['copy', 'restored'] as const) expect(await exported(name)).toBe('disk of mine');
    expect(await exported('blank')).not.toContain('disk of mine');
  });

  test('an export of a snapshot has the bytes of that time, also after the VM and its disk are deleted', async () => {
    await createVolume('web-root', { upload: {} });
    cluster.clock.advance(20_000);
    expect(await upload('web-root', Buffer.from('disk of mine'))).toBe(200);
    const vm = buildVirtualMachine('web', { runStrategy: 'Halted' });
    vm.spec.template.spec.volumes = [{ name: 'root', dataVolume: { name: 'web-root' } }];
    await cluster.call('POST', cluster.vms, vm);
    cluster.clock.advance(10_000);
    await cluster.call('POST', '/apis/snapshot.kubevirt.io/v1beta1/namespaces/tailvm/virtualmachinesnapshots', {
      apiVersion: 'snapshot.kubevirt.io/v1beta1',
      kind: 'VirtualMachineSnapshot',
      metadata: { name: 's1' },
      spec: { source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'web' } },
    });
    cluster.clock.advance(30_000);
    await cluster.call('DELETE', `${cluster.vms}/web`);
    await cluster.call('DELETE', `${VOLUMES}/web-root`);
    cluster.clock.advance(60_000);
    expect(cluster.sandbox.store.get('persistentvolumeclaims', { namespace: 'tailvm', name: 'web-root' })).toBe(
      undefined,
    );
    const source = { apiGroup: 'snapshot.kubevirt.io', kind: 'VirtualMachineSnapshot', name: 's1' };
    expect(await exported('s1', source)).toBe('disk of mine');
  });
});
