import { type JsonObject, MatrixError } from '@headgate/matrix-protocol';

/**
 * Some servers match members regardless of case: they would read `Type` as `type`, and a bound would miss it.
 * @throws MatrixError M_BAD_JSON for another spelling of a member that a bound depends on
 */
export function exactMembers(body: JsonObject, names: readonly string[]): void {
  for (const member of Object.keys(body)) {
    if (LOWER_CASE.test(member)) continue;
    const name = names.find((candidate) => candidate !== member && candidate === withoutCase(member));
    if (name !== undefined) throw MatrixError.badJson(`The member ${name} must be in lower case.`);
  }
}

/** Such a member has no other spelling that is a member's name. */
const LOWER_CASE = /^[a-z0-9_.-]*$/;

/** Two letters outside ASCII fold to `s` and `k`, one of them only through upper case. */
const withoutCase = (text: string): string => text.toUpperCase().toLowerCase();
