import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';

const SDK = join(import.meta.dirname, '../../plugin-sdk/src/plugin-sdk.ts');

/** Each TypeScript file becomes a module without types, which imports the copy of the SDK in its archive. */
const toModule = (file) =>
  `${stripTypeScriptTypes(readFileSync(file, 'utf8'))
    .replaceAll("'@headgate/plugin-sdk'", "'./plugin-sdk.mjs'")
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`;

/**
 * The files of a plugin's archive: the manifest, its modules and a copy of the SDK.
 * @param {string} folder
 * @returns {Record<string, string>}
 */
export function readPlugin(folder) {
  const names = readdirSync(folder).filter((name) => /\.(?:ts|mjs|json)$/.test(name));
  const files = names.map((name) => {
    const path = join(folder, name);
    return name.endsWith('.ts') ? [name.replace(/\.ts$/, '.mjs'), toModule(path)] : [name, readFileSync(path, 'utf8')];
  });
  return Object.fromEntries([...files, ['plugin-sdk.mjs', toModule(SDK)]]);
}
