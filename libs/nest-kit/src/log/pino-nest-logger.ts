import type { LoggerService } from '@nestjs/common';
import type { Logger } from 'pino';

/** Writes Nest's own messages through pino, so that a process logs in one format. */
export class PinoNestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.logger.debug(this.fields(rest), String(message));
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.logger.debug(this.fields(rest), String(message));
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.logger.trace(this.fields(rest), String(message));
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.logger.warn(this.fields(rest), String(message));
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.logger.error(this.fields(rest), String(message));
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.logger.fatal(this.fields(rest), String(message));
  }

  private fields(rest: unknown[]): object {
    const context = rest.findLast((item) => typeof item === 'string');
    return context === undefined ? {} : { context };
  }
}
