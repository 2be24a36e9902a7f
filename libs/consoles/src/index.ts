export * from './console-broker.js';
export * from './viewer.js';
export * from './pictures/screen-pictures.js';
