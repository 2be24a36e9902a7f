import type { IncusEngine } from '../engine/incus-engine.js';
import { IncusCluster } from './incus-cluster.js';

export const openCluster = (engine: IncusEngine): IncusCluster => new IncusCluster(engine);
