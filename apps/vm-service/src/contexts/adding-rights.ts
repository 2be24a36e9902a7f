import { BlockList } from 'node:net';
import { DomainError, type Caller } from '@headgate/domain-contracts';
import type { Settings } from '../config/load-config.js';
import type { AddedContexts } from '../fleet/added-contexts.js';
import type { CallerIdentity } from '../identity/caller-identity.js';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

const NO_ADMINS =
  'Contexts are added here only from the machine of the service, because the configuration names no administrators: set admins, roles, or addedContexts.allow.';

/**
 * Which administrators may add and test contexts. Without named administrators, everyone who gets through a proxy is
 * one, so a service that is exposed has to be configured first
 * ([ADR 0102](../../../../docs/adr/0102-contexts-are-added-with-settings-that-run-and-read-nothing.md)).
 */
export class AddingRights {
  constructor(
    private readonly identity: Pick<CallerIdentity, 'enforced'>,
    private readonly added: Pick<AddedContexts, 'refusal'>,
    private readonly settings: Pick<Settings, 'addedContexts' | 'open'>,
  ) {}

  /** Why a caller may not add contexts. */
  refusalFor({ login, origin }: Pick<Caller, 'login' | 'origin'>): string | undefined {
    const { addedContexts, open } = this.settings;
    if (this.added.refusal !== undefined) return this.added.refusal;
    if (addedContexts.allow === true || this.identity.enforced) return undefined;
    const isHere = login === '' && origin !== undefined && isLoopback(origin.address);
    return isHere && !open ? undefined : NO_ADMINS;
  }

  /** @throws DomainError NOT_PERMITTED, or NOT_SUPPORTED for every caller */
  expect(caller: Caller): void {
    const refusal = this.refusalFor(caller);
    if (refusal === undefined) return;
    throw new DomainError(this.added.refusal === undefined ? 'NOT_PERMITTED' : 'NOT_SUPPORTED', refusal);
  }
}

const isLoopback = (address: string): boolean => {
  const plain = address.replace(/^::ffff:/i, '');
  return loopback.check(plain, plain.includes(':') ? 'ipv6' : 'ipv4');
};
