import type { Readable } from 'node:stream';
import {
  DomainError,
  type Audit,
  type BackendDirectory,
  type Caller,
  type ExportFormat,
  type InstanceDirectory,
  type InstanceQuery,
} from '@headgate/domain-contracts';

/** Each export occupies a processor with compression. */
const MAX_EXPORTS = 4;

export interface ExportRequest {
  readonly query: InstanceQuery;
  readonly format: ExportFormat;
  readonly caller: Caller;
}

/** Exports the boot disk of a stopped VM as a stream, for administrators. */
export class ExportDisk {
  private readonly active = new Set<AbortController>();

  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly audit: Audit,
  ) {}

  /** @throws DomainError the errors that `open` throws before it opens anything */
  async check({ query, format, caller }: ExportRequest): Promise<void> {
    if (!caller.admin) throw new DomainError('NOT_PERMITTED', 'Exporting a disk is for administrators.');
    const { ref } = this.directory.resolve(query);
    await this.backends.get(ref.context).require('diskExport').check(ref, format);
  }

  /**
   * The export ends when the stream is destroyed or when `signal` is aborted.
   * @throws DomainError NOT_PERMITTED, BUSY when too many exports run, and the errors of the backend
   */
  async open(request: ExportRequest, signal: AbortSignal): Promise<Readable> {
    await this.check(request);
    const { query, format, caller } = request;
    const { ref } = this.directory.resolve(query);
    if (this.active.size >= MAX_EXPORTS) {
      throw new DomainError('BUSY', `${MAX_EXPORTS} exports are running: try again when one of them has finished.`);
    }
    const closing = new AbortController();
    this.active.add(closing);
    try {
      const exports = this.backends.get(ref.context).require('diskExport');
      const stream = await this.audit.of(caller, `export disk as ${format}`, ref, () =>
        exports.open(ref, format, AbortSignal.any([signal, closing.signal])),
      );
      const destroy = (): void => void stream.destroy();
      closing.signal.addEventListener('abort', destroy, { once: true });
      stream.once('close', () => this.active.delete(closing));
      return stream;
    } catch (error) {
      this.active.delete(closing);
      throw error;
    }
  }

  /** Ends the exports that are running. */
  close(): void {
    for (const closing of this.active) closing.abort(new Error('The service is shutting down.'));
  }
}
