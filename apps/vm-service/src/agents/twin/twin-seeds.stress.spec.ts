import 'reflect-metadata';
import { twinProof } from '../testing/twin-proof.contract.js';

for (const seed of [1, 20261130, 77]) twinProof(seed, 500);
