import { validateSchema, type KubeObject } from '@headgate/kube-sandbox';
import { isName } from './is-name.js';
import { ownersFirst } from './owners-first.js';
import { inventedClasses, inventedNamespaces, inventedSettings } from './invented-settings.js';
import { inventedLaunchers, inventedStarts } from './invented-launchers.js';
import { inventedNodes } from './invented-nodes.js';
import { inventedSecrets } from './invented-secrets.js';
import type { SimulationContext } from '../simulation-context.js';

/** Objects that are added to the store at once, before other work of the process gets a turn. */
const CHUNK = 500;
const KUBEVIRT_PLACE = { namespace: 'kubevirt', name: 'kubevirt' };

export interface ImportOptions {
  /** Whether nodes are invented, because those of the cluster are not known. */
  readonly inventsNodes?: boolean;
}

/** Objects of another cluster in an empty simulation. */
export interface ImportReport {
  /** The number of objects that were added. */
  readonly objects: number;
  /** One sentence for each thing that was left out or invented. */
  readonly notes: readonly string[];
}

/**
 * Adds objects of another cluster to an empty simulation, in parts: after each one, the caller may let other work
 * happen. The time must not advance before the last part. Objects that the simulation does not know are left out, and
 * references to owners that are not among the objects are removed, because objects without owners are deleted.
 * Finalizers and deletions that have begun stay as they are.
 */
export function* importCluster(
  context: SimulationContext,
  given: readonly KubeObject[],
  { inventsNodes = false }: ImportOptions = {},
): Generator<void, ImportReport> {
  const notes: string[] = [];
  const known = knownObjects(context, given, notes).map(placed);
  const keys = new Set(known.map((object) => keyIn(context, object)));
  const invented = [
    ...inventedNamespaces(context, known),
    ...inventedSettings(context, known, notes),
    ...inventedClasses(known),
    ...inventedSecrets(known),
    ...(inventsNodes ? inventedNodes(context, known, notes) : []),
  ].filter((object) => !keys.has(keyIn(context, object)));
  let objects = yield* load(context, ownersFirst([...invented, ...known]));
  // Launchers are built from the objects that they depend on.
  objects += yield* load(context, [...inventedStarts(known), ...inventedLaunchers(context, known, notes)]);
  return { objects, notes };
}

function* load(context: SimulationContext, objects: readonly KubeObject[]): Generator<void, number> {
  for (let from = 0; from < objects.length; from += CHUNK) {
    context.store.load(objects.slice(from, from + CHUNK), { keepsGeneration: true });
    yield;
  }
  return objects.length;
}

/** Each object once, without those that the simulation can't store. */
function knownObjects(context: SimulationContext, given: readonly KubeObject[], notes: string[]): KubeObject[] {
  const keys = new Set<string>();
  let leftOut = 0;
  const known = given.filter((object) => {
    const key = keyIn(context, object);
    if (key !== undefined && !keys.has(key)) return keys.add(key);
    leftOut++;
    return false;
  });
  if (leftOut > 0)
    notes.push(`${leftOut} ${leftOut === 1 ? 'object' : 'objects'} that the simulation can't store were left out.`);
  return known;
}

/** @returns undefined for an object of an unknown kind, or with a name that no API server accepts */
function keyIn({ registry, store }: SimulationContext, object: KubeObject): string | undefined {
  const { apiVersion, kind, metadata } = object;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !isName(metadata?.name)) return undefined;
  const definition = registry.findByKind(apiVersion, kind);
  if (!definition) return undefined;
  if (definition.namespaced && !isName(metadata.namespace)) return undefined;
  const schema = definition.versions[0]?.schema;
  if (schema && validateSchema(object, schema).length > 0) return undefined;
  const key = { name: metadata.name, ...(definition.namespaced && { namespace: metadata.namespace }) };
  const resource = registry.resourceOf(object);
  return store.get(resource, key) ? undefined : `${resource} ${key.namespace ?? ''}/${key.name}`;
}

/** The simulation looks for the configuration of KubeVirt in one place, and clusters have it in several. */
const placed = (object: KubeObject): KubeObject =>
  object.kind === 'KubeVirt' ? { ...object, metadata: { ...object.metadata, ...KUBEVIRT_PLACE } } : object;
