import type { CloudInitProblemView } from '@headgate/api-contracts';
import { isScalar } from 'yaml';
import { CLOUD_CONFIG_KEYS, NETWORK_KEYS, type ValueKind } from './cloud-config-keys.js';
import { keyText, kindOf, readYaml, type YamlProblem, type YamlText } from './read-yaml.js';

type Keys = Readonly<Record<string, readonly ValueKind[]>>;

/** Texts of cloud-init that are no cloud-config: scripts, lists of URLs, archives and templates. */
const OTHER_FORMATS =
  /^(#!|#include|#cloud-boothook|#cloud-config-archive|#part-handler|## template:|Content-Type:|MIME-Version:)/i;
const HEADER = '#cloud-config';
const KINDS: Readonly<Record<ValueKind, string>> = {
  text: 'a text',
  number: 'a number',
  switch: 'true or false',
  list: 'a list',
  map: 'a mapping',
};
/** More would hide the first, which usually causes the others. */
const MAX_PROBLEMS = 50;

/** The problems of texts for cloud-init, in the order of their lines. The guest has the last word. */
export function checkCloudInit(userData: string, networkConfig?: string): CloudInitProblemView[] {
  return [
    ...problemsIn('userData', userDataProblems(userData)),
    ...problemsIn('networkConfig', networkConfig === undefined ? [] : networkProblems(networkConfig)),
  ];
}

const problemsIn = (part: CloudInitProblemView['part'], problems: readonly YamlProblem[]): CloudInitProblemView[] =>
  [...problems]
    .sort((a, b) => a.line - b.line || a.column - b.column)
    .slice(0, MAX_PROBLEMS)
    .map((problem) => ({ part, ...problem }));

function userDataProblems(text: string): YamlProblem[] {
  if (text.trim() === '' || OTHER_FORMATS.test(text)) return [];
  const [first = ''] = text.split('\n', 1);
  const header: YamlProblem[] =
    first.trimEnd() === HEADER
      ? []
      : [
          {
            severity: 'error',
            message: `The first line must be ${HEADER}: otherwise the guest ignores the text.`,
            line: 1,
            column: 1,
          },
        ];
  const yaml = readYaml(text);
  return [...header, ...yaml.problems, ...(hasErrors(yaml) ? [] : keyProblems(yaml, CLOUD_CONFIG_KEYS, text))];
}

function networkProblems(text: string): YamlProblem[] {
  if (text.trim() === '') return [];
  const yaml = readYaml(text);
  if (hasErrors(yaml)) return [...yaml.problems];
  const version = yaml.map?.items.find(({ key }) => keyText(key) === 'version')?.value;
  const number = isScalar(version) ? version.value : undefined;
  if (number !== 1 && number !== 2) return [...yaml.problems, yaml.at(version, 'error', 'version must be 1 or 2.')];
  return [...yaml.problems, ...keyProblems(yaml, NETWORK_KEYS[number], text)];
}

const hasErrors = ({ problems }: YamlText): boolean => problems.some(({ severity }) => severity === 'error');

/** Keys that nothing reads, and values of a kind that no module takes. */
function keyProblems(yaml: YamlText, keys: Keys, text: string): YamlProblem[] {
  if (!yaml.map) {
    const isOnlyComments = text.split('\n').every((line) => /^\s*(#|$)/.test(line));
    return isOnlyComments
      ? []
      : [yaml.at(undefined, 'error', 'It must be a mapping: lines such as "packages: [nginx]".')];
  }
  return yaml.map.items.flatMap(({ key, value }) => {
    const name = keyText(key);
    const kinds = Object.hasOwn(keys, name) ? keys[name] : undefined;
    if (!kinds) return [yaml.at(key, 'warning', `${name} is no key that cloud-init is known to read.`)];
    const kind = kindOf(value);
    // A number is read as a text where a text is due, and nothing as the default.
    if (kind === undefined || kinds.includes(kind) || (kind === 'number' && kinds.includes('text'))) return [];
    return [yaml.at(value, 'error', `${name} must be ${kinds.map((one) => KINDS[one]).join(' or ')}.`)];
  });
}
