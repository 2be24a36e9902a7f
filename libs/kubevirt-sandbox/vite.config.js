import { nodeApp } from '../../tools/vite.node.js';

const { ssr, build } = nodeApp();

/** Others import this library from its sources; what is built is the stand-alone sandbox, dist/sandbox.js. */
export default {
  ssr,
  build: { ...build, rolldownOptions: { ...build.rolldownOptions, input: { sandbox: 'src/cli/sandbox.ts' } } },
};
