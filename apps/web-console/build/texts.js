import { transformSync } from '@babel/core';
import linguiMacro from '@lingui/babel-plugin-lingui-macro';
import { makeConfig } from '@lingui/conf';
import settings from '../lingui.config.js';

const linguiConfig = makeConfig(settings, { skipValidation: true });
const MACROS = /from '@lingui\/(?:core|react)\/macro'/;

/**
 * Replaces the macros of Lingui, and keeps the types for the compiler that runs after it.
 * @param {string} code
 * @param {string} file
 * @param {'all' | 'id-only'} descriptorFields whether the English texts stay in the code
 * @returns {{ code: string, map: object } | undefined} undefined for a file without texts
 */
export function replaceMacros(code, file, descriptorFields) {
  if (!MACROS.test(code)) return undefined;
  const result = transformSync(code, {
    filename: file,
    babelrc: false,
    configFile: false,
    sourceMaps: true,
    retainLines: true,
    parserOpts: { plugins: file.endsWith('x') ? ['typescript', 'jsx'] : ['typescript'] },
    plugins: [[linguiMacro, { descriptorFields, linguiConfig }]],
  });
  return { code: result.code, map: result.map };
}
