import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Compresses each file once, as small as possible, because the service sends them as they are. */
export const compressFiles = {
  name: 'compress-files',
  writeBundle({ dir }, bundle) {
    for (const file of Object.keys(bundle)) {
      const body = readFileSync(join(dir, file));
      const params = { [constants.BROTLI_PARAM_SIZE_HINT]: body.length };
      writeFileSync(join(dir, `${file}.br`), brotliCompressSync(body, { params }));
      writeFileSync(join(dir, `${file}.gz`), gzipSync(body, { level: 9 }));
    }
  },
};
