import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { ClientError } from '../client/client-error.js';
import type { InstanceKind } from '../instances/instance.js';

/** What an instance shall be: the fields of PATCH, and the instance that they are for. */
export interface Declaration {
  readonly kind: InstanceKind;
  readonly namespace: string;
  readonly name: string;
  /** Needed if several contexts have an instance of the name. */
  readonly context?: string;
  /** Sent as they are: the service checks them. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** For messages: the file and the number of the document. */
  readonly where: string;
}

/**
 * @param path of a file, or `-` for standard input
 * @throws ClientError that names the file, the document and the field
 */
export async function readDeclarations(path: string, stdin: Readable): Promise<Declaration[]> {
  const { parseAllDocuments } = await import('yaml');
  const text = path === '-' ? await readAll(stdin) : readText(path);
  const file = path === '-' ? 'standard input' : path;
  const documents = parseAllDocuments(text);
  const declarations: Declaration[] = [];
  for (const [index, document] of (Array.isArray(documents) ? documents : []).entries()) {
    const where = `${file}, document ${index + 1}`;
    const [problem] = document.errors;
    if (problem) throw ClientError.usage(`${where}: ${problem.message.split('\n')[0]}`);
    let value: unknown;
    try {
      value = document.toJS({ maxAliasCount: 100 });
    } catch (error) {
      throw ClientError.usage(`${where}: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (value === null || value === undefined) continue;
    declarations.push(parseDeclaration(value, where));
  }
  if (declarations.length === 0) throw ClientError.usage(`${file} declares nothing.`);
  refuseDuplicates(declarations);
  return declarations;
}

const NAMING = ['kind', 'namespace', 'name', 'context'];

function parseDeclaration(value: unknown, where: string): Declaration {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw ClientError.usage(`${where}: it must have fields: kind, namespace, name, and what the instance shall be.`);
  const record = value as Record<string, unknown>;
  const { kind } = record;
  if (kind !== 'vm' && kind !== 'ct') throw ClientError.usage(`${where}: kind must be vm or ct.`);
  const context = record['context'] === undefined ? undefined : textOf(record, 'context', where);
  return {
    kind,
    namespace: textOf(record, 'namespace', where),
    name: textOf(record, 'name', where),
    ...(context === undefined ? {} : { context }),
    fields: Object.fromEntries(Object.entries(record).filter(([key]) => !NAMING.includes(key))),
    where,
  };
}

function textOf(record: Record<string, unknown>, field: string, where: string): string {
  const value = record[field];
  if (typeof value !== 'string' || value === '')
    throw ClientError.usage(`${where}: ${field} must be a text${typeof value === 'number' ? ' in quotes' : ''}.`);
  return value;
}

function refuseDuplicates(declarations: readonly Declaration[]): void {
  const seen = new Map<string, Declaration>();
  for (const declaration of declarations) {
    const { kind, context = '', namespace, name, where } = declaration;
    const key = JSON.stringify([kind, context, namespace, name]);
    const former = seen.get(key);
    if (former) throw ClientError.usage(`${where}: ${name} is also declared in ${former.where}.`);
    seen.set(key, declaration);
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw ClientError.usage(`${path} can not be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

async function readAll(stdin: Readable): Promise<string> {
  let text = '';
  for await (const part of stdin.setEncoding('utf8')) text += String(part);
  return text;
}
