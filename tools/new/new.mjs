// npm run new -- feature NAME --scope vm|limits|shared
// npm run new -- adapter NAME --scope vm|limits|shared
// npm run new -- adr "A title"
// --into FOLDER generates a library elsewhere than in libs/; the test of the generator uses it.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '../..');
const templates = join(import.meta.dirname, 'templates');

const usage = 'Usage: npm run new -- feature NAME | adapter NAME | adr "TITLE"  [--scope vm|limits|shared]';
const fail = (message) => {
  console.error(message);
  process.exit(2);
};

const kebab = (text) =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
const pascal = (text) => text.replace(/(^|-)([a-z0-9])/g, (_, _dash, letter) => letter.toUpperCase());
const camel = (text) => pascal(text).replace(/^./, (letter) => letter.toLowerCase());
const constant = (text) => text.toUpperCase().replaceAll('-', '_');
const fill = (text, values) => text.replace(/__(\w+?)__/g, (whole, key) => values[key] ?? whole);

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { scope: { type: 'string', default: 'vm' }, into: { type: 'string', default: 'libs' } },
});
const [what, title] = positionals;
if (!title) fail(usage);

function newLibrary(template) {
  const name = kebab(title);
  const target = join(root, values.into, name);
  if (existsSync(target)) fail(`${values.into}/${name} already exists.`);
  if (!['vm', 'limits', 'shared'].includes(values.scope)) fail('--scope must be vm, limits or shared.');
  cpSync(join(templates, template), target, { recursive: true });
  fillFolder(target, {
    name,
    Name: pascal(name),
    camel: camel(name),
    NAME: constant(name),
    scope: values.scope,
  });
  console.log(`Created ${values.into}/${name}. Run \`npm install\` once to link it as @headgate/${name}.`);
}

function fillFolder(folder, replacements) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const from = join(folder, entry.name);
    const to = join(folder, fill(entry.name, replacements).replace(/\.tpl$/, ''));
    if (from !== to) renameSync(from, to);
    if (entry.isDirectory()) fillFolder(to, replacements);
    else writeFileSync(to, fill(readFileSync(to, 'utf8'), replacements));
  }
}

function newDecision() {
  const folder = join(root, 'docs/adr');
  mkdirSync(folder, { recursive: true });
  const numbers = readdirSync(folder)
    .map((file) => Number.parseInt(file, 10))
    .filter(Number.isFinite);
  const number = String(Math.max(0, ...numbers) + 1).padStart(4, '0');
  const file = join(folder, `${number}-${kebab(title)}.md`);
  const template = readFileSync(join(templates, 'adr.md.tpl'), 'utf8');
  writeFileSync(file, fill(template, { number, title, date: new Date().toISOString().slice(0, 10) }));
  console.log(`Created docs/adr/${number}-${kebab(title)}.md.`);
}

const generators = { feature: () => newLibrary('feature'), adapter: () => newLibrary('adapter'), adr: newDecision };
(generators[what] ?? (() => fail(usage)))();
