import { plainText } from './plain-text.js';

/**
 * Stable codes of all failures. Clients may match on them; the application maps them to HTTP statuses.
 */
export const ERROR_CODES = [
  // invalid requests
  'INVALID_INPUT',
  'INVALID_NAME',
  'INVALID_QUANTITY',
  'INVALID_REF',
  'INVALID_SOURCE',
  'UNKNOWN_ACTION',
  'UNKNOWN_CATALOG_ENTRY',
  'INVALID_PLUGIN',
  'REJECTED_BY_BACKEND',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'REQUEST_TIMEOUT',
  'EXPECTATION_FAILED',
  'HEADERS_TOO_LARGE',
  // identity and origin
  'LOGIN_REQUIRED',
  'LOGIN_FAILED',
  'TOO_MANY_LOGINS',
  'NOT_PERMITTED',
  'FOREIGN_ORIGIN',
  'UNKNOWN_HOST',
  // missing objects
  'PATH_NOT_FOUND',
  'INSTANCE_NOT_FOUND',
  'CONTEXT_NOT_FOUND',
  'NODE_NOT_FOUND',
  'VOLUME_NOT_FOUND',
  'DEVICE_NOT_FOUND',
  'TASK_NOT_FOUND',
  'FOLDER_NOT_FOUND',
  'SOURCE_NOT_FOUND',
  'SNAPSHOT_NOT_FOUND',
  'CHECKPOINT_NOT_FOUND',
  'IMAGE_NOT_FOUND',
  'PLUGIN_NOT_FOUND',
  'TOKEN_NOT_FOUND',
  'ROLE_NOT_FOUND',
  'SESSION_NOT_FOUND',
  'ACCOUNT_NOT_FOUND',
  'PASSKEY_NOT_FOUND',
  'SSH_KEY_NOT_FOUND',
  'VIEW_NOT_FOUND',
  'SCHEDULE_NOT_FOUND',
  'MESSAGE_CHANNEL_NOT_FOUND',
  'MESSAGE_RULE_NOT_FOUND',
  'REHEARSAL_NOT_FOUND',
  'APPROVAL_NOT_FOUND',
  'ADDED_CONTEXT_NOT_FOUND',
  'WEBHOOK_NOT_FOUND',
  'BACKUP_TARGET_NOT_FOUND',
  'BACKUP_POINT_NOT_FOUND',
  'PROOF_NOT_FOUND',
  'FILE_NOT_FOUND',
  'FILE_SESSION_NOT_FOUND',
  'CHECK_NOT_FOUND',
  // conflicts
  'ALREADY_EXISTS',
  'AMBIGUOUS_INSTANCE',
  'AMBIGUOUS_IMAGE',
  'WRONG_STATE',
  'BUSY',
  'CONFLICT',
  'CHECKPOINT_INCONSISTENT',
  'MOVE_REFUSED',
  'PLAN_CHANGED',
  'BUDGET_EXHAUSTED',
  // idempotency keys
  'KEY_REUSED',
  'KEY_IN_USE',
  'ANSWER_UNKNOWN',
  'TOO_MANY_KEYS',
  // event streams
  'TOO_MANY_STREAMS',
  // backends
  'NOT_SUPPORTED',
  'BACKEND_FAILED',
  'BACKEND_UNREACHABLE',
  'BACKEND_FORBIDDEN',
  'BACKEND_TIMEOUT',
  'GUEST_AGENT_UNREACHABLE',
  'INSUFFICIENT_STORAGE',
  // this service
  'PLUGIN_FAILED',
  'NOT_READY',
  'SHUTTING_DOWN',
  'REGISTRY_FULL',
  'INTERNAL',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export interface DomainErrorOptions extends ErrorOptions {
  /** Data that helps a client to act, such as the candidates of an ambiguous name. Never a secret. */
  readonly details?: unknown;
}

/**
 * A failure with a stable code. The message is one sentence for people: it names the field or the object and the
 * correct form. It may quote texts from outside, and is plain text in any case.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly details: unknown;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: DomainErrorOptions = {},
  ) {
    super(plainText(message), options);
    this.details = options.details;
  }

  static is(error: unknown, ...codes: ErrorCode[]): error is DomainError {
    return error instanceof DomainError && (codes.length === 0 || codes.includes(error.code));
  }
}

/** The message of any thrown value as plain text, for logs, tasks and results per member. */
export const messageOf = (error: unknown): string => plainText(error instanceof Error ? error.message : String(error));
