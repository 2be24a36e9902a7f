/** The caller of a request, who is recorded in tasks and in the audit log. */
export interface Caller {
  /** Login name from the trusted proxy; empty for a caller without an identity. */
  readonly login: string;
  readonly name: string;
  readonly admin: boolean;
}
