import { sep } from 'node:path';
import Sequencer from '@jest/test-sequencer';

const CONTRACTS = `${sep}contracts${sep}`;

/**
 * Starts the contract suites first. They take longest, but their spec files are the smallest, by which Jest guesses
 * durations that it has not measured yet.
 */
export default class ContractsFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const isContract = ({ path }) => path.includes(CONTRACTS);
    return [...sorted.filter(isContract), ...sorted.filter((test) => !isContract(test))];
  }
}
