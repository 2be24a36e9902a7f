export * from './console-broker.js';
export * from './viewer.js';
export * from './pictures/screen-pictures.js';
export * from './pictures/take-picture.js';
export * from './ports/port-client.js';
export * from './ports/relay-port.js';
