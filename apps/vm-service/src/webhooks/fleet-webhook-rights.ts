import {
  isInstanceRef,
  parseRef,
  type AccessScope,
  type AccessSubject,
  type Grant,
  type InstanceDirectory,
} from '@headgate/domain-contracts';
import { matchesScope } from '@headgate/fleet';
import { WebhookRights } from '@headgate/webhooks';
import type { Admission } from '../identity/admission.js';
import type { InstanceAccess } from '../identity/instance-access.js';

/** The rights of the creators of webhooks, and the instances of the fleet. */
export class FleetWebhookRights extends WebhookRights {
  constructor(
    private readonly admission: Pick<Admission, 'ofOwner'>,
    private readonly directory: Pick<InstanceDirectory, 'get'>,
    private readonly instances: Pick<InstanceAccess, 'subjectOf'>,
  ) {
    super();
  }

  override grantOf(login: string): Grant {
    return this.admission.ofOwner({ login }).grant;
  }

  override find(ref: string): AccessSubject | undefined {
    // A task may also be about an image.
    const instance = isInstanceRef(ref) ? this.directory.get(parseRef(ref)) : undefined;
    return instance && this.instances.subjectOf(instance);
  }

  override isInScope(subject: AccessSubject, scope: AccessScope): boolean {
    return matchesScope(subject, scope);
  }
}
