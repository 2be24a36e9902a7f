export * from './task-board.js';
