export interface CallOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}
