// Run by generate.mjs: prints the exports of the libraries of the limits as one JSON object, file name → text.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** Each after its dependencies. */
const LIBRARIES = ['limits-core', 'matrix-protocol', 'limits-redis', 'limits-nest'];

const root = join(import.meta.dirname, '../..');
const sources = join(root, 'libs');
/** A virtual folder for the declarations: next to the sources, the compiler would prefer the sources. */
const declarations = join(root, '.declarations');

/** The declarations of all libraries as the compiler emits them, which is exactly the public API. */
function declare(options) {
  const entries = LIBRARIES.map((library) => join(sources, library, 'src/index.ts'));
  const emitting = { ...options, noEmit: false, declaration: true, emitDeclarationOnly: true, types: ['node'] };
  const written = new Map();
  ts.createProgram(entries, emitting).emit(undefined, (name, text) =>
    written.set(name.replace(sources, declarations), text),
  );
  return written;
}

const entry = (library) => join(declarations, library, 'src/index.d.ts');

function read(written, options) {
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.fileExists = (name) => written.has(name) || fileExists(name);
  host.readFile = (name) => written.get(name) ?? readFile(name);
  host.directoryExists = undefined;
  return ts.createProgram(LIBRARIES.map(entry), { ...options, noLib: true, types: [] }, host);
}

const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
const program = read(declare(options), options);
const checker = program.getTypeChecker();

/** The text of a declaration without its private members. */
function textOf(declaration) {
  const statement = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  const file = statement.getSourceFile();
  const hidden = (statement.members ?? [])
    .filter((member) => member.name?.kind === ts.SyntaxKind.PrivateIdentifier || isPrivate(member))
    .map((member) => [member.getFullStart(), member.end]);
  let text = '';
  let at = statement.getStart(file);
  for (const [from, to] of hidden) {
    text += file.text.slice(at, from);
    at = to;
  }
  return (text + file.text.slice(at, statement.end))
    .replace(/^(?:export |declare )+/, '')
    .replace(/^(?: {4})+/gm, (indent) => indent.slice(indent.length / 2));
}

const isPrivate = (member) =>
  (ts.getCombinedModifierFlags(member) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) !== 0;

function docOf(symbol) {
  const tags = symbol.getJsDocTags(checker).map(({ name, text }) => `@${name} ${ts.displayPartsToString(text)}`.trim());
  return [ts.displayPartsToString(symbol.getDocumentationComment(checker)), ...tags].filter(Boolean).join('\n\n');
}

function chapter(library) {
  const { name, description } = JSON.parse(readFileSync(join(root, 'libs', library, 'package.json'), 'utf8'));
  const module = checker.getSymbolAtLocation(program.getSourceFile(entry(library)));
  const entries = checker
    .getExportsOfModule(module)
    .map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((symbol) => {
      const code = symbol.declarations.map(textOf).join('\n');
      return [`### ${symbol.name}`, docOf(symbol), `\`\`\`ts\n${code}\n\`\`\``].filter(Boolean).join('\n\n');
    });
  return [`## ${name}`, `${description} See its [README](../../libs/${library}/README.md).`, ...entries].join('\n\n');
}

const page = [
  '# Exports of the libraries',
  'Generated from the declarations by `npm run docs`. Do not edit.',
  ...LIBRARIES.map(chapter),
].join('\n\n');
process.stdout.write(JSON.stringify({ 'limits-api.md': `${page}\n` }));
