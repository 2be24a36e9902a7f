import { t } from '@lingui/core/macro';
import type { ContextCapabilities } from '../queries/use-capabilities.js';

type NameRule = ContextCapabilities['instanceNames'];

/** The rule for names of instances, namespaces, and volumes. A test compares it with the service's own. */
export const MAX_NAME_LENGTH = 63;
const NAME = /^[a-z0-9][a-z0-9-]*$/;

/**
 * The problem with a name, as a sentence; undefined when the name is valid.
 * @param backendRule what the backend requires in addition
 */
export function nameProblem(name: string, backendRule?: NameRule): string | undefined {
  if (name === '') return t`Enter a name.`;
  if (name.length > MAX_NAME_LENGTH) return t`Use at most ${MAX_NAME_LENGTH} characters (now ${name.length}).`;
  if (!/^[a-z0-9]/.test(name)) return t`Start with a lowercase letter or a digit.`;
  if (!NAME.test(name)) {
    const wrong = [...new Set(name.match(/[^a-z0-9-]/g))].map((character) =>
      character === ' ' ? t`space` : character,
    );
    return t`Use only lowercase letters, digits, and hyphens. Not allowed: ${wrong.join(' ')}`;
  }
  if (!backendRule) return undefined;
  const { pattern, maxLength, description } = backendRule;
  if (name.length > maxLength) return t`Use at most ${maxLength} characters (now ${name.length}).`;
  return new RegExp(`^(?:${pattern})$`).test(name) ? undefined : t`The name must ${description}.`;
}

const TAG = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const MAX_TAG_LENGTH = 59;

export function tagProblem(tag: string): string | undefined {
  if (tag.length > MAX_TAG_LENGTH) return t`Use at most ${MAX_TAG_LENGTH} characters.`;
  if (!TAG.test(tag)) return t`Use letters, digits, "-", "_", and ".". Start and end with a letter or a digit.`;
  return undefined;
}
