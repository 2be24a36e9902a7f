/**
 * Reports problems that a library handled on its own. The message is constant, variable data goes into the
 * fields, and secrets into neither. The caller binds it to a context; a pino logger fits.
 */
export abstract class Log {
  abstract info(fields: object, message: string): void;
  abstract warn(fields: object, message: string): void;
}

/** For programs that use a library without a log. */
export const SILENT_LOG: Log = { info: () => undefined, warn: () => undefined };
