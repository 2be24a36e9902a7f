import { isInstanceName } from '@headgate/domain-contracts';
import { PLUGIN_ABILITIES, PLUGIN_PERMISSIONS, type PluginAbility, type PluginPermission } from '@headgate/plugin-sdk';
import { VERSION_TEXT } from './plugin-version.js';
import { expectWord, readArray, readCount, readDocument, readText, readWord, type TextRule } from './shape.js';

/** The manifest of a plugin. */
export interface PluginManifest {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** The version of the protocol that it speaks. */
  readonly apiVersion: number;
  readonly ability: PluginAbility;
  /** The file that is run, an ES module. */
  readonly entry: string;
  /** Rights of the containers that it may request. */
  readonly permissions: readonly PluginPermission[];
}

/** The name of the manifest in an archive. */
export const MANIFEST_FILE = 'plugin.json';
export const MANIFEST_SCHEMA_VERSION = 1;

const MAX_DESCRIPTION_LENGTH = 512;
const KEYS = ['name', 'description', 'version', 'apiVersion', 'ability', 'entry', 'permissions'];

export const NAME_TEXT: TextRule = { test: isInstanceName, rule: 'a name of a-z, 0-9 and "-"' };
export const DESCRIPTION_TEXT: TextRule = {
  test: (text) => text.trim() !== '' && text.length <= MAX_DESCRIPTION_LENGTH && !/\p{Cc}/u.test(text),
  rule: `a line of at most ${MAX_DESCRIPTION_LENGTH} characters`,
};
const ENTRY_TEXT: TextRule = {
  test: (text) => /^[A-Za-z0-9][A-Za-z0-9_-]{0,60}\.mjs$/.test(text),
  rule: 'the name of an ES module next to the manifest, such as main.mjs',
};

/** @throws ShapeError */
export function parseManifest(text: string): PluginManifest {
  const where = MANIFEST_FILE;
  const fields = readDocument(text, where, { version: MANIFEST_SCHEMA_VERSION, keys: KEYS });
  const permissions = readArray(fields, 'permissions', where, PLUGIN_PERMISSIONS.length);
  return {
    name: readText(fields, 'name', where, NAME_TEXT),
    description: readText(fields, 'description', where, DESCRIPTION_TEXT),
    version: readText(fields, 'version', where, VERSION_TEXT),
    apiVersion: readCount(fields, 'apiVersion', where),
    ability: readWord(fields, 'ability', where, PLUGIN_ABILITIES),
    entry: readText(fields, 'entry', where, ENTRY_TEXT),
    permissions: permissions.map((one) => expectWord(one, `${where}.permissions`, PLUGIN_PERMISSIONS)),
  };
}
