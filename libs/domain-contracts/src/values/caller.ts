/** Who asks. Travels with a request into tasks and the audit log. */
export interface Caller {
  /** Login name as the trusted proxy gave it; empty for somebody without an identity. */
  readonly login: string;
  readonly name: string;
  readonly admin: boolean;
}
