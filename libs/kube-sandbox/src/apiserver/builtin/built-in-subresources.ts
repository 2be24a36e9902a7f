import type { AdmissionChain } from '../admission.js';
import type { Authenticator } from '../auth/authenticator.js';
import type { SandboxClock } from '../clock.js';
import type { ObjectStore } from '../object-store.js';
import type { SubresourceRegistry } from '../subresources.js';
import { registerEviction } from './eviction.js';

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
      const { metadata } = store.require('serviceaccounts', { namespace, name });
      const { spec } = (body ?? {}) as { spec?: { expirationSeconds?: number; audiences?: string[] } };
      const seconds = spec?.expirationSeconds ?? DEFAULT_TOKEN_SECONDS;
      const token = authenticator.issueForServiceAccount({
        namespace,
        name,
        uid: metadata.uid!,
        issuedAt: Math.floor(clock.now() / 1000),
        lifetimeSeconds: seconds,
        ...(spec?.audiences?.length ? { audiences: spec.audiences } : {}),
      });
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

  registerEviction(subresources, { store, admission });
}
