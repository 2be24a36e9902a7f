import type { Readable } from 'node:stream';
import {
  DomainError,
  isIncremental,
  withAbility,
  workOn,
  type BackupRequest,
  type Caller,
  type ExportFormat,
  type InstanceQuery,
  type InstanceRef,
  type Reservation,
} from '@headgate/domain-contracts';
import { findChangeable } from './find-changeable.js';
import type { InstanceChangeDeps } from './instance-change.js';

/** Each export occupies a processor with compression. */
const MAX_EXPORTS = 4;

export interface ExportRequest {
  readonly query: InstanceQuery;
  /** The disk of a stopped VM in a format, or the disk of a running VM with a checkpoint. */
  readonly wanted: ExportFormat | BackupRequest;
  readonly caller: Caller;
}

interface Export {
  check(): Promise<void>;
  open(signal: AbortSignal): Promise<Readable>;
}

/** Exports the boot disk of a VM as a stream. */
export class ExportDisk {
  private readonly active = new Set<AbortController>();

  constructor(private readonly deps: InstanceChangeDeps) {}

  /** @throws DomainError the errors that `open` throws before it opens anything */
  async check(request: ExportRequest): Promise<void> {
    await this.expectPossible(request);
  }

  /**
   * The export ends when the stream is destroyed or when `signal` is aborted.
   * @throws DomainError BUSY when too many exports run, and the errors of the backend
   */
  async open(request: ExportRequest, signal: AbortSignal): Promise<Readable> {
    const { ref, of, work } = await this.expectPossible(request);
    if (this.active.size >= MAX_EXPORTS) {
      throw new DomainError('BUSY', `${MAX_EXPORTS} exports are running: try again when one of them has finished.`);
    }
    const closing = new AbortController();
    this.active.add(closing);
    let reservation: Reservation | undefined;
    const end = (): void => {
      this.active.delete(closing);
      reservation?.release();
    };
    try {
      reservation = await this.deps.reservations.acquire(work);
      // The VM may have been started or deleted while the request waited.
      findChangeable(this.deps.directory, request.query);
      await of.check();
      const stream = await this.deps.audit.of(request.caller, describe(request.wanted), ref, () =>
        of.open(AbortSignal.any([signal, closing.signal])),
      );
      const destroy = (): void => void stream.destroy();
      closing.signal.addEventListener('abort', destroy, { once: true });
      // The disk is not read any more at the end; the backend may remove its exporter only later.
      stream.once('end', end).once('close', end);
      return stream;
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Ends the exports that are running. */
  close(): void {
    for (const closing of this.active) closing.abort(new Error('The service is shutting down.'));
  }

  private async expectPossible(request: ExportRequest) {
    const { ref, of } = this.prepare(request);
    const work = workOn(typeof request.wanted === 'string' ? 'export' : 'export-running', ref);
    await this.deps.reservations.orBusy(work, () => of.check());
    return { ref, of, work };
  }

  private prepare({ query, wanted }: ExportRequest): { readonly ref: InstanceRef; readonly of: Export } {
    const vm = findChangeable(this.deps.directory, query);
    const { ref } = vm;
    if (typeof wanted === 'string') {
      const { ability } = withAbility(this.deps.backends, vm, 'diskExport');
      const check = () => ability.check(ref, wanted);
      return { ref, of: { check, open: (signal) => ability.open(ref, wanted, signal) } };
    }
    const { ability } = withAbility(this.deps.backends, vm, 'backups');
    const check = () => ability.check(ref, wanted);
    return { ref, of: { check, open: (signal) => ability.open(ref, wanted, signal) } };
  }
}

/** The audit entry of an export. */
function describe(wanted: ExportFormat | BackupRequest): string {
  if (typeof wanted === 'string') return `export disk as ${wanted}`;
  const started = wanted.checkpoint === undefined ? '' : ` and create checkpoint ${wanted.checkpoint}`;
  return isIncremental(wanted)
    ? `export changes since checkpoint ${wanted.since}${started}`
    : `export disk as ${wanted.format}${started}`;
}
