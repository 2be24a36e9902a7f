import type { ResourceDefinition } from '@headgate/kube-sandbox';
import type { KubevirtRelease } from '../kubevirt-version.js';
import { cdiDefinitions, uploadTokenDefinition } from './cdi-definitions.js';
import { instancetypeDefinitions } from './instancetype-definitions.js';
import { kubevirtDefinitions } from './kubevirt-definitions.js';
import { otherDefinitions } from './other-definitions.js';
import { snapshotDefinitions } from './snapshot-definitions.js';
import { networkAttachmentDefinition, storageSnapshotDefinitions } from './storage-snapshot-definitions.js';

/** Components that a cluster may not have: their APIs answer "404 page not found". */
export type OptionalPart = 'kubevirt' | 'cdi' | 'snapshots' | 'multus' | 'metrics';

/** Every resource that the simulation adds to the bare API server. */
export function simulatedDefinitions(
  release: KubevirtRelease,
  without: ReadonlySet<OptionalPart>,
): ResourceDefinition[] {
  return [
    ...(without.has('kubevirt')
      ? []
      : [
          ...kubevirtDefinitions(release),
          ...instancetypeDefinitions(release),
          ...snapshotDefinitions(release),
          ...otherDefinitions(release),
        ]),
    ...(without.has('cdi') ? [] : [...cdiDefinitions(), uploadTokenDefinition()]),
    ...(without.has('snapshots') ? [] : storageSnapshotDefinitions()),
    ...(without.has('multus') ? [] : [networkAttachmentDefinition()]),
  ];
}
