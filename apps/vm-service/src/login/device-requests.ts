import { Injectable } from '@nestjs/common';
import { DomainError } from '@headgate/domain-contracts';
import type { FastifyRequest } from 'fastify';
import { CallerIdentity } from '../identity/caller-identity.js';
import { SecureConnection } from '../identity/secure-connection.js';

/** What the requests of device logins have in common. */
@Injectable()
export class DeviceRequests {
  constructor(
    private readonly identity: CallerIdentity,
    private readonly connection: SecureConnection,
  ) {}

  /**
   * @throws DomainError NOT_SUPPORTED for a service that lets every caller in; NOT_PERMITTED over a connection that
   *   others can read
   */
  expectPossible({ raw }: FastifyRequest): void {
    if (!this.identity.enforced)
      throw new DomainError(
        'NOT_SUPPORTED',
        'This service needs no login: it lets everyone in who reaches it. Use it without a token.',
      );
    this.connection.expectSafe(raw);
  }

  addressOf({ raw }: FastifyRequest): string {
    return this.identity.addressOf(raw);
  }
}
