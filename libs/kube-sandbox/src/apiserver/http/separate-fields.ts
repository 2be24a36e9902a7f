import { EPHEMERAL_CONTAINERS, type Pod } from '../builtin/pod.js';
import { deepCopy } from '../deep-copy.js';
import type { KubeObject } from '../kube-object.js';
import type { ResourceDefinition } from '../resource-definition.js';

/** Keeps the fields of the live object that an endpoint does not write. */
export function separateFields(
  draft: KubeObject,
  live: KubeObject,
  definition: ResourceDefinition,
  subresource: string | undefined,
): KubeObject {
  const isPod = definition.plural === 'pods' && definition.group === '';
  if (isPod && subresource === EPHEMERAL_CONTAINERS) {
    return withManagement(separateEphemeral(draft, live), draft, live);
  }
  const kept = isPod ? separateEphemeral(live, draft) : draft;
  return definition.statusSubresource ? separateStatus(kept, live, subresource) : kept;
}

/** The main endpoint writes everything except the status; `/status` writes only the status. */
function separateStatus(draft: KubeObject, live: KubeObject, subresource: string | undefined): KubeObject {
  const [base, status] = subresource === 'status' ? [live, draft] : [draft, live];
  const next = deepCopy(base) as KubeObject & { status?: unknown };
  const { status: value } = status as { status?: unknown };
  if (value === undefined) delete next.status;
  else next.status = deepCopy(value);
  return subresource === 'status' ? withManagement(next, draft, live) : next;
}

/** The second pod with the ephemeral containers of the first one. */
function separateEphemeral(added: KubeObject, base: KubeObject): KubeObject {
  const next = deepCopy(base) as Pod;
  const { ephemeralContainers } = (added as Pod).spec;
  if (ephemeralContainers) next.spec.ephemeralContainers = deepCopy(ephemeralContainers);
  else delete next.spec.ephemeralContainers;
  return next;
}

function withManagement(next: KubeObject, draft: KubeObject, live: KubeObject): KubeObject {
  next.metadata.resourceVersion = draft.metadata.resourceVersion ?? live.metadata.resourceVersion;
  if (draft.metadata.managedFields) next.metadata.managedFields = draft.metadata.managedFields;
  return next;
}
