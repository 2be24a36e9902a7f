import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { DomainError, type Clock, type ImageRef, type Refusal, type TaskReporter } from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import { KubeApiError } from '../api/kube-api-error.js';
import type { KubeObject } from '../api/kube-object.js';
import { CDI_CONFIGS, UPLOAD_TOKENS } from '../api/resources.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import { sendToUploadProxy, type ProxyAddress } from './upload-proxy.js';

export interface ImageUploadsDeps {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly discovery: Pick<ClusterDiscovery, 'facts'>;
  /** The configured address; absent: the one that CDI reports. */
  readonly uploadProxy?: UploadProxyOptions;
}

export interface UploadProxyOptions {
  readonly url?: string;
  /** Certificate authorities that are accepted besides the well-known ones, in PEM. */
  readonly ca?: string;
}

interface CdiConfigObject extends KubeObject {
  readonly status?: { readonly uploadProxyURL?: string; readonly uploadProxyCA?: string };
}

interface UploadTokenObject extends KubeObject {
  readonly status?: { readonly token?: string };
}

const NO_PROXY = 'CDI reports no address of its upload proxy.';
const NO_PROXY_REMEDY = 'Set uploadProxy of the context to a URL of the Service cdi-uploadproxy.';
/** The header of a tar archive. An OVA is one. */
const TAR_MAGIC = 'ustar';
const TAR_MAGIC_OFFSET = 257;

/** Sends files to the upload servers that CDI starts for DataVolumes. */
export class ImageUploads {
  constructor(private readonly deps: ImageUploadsDeps) {}

  async refusals(): Promise<Refusal[]> {
    const facts = await this.deps.discovery.facts();
    if (!facts.serves(UPLOAD_TOKENS.apiVersion)) {
      const reason = 'The CDI of this cluster accepts no uploads: its API upload.cdi.kubevirt.io is not served.';
      return [{ code: 'NOT_SUPPORTED', reason, remedy: 'Repair CDI, or set url.' }];
    }
    if (await this.address()) return [];
    return [{ code: 'NOT_SUPPORTED', reason: NO_PROXY, remedy: NO_PROXY_REMEDY }];
  }

  /** CDI would store an archive as if it were a disk. @throws DomainError INVALID_SOURCE */
  async check(file: string): Promise<void> {
    const handle = await open(file);
    try {
      const { buffer } = await handle.read(Buffer.alloc(TAR_MAGIC.length), 0, TAR_MAGIC.length, TAR_MAGIC_OFFSET);
      if (buffer.toString('latin1') !== TAR_MAGIC) return;
    } finally {
      await handle.close();
    }
    throw new DomainError(
      'INVALID_SOURCE',
      'The file is a tar archive, such as an OVA, which CDI does not read: upload the disk that it contains.',
    );
  }

  /** The DataVolume must be ready for the upload. */
  async send(
    ref: ImageRef,
    file: string,
    { report, signal }: { report: TaskReporter; signal: AbortSignal },
  ): Promise<void> {
    const proxy = await this.proxyAddress();
    const { size: bytes } = await stat(file);
    report.step('upload');
    await sendToUploadProxy(this.deps.clock, {
      proxy,
      bytes,
      signal,
      open: () => createReadStream(file),
      requestToken: () => this.requestToken(ref),
      onBytes: (sent) => report.progress(sent / bytes),
    });
    report.log(`The cluster has received the file of ${ref.name}.`);
  }

  /** A token for the upload into the claim of a DataVolume. */
  async requestToken({ namespace, name }: Pick<ImageRef, 'namespace' | 'name'>): Promise<string> {
    const request = { metadata: { namespace, name }, spec: { pvcName: name } } as KubeObject;
    const { status } = await this.deps.api.create<UploadTokenObject>(UPLOAD_TOKENS, request);
    if (!status?.token) throw new DomainError('BACKEND_FAILED', 'CDI returned no token for the upload.');
    return status.token;
  }

  /** @throws DomainError NOT_SUPPORTED */
  async proxyAddress(): Promise<ProxyAddress> {
    const address = await this.address();
    if (!address) throw new DomainError('NOT_SUPPORTED', `${NO_PROXY} ${NO_PROXY_REMEDY}`);
    return address;
  }

  /** CDI reports a host without a scheme. */
  private async address(): Promise<ProxyAddress | undefined> {
    const { api, uploadProxy } = this.deps;
    const { url: text, ca } =
      uploadProxy?.url === undefined ? await readConfig(api) : { url: uploadProxy.url, ca: undefined };
    const url = text && parseAddress(text);
    return url ? { url, ca: uploadProxy?.ca ?? ca } : undefined;
  }
}

async function readConfig(api: KubeApi): Promise<{ url?: string; ca?: string }> {
  try {
    const config = await api.find<CdiConfigObject>(CDI_CONFIGS, { name: 'config' });
    return { url: config?.status?.uploadProxyURL, ca: config?.status?.uploadProxyCA || undefined };
  } catch (error) {
    if (KubeApiError.has(error, 404)) return {};
    throw error;
  }
}

function parseAddress(text: string): URL | undefined {
  const url = /^https?:\/\//.test(text) ? text : `https://${text}`;
  return URL.canParse(url) ? new URL(url) : undefined;
}
