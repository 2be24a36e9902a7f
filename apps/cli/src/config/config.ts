import { ClientError } from '../client/client-error.js';

/** A service under the name that the user gave it. */
export interface ServerContext {
  readonly server: string;
  readonly token?: string;
  /** The path of a file with certificates. */
  readonly cacert?: string;
  /** Whether the token may be sent over HTTP to another machine. */
  readonly insecureHttp?: boolean;
}

export interface Config {
  /** The name of the context that is used by default. */
  readonly current?: string;
  readonly contexts: Readonly<Record<string, ServerContext>>;
}

export const EMPTY_CONFIG: Config = { contexts: {} };

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** @throws ClientError for a name that no context may have */
export function checkContextName(name: string): void {
  if (!NAME.test(name))
    throw ClientError.usage(
      `The name of a context must be 1 to 63 letters, digits, ".", "_" and "-", beginning with a letter or a digit.`,
    );
}

/** @param where names the file in errors @throws ClientError that names the field */
export function parseConfig(value: unknown, where: string): Config {
  if (value === null || value === undefined) return EMPTY_CONFIG;
  const root = recordOf(value, where, 'the file', ['current', 'contexts']);
  const contexts = recordOf(root['contexts'] ?? {}, where, 'contexts');
  const current = optional(root, 'current', 'string', where);
  const parsed = Object.entries(contexts).map(([name, context]): [string, ServerContext] => {
    checkContextName(name);
    return [name, parseContext(context, where, `contexts.${name}`)];
  });
  return { contexts: Object.fromEntries(parsed), ...(current === undefined ? {} : { current }) };
}

function parseContext(value: unknown, where: string, field: string): ServerContext {
  const context = recordOf(value, where, field, ['server', 'token', 'cacert', 'insecureHttp']);
  const server = optional(context, 'server', 'string', where, field);
  if (server === undefined) throw invalid(where, `${field}.server`, 'is missing');
  const token = optional(context, 'token', 'string', where, field);
  const cacert = optional(context, 'cacert', 'string', where, field);
  const insecureHttp = optional(context, 'insecureHttp', 'boolean', where, field);
  return {
    server,
    ...(token === undefined ? {} : { token }),
    ...(cacert === undefined ? {} : { cacert }),
    ...(insecureHttp === undefined ? {} : { insecureHttp }),
  };
}

function recordOf(value: unknown, where: string, field: string, known?: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(where, field, 'must have fields');
  const unknown = known && Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) throw invalid(where, field, `must not have "${unknown}", only ${known?.join(', ')}`);
  return value as Record<string, unknown>;
}

interface Types {
  string: string;
  boolean: boolean;
}

function optional<T extends keyof Types>(
  record: Record<string, unknown>,
  key: string,
  type: T,
  where: string,
  field = '',
): Types[T] | undefined {
  const value = record[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== type) throw invalid(where, `${field}${field && '.'}${key}`, `must be a ${type}`);
  return value as Types[T];
}

const invalid = (where: string, field: string, problem: string): ClientError =>
  ClientError.usage(`${where}: ${field} ${problem}.`);
