export * from './configured-catalog.js';
