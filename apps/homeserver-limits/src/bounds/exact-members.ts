import { type JsonObject, MatrixError } from '@headgate/matrix-protocol';

/**
 * Some servers read members without regard to case: `Type` would be `type` to them and nothing to us.
 * @throws MatrixError M_BAD_JSON for another spelling of a member that decides about a bound
 */
export function exactMembers(body: JsonObject, names: readonly string[]): void {
  for (const member of Object.keys(body)) {
    const name = names.find((candidate) => candidate !== member && candidate === withoutCase(member));
    if (name !== undefined) throw MatrixError.badJson(`The member ${name} must be spelt in lower case.`);
  }
}

/** Two letters outside of ASCII are other cases of `s` and `k`; the one only turns into it on the way over upper case. */
const withoutCase = (text: string): string => text.toUpperCase().toLowerCase();
