import { nodeApp } from '../../tools/vite.node.js';

const { ssr, build, plugins } = nodeApp();

/** dist/headgate.js is the whole program, so that it can be copied to any machine with Node 24. */
export default {
  ssr,
  plugins,
  build: {
    ...build,
    rolldownOptions: {
      input: { headgate: 'src/headgate.ts' },
      output: { ...build.rolldownOptions.output, codeSplitting: false },
    },
  },
};
