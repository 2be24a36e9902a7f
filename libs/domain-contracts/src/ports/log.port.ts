/**
 * Where a library tells the operator what it handled by itself. The message is constant, what differs goes into the
 * fields, and a secret into neither. Bound to its context by whoever hands it over; a pino logger fits.
 */
export abstract class Log {
  abstract info(fields: object, message: string): void;
  abstract warn(fields: object, message: string): void;
}

/** For whoever embeds a library and keeps no log. */
export const SILENT_LOG: Log = { info: () => undefined, warn: () => undefined };
