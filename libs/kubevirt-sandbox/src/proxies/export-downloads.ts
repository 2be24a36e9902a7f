import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { pipeline } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import type { SubresourceResponse } from '@headgate/kube-sandbox';
import { RESOURCES } from '../resources.js';
import type { PersistentVolumeClaim, Secret } from '../types/core-kinds.js';
import type { VmExport, VmSnapshot, VmSnapshotContent } from '../types/kubevirt-kinds.js';
import type { SimulationContext } from '../simulation-context.js';
import type { DiskContent } from './disk-content.js';
import type { DiskContents } from './disk-contents.js';

const TOKEN_HEADER = 'x-kubevirt-export-token';
const PATH = /^\/volumes\/([^/]+)\/disk\.img(\.gz)?$/;
const RANGE = /^bytes=(\d+)-(\d*)$/;

export interface DownloadRequest {
  method: string;
  namespace: string;
  exportName: string;
  /** `/volumes/<claim>/disk.img.gz` */
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
}

/** The server of the exporter pod: the disks of an export, for clients with its token. */
export class ExportDownloads {
  constructor(
    private readonly context: SimulationContext,
    private readonly contents: DiskContents,
  ) {}

  answer({ method, namespace, exportName, path, query, headers }: DownloadRequest): SubresourceResponse {
    const vmExport = this.context.find<VmExport>(RESOURCES.export, namespace, exportName);
    if (!vmExport) return { code: 404, body: `VirtualMachineExport "${exportName}" not found\n` };
    if (vmExport.status?.phase !== 'Ready') return { code: 503, body: 'export is not ready\n' };
    const offered = headers[TOKEN_HEADER] ?? query.get(TOKEN_HEADER);
    if (!this.isToken(vmExport, offered)) return { code: 401 };
    const [, volume, gzip] = PATH.exec(path) ?? [];
    const offers = vmExport.status.links?.internal?.volumes ?? [];
    if (!volume || !offers.some(({ name }) => name === volume)) return { code: 404, body: '404 page not found\n' };
    const claim = this.diskOf(vmExport, volume);
    if (!claim) return { code: 404, body: '404 page not found\n' };
    const content = this.contents.of(claim);
    if (!gzip) return rawResponse(content, headers.range);
    if (method !== 'GET') return { code: 400 };
    const packed = createGzip({ level: constants.Z_BEST_SPEED });
    // The client receives the error of either stream, and each is destroyed with the other.
    pipeline(content.read(), packed, () => undefined);
    return { code: 200, body: packed, headers: { 'Content-Type': 'application/gzip' } };
  }

  /**
   * The claim with the bytes of a volume. In a snapshot they are those of the volume's snapshot, also when the claim is
   * gone.
   */
  private diskOf({ metadata: { namespace }, spec }: VmExport, volume: string): PersistentVolumeClaim | undefined {
    if (spec.source.kind !== 'VirtualMachineSnapshot')
      return this.context.find<PersistentVolumeClaim>(RESOURCES.claim, namespace, volume);
    const snapshot = this.context.find<VmSnapshot>(RESOURCES.snapshot, namespace, spec.source.name);
    const contentName = snapshot?.status?.virtualMachineSnapshotContentName ?? '';
    const content = this.context.find<VmSnapshotContent>(RESOURCES.snapshotContent, namespace, contentName);
    const backup = content?.spec.volumeBackups?.find(
      ({ persistentVolumeClaim }) => persistentVolumeClaim.metadata.name === volume,
    );
    if (!backup) return undefined;
    const { persistentVolumeClaim: claim, volumeSnapshotName = '' } = backup;
    const uid = this.context.find(RESOURCES.volumeSnapshot, namespace, volumeSnapshotName)?.metadata.uid;
    return { ...claim, metadata: { ...claim.metadata, namespace, uid } };
  }

  private isToken({ metadata, status }: VmExport, offered: string | string[] | null | undefined): boolean {
    const secret = this.context.find<Secret>(RESOURCES.secret, metadata.namespace, status?.tokenSecretRef ?? '');
    const wanted = Buffer.from(secret?.data?.token ?? '', 'base64');
    const given = Buffer.from(typeof offered === 'string' ? offered : '');
    return wanted.length > 0 && wanted.length === given.length && timingSafeEqual(wanted, given);
  }
}

function rawResponse(content: DiskContent, range: string | undefined): SubresourceResponse {
  const { size } = content;
  const headers = { 'Content-Type': 'application/octet-stream', 'Accept-Ranges': 'bytes' };
  const [, from, to] = RANGE.exec(range ?? '') ?? [];
  if (from === undefined)
    return { code: 200, body: content.read(), headers: { ...headers, 'Content-Length': String(size) } };
  const [start, end] = [Number(from), Math.min(to ? Number(to) + 1 : size, size)];
  if (start >= end) return { code: 416, headers: { 'Content-Range': `bytes */${size}` } };
  return {
    code: 206,
    body: content.read(start, end),
    headers: {
      ...headers,
      'Content-Length': String(end - start),
      'Content-Range': `bytes ${start}-${end - 1}/${size}`,
    },
  };
}
