export * from './configured-catalog.js';
export * from './image-sources.js';
