import type { AccessScope, AccessSubject, Grant } from '@headgate/domain-contracts';

/** The rights of the creators of webhooks, and the instances that they are about. */
export abstract class WebhookRights {
  /**
   * The rights that a user has now, without a request of theirs.
   * @throws DomainError NOT_READY while they can't be read
   */
  abstract grantOf(login: string): Grant;
  /** An instance as it is now; undefined for one that does not exist. @param ref as text */
  abstract find(ref: string): AccessSubject | undefined;
  abstract isInScope(subject: AccessSubject, scope: AccessScope): boolean;
}
