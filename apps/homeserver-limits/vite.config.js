import { nodeApp } from '../../tools/vite.node.js';

export default nodeApp();
