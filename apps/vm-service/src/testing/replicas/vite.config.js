import { nodeApp } from '../../../../../tools/vite.node.js';

const { plugins, ssr } = nodeApp();

// Without the output of the application, because the tests run this bundle from a temporary folder.
export default { plugins, ssr, build: { target: 'node24', minify: false } };
