import preset from '../../jest.preset.js';

const [swc, options] = preset.transform['^.+\\.ts$'];
const withJsx = {
  ...options,
  jsc: {
    ...options.jsc,
    parser: { ...options.jsc.parser, tsx: true },
    transform: { ...options.jsc.transform, react: { runtime: 'automatic' } },
  },
};

export default {
  ...preset,
  displayName: 'limits-desk',
  // A page leaves its document, language and stores behind: each file needs its own.
  runner: 'jest-runner',
  testEnvironment: '../../tools/test/timers/jsdom-environment.js',
  testMatch: ['<rootDir>/src/**/*.spec.{ts,tsx}'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: { '^.+\\.ts$': [swc, options], '^.+\\.tsx$': [swc, withJsx] },
};
