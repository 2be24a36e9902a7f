import { gunzipSync, gzipSync } from 'node:zlib';
import { listeningCluster } from '../testing/listening-cluster.js';

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

  test('an export waits while the VM runs', async () => {
    cluster.simulation.seedVm({ name: 'web', status: 'Running' });
    await cluster.call('POST', EXPORTS, anExport('e1'));
    cluster.clock.advance(60_000);
    expect(await read('e1')).toMatchObject({
      status: {
        phase: 'Pending',
        conditions: [{ type: 'Ready', reason: 'InUse', message: 'Virtual Machine tailvm/web is running' }, {}],
      },
    });
  });

  test('an upload fills a DataVolume, and an export returns its bytes', async () => {
    const volumes = '/apis/cdi.kubevirt.io/v1beta1/namespaces/tailvm/datavolumes';
    await cluster.call('POST', volumes, {
      apiVersion: 'cdi.kubevirt.io/v1beta1',
      kind: 'DataVolume',
      metadata: { name: 'up' },
      spec: { source: { upload: {} }, storage: { resources: { requests: { storage: '1Gi' } } } },
    });
    cluster.clock.advance(20_000);
    expect((await cluster.call('GET', `${volumes}/up`)).json).toMatchObject({ status: { phase: 'UploadReady' } });
    const request = await cluster.call(
      'POST',
      '/apis/upload.cdi.kubevirt.io/v1beta1/namespaces/tailvm/uploadtokenrequests',
      {
        apiVersion: 'upload.cdi.kubevirt.io/v1beta1',
        kind: 'UploadTokenRequest',
        metadata: { name: 'up' },
        spec: { pvcName: 'up' },
      },
    );
    const { token } = request.json?.['status'] as unknown as { token: string };
    const config = await cluster.call('GET', '/apis/cdi.kubevirt.io/v1beta1/cdiconfigs/config');
    const { uploadProxyURL } = config.json?.['status'] as unknown as { uploadProxyURL: string };
    const body = gzipSync(Buffer.from('disk of mine'));
    const refused = await fetch(`${uploadProxyURL}/v1beta1/upload`, {
      method: 'POST',
      body,
      headers: { Authorization: 'Bearer x' },
    });
    expect(refused.status).toBe(401);
    const sent = await fetch(`${uploadProxyURL}/v1beta1/upload`, {
      method: 'POST',
      body,
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(sent.status).toBe(200);
    expect((await cluster.call('GET', `${volumes}/up`)).json).toMatchObject({
      status: { phase: 'Succeeded', progress: '100.0%' },
    });
    await cluster.call('POST', EXPORTS, {
      ...anExport('e2'),
      spec: { source: { apiGroup: '', kind: 'PersistentVolumeClaim', name: 'up' } },
    });
    const offer = await ready('e2');
    const url = offer.status.links!.external.volumes[0]!.formats[0]!.url;
    const out = await fetch(url, { headers: { 'x-kubevirt-export-token': await tokenOf(offer) } });
    expect(await out.text()).toBe('disk of mine');
  });
});
