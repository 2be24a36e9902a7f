export * from './agents.js';
export * from './budgets.js';
export { changedRefs } from './compare-plans.js';
export { MAX_KEPT, MAX_PER_TOKEN, MAX_WAITING_PER_TOKEN } from './kept-rehearsals.js';
export * from './rehearsable.js';
export * from './rehearsal.js';
export * from './rehearsals.js';
export * from './twin-outcome.js';
