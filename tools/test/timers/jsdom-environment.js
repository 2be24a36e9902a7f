import { TestEnvironment } from 'jest-environment-jsdom';
import { skipLate } from '../deadline.js';
import { inBlocks } from '../groups/spec-blocks.js';
import { withLeastLimit } from '../least-limit.js';
import { checkTimers } from './check-timers.js';

export default inBlocks(withLeastLimit(skipLate(checkTimers(TestEnvironment))));
