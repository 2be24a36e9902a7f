export * from './catalog/built-in-catalog.js';
export * from './catalog/configured-catalog.js';
export * from './catalog/parse-catalog.js';
export * from './image-sources.js';
export * from './imported/change-images.js';
export * from './imported/imported-image-directory.js';
export * from './imported/uploads.js';
