import { DomainError, type ErrorCode } from '@headgate/domain-contracts';

/** An error of the server, as it was sent. */
export interface ServerFailure {
  /** The HTTP status, or 400 for an operation that failed. */
  readonly status: number;
  readonly text: string;
}

/** A DomainError that keeps the failure of the server, for the few callers that have to inspect it. */
export class IncusError extends DomainError {
  constructor(
    code: ErrorCode,
    message: string,
    readonly failure: ServerFailure,
  ) {
    super(code, message);
  }

  static has(error: unknown, pattern: RegExp): error is IncusError {
    return error instanceof IncusError && pattern.test(error.failure.text);
  }
}

interface Rule {
  readonly pattern: RegExp;
  readonly code: ErrorCode;
  /** What to do, after the message of the server. */
  readonly remedy?: string;
}

/** Messages of Incus 6.0 and LXD 5.0, the most specific first: most failures have no status of their own. */
const RULES: readonly Rule[] = [
  {
    // The second is how a read fails while the instance stops, the last one how LXD refuses a change that has waited
    // for another one.
    pattern:
      /is busy running|Invalid PID|currently being used|operation is already running|matching (non-reusable )?operation/i,
    code: 'BUSY',
    remedy: 'Try again in a moment.',
  },
  {
    pattern: /no space left on device|disk quota exceeded|not enough (free )?space/i,
    code: 'INSUFFICIENT_STORAGE',
    remedy: 'Free space in the storage pool, or choose another one.',
  },
  {
    pattern: /Image not provided|image.*(not found|couldn't be found|doesn't exist)|No matching image/i,
    code: 'IMAGE_NOT_FOUND',
    remedy: 'Name an alias or a fingerprint of an image of the server.',
  },
  {
    pattern: /Failed getting remote image|Failed getting image|Failed parsing stream/i,
    code: 'BACKEND_FAILED',
    remedy: 'Check that the server of the context can reach the image server.',
  },
  {
    pattern: /Instance_?Snapshot not found|^Snapshot (not found|\S+ does not exist)/i,
    code: 'SNAPSHOT_NOT_FOUND',
  },
  {
    pattern: /Instance not found/i,
    code: 'INSTANCE_NOT_FOUND',
  },
  {
    pattern: /Project not found/i,
    code: 'INVALID_INPUT',
    remedy: 'Name an existing project as the namespace.',
  },
  {
    pattern: /Storage (pool|volume|pool volume) not found/i,
    code: 'VOLUME_NOT_FOUND',
  },
  {
    pattern: /already exists|UNIQUE constraint|already in use/i,
    code: 'ALREADY_EXISTS',
    remedy: 'Choose another name.',
  },
  {
    pattern: /Instance is protected|protection.delete/i,
    code: 'WRONG_STATE',
    remedy: 'Unset security.protection.delete first.',
  },
  {
    pattern:
      /Reached maximum (number|aggregate value)|limits? .*exceeded|exceed(s|ing)? .*limit|Project limits|is forbidden/i,
    code: 'REJECTED_BY_BACKEND',
    remedy: 'The limits and restrictions of the project decide that; ask its administrator.',
  },
  {
    // How cgroups of version 1 refuse a limit below the use.
    pattern: /setting cgroup item for the container failed/i,
    code: 'WRONG_STATE',
    remedy: 'It may use more memory than the new limit: change it with a restart.',
  },
  {
    pattern:
      /already (running|stopped|frozen)|is not running|not frozen|is running|isn't running|used by running instances/i,
    code: 'WRONG_STATE',
  },
];

const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'REJECTED_BY_BACKEND',
  409: 'CONFLICT',
  412: 'CONFLICT',
  501: 'NOT_SUPPORTED',
  503: 'BACKEND_UNREACHABLE',
};

/** The only place that knows messages of Incus and LXD. */
export function translateFailure(context: string, failure: ServerFailure): IncusError {
  const { status, text } = failure;
  if (status === 401 || status === 403) return new IncusError('BACKEND_FORBIDDEN', forbidden(context, text), failure);
  const rule = RULES.find(({ pattern }) => pattern.test(text));
  const code = rule?.code ?? BY_STATUS[status] ?? 'BACKEND_FAILED';
  const sentence = `${context}: ${text.trim().replace(/\.$/, '')}.`;
  return new IncusError(code, rule?.remedy === undefined ? sentence : `${sentence} ${rule.remedy}`, failure);
}

const forbidden = (context: string, text: string): string =>
  `${context}: the server refuses this service (${text.trim() || 'not authorized'}); trust its certificate with \`incus config trust add\`, or allow the certificate the project.`;
