import { nodeApp } from '../../vite.node.js';

const { ssr, build } = nodeApp();

/** As the application is built, but for the one entry that the command line names. */
export default {
  ssr,
  build: { target: build.target, minify: false, rolldownOptions: { output: build.rolldownOptions.output } },
};
