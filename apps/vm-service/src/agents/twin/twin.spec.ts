import 'reflect-metadata';
import { twinProof } from '../testing/twin-proof.contract.js';

twinProof(1, 100);
