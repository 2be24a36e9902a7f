// The word list of docs/style.md, checked over names, comments, strings and pages.
//   node tools/lint/words.mjs [FOLDER...]            prints each place; exit status 1 when there is one
//   node tools/lint/words.mjs --count [FOLDER...]    prints a count per rule
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allowed } from './words-allowed.mjs';

const root = join(import.meta.dirname, '../..');

const british = [
  '(?:serial|normal|initial|real|organ|recogn|optim|author|synchron|custom|local|minim|maxim|summar|final|general|special|util|visual|central|standard|categor|priorit|random|capital|token|stabil|memor|sanit|canonical|anonym)is(?:e|es|ed|er|ers|ing|ation)',
  '(?:colou|behaviou|honou|favou|neighbou|flavou)r\\w*',
  'licences?',
  'catalogue[sd]?',
  'cent(?:re|red|res)',
  'defence',
  'grey\\w*',
  'analys(?:e|es|ed|ing)',
  '(?:label|model|cancel|dial|travel|signal|tunnel|channel)l(?:ed|ing)',
  'whilst',
].join('|');

/**
 * Each rule: its name, the pattern, and the replacement to consider. `names: true` also looks inside identifiers, whose
 * parts are read as words: `heardOf` is "heard of".
 */
export const rules = [
  {
    name: 'nobody',
    pattern: /\b(?:no|some|any|every)body\b|\bwho(?:so)?ever\b/gi,
    use: 'the user, a client, no one caller',
    names: true,
  },
  {
    name: 'tell',
    pattern: /\bt(?:ell|ells|old|elling)\b/gi,
    use: 'report, emit, announce, distinguish, know',
    names: true,
  },
  { name: 'hear', pattern: /\b(?:hears?|heard|hearing)\b/gi, use: 'receive, observe, listen', names: true },
  {
    name: 'made',
    pattern: /\bmade\b(?! (?:of|up|by hand|available|possible)\b)/gi,
    use: 'created, built, written',
    names: true,
  },
  { name: 'stand', pattern: /\b(?:stands?|stood|standing)\b(?![- ]?alone)/gi, use: 'is, is in, runs', names: true },
  { name: 'conflict marker', pattern: /<{7} \w+|>{7} \w+|(?:> ){6}>/g, use: 'the resolved text' },
  { name: 'anew', pattern: /\banew\b/gi, use: 'again, from scratch', names: true },
  { name: 'by itself', pattern: /\bby (?:it|them)sel(?:f|ves)\b/gi, use: 'automatically, on its own', names: true },
  { name: 'beside', pattern: /\bbeside\b/gi, use: 'besides, next to, with', names: true },
  { name: 'he', pattern: /\b(?:he|his|him|himself)\b/gi, use: 'they, the user', names: true },
  { name: 'mend', pattern: /\bmend(?:s|ed|ing)?\b/gi, use: 'fix, repair', names: true },
  {
    name: 'odd word',
    pattern: /\b(?:pardon(?:s|ed)?|doomed|liking|lacking|surroundings|begotten|thereof|hitherto|thither)\b/gi,
    use: 'the term of the field',
    names: true,
  },
  {
    name: 'what is',
    pattern: /\bwhat (?:(?:[\w'-]+ ){1,4}?)?(?:is|are|was|were)\b(?![^.\n]*\?)/gi,
    use: 'a noun: "the stored entries", not "what is stored"',
  },
  { name: 'curly quote', pattern: /[\u2018\u2019\u201c\u201d]/g, use: 'straight quotes' },
  {
    name: 'British spelling',
    pattern: new RegExp(`\\b(?:${british})\\b`, 'gi'),
    use: 'American spelling',
    names: true,
  },
];

const READ = /\.(?:[cm]?[jt]sx?|md|css|html|ya?ml|toml|sh|service|json)$|(?:^|\/)(?:Containerfile|run)$/;
const SKIPPED =
  /(?:^|\/)(?:package-lock\.json|LICENSE)$|^tools\/lint\/words|^docs\/style\.md$|^docs\/reference\/.*\.json$/;

/**
 * Splits identifiers into words, so that a rule reads `toldTasks` and `TOLD_TASKS` as "told tasks"; keeps the length.
 */
const spaced = (line) =>
  line
    .replaceAll('_', ' ')
    .replace(/[A-Za-z]+/g, (word) => (/[a-z][A-Z]/.test(word) ? word.replace(/([a-z])([A-Z])/g, '$1\u0000$2') : word));

/**
 * @param {string} text
 * @param {string} [file] path below the root, for the allowed places
 * @returns {{ line: number, rule: string, found: string, use: string }[]}
 */
export function findWords(text, file = '') {
  return text.split('\n').flatMap((raw, index) => {
    const words = spaced(raw).replaceAll('\u0000', ' ');
    return rules.flatMap(({ name, pattern, use, names }) =>
      [...(names ? words : raw).matchAll(pattern)]
        .map(([found]) => ({ line: index + 1, rule: name, found, use }))
        .filter(
          ({ found }) =>
            !allowed.some((one) => file.startsWith(one.file) && one.rule === name && raw.includes(one.text ?? found)),
        ),
    );
  });
}

const files = (folders) =>
  execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...folders], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
    .split('\0')
    .filter((file) => READ.test(file) && !SKIPPED.test(file));

function main(args) {
  const count = args.includes('--count');
  const folders = args.filter((arg) => !arg.startsWith('--')).map((arg) => relative(root, arg) || '.');
  const totals = new Map(rules.map(({ name }) => [name, 0]));
  for (const file of files(folders)) {
    let text;
    try {
      text = readFileSync(join(root, file), 'utf8');
    } catch {
      continue; // listed by git, deleted in the working tree
    }
    for (const { line, rule, found, use } of findWords(text, file)) {
      totals.set(rule, (totals.get(rule) ?? 0) + 1);
      if (!count) console.log(`${file}:${line}: "${found}" (${rule}); use: ${use}`);
    }
  }
  const sum = [...totals.values()].reduce((a, b) => a + b, 0);
  if (count) for (const [name, value] of totals) console.log(`${String(value).padStart(5)}  ${name}`);
  console.log(`${sum} places. docs/style.md explains the rules.`);
  return sum === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit(main(process.argv.slice(2)));
