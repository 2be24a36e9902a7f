export * from './chained-entry.js';
export * from './export-check.js';
export * from './export-lines.js';
