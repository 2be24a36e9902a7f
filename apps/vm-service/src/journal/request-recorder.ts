import { Injectable } from '@nestjs/common';
import {
  Audit,
  Clock,
  formatRef,
  InstanceDirectory,
  isScoped,
  type Caller,
  type ErrorCode,
} from '@headgate/domain-contracts';

/** A finished request. */
export interface RecordedRequest {
  readonly method: string;
  /** The pattern of the path. */
  readonly route: string;
  readonly status: number;
  /** Absent when the caller was refused before anyone knew who they are. */
  readonly caller?: Caller;
  readonly address: string;
  readonly code?: ErrorCode;
  readonly message?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly isDryRun: boolean;
}

/**
 * Reads that are recorded even when they succeed: they hand out whole disks, and may create checkpoints, or the journal
 * of all users.
 */
export const RECORDED_READS: readonly string[] = ['/api/vms/:ns/:name/export', '/api/ext/journal/export'];
/**
 * Requests that are no changes, although they are POST: they only return a plan, like those with `dryRun=true`, or are
 * messages of agents, whose changes have entries of their own.
 */
const PREVIEWS: readonly string[] = ['/api/move/preflight', '/api/ext/mcp'];
const ACCEPTED = 202;
/** Refused requests that are recorded per minute. */
const MAX_REFUSED_PER_MINUTE = 60;
const MINUTE_MS = 60_000;

/**
 * Records the requests that no use case has recorded: those that were denied, changes that failed before their use case
 * began, and changes without an entry of their own. A flood of refused requests is counted, and recorded as one entry.
 */
@Injectable()
export class RequestRecorder {
  private windowStartMs = Number.NEGATIVE_INFINITY;
  private refused = 0;
  private suppressed = 0;

  constructor(
    private readonly audit: Audit,
    private readonly clock: Clock,
    private readonly directory: InstanceDirectory,
  ) {}

  /** Never throws: the request was answered already. */
  record(request: RecordedRequest): void {
    const { method, route, status, caller, address } = request;
    if (!this.isRelevant(request)) return;
    const isRefused = status >= 400;
    if (isRefused && !this.mayRecordRefusal()) return;
    const pattern = `${method} ${route}`;
    this.audit.append(caller ?? { login: '', name: '', origin: { address, route: pattern } }, {
      kind: 'request',
      action: pattern,
      route: pattern,
      ref: this.refOf(request),
      outcome: isDenied(request) ? 'denied' : isRefused ? 'error' : 'ok',
      status,
      // Other errors may quote the request.
      message: status === 403 ? (request.message ?? '') : '',
      ...(request.code === undefined ? {} : { code: request.code }),
    });
  }

  private isRelevant(request: RecordedRequest): boolean {
    const { method, route, status, caller, isDryRun } = request;
    if (isDenied(request)) return true;
    if (caller === undefined || isDryRun || PREVIEWS.includes(route)) return false;
    // A task may or may not have written entries by now; the order is recorded in any case.
    if (status !== ACCEPTED && this.audit.hasEntryOf(caller)) return false;
    return method === 'GET' ? RECORDED_READS.includes(route) : method !== 'HEAD';
  }

  /**
   * Counts the refusals beyond the bound, and those for which a full disk has no space but that of changes. Their
   * number is recorded when the next minute begins.
   */
  private mayRecordRefusal(): boolean {
    const now = this.clock.now();
    if (now - this.windowStartMs >= MINUTE_MS) {
      this.windowStartMs = now;
      this.refused = 0;
      if (this.suppressed > 0 && this.audit.hasSpace()) this.recordSuppressed();
    }
    if (++this.refused <= MAX_REFUSED_PER_MINUTE && this.audit.hasSpace()) return true;
    this.suppressed++;
    return false;
  }

  private recordSuppressed(): void {
    const message = `${this.suppressed} more requests were refused and are not listed.`;
    this.suppressed = 0;
    this.audit.append(
      { login: '', name: '' },
      { kind: 'request', action: 'refused requests', ref: '', outcome: 'denied', message },
    );
  }

  /** The ref of the instance in the path, if there is exactly one. */
  private refOf({ route, parameters = {} }: RecordedRequest): string {
    const { ns, name } = parameters;
    if (typeof ns !== 'string' || typeof name !== 'string') return '';
    try {
      const kind = route.includes('/cts/') ? 'ct' : 'vm';
      return formatRef(this.directory.resolve({ kind, namespace: ns, name }).ref);
    } catch {
      return '';
    }
  }
}

/** An instance that a token or a role does not allow to read is 404 for them, whether it exists or not. */
const isDenied = ({ status, caller, code }: RecordedRequest): boolean =>
  status === 403 || (caller !== undefined && isScoped(caller.grant) && code === 'INSTANCE_NOT_FOUND');
