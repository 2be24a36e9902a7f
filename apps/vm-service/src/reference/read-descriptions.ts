import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** The docstrings of a class and of its fields, including those that it inherits. */
export interface ClassDescription {
  readonly text: string | undefined;
  readonly fields: ReadonlyMap<string, string>;
}

interface FoundClass extends ClassDescription {
  readonly parent: string | undefined;
}

/**
 * The docstrings of all classes in the TypeScript files of a folder, by the name of the class. They are the only source
 * of the descriptions in the API document.
 */
export function readDescriptions(folder: string): ReadonlyMap<string, ClassDescription> {
  const found = new Map<string, FoundClass>();
  for (const name of readdirSync(folder)) {
    if (!name.endsWith('.ts') || name.endsWith('.spec.ts')) continue;
    const text = readFileSync(join(folder, name), 'utf8');
    for (const statement of ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true).statements)
      if (ts.isClassDeclaration(statement) && statement.name) found.set(statement.name.text, describeClass(statement));
  }
  return new Map([...found.keys()].map((name) => [name, withInherited(name, found)]));
}

function describeClass(node: ts.ClassDeclaration): FoundClass {
  const parent = node.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)?.types[0];
  const fields = node.members.flatMap((member): [string, string][] => {
    const text = ts.isPropertyDeclaration(member) ? docstringOf(member) : undefined;
    return text === undefined ? [] : [[(member.name as ts.Identifier).text, text]];
  });
  return { text: docstringOf(node), fields: new Map(fields), parent: parent?.expression.getText() };
}

function withInherited(name: string, found: ReadonlyMap<string, FoundClass>): ClassDescription {
  const { text, fields, parent } = found.get(name) as FoundClass;
  const inherited = parent !== undefined && found.has(parent) ? withInherited(parent, found).fields : [];
  return { text, fields: new Map([...inherited, ...fields]) };
}

/** The text of the last docstring before a node, on one line. */
function docstringOf(node: ts.Node): string | undefined {
  const comment = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc).at(-1)?.comment;
  return ts.getTextOfJSDocComment(comment)?.replace(/\s+/g, ' ').trim();
}
