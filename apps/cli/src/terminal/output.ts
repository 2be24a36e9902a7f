import { EXIT_CODES } from '../exit-codes.js';
import { ClientError } from '../client/client-error.js';
import { escapeInJson, escapeInYaml, printable } from './printable.js';
import type { Environment } from './environment.js';
import { formatTable, type Column } from './table.js';

export const OUTPUT_FORMATS = ['table', 'wide', 'json', 'yaml', 'name'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** How objects are shown to people. */
export interface Presentation<T> {
  readonly columns: readonly Column<T>[];
  readonly nameOf: (item: T) => string;
  /** Shown instead of a table without rows. */
  readonly ifEmpty?: string;
}

/** Prints results on standard output in the chosen format, and messages on standard error. */
export class Output {
  constructor(
    private readonly streams: Pick<Environment, 'stdout' | 'stderr'>,
    readonly format: OutputFormat,
  ) {}

  get isForPeople(): boolean {
    return this.format === 'table' || this.format === 'wide';
  }

  /** @throws ClientError for a format that has no meaning for a single result */
  async value(value: unknown, forPeople: () => string, name?: string): Promise<void> {
    if (this.format === 'json') return this.write(`${escapeInJson(JSON.stringify(value, null, 2))}\n`);
    if (this.format === 'yaml') return this.write(await toYaml(value));
    if (this.format === 'name') {
      if (name === undefined) throw ClientError.usage('-o name is for lists and instances only.');
      return this.write(`${printable(name)}\n`);
    }
    return this.write(forPeople());
  }

  async list<T>(items: readonly T[], { columns, nameOf, ifEmpty }: Presentation<T>): Promise<void> {
    if (this.format === 'name') return this.write(items.map((item) => `${printable(nameOf(item))}\n`).join(''));
    if (this.isForPeople && items.length === 0) return this.note(ifEmpty ?? 'Nothing found.');
    return this.value(items, () => formatTable(items, columns, this.format === 'wide'));
  }

  /** Writes text that is safe for a terminal. */
  write(text: string): void {
    this.streams.stdout.write(text);
  }

  /** A message that is no part of the result. */
  note(text: string): void {
    this.streams.stderr.write(`${printable(text)}\n`);
  }
}

/** YAML in which unsafe characters are escapes. */
export async function toYaml(value: unknown): Promise<string> {
  const { Document, Scalar, visit } = await import('yaml');
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_key, node) => {
      // Only a text in double quotes can have escapes.
      if (typeof node.value === 'string' && printable(node.value) !== node.value) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return escapeInYaml(document.toString({ lineWidth: 0 }));
}

/** The one sentence of an error, and its code for scripts. */
export const errorLine = (error: ClientError): string =>
  error.exitCode === EXIT_CODES.usage && error.code === 'USAGE'
    ? printable(error.message)
    : `${printable(error.message)} (${printable(error.code)})`;
