import {
  ADMINISTRATOR,
  formatRef,
  isWithinFolder,
  type AccessScope,
  type AccessSubject,
  type Grant,
} from '@headgate/domain-contracts';
import { WebhookRights } from '../webhook-rights.js';

/** Rights and instances that a test sets. Users are administrators unless they have another grant. */
export class FakeRights extends WebhookRights {
  readonly grants = new Map<string, Grant>();
  readonly instances = new Map<string, AccessSubject>();
  failure: Error | undefined;

  override grantOf(login: string): Grant {
    if (this.failure) throw this.failure;
    return this.grants.get(login) ?? ADMINISTRATOR;
  }

  override find(ref: string): AccessSubject | undefined {
    return this.instances.get(ref);
  }

  override isInScope({ instance, folder }: AccessSubject, scope: AccessScope): boolean {
    const words = (scope.q ?? '').split(' ');
    const isInFolder = scope.folder === undefined || (folder !== undefined && isWithinFolder(folder, scope.folder));
    return isInFolder && words.every((word) => instance.ref.name.includes(word));
  }

  put(subject: AccessSubject): AccessSubject {
    this.instances.set(formatRef(subject.instance.ref), subject);
    return subject;
  }
}
