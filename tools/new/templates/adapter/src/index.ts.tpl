export { __Name__Power } from './__name__-power.js';
