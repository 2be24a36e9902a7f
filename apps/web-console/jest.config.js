import preset from '../../jest.preset.js';

const [, options] = preset.transform['^.+\\.ts$'];
const swcWithTexts = '<rootDir>/build/jest-texts.js';
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
  // A page leaves its document, language and stores behind: each file needs its own.
  runner: 'jest-runner',
  testEnvironment: '../../tools/test/timers/jsdom-environment.js',
  testMatch: ['<rootDir>/{src,components}/**/*.spec.{ts,tsx}'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  // A whole page in jsdom is slow on a busy machine.
  testTimeout: 60_000,
  setupFilesAfterEnv: ['<rootDir>/src/testing/setup.ts'],
  transform: { '^.+\\.ts$': [swcWithTexts, options], '^.+\\.tsx$': [swcWithTexts, withJsx] },
  moduleNameMapper: {
    ...preset.moduleNameMapper,
    '\\.po$': '<rootDir>/src/testing/no-texts.ts',
    '\\.css$': '<rootDir>/src/testing/empty.ts',
    // The two console widgets draw on a canvas, which jsdom lacks. Their replacements record calls.
    '^@novnc/novnc$': '<rootDir>/src/testing/fake-rfb.ts',
    '^@xterm/xterm$': '<rootDir>/src/testing/fake-terminal.ts',
    '^@xterm/addon-fit$': '<rootDir>/src/testing/fake-fit-addon.ts',
  },
};
