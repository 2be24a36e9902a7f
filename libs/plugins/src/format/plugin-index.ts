import { CHECKSUM_RULE, isChecksum } from '@headgate/domain-contracts';
import { DESCRIPTION_TEXT, NAME_TEXT } from './manifest.js';
import { VERSION_TEXT } from './plugin-version.js';
import { readArray, readCount, readDocument, readObject, readText, ShapeError } from './shape.js';

/** A plugin that an index offers. */
export interface IndexEntry {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly apiVersion: number;
  /** Where the archive is, absolute or relative to the index. */
  readonly url: string;
  /** Of the archive, such as `sha256:<64 hex digits>`. */
  readonly digest: string;
  /** The length of the archive. */
  readonly bytes: number;
  /** The name of the publisher's key in the configuration of the service. */
  readonly publisher: string;
  /** Ed25519, over `signedStatement`, in Base64. */
  readonly signature: string;
}

export const INDEX_SCHEMA_VERSION = 1;
export const MAX_INDEX_BYTES = 1024 ** 2;
const MAX_INDEX_ENTRIES = 1000;
const MAX_URL_LENGTH = 2048;
/** An Ed25519 signature has 64 bytes. */
const SIGNATURE = /^[A-Za-z0-9+/]{86}==$/;

const ENTRY_KEYS = ['name', 'description', 'version', 'apiVersion', 'url', 'digest', 'bytes', 'publisher', 'signature'];

/** @throws ShapeError */
export function parseIndex(text: string): IndexEntry[] {
  const where = 'index';
  const fields = readDocument(text, where, { version: INDEX_SCHEMA_VERSION, keys: ['plugins'] });
  const entries = readArray(fields, 'plugins', where, MAX_INDEX_ENTRIES).map((entry, position) =>
    parseEntry(entry, `${where}.plugins[${position}]`),
  );
  const names = entries.map(({ name }) => name);
  const repeated = names.find((name, position) => names.indexOf(name) !== position);
  if (repeated !== undefined) throw new ShapeError(`${where}.plugins lists ${repeated} more than once.`);
  return entries;
}

function parseEntry(value: unknown, where: string): IndexEntry {
  const fields = readObject(value, where, ENTRY_KEYS);
  return {
    name: readText(fields, 'name', where, NAME_TEXT),
    description: readText(fields, 'description', where, DESCRIPTION_TEXT),
    version: readText(fields, 'version', where, VERSION_TEXT),
    apiVersion: readCount(fields, 'apiVersion', where),
    url: readText(fields, 'url', where, {
      test: (text) => text !== '' && text.length <= MAX_URL_LENGTH && !/\s/.test(text),
      rule: 'the URL of an archive',
    }),
    digest: readText(fields, 'digest', where, { test: isChecksum, rule: CHECKSUM_RULE }),
    bytes: readCount(fields, 'bytes', where),
    publisher: readText(fields, 'publisher', where, NAME_TEXT),
    signature: readText(fields, 'signature', where, {
      test: (text) => SIGNATURE.test(text),
      rule: 'an Ed25519 signature in Base64',
    }),
  };
}
