import {
  chooseNamespace,
  DomainError,
  formatRef,
  type Backend,
  type BackendDirectory,
  type InstanceRef,
} from '@headgate/domain-contracts';
import type { Concerns } from './move-plan.js';
import type { MoveRequest } from './move-request.js';

export interface ChosenDestination {
  readonly backend: Backend;
  readonly ref: InstanceRef;
  /** Whether the VM is there already, which is refused. */
  readonly isSamePlace: boolean;
}

/**
 * The place of the copy.
 * @returns undefined when the request does not determine one, with the refusal in the concerns
 */
export function chooseDestination(
  request: MoveRequest,
  source: InstanceRef,
  { backends, concerns }: { readonly backends: BackendDirectory; readonly concerns: Concerns },
): ChosenDestination | undefined {
  const backend = chooseBackend(request, source, backends, concerns);
  if (!backend) return undefined;
  const sourceKind = backends.all().find(({ context }) => context === source.context)?.kind;
  const isSameKind = backend.kind === sourceKind && !backend.traits.namespaces.isOnlyOne;
  const namespace = namespaceOf(request.toNamespace ?? (isSameKind ? source.namespace : undefined), backend, concerns);
  if (namespace === undefined) return undefined;
  const ref: InstanceRef = {
    kind: source.kind,
    context: backend.context,
    namespace,
    name: request.name ?? source.name,
  };
  const isSamePlace = source.context === ref.context && source.namespace === ref.namespace;
  if (isSamePlace)
    concerns.refuse(
      'request',
      'SAME_PLACE',
      `${source.name} is in ${source.context}/${source.namespace} already.`,
      formatRef(source) === formatRef(ref)
        ? 'Choose another context or namespace.'
        : 'Choose another context or namespace, or clone the VM to get another one here.',
    );
  return { backend, ref, isSamePlace };
}

function chooseBackend(
  { toBackend, toContext }: MoveRequest,
  source: InstanceRef,
  backends: BackendDirectory,
  concerns: Concerns,
): Backend | undefined {
  const all = backends.all();
  const ofKind = all.filter(({ kind }) => kind === toBackend);
  const contexts = (list: readonly Backend[]): string => list.map(({ context }) => context).join(', ');
  if (ofKind.length === 0) {
    const kinds = [...new Set(all.map(({ kind }) => kind))].join(', ');
    concerns.refuse(
      'request',
      'UNKNOWN_BACKEND',
      `There is no context of the kind ${toBackend}.`,
      `Use one of ${kinds}.`,
    );
    return undefined;
  }
  if (toContext !== undefined) {
    const found = ofKind.find(({ context }) => context === toContext);
    if (!found)
      concerns.refuse(
        'request',
        'CONTEXT_NOT_FOUND',
        `There is no context ${toContext} of the kind ${toBackend}.`,
        `Use one of ${contexts(ofKind)}.`,
      );
    return found;
  }
  const others = ofKind.filter(({ context }) => context !== source.context);
  const candidates = others.length === 0 ? ofKind : others;
  if (candidates.length === 1) return candidates[0];
  concerns.refuse(
    'request',
    'CONTEXT_REQUIRED',
    `Several contexts are of the kind ${toBackend}.`,
    `Set toContext to one of ${contexts(candidates)}.`,
  );
  return undefined;
}

function namespaceOf(wanted: string | undefined, { traits, context }: Backend, concerns: Concerns): string | undefined {
  try {
    return chooseNamespace(traits, context, wanted);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    concerns.refuse('request', error.code, error.message, 'Omit toNamespace, or use the namespace of the context.');
    return undefined;
  }
}
