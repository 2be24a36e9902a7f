export * from './config/config-error.js';
export * from './config/parse-section.js';
export * from './http/edge-adapter.js';
export * from './http/run-until-signal.js';
export * from './log/pino-nest-logger.js';
export * from './net/address.js';
export * from './net/listen-address.js';
export * from './net/trusted-proxies.js';
