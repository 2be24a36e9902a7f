import { PinoNestLogger } from '@headgate/nest-kit';

/**
 * Nest logs an error of a provider or of a listener and rethrows it. The caller of `create` and `listen` reports it, so
 * it is logged once.
 */
export class StartLogger extends PinoNestLogger {
  override error(message: unknown, ...rest: unknown[]): void {
    const context = rest.at(-1);
    const isListenFailure = context === 'NestApplication' && String(message).startsWith('Error: listen ');
    if (context !== 'ExceptionHandler' && !isListenFailure) super.error(message, ...rest);
  }
}
