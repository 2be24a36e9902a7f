export * from './channel-changes.js';
export * from './message-dispatcher.js';
export * from './message-sender.js';
export * from './message-sources.js';
export { MessageTimes } from './message-times.js';
export * from './rule-changes.js';
export { newRuleState } from './rule-state.js';
export type { TargetChange } from './merge-target.js';
export * from './visible.js';
