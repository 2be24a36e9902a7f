import { isChecksum } from '@headgate/domain-contracts';
import { NAME_TEXT } from '../format/manifest.js';
import { VERSION_TEXT } from '../format/plugin-version.js';
import { readDocument, readText, ShapeError } from '../format/shape.js';

/** The record of an installed plugin. Writing it is what installs a plugin, deleting it what removes it. */
export interface InstallRecord {
  readonly name: string;
  readonly version: string;
  /** Of the archive. */
  readonly digest: string;
  readonly origin: string;
  /** Under the folder of all versions. */
  readonly folder: string;
  readonly installedAt: string;
  /** SHA-256 of each file in hex digits. */
  readonly files: Readonly<Record<string, string>>;
}

const RECORD_SCHEMA_VERSION = 1;
const KEYS = ['name', 'version', 'digest', 'origin', 'folder', 'installedAt', 'files'];
const FOLDER = /^[a-z0-9][A-Za-z0-9.-]{0,200}$/;
const SHA256 = /^[0-9a-f]{64}$/;

export const formatRecord = (record: InstallRecord): string =>
  `${JSON.stringify({ schemaVersion: RECORD_SCHEMA_VERSION, ...record }, undefined, 2)}\n`;

/** @throws ShapeError when the record is damaged, or a newer release wrote it */
export function parseRecord(text: string): InstallRecord {
  const where = 'record';
  const fields = readDocument(text, where, { version: RECORD_SCHEMA_VERSION, keys: KEYS });
  const anyText = { test: () => true, rule: 'a text' };
  return {
    name: readText(fields, 'name', where, NAME_TEXT),
    version: readText(fields, 'version', where, VERSION_TEXT),
    digest: readText(fields, 'digest', where, { test: isChecksum, rule: 'a checksum' }),
    origin: readText(fields, 'origin', where, anyText),
    folder: readText(fields, 'folder', where, { test: (text) => FOLDER.test(text), rule: 'the name of a folder' }),
    installedAt: readText(fields, 'installedAt', where, anyText),
    files: readFiles(fields['files']),
  };
}

function readFiles(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) throw new ShapeError('record.files must be an object.');
  for (const digest of Object.values(value))
    if (typeof digest !== 'string' || !SHA256.test(digest)) throw new ShapeError('record.files must contain digests.');
  return value as Record<string, string>;
}
