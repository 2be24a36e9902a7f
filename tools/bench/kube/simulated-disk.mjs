import { createCipheriv, createHash } from 'node:crypto';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGzip } from 'node:zlib';

const CHUNK_BYTES = 1024 ** 2;
const POLL_MS = 100;
const NAME = 'moved';
const NAMESPACE = 'default';
const DATA_VOLUMES = `/apis/cdi.kubevirt.io/v1beta1/namespaces/${NAMESPACE}/datavolumes`;
const EXPORTS = `/apis/export.kubevirt.io/v1/namespaces/${NAMESPACE}/virtualmachineexports`;

/** A disk whose first bytes can't be compressed, and whose other bytes are zeros. */
export function* sparseDisk(bytes, filledBytes) {
  const noise = createCipheriv('aes-128-ctr', Buffer.alloc(16, 1), Buffer.alloc(16));
  const zeros = Buffer.alloc(CHUNK_BYTES);
  for (let offset = 0; offset < bytes; offset += CHUNK_BYTES) yield offset < filledBytes ? noise.update(zeros) : zeros;
}

export async function hashOf(content) {
  const hash = createHash('sha256');
  for await (const chunk of content) hash.update(chunk);
  return hash.digest('hex');
}

/** Fills a new DataVolume of a sandbox with an iterable of bytes, or with a stream that is compressed already. */
export async function uploadDisk(server, bytes, content) {
  const storage = { resources: { requests: { storage: String(bytes) } } };
  await send(server, 'POST', DATA_VOLUMES, {
    apiVersion: 'cdi.kubevirt.io/v1beta1',
    kind: 'DataVolume',
    metadata: { name: NAME },
    spec: { source: { upload: {} }, storage },
  });
  await until(server, `${DATA_VOLUMES}/${NAME}`, ({ status }) => status?.phase === 'UploadReady');
  const { status } = await send(
    server,
    'POST',
    `/apis/upload.cdi.kubevirt.io/v1beta1/namespaces/${NAMESPACE}/uploadtokenrequests`,
    {
      apiVersion: 'upload.cdi.kubevirt.io/v1beta1',
      kind: 'UploadTokenRequest',
      metadata: { name: NAME },
      spec: { pvcName: NAME },
    },
  );
  const config = await send(server, 'GET', '/apis/cdi.kubevirt.io/v1beta1/cdiconfigs/config');
  const headers = { Authorization: `Bearer ${status.token}` };
  const upload = request(`${config.status.uploadProxyURL}/v1beta1/upload`, { method: 'POST', headers });
  const answer = new Promise((resolve, reject) => upload.on('response', resolve).on('error', reject));
  if (content instanceof Readable) await pipeline(content, upload);
  else await pipeline(Readable.from(content), createGzip({ level: 1 }), upload);
  const { statusCode } = (await answer).resume();
  if (statusCode !== 200) throw new Error(`the upload was answered with ${statusCode}`);
  await until(server, `${DATA_VOLUMES}/${NAME}`, ({ status: { phase } }) => phase === 'Succeeded');
}

/** The stream of the disk that was uploaded, `raw` or compressed with `gzip`. */
export async function downloadDisk(server, format) {
  await send(server, 'POST', EXPORTS, {
    apiVersion: 'export.kubevirt.io/v1',
    kind: 'VirtualMachineExport',
    metadata: { name: NAME },
    spec: { source: { apiGroup: '', kind: 'PersistentVolumeClaim', name: NAME } },
  });
  const ready = await until(server, `${EXPORTS}/${NAME}`, ({ status }) => status?.phase === 'Ready');
  const secret = await send(server, 'GET', `/api/v1/namespaces/${NAMESPACE}/secrets/${ready.status.tokenSecretRef}`);
  const token = Buffer.from(secret.data.token, 'base64').toString();
  const [{ formats }] = ready.status.links.external.volumes;
  const { url } = formats.find((offered) => offered.format === format);
  return new Promise((resolve, reject) =>
    request(url, { headers: { 'x-kubevirt-export-token': token } }, resolve)
      .on('error', reject)
      .end(),
  );
}

async function send(server, method, path, body) {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(server + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
  return response.json();
}

async function until(server, path, isMet) {
  for (;;) {
    const object = await send(server, 'GET', path);
    if (isMet(object)) return object;
    await sleep(POLL_MS);
  }
}
