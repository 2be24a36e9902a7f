import { t } from '@lingui/core/macro';
import type { ContextCapabilities } from '../queries/use-capabilities.js';
import type { FleetEntry } from '../fleet/sorted-entries.js';
import { nameProblem } from '../names/name-rule.js';
import type { Identity } from './form-fields.js';

/** The maximum of the API. */
export const MAX_CPUS = 512;

export const cpuProblem = (cpu: string): string | undefined =>
  /^\d+$/.test(cpu) && Number(cpu) >= 1 && Number(cpu) <= MAX_CPUS
    ? undefined
    : t`Enter a whole number from 1 to ${MAX_CPUS}.`;

/** @param entries the existing instances */
export function identityProblems(
  { name, namespace, context }: Identity,
  { contexts, entries }: { contexts: readonly ContextCapabilities[]; entries: readonly FleetEntry[] },
): { name: string | undefined; namespace: string | undefined } {
  const { namespaces, instanceNames } = contexts.find((one) => one.context === context) ?? {};
  const target = namespaces?.isOnlyOne ? namespaces.default : namespace || namespaces?.default;
  const isTaken = entries.some(
    (entry) => entry.name === name && entry.context === context && entry.namespace === target,
  );
  return {
    name: nameProblem(name, instanceNames) ?? (isTaken ? t`This name is already in use.` : undefined),
    namespace: namespace === '' ? undefined : nameProblem(namespace),
  };
}

/** Leaves out the valid fields. */
export const onlyProblems = <F extends string>(
  problems: Readonly<Partial<Record<F, string | undefined>>>,
): Partial<Record<F, string>> =>
  Object.fromEntries(Object.entries(problems).filter(([, problem]) => problem !== undefined)) as Partial<
    Record<F, string>
  >;
