import type { IncusEngine } from '../engine/incus-engine.js';
import { IncusMetrics } from './incus-metrics.js';

export const openMetrics = ({ api, finder, project }: IncusEngine): IncusMetrics =>
  new IncusMetrics(api, finder, project);
