export { FleetHistory, type FleetHistoryDeps, type HistoryStatus } from './fleet-history.js';
export type {
  ChangesPage,
  ChangesQuery,
  Gap,
  PastChange,
  PastFleet,
  RecordedContext,
  RecordedEntry,
  RecordedEvent,
  RecordedFleet,
} from './recorded.js';
