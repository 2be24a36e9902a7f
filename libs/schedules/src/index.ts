export { GRACE_MS, ScheduleTimes, type DueTime, type Timing } from './due.js';
export * from './job-kind.js';
export { PlannedTimes, type PlannedTimesOptions } from './planned-times.js';
export { MAX_RUNS } from './run-records.js';
export { ScheduleOwners } from './run-starter.js';
export * from './schedule-changes.js';
export * from './scheduler.js';
export * from './visible-schedules.js';
export { expectTimeZone } from './wall-clock.js';
