/** Longest subject of a commit, in characters. */
const SUBJECT_LENGTH = 72;

/** Past tense and third person, which an imperative subject does not begin with. */
const NOT_IMPERATIVE =
  /^(?:\w+(?:ed|ing)|adds|fixes|makes|uses|removes|updates|moves|renames|a|an|the|no|one|each|every)$/i;
const IMPERATIVE_ALL_THE_SAME = new Set([
  'embed',
  'feed',
  'need',
  'seed',
  'shed',
  'speed',
  'bring',
  'ring',
  'string',
  'swing',
  'ping',
]);

/**
 * @param {string} message the whole message, comments of the editor included
 * @returns {string[]} the problems, one sentence each
 */
export function findProblems(message) {
  const [subject = '', second = ''] = message.split('\n').filter((line) => !line.startsWith('#'));
  if (/^(?:Merge|Revert|fixup!|squash!) /.test(subject)) return [];
  const problems = [];
  if (subject.length > SUBJECT_LENGTH)
    problems.push(`The subject has ${subject.length} characters; use at most ${SUBJECT_LENGTH}.`);
  const [, topic] = /^[a-z0-9][a-z0-9-]*(?:, [a-z0-9-]+)*: (.+)$/.exec(subject) ?? [];
  if (topic === undefined) {
    problems.push('The subject must look like "scope: do one thing"; scopes are project names, docs, tools or ci.');
  } else {
    const verb = topic.split(/\s/, 1)[0] ?? '';
    if (NOT_IMPERATIVE.test(verb) && !IMPERATIVE_ALL_THE_SAME.has(verb.toLowerCase()))
      problems.push(`"${verb}" is not imperative; write "add", not "added" or "adds".`);
    if (/;/.test(topic)) problems.push('One commit, one topic: the subject has a semicolon.');
    if (/\.$/.test(topic)) problems.push('The subject ends with a full stop.');
  }
  if (second !== '') problems.push('The second line must be empty; the reason goes into the body.');
  return problems;
}
