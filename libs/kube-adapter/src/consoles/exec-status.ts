import { DomainError, plainText } from '@headgate/domain-contracts';

/** A longer report is not read. Those of Kubernetes have a few hundred bytes. */
const MAX_REPORT_BYTES = 16_384;
/** How much of a report that is not a Status is shown. */
const MAX_QUOTED_CHARS = 200;
const NORMAL_CLOSURE = 1000;
const NO_CLOSE_CODE = 1005;

/**
 * The prefix of every InternalError, and the request of the API server to the kubelet: its query is the whole command.
 */
const NOISE = /^Internal error occurred: |\b(?:Get|Post) "[^"]*": /g;

/** How a session in a pod ended. */
export interface ExecOutcome {
  /** Absent when the program ended, with any exit code. */
  readonly failure?: DomainError;
  /** Absent when the server did not report it. */
  readonly exitCode?: number;
}

interface Status {
  readonly status: 'Success' | 'Failure';
  readonly message?: unknown;
  readonly reason?: unknown;
  readonly details?: { readonly causes?: unknown };
}

/**
 * The report at the end of a session in a pod. The API server accepts a session before it reaches the kubelet, so this
 * is also how a session fails that could not begin. Source: Kubernetes' remotecommand, v4 and v5; a report is a Status
 * in JSON.
 */
export class ExecStatus {
  private readonly parts: Buffer[] = [];
  private length = 0;

  /** @param subject the process, in errors */
  constructor(private readonly subject: string) {}

  /** @returns the outcome as soon as the report is complete, or too long */
  add(part: Buffer): ExecOutcome | undefined {
    this.length += part.length;
    if (this.length > MAX_REPORT_BYTES) return this.failed(` with a report of more than ${MAX_REPORT_BYTES} bytes.`);
    this.parts.push(part);
    // Many small frames are not parsed again each time.
    if (!part.includes('}')) return undefined;
    const status = parse(this.text);
    return status && this.outcomeOf(status);
  }

  /** The outcome of a session whose connection was closed before a Status was complete. */
  afterClose(code: number): ExecOutcome {
    if (this.length > 0)
      return this.failed(` with a report that can't be read: ${plainText(this.text, MAX_QUOTED_CHARS)}`);
    if (code === NORMAL_CLOSURE || code === NO_CLOSE_CODE) return {};
    const message = `The connection to the ${this.subject} was cut (close code ${code}).`;
    return { failure: new DomainError('BACKEND_FAILED', message) };
  }

  private outcomeOf({ status, message, reason, details }: Status): ExecOutcome {
    if (status === 'Success') return { exitCode: 0 };
    if (reason === 'NonZeroExitCode') return exitCodeIn(details?.causes);
    const text = typeof message === 'string' ? message.replace(NOISE, '').trim() : '';
    return this.failed(`: ${text || 'it gave no reason'}`);
  }

  private failed(how: string): ExecOutcome {
    return { failure: new DomainError('BACKEND_FAILED', `The cluster ended the ${this.subject}${how}`) };
  }

  private get text(): string {
    return Buffer.concat(this.parts).toString();
  }
}

function parse(text: string): Status | undefined {
  try {
    const value = JSON.parse(text) as Status | null;
    return value?.status === 'Success' || value?.status === 'Failure' ? value : undefined;
  } catch {
    return undefined;
  }
}

function exitCodeIn(causes: unknown): ExecOutcome {
  if (!Array.isArray(causes)) return {};
  const cause = (causes as ({ reason?: unknown; message?: unknown } | null)[]).find(
    (one) => one?.reason === 'ExitCode',
  );
  const exitCode = typeof cause?.message === 'string' ? Number.parseInt(cause.message, 10) : Number.NaN;
  return Number.isNaN(exitCode) ? {} : { exitCode };
}
