import 'reflect-metadata';
import { twinProof } from '../testing/twin-proof.contract.js';

/** More VMs take minutes, because time passes in small steps. */
for (const seed of [20261130, 77]) twinProof(seed, 120);
