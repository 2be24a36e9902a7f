import { DomainError } from '@headgate/domain-contracts';

/**
 * The error of a part of a change, with the parts that were carried out before it.
 * @param more further details
 */
export function withApplied(error: unknown, applied: readonly string[], part: string, more: object = {}): unknown {
  if (applied.length === 0) return error;
  const { code, message, details } = DomainError.is(error)
    ? error
    : { code: 'INTERNAL' as const, message: `${part} failed unexpectedly.`, details: undefined };
  return new DomainError(code, `${message} Carried out before it: ${applied.join('; ')}. Nothing after it was begun.`, {
    cause: error,
    details: { ...(typeof details === 'object' ? details : {}), applied, ...more },
  });
}
