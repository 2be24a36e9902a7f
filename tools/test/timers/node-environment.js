import { TestEnvironment } from 'jest-environment-node';
import { skipLate } from '../deadline.js';
import { inBlocks } from '../groups/spec-blocks.js';
import { withLeastLimit } from '../least-limit.js';
import { checkTimers } from './check-timers.js';

export default inBlocks(withLeastLimit(skipLate(checkTimers(TestEnvironment))));
