import { nodeApp } from '../../tools/vite.node.js';

const { ssr, build } = nodeApp();

/** Other projects import this library from its sources; the build output is the program, dist/headgate-restore.js. */
export default {
  ssr,
  build: {
    ...build,
    rolldownOptions: { ...build.rolldownOptions, input: { 'headgate-restore': 'src/cli/headgate-restore.ts' } },
  },
};
