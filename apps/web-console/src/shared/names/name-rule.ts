/** The contract's rule for names of instances, namespaces and volumes. A spec holds it against the service's own. */
export const MAX_NAME_LENGTH = 63;
const NAME = /^[a-z0-9][a-z0-9-]*$/;

/** What is wrong with a name, as a sentence; undefined when it is right. */
export function nameProblem(name: string): string | undefined {
  if (name === '') return 'A name is needed.';
  if (name.length > MAX_NAME_LENGTH) return `At most ${MAX_NAME_LENGTH} characters; this has ${name.length}.`;
  if (!/^[a-z0-9]/.test(name)) return 'The first character must be a-z or 0-9.';
  if (!NAME.test(name)) {
    const wrong = [...new Set(name.match(/[^a-z0-9-]/g))].map((character) =>
      character === ' ' ? 'a space' : character,
    );
    return `Only a-z, 0-9 and "-"; not ${wrong.join(' ')}.`;
  }
  return undefined;
}

const TAG = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const MAX_TAG_LENGTH = 59;

export function tagProblem(tag: string): string | undefined {
  if (tag.length > MAX_TAG_LENGTH) return `At most ${MAX_TAG_LENGTH} characters.`;
  if (!TAG.test(tag)) return 'Letters, digits, "-", "_" and "."; a letter or a digit first and last.';
  return undefined;
}
