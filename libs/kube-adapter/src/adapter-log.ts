/** Where the adapter tells what it handles by itself. Fits pino, bound to the context already. Never gets a secret. */
export interface AdapterLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export const SILENT: AdapterLog = { debug: () => undefined, info: () => undefined, warn: () => undefined };
