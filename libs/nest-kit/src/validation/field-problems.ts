import type { ValidationError } from 'class-validator';

/** One value that a rule refuses. */
export interface FieldProblem {
  /** Its path, such as `pinning.vcpus[0].cpus`. */
  readonly field: string;
  /** The name of the rule in class-validator. */
  readonly rule: string;
  /** A sentence with the path, without its full stop. */
  readonly message: string;
}

/** The ends of the sentences for the rules whose own texts name no path. */
export interface FieldWords {
  /** About a field that its class does not have, such as `is not a known field`. */
  readonly unknown: string;
  /** About a value that has no fields of its own, such as `must be an object`. */
  readonly notNested: string;
}

/**
 * All problems of all fields, also of those of nested objects and lists.
 * @param parent the path of the validated object
 */
export function fieldProblems(errors: readonly ValidationError[], words: FieldWords, parent = ''): FieldProblem[] {
  const ends: Readonly<Record<string, string>> = {
    whitelistValidation: words.unknown,
    nestedValidation: words.notNested,
  };
  return errors.flatMap(({ property, constraints = {}, children = [] }) => {
    const field = fieldPath(parent, property);
    const own = Object.entries(constraints).map(([rule, text]) => {
      const end = ends[rule];
      return { field, rule, message: end === undefined ? withPath(text, property, field) : `${field} ${end}` };
    });
    return [...own, ...fieldProblems(children, words, field)];
  });
}

/** The texts of rules contain the name of the property, such as `each of users must be a user ID.` */
function withPath(text: string, property: string, field: string): string {
  const sentence = text.replace(/\.$/, '');
  const at = ` ${sentence} `.indexOf(` ${property} `);
  return at < 0 ? sentence : sentence.slice(0, at) + field + sentence.slice(at + property.length);
}

/** The path of a field or an item of a list, such as `pinning.vcpus[0]`. */
export function fieldPath(parent: string, property: string): string {
  if (parent === '') return property;
  return /^\d+$/.test(property) ? `${parent}[${property}]` : `${parent}.${property}`;
}
