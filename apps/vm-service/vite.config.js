import { nodeApp } from '../../tools/vite.node.js';

export default nodeApp({ 'print-reference': 'src/reference/print-reference.ts' }, ['typescript']);
