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
  displayName: 'web-console',
  testEnvironment: '../../tools/test/timers/jsdom-environment.js',
  testMatch: ['<rootDir>/src/**/*.spec.{ts,tsx}'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  // A whole page in jsdom is slow on a busy machine.
  testTimeout: 60_000,
  setupFilesAfterEnv: ['<rootDir>/src/testing/setup.ts'],
  transform: { '^.+\\.ts$': [swc, options], '^.+\\.tsx$': [swc, withJsx] },
  moduleNameMapper: {
    ...preset.moduleNameMapper,
    '\\.css$': '<rootDir>/src/testing/empty.ts',
    // The two console widgets draw on a canvas, which jsdom lacks. Their replacements record calls.
    '^@novnc/novnc$': '<rootDir>/src/testing/fake-rfb.ts',
    '^@xterm/xterm$': '<rootDir>/src/testing/fake-terminal.ts',
    '^@xterm/addon-fit$': '<rootDir>/src/testing/fake-fit-addon.ts',
  },
};
