import { TestEnvironment } from 'jest-environment-jsdom';
import { inBlocks } from '../groups/spec-blocks.js';
import { checkTimers } from './check-timers.js';

export default inBlocks(checkTimers(TestEnvironment));
