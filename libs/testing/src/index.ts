export * from './builders.js';
export * from './fixed-clock.js';
