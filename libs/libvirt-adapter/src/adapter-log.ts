/** What the adapter tells its operator. A pino logger fits. Bound to its context already. Never given a secret. */
export interface AdapterLog {
  info(data: object, message: string): void;
  warn(data: object, message: string): void;
}

export const SILENT_LOG: AdapterLog = { info: () => undefined, warn: () => undefined };
