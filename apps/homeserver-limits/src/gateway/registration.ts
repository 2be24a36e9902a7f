import { isJsonObject, type JsonObject } from '@headgate/matrix-protocol';
import { ConfigError } from '@headgate/nest-kit';
import { LineCounter, parseDocument } from 'yaml';
import { readNamedFile } from '../config/read-file.js';

/** The relevant part of an application service's registration. */
export interface Registration {
  /** Names the service in the configuration. */
  id: string | undefined;
  token: string;
  senderUserId: string;
  rateLimited: boolean;
  /** The users it may act as. Expressions that JavaScript cannot parse are left out. */
  users: readonly RegExp[];
}

/** @throws ConfigError that names the file and the problem. It quotes nothing of the file, which holds tokens. */
export function readRegistration(path: string, serverName: string): Registration {
  const yaml = readYaml(path);
  const invalid = (rule: string) => new ConfigError(path, [rule]);
  const { id, as_token: token, sender_localpart: localpart, rate_limited: rateLimited = true, namespaces } = yaml;
  if (id !== undefined && typeof id !== 'string') throw invalid('id must be a string');
  if (typeof token !== 'string' || token === '') throw invalid('as_token must be a non-empty string');
  if (typeof localpart !== 'string' || localpart === '') throw invalid('sender_localpart must be a non-empty string');
  if (typeof rateLimited !== 'boolean' && rateLimited !== null) throw invalid('rate_limited must be true or false');
  const expressions = usersIn(namespaces);
  if (!expressions) throw invalid('namespaces.users must be a list of entries with a regex');
  const senderUserId = `@${localpart}:${serverName}`;
  return { id, token, senderUserId, rateLimited: rateLimited !== false, users: expressions.flatMap(anchored) };
}

/** The expressions; undefined when the list is malformed. */
function usersIn(namespaces: unknown): string[] | undefined {
  if (namespaces === undefined || namespaces === null) return [];
  if (!isJsonObject(namespaces)) return undefined;
  const { users } = namespaces;
  if (users === undefined || users === null) return [];
  if (!Array.isArray(users)) return undefined;
  const expressions = users.map((entry: unknown) => (isJsonObject(entry) ? entry.regex : undefined));
  return expressions.every((regex) => typeof regex === 'string') ? expressions : undefined;
}

/** Homeservers match from the start of a user ID, not to its end. */
function anchored(expression: string): RegExp[] {
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

/** Undefined for a document with unresolved aliases. */
function plainValue(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS();
  } catch {
    return undefined;
  }
}
