import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mergeConfig } from 'vite';
import { nodeApp } from '../../tools/vite.node.js';

const DESK = join(import.meta.dirname, '../limits-desk/dist');

/** The operator's desk, which was built before, is a part of this build: dist/ is all that runs. */
const deskFiles = {
  name: 'desk-files',
  generateBundle() {
    for (const name of readdirSync(DESK))
      this.emitFile({ type: 'asset', fileName: `desk/${name}`, source: readFileSync(join(DESK, name)) });
  },
};

export default mergeConfig(nodeApp(), { plugins: [deskFiles] });
