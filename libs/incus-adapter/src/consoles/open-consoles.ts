import type { IncusEngine } from '../engine/incus-engine.js';
import { IncusConsoles } from './incus-consoles.js';

export const openConsoles = ({ api, finder }: IncusEngine): IncusConsoles => new IncusConsoles(api, finder);
