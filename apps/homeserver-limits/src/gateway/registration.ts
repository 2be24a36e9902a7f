import { isJsonObject, type JsonObject } from '@headgate/matrix-protocol';
import { ConfigError } from '@headgate/nest-kit';
import { LineCounter, parseDocument } from 'yaml';
import { readNamedFile } from '../config/read-file.js';

/** What matters here of an application service's registration. */
export interface Registration {
  token: string;
  senderUserId: string;
  rateLimited: boolean;
  /** Whom it may speak for. Expressions of another dialect than ours are left out. */
  users: readonly RegExp[];
}

/** @throws ConfigError naming the file and what is wrong in it, and quoting nothing of it: it holds tokens */
export function readRegistration(path: string, serverName: string): Registration {
  const yaml = readYaml(path);
  const wrong = (rule: string) => new ConfigError(path, [rule]);
  const { as_token: token, sender_localpart: localpart, rate_limited: rateLimited = true, namespaces } = yaml;
  if (typeof token !== 'string' || token === '') throw wrong('as_token must be a text that is not empty');
  if (typeof localpart !== 'string' || localpart === '')
    throw wrong('sender_localpart must be a text that is not empty');
  if (typeof rateLimited !== 'boolean' && rateLimited !== null) throw wrong('rate_limited must be true or false');
  const expressions = usersIn(namespaces);
  if (!expressions) throw wrong('namespaces.users must be a list of entries with a regex');
  const senderUserId = `@${localpart}:${serverName}`;
  return { token, senderUserId, rateLimited: rateLimited !== false, users: expressions.flatMap(fromTheStart) };
}

/** The expressions; undefined when they are not where they should be. */
function usersIn(namespaces: unknown): string[] | undefined {
  if (namespaces === undefined || namespaces === null) return [];
  if (!isJsonObject(namespaces)) return undefined;
  const { users } = namespaces;
  if (users === undefined || users === null) return [];
  if (!Array.isArray(users)) return undefined;
  const expressions = users.map((entry: unknown) => (isJsonObject(entry) ? entry.regex : undefined));
  return expressions.every((regex) => typeof regex === 'string') ? expressions : undefined;
}

/** Homeservers match from an id's start, not to its end. */
function fromTheStart(expression: string): RegExp[] {
  try {
    return [new RegExp(`^(?:${expression})`, 'u')];
  } catch {
    return [];
  }
}

function readYaml(path: string): JsonObject {
  const lines = new LineCounter();
  const document = parseDocument(readNamedFile(path), { prettyErrors: false, lineCounter: lines });
  const [error] = document.errors;
  if (error) {
    const { line, col } = lines.linePos(error.pos[0]);
    throw new ConfigError(path, [`not valid YAML: line ${line}, column ${col}`]);
  }
  const value = plainValue(document);
  if (!isJsonObject(value)) throw new ConfigError(path, ['must be a registration']);
  return value;
}

/** Undefined for a document that points to parts of itself which are not there. */
function plainValue(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS();
  } catch {
    return undefined;
  }
}
