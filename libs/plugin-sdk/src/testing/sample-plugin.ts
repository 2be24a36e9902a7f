import { servePlugin } from '../plugin-sdk.ts';

// A plugin for the tests of the SDK. Node runs it without a build.
servePlugin({
  name: 'sample',
  version: '1.0.0',
  ability: 'doctor-checks',
  methods: {
    checks: () => [],
    echo: (params) => params,
    // eslint-disable-next-line no-console
    print: () => console.log('not a response'),
    large: () => 'x'.repeat(2_000_000),
    fail: async () => {
      throw new Error('no luck');
    },
  },
});
