import { matchesNameRule, refusal, type Refusal } from '@headgate/domain-contracts';
import { INCUS_TRAITS } from '../incus-traits.js';

/** @param reason a sentence about the object that has the name */
export const taken = (reason: string): Refusal => refusal('ALREADY_EXISTS', reason, 'Choose another name.');

/** The refusals of a name that no container can have. */
export function nameRefusals(name: string): Refusal[] {
  const { instanceNames } = INCUS_TRAITS;
  if (matchesNameRule(instanceNames, name)) return [];
  const reason = `name must ${instanceNames.description}; "${name}" does not.`;
  return [refusal('INVALID_NAME', reason, 'Choose another name.')];
}
