import type { ContextAbilities } from '../queries/use-capabilities.js';
import type { FleetEntry } from '../fleet/sorted-entries.js';
import { nameProblem } from '../names/name-rule.js';
import type { Identity } from './components/identity-fields.js';

/** Where an instance goes whose namespace nobody chose. */
const DEFAULT_NAMESPACE = 'tailvm';
const LIBVIRT_NAMESPACE = 'local';

/** The contract's most. */
export const MAX_CPUS = 512;

export const cpuProblem = (cpu: string): string | undefined =>
  /^\d+$/.test(cpu) && Number(cpu) >= 1 && Number(cpu) <= MAX_CPUS
    ? undefined
    : `A whole number from 1 to ${MAX_CPUS}.`;

/** @param entries those that exist already */
export function identityProblems(
  { name, namespace, context }: Identity,
  { contexts, entries }: { contexts: readonly ContextAbilities[]; entries: readonly FleetEntry[] },
): { name: string | undefined; namespace: string | undefined } {
  const { backend } = contexts.find((one) => one.context === context) ?? {};
  const place = backend === 'libvirt' ? LIBVIRT_NAMESPACE : namespace || DEFAULT_NAMESPACE;
  const taken = entries.some((entry) => entry.name === name && entry.context === context && entry.namespace === place);
  return {
    name: nameProblem(name) ?? (taken ? 'An instance of this name exists there already.' : undefined),
    namespace: namespace === '' ? undefined : nameProblem(namespace),
  };
}

/** Without the fields that are right. */
export const onlyProblems = <F extends string>(
  problems: Readonly<Partial<Record<F, string | undefined>>>,
): Partial<Record<F, string>> =>
  Object.fromEntries(Object.entries(problems).filter(([, problem]) => problem !== undefined)) as Partial<
    Record<F, string>
  >;
