import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

/** Attributes, and fields of objects, that users read. */
const READ_BY_USERS =
  /^(aria-label|aria-roledescription|alt|title|label|placeholder|hint|description|failure|none|summary|unit|words|brief|body|consequence|warning|done|reason|panelLabel|reconnectLabel|listTitle|what|submit)$/;

/** Their content is for programs, or the name of a key or a product. */
const ELEMENTS_WITHOUT_TEXTS = /^(code|kbd|pre|Trans)$/;

/** Texts that are the same in all languages, with the reason. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ['Headgate', 'the name of the product'],
  ['CPU', 'a term of the field'],
  ['CPUs', 'a term of the field'],
  ['CD-ROM', 'a term of the field'],
  ['Ctrl+Alt+Del', 'the name of a key combination of the guest'],
  ['ssh-ed25519 AAAA… you@laptop', 'an example'],
  ['VMs', 'a term of the field'],
  ['VM', 'a term of the field'],
  ['URL', 'a term of the field'],
  ['URI', 'a term of the field'],
  ['Kubeconfig', 'the name of a format'],
  ['IP', 'a term of the field'],
  ['DHCP', 'a term of the field'],
  ['NUMA', 'a term of the field'],
  ['TPM', 'a term of the field'],
  ['ID', 'a term of the field'],
  ['CSV', 'the name of a format'],
  ['YAML', 'the name of a format'],
  ['Terraform', 'the name of a product'],
  ['bootc', 'the name of a product'],
  ['JSON', 'the name of a format'],
]);

/** Their texts are names of keys on the keyboard of the guest. */
const FILES_WITHOUT_TEXTS = ['features/consoles/key-combinations.ts'];

const WORD = /\p{L}{2}/u;
/** An example in a box, such as an address. */
const EXAMPLE = /^\S+$/;

/** The raw texts of a file that users would read, with their lines. */
export function rawTexts(code: string, file: string): string[] {
  const source = ts.createSourceFile(
    file,
    code,
    ts.ScriptTarget.Latest,
    true,
    file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
  );
  const found: string[] = [];
  const report = (node: ts.Node, text: string): void => {
    const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    const trimmed = text
      .trim()
      .replace(/\s+/g, ' ')
      .replace(/^[,·:(]+ ?| ?[,·:)]+$/g, '');
    if (WORD.test(trimmed) && !EXCEPTIONS.has(trimmed)) found.push(`${file}:${line} ${trimmed}`);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isJsxElement(node) && ELEMENTS_WITHOUT_TEXTS.test(node.openingElement.tagName.getText())) {
      ts.forEachChild(node.openingElement, visit);
      return;
    }
    if (ts.isJsxText(node)) report(node, node.text);
    if (isExample(node)) return;
    if (ts.isJsxAttribute(node) && READ_BY_USERS.test(node.name.getText())) {
      const value = node.initializer;
      if (value && ts.isStringLiteral(value)) report(value, value.text);
      if (value && ts.isJsxExpression(value) && value.expression) literals(value.expression, report);
    }
    if (ts.isPropertyAssignment(node) && READ_BY_USERS.test(node.name.getText())) literals(node.initializer, report);
    if (ts.isJsxExpression(node) && !ts.isJsxAttribute(node.parent) && node.expression)
      literals(node.expression, report);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...new Set(found)];
}

/** A placeholder or a unit of one word is the same in all languages. */
function isExample(node: ts.Node): boolean {
  if (!ts.isJsxAttribute(node) && !ts.isPropertyAssignment(node)) return false;
  const value = node.initializer;
  return (
    /^(placeholder|unit)$/.test(node.name.getText()) &&
    value !== undefined &&
    ts.isStringLiteral(value) &&
    EXAMPLE.test(value.text)
  );
}

/** The literals that an expression may be; not the arguments of calls, and not what it compares. */
function literals(node: ts.Expression, report: (node: ts.Node, text: string) => void): void {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) report(node, node.text);
  else if (ts.isTemplateExpression(node)) {
    report(node, node.head.text);
    for (const { literal } of node.templateSpans) report(literal, literal.text);
  } else if (ts.isParenthesizedExpression(node)) literals(node.expression, report);
  else if (ts.isConditionalExpression(node)) {
    literals(node.whenTrue, report);
    literals(node.whenFalse, report);
  } else if (ts.isBinaryExpression(node) && /^(\?\?|\|\||&&|\+)$/.test(node.operatorToken.getText())) {
    if (node.operatorToken.kind !== ts.SyntaxKind.AmpersandAmpersandToken) literals(node.left, report);
    literals(node.right, report);
  }
}

const SOURCES = import.meta.dirname;
const files = readdirSync(SOURCES, { recursive: true, withFileTypes: true })
  .filter(({ name }) => /\.tsx?$/.test(name) && !name.includes('.spec.'))
  .map(({ parentPath, name }) => join(parentPath, name))
  .filter((file) => !file.includes('/testing/') && !file.includes('/shared/api/'))
  .filter((file) => !FILES_WITHOUT_TEXTS.includes(relative(SOURCES, file)));

test('no text that users read bypasses the catalog', () => {
  expect(files.length).toBeGreaterThan(300);
  expect(files.flatMap((file) => rawTexts(readFileSync(file, 'utf8'), relative(SOURCES, file)))).toEqual([]);
});

test.each([
  ['<p>Delete it</p>', ['x.tsx:1 Delete it']],
  ['<p>{on ? "Start" : t`Stop`}</p>', ['x.tsx:1 Start']],
  ['<p>{`${count} machines`}</p>', ['x.tsx:1 machines']],
  ['<Field label="Disk size" />', ['x.tsx:1 Disk size']],
  ['<b aria-label={name ?? "another user"} />', ['x.tsx:1 another user']],
  ["const a = { title: `Couldn't delete ${name}` }", ["x.tsx:1 Couldn't delete"]],
  ['<p className="hg-note"><code>npm start</code> {t`Delete it`}</p>', []],
  ['<Trans>See <b>this</b></Trans>', []],
  ['<p>{kind === "pool" ? name : "–"}</p>', []],
])('the rule judges %s', (code, expected) => {
  expect(rawTexts(code, 'x.tsx')).toEqual(expected);
});
