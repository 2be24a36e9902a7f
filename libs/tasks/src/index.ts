export * from './task-board.js';
export * from './task-reader.js';
