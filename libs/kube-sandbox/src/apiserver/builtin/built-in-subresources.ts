import { notFound } from '../api-error.js';
import type { AdmissionChain } from '../admission.js';
import { serviceAccountUser, type Authenticator } from '../auth/authenticator.js';
import type { SandboxClock } from '../clock.js';
import type { ObjectStore } from '../object-store.js';
import type { SubresourceRegistry } from '../subresources.js';

export interface BuiltInSubresourceDeps {
  store: ObjectStore;
  admission: AdmissionChain;
  authenticator: Authenticator;
  clock: SandboxClock;
}

const DEFAULT_TOKEN_SECONDS = 3600;

/** Registers the subresources that every API server has: tokens of service accounts and eviction of pods. */
export function registerBuiltInSubresources(
  subresources: SubresourceRegistry,
  { store, admission, authenticator, clock }: BuiltInSubresourceDeps,
): void {
  subresources.handle(
    { group: '', resource: 'serviceaccounts', subresource: 'token' },
    ['POST'],
    ({ namespace = '', name, body }) => {
      store.require('serviceaccounts', { namespace, name });
      const { spec } = (body ?? {}) as { spec?: { expirationSeconds?: number } };
      const seconds = spec?.expirationSeconds ?? DEFAULT_TOKEN_SECONDS;
      const token = authenticator.issue(serviceAccountUser(namespace, name));
      clock.schedule(() => authenticator.revoke(token), seconds * 1000);
      const status = { token, expirationTimestamp: clock.timestamp(seconds * 1000) };
      return {
        code: 201,
        body: {
          kind: 'TokenRequest',
          apiVersion: 'authentication.k8s.io/v1',
          metadata: { name, namespace },
          spec,
          status,
        },
      };
    },
  );

  subresources.handle(
    { group: '', resource: 'pods', subresource: 'eviction' },
    ['POST'],
    ({ namespace = '', name, body, user }) => {
      const pod = store.get('pods', { namespace, name });
      if (!pod) throw notFound({ group: '', resource: 'pods', name });
      admission.validate({
        operation: 'CREATE',
        resource: 'pods',
        subresource: 'eviction',
        namespace,
        name,
        object: pod,
        user,
        dryRun: false,
      });
      const { deleteOptions } = (body ?? {}) as { deleteOptions?: { gracePeriodSeconds?: number } };
      store.delete('pods', { namespace, name }, { gracePeriodSeconds: deleteOptions?.gracePeriodSeconds });
      return { code: 201, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } };
    },
  );
}
