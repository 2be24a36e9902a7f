import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import type { SubresourceResponse } from '@headgate/kube-sandbox';
import { RESOURCES } from '../resources.js';
import type { PersistentVolumeClaim } from '../types/core-kinds.js';
import type { DataVolume } from '../types/data-volume.js';
import type { SimulationContext } from '../simulation-context.js';
import type { DiskContents } from './disk-contents.js';
import { ImageTooLarge } from './disk-upload.js';
import type { ExportDownloads } from './export-downloads.js';
import type { UploadTokens } from './upload-tokens.js';

const EXPORT_PATH =
  /^\/api\/export\.kubevirt\.io\/(?:v1|v1beta1|v1alpha1)\/namespaces\/([^/]+)\/virtualmachineexports\/([^/]+)(\/.*)$/;
const UPLOAD_PATHS = ['/v1beta1/upload', '/v1beta1/upload-async', '/v1alpha1/upload'];

/**
 * The two proxies that a real cluster has next to its API server, virt-exportproxy and cdi-uploadproxy, on a port of
 * their own. It opens with the first export or upload, and speaks plain HTTP.
 */
export class ProxyServer {
  private server: Server | undefined;
  private address: string | undefined;

  constructor(
    private readonly context: SimulationContext,
    private readonly downloads: ExportDownloads,
    private readonly tokens: UploadTokens,
    private readonly contents: DiskContents,
    private readonly completeUpload: (key: { namespace: string; name: string }) => void,
  ) {}

  /** `http://127.0.0.1:41234` once the port is open; then `opened` is called. */
  url(opened: () => void): string | undefined {
    if (this.address || this.server) return this.address;
    this.server = createServer((request, response) => void this.handle(request, response)).unref();
    this.server.listen(0, '127.0.0.1', () => {
      this.address = `http://127.0.0.1:${(this.server!.address() as AddressInfo).port}`;
      opened();
    });
    return undefined;
  }

  close(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://proxy');
    const { method = 'GET', headers } = request;
    const [, namespace, exportName, path] = EXPORT_PATH.exec(pathname) ?? [];
    const answer =
      namespace && exportName && path
        ? this.downloads.answer({ method, namespace, exportName, path, query, headers })
        : UPLOAD_PATHS.includes(pathname)
          ? await this.upload(request)
          : { code: pathname.startsWith('/api/export') ? 400 : 404 };
    send(response, method, answer);
  }

  /** A refusal does not wait for the body. */
  private async upload(request: IncomingMessage): Promise<SubresourceResponse> {
    const [scheme, token = ''] = (request.headers.authorization ?? '').split(' ');
    if (scheme !== 'Bearer') return { code: 400 };
    const key = this.tokens.claimOf(token);
    if (!key) return { code: 401 };
    const dataVolume = this.context.store.get<DataVolume>(RESOURCES.dataVolume, key);
    if (dataVolume?.status?.phase !== 'UploadReady') return { code: 503 };
    const claim = this.context.store.get<PersistentVolumeClaim>(RESOURCES.claim, key);
    if (!claim || this.contents.isReceiving(claim)) return { code: 503 };
    try {
      await this.contents.receive(claim, request);
    } catch (error) {
      return uploadFailure(error);
    }
    this.completeUpload(key);
    return { code: 200 };
  }
}

/**
 * The answers of CDI's upload server. Source: https://github.com/kubevirt/containerized-data-importer pkg/uploadserver
 */
function uploadFailure(error: unknown): SubresourceResponse {
  const { message } = error as Error;
  const isTooLarge = error instanceof ImageTooLarge;
  const why = isTooLarge ? `effective image size is larger than the reported available storage: ${message}` : message;
  return { code: isTooLarge ? 400 : 500, body: `Saving stream failed: ${why}` };
}

function send(response: ServerResponse, method: string, { code, body, headers = {} }: SubresourceResponse): void {
  if (body instanceof Readable) {
    response.writeHead(code, headers);
    if (method !== 'HEAD') return void pipeline(body, response, () => undefined);
    body.destroy();
    return void response.end();
  }
  const data = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : '');
  response.writeHead(code, { ...headers, 'Content-Length': data.length });
  response.end(method === 'HEAD' ? undefined : data);
}
