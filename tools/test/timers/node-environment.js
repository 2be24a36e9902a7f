import { TestEnvironment } from 'jest-environment-node';
import { checkTimers } from './check-timers.js';

export default checkTimers(TestEnvironment);
