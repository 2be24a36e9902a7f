import { TestEnvironment } from 'jest-environment-jsdom';
import { checkTimers } from './check-timers.js';

export default checkTimers(TestEnvironment);
