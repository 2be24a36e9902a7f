export * from './cancel-task.js';
export { INTERRUPTED } from './running-task.js';
export * from './task-board.js';
export { newTaskId } from './task-id.js';
export * from './task-reader.js';
export { PastTimes } from './times/past-times.js';
export { MAX_LOG_BYTES, MAX_LOG_LINES, type LogPart } from './task-log.js';
