import { nodeApp } from '../../tools/vite.node.js';

const { ssr, build } = nodeApp();

/**
 * Other projects import this library from its sources; the build output is the stand-alone sandbox, dist/sandbox.js.
 */
export default {
  ssr,
  build: { ...build, rolldownOptions: { ...build.rolldownOptions, input: { sandbox: 'src/cli/sandbox.ts' } } },
};
