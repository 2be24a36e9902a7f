import { nodeApp } from '../../vite.node.js';

const { ssr, build } = nodeApp();

/** The build of the application, but for the entry point given on the command line. */
export default {
  ssr,
  build: { target: build.target, minify: false, rolldownOptions: { output: build.rolldownOptions.output } },
};
