export { GRACE_MS, ScheduleTimes, type DueTime, type Timing } from './due.js';
export { PlannedTimes, type PlannedTimesOptions } from './planned-times.js';
