import { DomainError } from '@headgate/domain-contracts';

/** A way to libvirt can't be used, and another one may. Nothing was sent. */
export class TransportError extends DomainError {
  constructor(
    message: string,
    /** Whether that stays so. */
    readonly isPermanent: boolean,
    options?: ErrorOptions,
  ) {
    super('BACKEND_UNREACHABLE', message, options);
  }
}
