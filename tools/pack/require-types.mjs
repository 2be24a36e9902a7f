import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/**
 * Writes a declaration for `require()` next to each declaration of a built package. With `module: node16`, TypeScript
 * refuses to require a file whose declaration is an ES module, although Node has loaded such files since 22.12. The
 * code is the same for both, so that an application never has two copies of a class.
 * @param {string} folder with the declarations and their subfolders
 * @param {(specifier: string) => boolean} isModule whether a specifier leads to a package that has ES modules only
 */
export function writeRequireTypes(folder, isModule) {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.d.ts')) continue;
    const file = join(folder, name);
    writeFileSync(file.replace(/\.d\.ts$/, '.d.cts'), toRequireTypes(readFileSync(file, 'utf8'), isModule));
  }
}

const MODE = `{ 'resolution-mode': 'import' }`;

/** @param {ts.ImportClause} clause @returns {readonly ts.ImportSpecifier[]} */
const elementsOf = ({ namedBindings }) =>
  namedBindings && ts.isNamedImports(namedBindings) ? namedBindings.elements : [];

/**
 * The declaration with imports of the `.cjs` files next to it, which TypeScript looks up as `.d.cts`. Types of packages
 * with ES modules only are imported as such.
 * @param {string} declaration
 * @param {(specifier: string) => boolean} isModule
 * @throws Error for a value that is exported from a package with ES modules only
 */
export function toRequireTypes(declaration, isModule) {
  const source = ts.createSourceFile('index.d.ts', declaration, ts.ScriptTarget.Latest, true);
  /** @type {{ start: number, end: number, text: string }[]} */
  const edits = [];
  const replace = (/** @type {ts.Node} */ node, /** @type {string} */ text) =>
    edits.push({ start: node.getStart(source), end: node.getEnd(), text });
  const insert = (/** @type {number} */ at, /** @type {string} */ text) => edits.push({ start: at, end: at, text });

  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isImportDeclaration(node)) importDeclaration(node);
    else if (ts.isExportDeclaration(node)) exportDeclaration(node);
    else if (ts.isImportTypeNode(node)) importType(node);
    ts.forEachChild(node, visit);
  };

  /** @param {ts.Node | undefined} specifier a string @returns {string | undefined} */
  const textOf = (specifier) => (specifier && ts.isStringLiteral(specifier) ? specifier.text : undefined);
  /** @param {ts.Node} literal @param {string} specifier */
  const relative = (literal, specifier) => {
    if (/^\..*\.js$/.test(specifier)) replace(literal, `'${specifier.replace(/\.js$/, '.cjs')}'`);
  };

  /** @param {ts.ImportDeclaration} node */
  const importDeclaration = ({ moduleSpecifier, importClause }) => {
    const specifier = textOf(moduleSpecifier) ?? '';
    relative(moduleSpecifier, specifier);
    if (!isModule(specifier) || !importClause) return;
    // A declaration needs no values, and only an import of types may name its mode.
    if (!importClause.isTypeOnly) {
      insert(importClause.getStart(source), 'type ');
      for (const element of elementsOf(importClause))
        if (element.isTypeOnly) replace(element, element.getText(source).replace(/^type\s+/, ''));
    }
    insert(moduleSpecifier.getEnd(), ` with ${MODE}`);
  };

  /** @param {ts.ExportDeclaration} node */
  const exportDeclaration = ({ moduleSpecifier }) => {
    const specifier = textOf(moduleSpecifier);
    if (!moduleSpecifier || specifier === undefined) return;
    relative(moduleSpecifier, specifier);
    if (isModule(specifier)) throw new Error(`A library for require() can't export ${specifier}, an ES module.`);
  };

  /** @param {ts.ImportTypeNode} node */
  const importType = ({ argument }) => {
    if (!ts.isLiteralTypeNode(argument)) return;
    const specifier = textOf(argument.literal) ?? '';
    relative(argument.literal, specifier);
    if (isModule(specifier)) insert(argument.getEnd(), `, { with: ${MODE} }`);
  };

  visit(source);
  return edits
    .sort((one, other) => other.start - one.start)
    .reduce((text, { start, end, text: inserted }) => text.slice(0, start) + inserted + text.slice(end), declaration);
}
