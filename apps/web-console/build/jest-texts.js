import swcJest from '@swc/jest';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { replaceMacros } from './texts.js';

const OWN = readFileSync(new URL('./texts.js', import.meta.url));

/** What @swc/jest does, after the macros of the texts were replaced. */
export default {
  createTransformer(options) {
    const swc = swcJest.createTransformer(options);
    const replaced = (code, file) => replaceMacros(code, file, 'all')?.code ?? code;
    return {
      canInstrument: swc.canInstrument,
      process: (code, file, settings) => swc.process(replaced(code, file), file, settings),
      processAsync: (code, file, settings) => swc.processAsync(replaced(code, file), file, settings),
      getCacheKey: (code, file, settings) =>
        createHash('sha256')
          .update(OWN)
          .update(swc.getCacheKey(code, file, settings))
          .digest('hex'),
    };
  },
};
